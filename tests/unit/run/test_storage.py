"""Storage measured by the real fio for seconds, kept test by test, and never twice; and what happens where it fails."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import HostError, RecordError
from plimsoll.record.storage import StorageMeasurement, StorageTest
from plimsoll.run.storage import STORAGE_FILE, measure_study, read_storages, steps_of, storages_faults
from plimsoll.spec.storage import StorageSpec
from support.servers import missing


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder on a disk; at the end nothing of ours may be in it."""
    folder = Path(f"/var/tmp/plimsoll-test-storage-{os.getpid()}")
    folder.mkdir(mode=0o700)
    (folder / "theirs").write_text("keep")
    yield folder
    left = [entry.name for entry in folder.iterdir()]
    shutil.rmtree(folder)
    assert left == ["theirs"]


def spec_of(place: Path, **changes: object) -> StorageSpec:
    values = {"path": str(place), "name": "disk", "size": "16M", "duration": "1s", "queue_depths": [2], **changes}
    return StorageSpec.model_validate(values)


def test_every_test_gives_figures_and_none_is_run_twice(place: Path, tmp_path: Path) -> None:
    if shutil.which("fio") is None:
        missing("fio is not here: tools/install-test-tools installs it")
    told: list[StorageMeasurement] = []
    part = spec_of(place, tests=["commit"])
    measure_study([part], tmp_path, lambda _, one: told.append(one))
    whole = spec_of(place, precondition=False)
    measure_study([whole], tmp_path, lambda _, one: told.append(one))
    assert [one.test for one in told] == [
        StorageTest.COMMIT,
        *(one for one in StorageTest if one is not StorageTest.COMMIT),
    ]
    measure_study([whole], tmp_path, lambda *_: pytest.fail("it is there"))

    (record,) = read_storages(tmp_path)
    assert record.facts.path == str(place.resolve())
    assert record.fio_version.startswith("fio-")
    commit = record.find(StorageTest.COMMIT, 1)
    assert commit is not None
    assert commit.flush is not None
    assert commit.write is not None
    assert commit.flush.count == pytest.approx(commit.write.count, abs=2)
    assert commit.flush.ms_p50 <= commit.flush.ms_p99
    mixed = record.find(StorageTest.MIXED, 2)
    assert mixed is not None
    assert mixed.read is not None
    assert mixed.write is not None
    assert mixed.read.count / (mixed.read.count + mixed.write.count) == pytest.approx(0.7, abs=0.1)
    for measurement in record.measurements:
        assert 0.5 < measurement.duration_s < 30
        for figures in filter(None, (measurement.read, measurement.write)):
            assert figures.per_s * measurement.block_bytes == pytest.approx(figures.bytes_per_s, rel=0.05)


def test_another_size_is_another_measurement(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = pretend(monkeypatch)
    measure_study([spec_of(place, tests=["commit"])], tmp_path)
    measure_study([spec_of(place, tests=["commit"], size="32M")], tmp_path)
    assert len(ran) == 2
    assert [one.size_bytes for one in read_storages(tmp_path)] == [2**25]


def test_what_was_measured_before_a_failure_is_kept(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = pretend(monkeypatch, fail_at=3)
    spec = spec_of(place, tests=["random-read", "commit"], queue_depths=[1, 2, 4])
    with pytest.raises(HostError, match="the disk is full"):
        measure_study([spec], tmp_path)
    assert [measurement.queue_depth for measurement in read_storages(tmp_path)[0].measurements] == [1, 2]
    ran.clear()
    pretend(monkeypatch)
    measure_study([spec], tmp_path)
    assert [
        (measurement.test, measurement.queue_depth) for measurement in read_storages(tmp_path)[0].measurements
    ] == list(steps_of(spec))


def test_faults_before_anything_starts(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    faults = list(storages_faults([spec_of(place / "none"), spec_of(place, size="100000T")]))
    assert [fault.split(";")[0] for fault in faults[:2]] == [
        "fio is not installed, and storage is measured with it",
        f"storage: {place}/none is not a folder",
    ]
    assert "are needed and" in faults[2]
    assert list(storages_faults([])) == []


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    (tmp_path / STORAGE_FILE).write_text('{"storages": 7}')
    with pytest.raises(RecordError, match="is damaged; remove it and run the study again"):
        read_storages(tmp_path)


def pretend(monkeypatch: pytest.MonkeyPatch, *, fail_at: int | None = None) -> list[object]:
    """A fio that takes no time: every job writes and flushes. The `fail_at`-th fails, filling the file not counted."""
    ran: list[object] = []
    times = {"mean": 1e6, "N": 10, "percentile": {"50": 1e6, "99": 2e6}}
    moved = {"total_ios": 10, "iops": 10.0, "bw_bytes": 1e5, "clat_ns": times, "io_bytes": 2**40}

    def run(_: object, words: list[str], **__: object) -> dict[str, object]:
        if "--end_fsync=1" not in words:
            ran.append(words)
            if len(ran) == fail_at:
                raise HostError("the disk is full")
        return {"error": 0, "job_runtime": 1000, "read": moved, "write": moved, "sync": {"lat_ns": times}}

    monkeypatch.setattr("plimsoll.run.storage.FioRunner.run", run)
    monkeypatch.setattr("plimsoll.run.storage.find_fio", lambda: "fio")
    monkeypatch.setattr("plimsoll.run.storage.fio_version", lambda _: "fio-3")
    return ran
