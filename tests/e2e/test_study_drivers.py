"""A study whose load two engines share: its recordings, its answer, and the ids of its trials."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import polars as pl
import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from support.command import engines_of, plimsoll, start_forked
from support.waiting import until

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "drivers"
levels = { connections = [5] }
drivers = ["local", "local"]
warm_up = "1s"
settle_limit = "1s"
clients = { think_time = "20ms" }
duration = "3s"
repetitions = 1
reset = "never"
[[workload]]
name = "points"
kind = "oltp_point_select"
table_size = 1000
[[system]]
name = "a"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
"""


def test_two_engines_here_share_the_load_of_a_study(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY)
    folder = tmp_path / "out"
    ran = plimsoll("study", "run", tmp_path / "s.toml", "--to", folder)
    assert ran.returncode == 0, ran.stderr
    (recording,) = read_study(folder).recordings
    outcome, client = recording.outcome, recording.environment.client
    assert [driver.name for driver in outcome.drivers] == ["local#1", "local#2"] == list(client.drivers)
    assert client.on_server_host
    assert outcome.connections is not None
    assert outcome.account is not None
    assert outcome.connections.opened_count == 5
    assert sum(driver.offered_count or 0 for driver in outcome.drivers) == outcome.account.offered_count
    intervals, histograms = recording.intervals(), recording.histograms()
    assert intervals is not None
    assert histograms is not None
    assert set(intervals["driver"]) == {"local#1", "local#2"} == set(histograms["driver"])
    connected = pl.col("metric") == "connected_count"
    telemetry = recording.telemetry()
    assert telemetry is not None
    of_each = dict(telemetry.filter(connected).group_by("driver").agg(pl.col("value").first()).iter_rows())
    assert of_each == {"local#1": 3.0, "local#2": 2.0}
    analysis = json.loads((folder / "guide.json").read_text())
    (cell,) = analysis["curves"][0]["cells"]
    window = outcome.window
    assert window is not None
    inside = intervals.filter(pl.col("interval").is_between(window.first, window.last))
    assert cell["completed_count"] == inside["completed"].sum()
    assert "2 (local#1, local#2)" in (folder / "guide.md").read_text()


def test_a_driver_that_is_killed_makes_its_trial_invalid_and_ends_the_load(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY.replace('duration = "3s"', 'duration = "100s"'))
    folder = tmp_path / "out"
    running = start_forked("study", "run", tmp_path / "s.toml", "--to", folder)
    try:
        assert until(lambda: measures(folder))
        first, second = engines_of(running)
        killed_s = time.monotonic()
        os.kill(second, signal.SIGKILL)
        assert until(lambda: not Path(f"/proc/{first}").exists())
        stopped_s = time.monotonic() - killed_s
        _, told = running.communicate(timeout=300)
    finally:
        running.kill()
    (recording,) = read_study(folder).recordings
    outcome = recording.outcome
    assert outcome.verdict is Verdict.INVALID, told
    assert outcome.reason is not None
    assert outcome.reason.startswith("driver local#2 was lost after ")
    assert "ended by SIGKILL" in outcome.reason
    assert "driver local#2 was lost" in told
    assert stopped_s < 90, "the load was to last for more than a minute and a half"
    assert [(driver.name, driver.offered_count) for driver in outcome.drivers] == [("local#1", None), ("local#2", None)]
    assert all(driver.clock_error_s is not None for driver in outcome.drivers)


def measures(folder: Path) -> bool:
    """Whether an interval of the running trial was told."""
    events = folder / "events.jsonl"
    return events.exists() and '"interval-ended"' in events.read_text(encoding="utf-8").replace("_", "-")
