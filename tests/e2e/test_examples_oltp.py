"""Examples after published studies with sysbench's workloads: the small files run to a guide that judges them."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import plimsoll
from support.examples import run_example
from support.repository import ROOT

pytestmark = pytest.mark.e2e


@pytest.mark.endure
def test_two_storages(tmp_path: Path) -> None:
    ran = run_example("hp-blades.toml", tmp_path / "study")
    assert {recording.trial.system.name for recording in ran.recordings} == {"internal disks", "SAN"}
    definitions = [text for recording in ran.recordings for text in recording.environment.instances[0].tables.values()]
    assert definitions
    assert all("latin1" in text for text in definitions)
    assert set(ran.verdicts.values()) <= {"shows", "does-not-show", "not-resolved"}


@pytest.mark.endure
def test_scaling_with_processors(tmp_path: Path) -> None:
    ran = run_example("percona-scaling.toml", tmp_path / "study")
    assert {len(recording.environment.instances[0].placement.cpus) for recording in ran.recordings} == {1, 2}
    assert {one["system"] for one in ran.analysis["scalability"]} == {"MariaDB, 1 CPU", "MariaDB, 2 CPUs"}
    assert set(ran.verdicts.values()) <= {"shows", "does-not-show", "not-resolved"}


def test_data_larger_than_the_pool_on_slow_and_fast_storage(tmp_path: Path) -> None:
    """In short runs of clients that think: the slow storage bears some ten transactions a second, they ask for many."""
    text = (ROOT / "examples/small/ssd-raid.toml").read_text()
    whole, short = 'duration = "8s"', 'duration = "3s"\nclients = { think_time = "10ms" }'
    assert whole in text
    (tmp_path / "ssd-raid.toml").write_text(text.replace(whole, short))
    ran = run_example(tmp_path / "ssd-raid.toml", tmp_path / "study")
    reads = [level["per_transaction"]["page_reads"] for one in ran.analysis["where_time"] for level in one["levels"]]
    assert max(reads) > 0  # on a busy machine a level on the slow storage may complete nothing
    (claim,) = ran.analysis["claims"]
    assert claim["verdict"] in {"shows", "not-resolved"}, claim
    assert claim["found"]["value"] > 1.5, claim


def test_paths_of_one_device_are_told(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    text = (ROOT / "examples/ssd-raid.toml").read_text()
    study.write_text(text.replace("/srv/slow", str(tmp_path)).replace("/srv/fast", str(tmp_path)))
    ran = plimsoll("study", "run", study, "--to", tmp_path / "out")
    assert ran.returncode in {2, 3}, ran.stderr
    assert not list((tmp_path / "out").glob("recordings/*"))
