"""What is known of a client between runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.record.environment import HostFacts
from plimsoll.run.survey import (
    CalibratedWorkload,
    ClientLimit,
    keep_limits,
    known_limit_tps,
    limit_tps,
    limits_file,
    machine_of,
    read_limits,
)
from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.target import Target

HOST = HostFacts(name="here", cpu_model="A", cpu_threads=4)
READS = WorkloadSpec(name="reads", kind="oltp_read_only")
BY_TCP = Target(user="u", database="d", host="127.0.0.1")
BY_SOCKET = Target(user="u", database="d", socket=Path("/tmp/s"))


def limit(connections: int, tps: float, *, by_socket: bool = False) -> ClientLimit:
    return ClientLimit(
        connections=connections,
        by_socket=by_socket,
        throughput_tps=tps,
        statements_per_s=16 * tps,
        cpu_us_per_statement=3.0,
        response_ms_p99=None,
    )


def calibrated(*limits: ClientLimit, engine_version: str = "1") -> CalibratedWorkload:
    return CalibratedWorkload(
        machine=machine_of(HOST),
        engine_version=engine_version,
        kind=READS.kind,
        options=READS.options(),
        limits=limits,
    )


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_between_two_levels_the_lower_counts_and_beyond_them_nothing_is_known() -> None:
    known = [limit(8, 100.0), limit(64, 80.0), limit(64, 500.0, by_socket=True)]
    found = [limit_tps(known, connections, by_socket=False) for connections in (1, 8, 16, 64, 65)]
    assert found == [None, 100.0, 80.0, 80.0, None]
    assert limit_tps(known, 64, by_socket=True) == 500.0


def test_a_limit_holds_for_its_machine_engine_workload_and_way_only() -> None:
    keep_limits(limits_file(), calibrated(limit(8, 100.0)))
    assert known_limit_tps(HOST, "1", READS, 8, [BY_TCP]) == 100.0
    assert known_limit_tps(HOST, "1", READS, 8, [BY_SOCKET]) is None
    assert known_limit_tps(HOST, "2", READS, 8, [BY_TCP]) is None
    assert known_limit_tps(HOST.model_copy(update={"cpu_threads": 8}), "1", READS, 8, [BY_TCP]) is None
    assert known_limit_tps(HOST, "1", READS.model_copy(update={"range_size": 9}), 8, [BY_TCP]) is None


def test_a_new_calibration_takes_the_place_of_the_old_one() -> None:
    keep_limits(limits_file(), calibrated(limit(8, 100.0)))
    keep_limits(limits_file(), calibrated(limit(8, 120.0), engine_version="2"))
    assert [one.engine_version for one in read_limits(limits_file())] == ["2"]


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"machine": 1}]', "[" * 100_000])
def test_a_damaged_file_holds_nothing(text: str) -> None:
    limits_file().parent.mkdir(parents=True)
    limits_file().write_text(text)
    assert read_limits(limits_file()) == ()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(HostError, match="cannot be written"):
        keep_limits(limits_file(), calibrated(limit(1, 1.0)))
