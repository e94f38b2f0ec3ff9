"""fio's options and its JSON, made up: what a test means, and what hostile or damaged output becomes."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import HostError
from plimsoll.record.storage import StorageTest
from plimsoll.servers.directory import InstanceDirectory
from plimsoll.servers.fio import FioJob, FioRunner, job_of, measurement_of

JOB = FioJob(size_bytes=2**26, duration_s=1.5, is_direct=True)
PERCENTILE = {"50.000000": 2_000_000, "99.000000": 9_000_000, "99.900000": 12_000_000}
TIMES = {"min": 1, "max": 9, "mean": 3_000_000.0, "stddev": 1.0, "N": 300, "percentile": PERCENTILE}


def direction(count: int) -> dict[str, Any]:
    return {"total_ios": count, "iops": count / 1.5, "bw_bytes": count * 16384 / 1.5, "clat_ns": TIMES}


def job(*, reads: int = 0, writes: int = 0, error: int = 0, **changes: Any) -> dict[str, Any]:
    flush = {"total_ios": 0, "lat_ns": TIMES}
    made = {"error": error, "job_runtime": 1500, "read": direction(reads), "write": direction(writes), "sync": flush}
    return made | changes


def written(one: dict[str, Any]) -> bytes:
    return json.dumps({"fio version": "fio-3.33", "jobs": [one]}).encode()


def test_figures_of_a_mixed_test() -> None:
    found = measurement_of(
        job_of(b"fio: a note\n" + written(job(reads=700, writes=300)), place="p"), StorageTest.MIXED, 4, place="p"
    )
    assert found.read is not None
    assert found.write is not None
    assert (found.read.count, found.write.count, found.flush, found.block_bytes) == (700, 300, None, 16384)
    assert (found.read.ms_mean, found.read.ms_p50, found.read.ms_p99, found.read.ms_p999) == (3.0, 2.0, 9.0, 12.0)
    assert found.read.per_s == pytest.approx(700 / 1.5)


def test_a_commit_is_a_write_and_its_flush() -> None:
    found = measurement_of(job(writes=300), StorageTest.COMMIT, 1, place="p")
    assert found.flush is not None
    assert (found.flush.count, found.flush.per_s, found.flush.ms_p50) == (300, 200.0, 2.0)
    assert found.block_bytes == 512
    assert found.read is None


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"fio: no such option",
        b"{",
        b"[]",
        b'{"jobs": []}',
        b'{"jobs": [7]}',
        b'{"jobs": [{"error": "x"}]}',
        b'{"jobs": [{"error": 0, "read": [], "write": {}}]}',
        b"[" * 100_000 + b'{"jobs":',
        b'{"a":' * 100_000,
        b'{"jobs": [{"error": 1e999, "read": {}, "write": {}}]}',
        b"\xff\xfe{\x80}",
    ],
)
def test_what_is_no_result_is_told(text: bytes) -> None:
    with pytest.raises(HostError, match="is not what it documents; install fio"):
        job_of(text, place="p")


@pytest.mark.parametrize(
    "changes",
    [
        {"job_runtime": None},
        {"job_runtime": 0, "sync": {"lat_ns": TIMES | {"N": -4}}},
        {"write": {}},
        {"write": direction(5) | {"iops": "many"}},
        {"write": direction(5) | {"iops": float("nan")}},
        {"write": direction(5) | {"bw_bytes": -7}},
        {"write": direction(5) | {"total_ios": 10**400}},
        {"write": direction(5) | {"clat_ns": TIMES | {"percentile": {}}}},
        {"write": direction(5) | {"clat_ns": TIMES | {"percentile": {"fifty": 1}}}},
        {"write": direction(5) | {"clat_ns": TIMES | {"mean": True}}},
        {"sync": {}},
        {"sync": {"lat_ns": TIMES | {"N": "x"}}},
    ],
)
def test_figures_that_are_none_are_told(changes: dict[str, Any]) -> None:
    with pytest.raises(HostError, match="lacks figures of commit"):
        measurement_of(job(writes=5) | changes, StorageTest.COMMIT, 1, place="p")


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["jobs", "error", "read", "write", "sync", "lat_ns", "percentile", "total_ios"]), inner
            )
        ),
    )
)
def test_no_json_does_anything_worse_than_a_message(said: object) -> None:
    with contextlib.suppress(HostError):
        measurement_of(job_of(json.dumps(said).encode(), place="p"), StorageTest.COMMIT, 1, place="p")


def test_a_job_that_failed_says_why() -> None:
    with pytest.raises(HostError, match="No space left on device"):
        job_of(written(job(error=28)), place="p")


def test_a_test_in_which_nothing_completed_is_told() -> None:
    with pytest.raises(HostError, match="the storage hangs"):
        measurement_of(job(), StorageTest.RANDOM_READ, 1, place="p")


def test_what_tests_ask_for() -> None:
    commit = JOB.words(StorageTest.COMMIT, 1)
    assert {"--fdatasync=1", "--bs=512", "--direct=0", "--rw=write", "--runtime=1500ms"} <= set(commit)
    mixed = JOB.words(StorageTest.MIXED, 8)
    assert {"--rw=randrw", "--rwmixread=70", "--bs=16384", "--iodepth=8", "--direct=1", "--filename=data/pages"} <= set(
        mixed
    )
    assert "--direct=0" in FioJob(size_bytes=1, duration_s=1, is_direct=False).words(StorageTest.RANDOM_READ, 1)


@pytest.fixture
def directory(tmp_path: Path) -> InstanceDirectory:
    return InstanceDirectory.create(tmp_path / "base", "storage", allow_tmpfs=True)


def made_up_fio(folder: Path, script: str) -> str:
    program = folder / "fio"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'fio: pid=3, err=28/file:x: No space left' >&2; exit 1", r"left no result .*: fio: pid=3, err=28"),
        ("echo x > data/fio.json; echo 'note'; echo 'error: boom' >&2; exit 1", "fio failed: error: boom"),
        ("mkfifo data/fio.json", r"left no result \(is a pipe"),
        ("head -c 5000000 /dev/zero > data/fio.json", r"left no result \(is larger"),
        ("echo '{}' > data/fio.json", "not what it documents"),
        ("kill -9 $$", "left no result"),
    ],
)
def test_a_fio_that_misbehaves(tmp_path: Path, directory: InstanceDirectory, script: str, message: str) -> None:
    runner = FioRunner(made_up_fio(tmp_path, script), directory)
    try:
        with pytest.raises(HostError, match=message):
            runner.run([], limit_s=5)
        assert list(directory.data.iterdir()) == []
    finally:
        directory.close_lock()
        runner.close()
    assert not directory.path.exists()


def test_a_fio_that_hangs_is_ended(tmp_path: Path, directory: InstanceDirectory) -> None:
    runner = FioRunner(made_up_fio(tmp_path, "echo $$ > pid; exec sleep 1000"), directory)
    try:
        with pytest.raises(HostError, match="fio did not end within 6 s; the storage hangs"):
            runner.run([], limit_s=-54.0)  # by then a busy machine has begun it
        assert not Path(f"/proc/{(directory.path / 'pid').read_text().strip()}").exists()
    finally:
        directory.close_lock()
        runner.close()
