"""Examples after published studies with the TPC-C-derived workload: the small files run to a guide."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.examples import run_example

pytestmark = pytest.mark.e2e


@pytest.mark.endure
def test_one_server_or_several_with_equal_totals(tmp_path: Path) -> None:
    ran = run_example("t5240-zones.toml", tmp_path / "study")
    cpus = {
        recording.trial.system.name: [instance.placement.cpus for instance in recording.environment.instances]
        for recording in ran.recordings
    }
    assert cpus == {"one server": [(0, 1)], "two servers": [(0,), (1,)]}
    assert "skew" in ran.guide or "smallest" in ran.guide


@pytest.mark.endure
def test_thread_pool_and_scheduling_as_a_matrix(tmp_path: Path) -> None:
    ran = run_example("t5240-threads.toml", tmp_path / "study")
    assert len({recording.trial.system.name for recording in ran.recordings}) == 4
    classes = {recording.environment.instances[0].placement.scheduling for recording in ran.recordings}
    assert classes == {"other", "batch"}
