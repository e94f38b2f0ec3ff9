"""One long trial on a real server: memory of both processes, the disk that it takes, and what the forecast said.

`make endure` runs it for half an hour. PLIMSOLL_TEST_LONG_S says for how many seconds.
"""

from __future__ import annotations

import os
import subprocess
from functools import partial
from pathlib import Path

import pytest

from plimsoll.plan.build import build_plan
from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from plimsoll.run.spool import SEGMENT_INTERVALS
from plimsoll.spec.study import parse_study
from support.command import engines_of, start
from support.folders import size_of
from support.memory import resident_bytes, resident_bytes_max
from support.studies import wait_until_gone
from support.vanishing import below
from support.waiting import until

LENGTH_S = int(os.environ.get("PLIMSOLL_TEST_LONG_S", "0"))
SETTLED_AFTER_S = 180
"""Until then caches of both processes fill."""

RUNNER_GROWS_BYTES, ENGINE_GROWS_BYTES = 16 * 2**20, 2 * 2**20

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(LENGTH_S < 2 * SETTLED_AFTER_S, reason="takes half an hour: make endure runs it"),
    pytest.mark.timeout(LENGTH_S + 600),
]

STUDY = f"""
[study]
name = "long"
levels = {{ connections = [16], rate_tps = [60] }}
warm_up = "10s"
settle_limit = "1s"
duration = "{LENGTH_S}s"
repetitions = 1
reset = "never"
[[workload]]
name = "rw"
kind = "oltp_read_write"
table_size = 10000
[[system]]
name = "a"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
options = {{ innodb_log_file_size = 16777216, performance_schema = true }}
"""


def intervals_stored(study: Path) -> int:
    parts = [path for path in below(study) if path.match("recordings/.partial-*/intervals.*.parquet")]
    return SEGMENT_INTERVALS * len(parts)


def test_memory_is_flat_and_the_disk_need_was_forecast(tmp_path: Path) -> None:
    file, study = tmp_path / "s.toml", tmp_path / "out"
    file.write_text(STUDY)
    data_dir = f"/var/tmp/plimsoll-test-long-{os.getpid()}"
    process = start("study", "run", file, "--to", study, env={"PLIMSOLL_DATA_DIR": data_dir})
    try:
        runner, engine, partial_bytes = watched(process, study)
        peak = resident_bytes_max(process.pid)
        _, errors = process.communicate(timeout=300)
    finally:
        process.kill()
        process.communicate()
    wait_until_gone(data_dir)
    assert process.returncode == 0, errors
    (recording,) = read_study(study).recordings
    assert recording.outcome.verdict is Verdict.COMPLETE
    taken = size_of(recording.path)
    forecast = build_plan(parse_study(STUDY)).estimates.recordings_bytes
    print(
        f"\n{LENGTH_S} s: runner {told(runner)}, at most {peak / 2**20:.1f} MiB before joining; engine {told(engine)};"
        f" recording {taken / LENGTH_S:.0f} bytes/s, segments before joining {partial_bytes / LENGTH_S:.0f} bytes/s;"
        f" {forecast / LENGTH_S:.0f} bytes/s were forecast"
    )
    assert runner[-1] - runner[0] < RUNNER_GROWS_BYTES
    assert engine[-1] - engine[0] < ENGINE_GROWS_BYTES
    assert taken + partial_bytes < forecast


def watched(process: subprocess.Popen[str], study: Path) -> tuple[list[int], list[int], int]:
    """Resident memory of both processes each minute from `SETTLED_AFTER_S` on, and the most that segments took."""
    runner, engine, partial_bytes = [], [], 0
    for second in range(SETTLED_AFTER_S, LENGTH_S, 60):
        reached = partial(is_reached, process, study, second)
        assert until(reached, 2 * SETTLED_AFTER_S + 100, step_s=1)
        assert process.poll() is None, process.communicate()
        (load_engine,) = engines_of(process)
        runner.append(resident_bytes(process.pid))
        engine.append(resident_bytes(load_engine))
        partial_bytes = max(partial_bytes, size_of(study / "recordings"))
    return runner, engine, partial_bytes


def is_reached(process: subprocess.Popen[str], study: Path, second: int) -> bool:
    return process.poll() is not None or intervals_stored(study) >= second


def told(sizes: list[int]) -> str:
    """The size in each minute."""
    return " ".join(f"{size / 2**20:.2f}" for size in sizes) + " MiB"
