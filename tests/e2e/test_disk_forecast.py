"""What a study's recordings take while they are written, with telemetry of a real server, held against the forecast.

The workload has several types of transaction, each of them with figures of its own: it leaves more than others.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.plan.build import SEGMENTS_BYTES_PER_S, build_plan
from plimsoll.record.store import read_study
from plimsoll.spec.study import parse_study
from support.command import start_forked
from support.folders import size_of, size_of_all
from support.servers import MYSQL_IN_ENDURE, server_command
from support.studies import wait_until_gone
from support.vanishing import below
from support.waiting import until

pytestmark = pytest.mark.e2e

LENGTH_S = 4
STUDY = """
[study]
name = "disk"
levels = { connections = [64] }
warm_up = "1s"
settle_limit = "1s"
duration = "LENGTHs"
repetitions = 1
reset = "never"
[[workload]]
name = "tpcc"
kind = "tpcc"
warehouses = 1
[[system]]
name = "a"
[system.server]
managed = "FLAVOUR"
COMMAND
profile = "bare"
buffer_pool = "256M"
options = { performance_schema = true }
"""


def is_segment(path: Path) -> bool:
    return path.match(".partial-*/*.0*.parquet")


@pytest.mark.parametrize("flavour", MYSQL_IN_ENDURE)
def test_recordings_never_take_more_than_was_forecast(flavour: str, tmp_path: Path) -> None:
    command = server_command(flavour)
    words = "" if command == flavour else f"command = {command.split()!r}"
    text = STUDY.replace("LENGTH", str(LENGTH_S)).replace("FLAVOUR", flavour).replace("COMMAND", words)
    (tmp_path / "s.toml").write_text(text)
    spec = parse_study(text)
    data_dir = f"/var/tmp/plimsoll-test-disk-{os.getpid()}"
    study, most, segments = tmp_path / "out", 0, 0
    process = start_forked("study", "run", tmp_path / "s.toml", "--to", study, env={"PLIMSOLL_DATA_DIR": data_dir})

    def has_ended() -> bool:
        nonlocal most, segments
        most = max(most, size_of(study / "recordings") + size_of_all([study / "events.jsonl"]))
        segments = max(segments, size_of_all(filter(is_segment, below(study / "recordings"))))
        return process.poll() is not None

    try:
        assert until(has_ended, 900, step_s=0.1)
        _, errors = process.communicate()
    finally:
        process.kill()
    wait_until_gone(data_dir)
    assert process.returncode == 0, errors
    load_s = LENGTH_S + 1
    for recording in read_study(study).recordings:
        print(f"\n{flavour}, {recording.trial.workload.name}: {size_of(recording.path) / load_s:.0f} bytes/s")
    print(f"{flavour}: segments {segments / load_s:.0f} bytes/s")
    assert segments < SEGMENTS_BYTES_PER_S * load_s
    forecast = build_plan(spec).estimates.recordings_bytes
    print(f"{flavour}: at most {most} bytes, {forecast} were forecast")
    assert most < forecast
