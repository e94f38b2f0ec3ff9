"""A duet held against the sequential design: the same two real servers in equal time."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Difference
from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from support.command import plimsoll

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(2000),
    pytest.mark.skipif("PLIMSOLL_TEST_DUETS" not in os.environ, reason="takes 8 minutes: make endure runs it"),
]

DESIGNS = {
    "duet": 'design = "duet"\nduration = "18s"\nturn = "250ms"\nrounds = 6',
    "sequential": 'duration = "8s"\nrepetitions = 6',
}
"""In six blocks each, after starts of both servers: about as many seconds of load, and of everything besides."""

STUDY = """
[study]
name = "{name}"
levels = {{ connections = [4] }}
warm_up = "3s"
settle_limit = "1s"
reset = "never"
{design}

[[workload]]
name = "points"
kind = "oltp_point_select"
table_size = 10000
"""

SYSTEM = """
[[system]]
name = "{name}"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
options = {{ performance_schema = {schema} }}
"""


def measured(folder: Path, design: str) -> tuple[float, Difference]:
    """Seconds that a study of this design took, and what it found."""
    file, study = folder / f"{design}.toml", folder / design
    systems = "".join(SYSTEM.format(name=name, schema=schema) for name, schema in (("plain", 0), ("watched", 1)))
    file.write_text(STUDY.format(name=design, design=DESIGNS[design]) + systems)
    env = {"PLIMSOLL_DATA_DIR": f"/var/tmp/plimsoll-test-{design}-{os.getpid()}"}
    began_s = time.monotonic()
    ran = plimsoll("study", "run", file, "--to", study, env=env, timeout_s=900)
    took_s = time.monotonic() - began_s
    assert ran.returncode == 0, ran.stderr
    recordings = read_study(study).recordings
    assert [recording.outcome.verdict for recording in recordings] == [Verdict.COMPLETE] * 12
    (found,) = [difference for difference in analyse(design, recordings).differences if difference.level is not None]
    return took_s, found


def test_a_duet_is_more_exact_than_whole_trials_in_equal_time_and_agrees_with_them(tmp_path: Path) -> None:
    """What watching itself costs a server is small. Intervals of 95 % that both hold the truth overlap."""
    found = {design: measured(tmp_path, design) for design in ("sequential", "duet")}
    bounds = {design: one.ratio.bounds for design, (_, one) in found.items()}
    for design, (took_s, one) in found.items():
        print(f"{design}: {took_s:.0f} s, ratio {one.ratio.value:.4f}, {bounds[design]}")
    sequential, duet = bounds["sequential"], bounds["duet"]
    assert sequential is not None
    assert duet is not None
    assert found["duet"][0] < 1.15 * found["sequential"][0]
    assert duet.high - duet.low < sequential.high - sequential.low
    assert max(duet.low, sequential.low) < min(duet.high, sequential.high)
