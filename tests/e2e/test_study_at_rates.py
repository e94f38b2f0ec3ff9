"""A study at rates on a real server: what is asked for, recorded, and said to be sustained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.guide.build import analyse_folder
from plimsoll.record.level import Level
from plimsoll.record.store import read_study
from support.command import plimsoll
from support.waiting_load import write_waiting_load

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "rates"
levels = { rate_tps = [50, 20_000], connections = [2] }
warm_up = "1s"
settle_limit = "1s"
duration = "2s"
repetitions = 1
reset = "never"
[[workload]]
name = "w"
file = "waiting.toml"
[[system]]
name = "a"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
"""


def test_a_rate_that_no_server_reaches_is_offered_dropped_and_not_sustained(tmp_path: Path) -> None:
    """Each transaction waits for 20 ms: two connections complete at most 100 a second."""
    write_waiting_load(tmp_path, wait_ms=20)
    (tmp_path / "s.toml").write_text(STUDY)
    folder = tmp_path / "out"
    ran = plimsoll("study", "run", tmp_path / "s.toml", "--to", folder)
    assert ran.returncode == 0, ran.stderr
    assert "a, w, target rate 50 tps: " in ran.stderr
    levels = {recording.trial.level.rate_tps: recording.outcome.account for recording in read_study(folder).recordings}
    assert levels.keys() == {50.0, 20_000.0}
    (curve,) = analyse_folder(folder).curves
    low, high = curve.cells
    assert curve.peak is not None
    assert low.rate is not None
    assert high.rate is not None
    assert (curve.peak.level, curve.peak.is_inside_range) == (Level(connections=2, rate_tps=50.0), True)
    assert low.throughput_tps.value == pytest.approx(50, rel=0.6)
    assert low.rate.offered_tps == pytest.approx(50, rel=0.6)
    assert high.dropped_count > high.completed_count > 0
    assert high.rate.dispatch_delay_ms.p99 is not None
    assert high.response_ms.p50 is not None
    assert high.service_ms.p50 is not None
    assert high.response_ms.p50 > high.service_ms.p50
    assert "Completed against target rate" in (folder / "guide.html").read_text()
    sized = plimsoll("size", folder, "--tps", "20", "--json")
    assert sized.returncode == 0, "one repetition indicates that it fits"
    (fit,) = json.loads(sized.stdout)["systems"]
    assert (fit["verdict"], fit["grade"], fit["evidence"]) == ("fits", "indicated", "rates")
    assert plimsoll("size", folder, "--tps", "20", "--require", "measured").returncode == 1
