"""Measures the storage of paths, test by test, and keeps each figure at once: what was measured is not run again.

Files go into a directory of Plimsoll's own below the path, which is removed at the end, by the guardian where this
process was killed. Reads and writes are bounded in time and in size.

Deliberately not here: fio's options and output (`plimsoll.servers.fio`).
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from plimsoll.errors import HostError
from plimsoll.record.files import storing, write_file
from plimsoll.record.storage import (
    STORAGE_FORMAT,
    StorageDocument,
    StorageMeasurement,
    StorageRecord,
    StorageTest,
)
from plimsoll.run.folder import read_kept
from plimsoll.servers.directory import InstanceDirectory, base_fault, socket_fault, sweep
from plimsoll.servers.fio import (
    COMMIT_FILE_BYTES,
    FioJob,
    FioRunner,
    find_fio,
    fio_version,
    measurement_of,
    takes_direct,
)
from plimsoll.servers.storage import measure_flush, storage_facts
from plimsoll.spec.storage import StorageSpec
from plimsoll.units import format_bytes

STORAGE_FILE = "storage.json"
_SPARE_BYTES = 2 * COMMIT_FILE_BYTES
"""Wanted beside the file: for what the commit-like test appends, and for whoever else uses the file system."""

_FILL_LIMIT_S = 300.0
"""How long writing the file once may take at most."""

Say = Callable[[StorageRecord, StorageMeasurement], None]


def read_storages(folder: Path) -> tuple[StorageRecord, ...]:
    """What a study's folder holds; nothing where nothing was measured.

    Raises:
        NewerFormatError: A newer Plimsoll wrote it.
        RecordError: It cannot be read.
    """
    cure = "remove it and run the study again: storage is then measured again"
    document = read_kept(folder / STORAGE_FILE, StorageDocument, version=("storage_format", STORAGE_FORMAT), cure=cure)
    return () if document is None else document.storages


def storages_faults(specs: Sequence[StorageSpec]) -> Iterator[str]:
    """What would keep storage from being measured: all of it at once, before anything starts."""
    if not specs:
        return
    try:
        find_fio()
    except HostError as error:
        yield str(error)
    for spec in specs:
        path = Path(spec.path).expanduser()
        if not path.is_dir():
            yield f"storage: {spec.path} is not a folder; create it, or correct the path"
            continue
        if (
            fault := base_fault(path, "storage", allow_tmpfs=True) or socket_fault(path, "storage", "storage")
        ) is not None:
            yield fault
            continue
        wanted, free = spec.size + _SPARE_BYTES, shutil.disk_usage(path).free
        if wanted > free:
            yield (
                f"storage: {spec.path}: {format_bytes(wanted)} are needed and {format_bytes(free)} are free; free"
                " space, or take a smaller size"
            )


def measure_study(specs: Sequence[StorageSpec], folder: Path, say: Say = lambda _record, _measurement: None) -> None:
    """Measures what is missing of a study's storage.

    Args:
        specs: What the study says.
        folder: Of the study.
        say: Is told of each measurement.

    Raises:
        HostError: It cannot be measured; what was measured before is kept.
        StorageError: The result cannot be written.
    """
    for spec in specs:
        kept = next((record for record in read_storages(folder) if _is_of(record, spec)), None)
        for record in measured(spec, kept):
            _keep(folder, record)
            say(record, record.measurements[-1])


def measured(spec: StorageSpec, kept: StorageRecord | None = None) -> Iterator[StorageRecord]:
    """Measures one path: the record after each test, with all that there are by then.

    Args:
        spec: What is to be measured.
        kept: What was measured before under the same conditions.

    Raises:
        HostError: fio is missing or failed, or the path cannot be used.
    """
    todo = [(test, depth) for test, depth in steps_of(spec) if kept is None or kept.find(test, depth) is None]
    if not todo:
        return
    path = Path(spec.path).expanduser().resolve()
    for fault in storages_faults([spec]):
        raise HostError(fault)
    fio = find_fio()
    sweep(path)
    directory = InstanceDirectory.create(path, "storage", allow_tmpfs=True)
    runner = None
    try:
        runner = FioRunner(fio, directory)
        is_direct = takes_direct(directory.data)
        record = kept or _begun(spec, path, fio_version(fio), is_direct=is_direct)
        job = FioJob(size_bytes=spec.size, duration_s=spec.duration, is_direct=record.is_direct)
        if any(test is not StorageTest.COMMIT for test, _ in todo):
            _fill(runner, job, spec)
        for test, depth in todo:
            output = runner.run(job.words(test, depth), limit_s=spec.duration)
            measurement = measurement_of(output, test, depth, place=spec.path)
            record = record.model_copy(update={"measurements": (*record.measurements, measurement)})
            yield record
    finally:
        directory.close_lock()
        if runner is not None:
            runner.close()
        directory.remove()


def steps_of(spec: StorageSpec) -> Iterable[tuple[StorageTest, int]]:
    """The tests of a path with their queue depths, in their order."""
    for test in StorageTest:
        if test in spec.tests:
            yield from ((test, depth) for depth in (spec.queue_depths if test.has_depths else (1,)))


def duration_s(specs: Iterable[StorageSpec]) -> float:
    """How long measuring takes at least, seconds; writing the files comes on top."""
    return sum(len(list(steps_of(spec))) * spec.duration for spec in specs)


def _begun(spec: StorageSpec, path: Path, version: str, *, is_direct: bool) -> StorageRecord:
    facts = storage_facts(path).model_copy(update={"flush_ms_median": measure_flush(path).ms_median})
    return StorageRecord(
        name=spec.label,
        path=spec.path,
        size_bytes=spec.size,
        duration_s=spec.duration,
        is_preconditioned=spec.precondition,
        is_direct=is_direct,
        fio_version=version,
        began_unix_s=time.time(),
        facts=facts,
    )


def _fill(runner: FioRunner, job: FioJob, spec: StorageSpec) -> None:
    """Writes the file, so that reads find data; several times where it is to be preconditioned."""
    filling = replace(job, duration_s=_FILL_LIMIT_S)
    for pattern in ("write", "write", "randwrite") if spec.precondition else ("write",):
        output = runner.run(filling.fill_words(pattern), limit_s=_FILL_LIMIT_S)
        if int(output["write"].get("io_bytes", 0)) < job.size_bytes:
            raise HostError(
                f"{spec.path}: {format_bytes(job.size_bytes)} were not written within {_FILL_LIMIT_S:.0f} s; take a"
                " smaller size"
            )


def _is_of(record: StorageRecord, spec: StorageSpec) -> bool:
    """Whether a record was made under the conditions that the study states now."""
    return (record.name, record.path, record.size_bytes, record.duration_s, record.is_preconditioned) == (
        spec.label,
        spec.path,
        spec.size,
        spec.duration,
        spec.precondition,
    )


def _keep(folder: Path, record: StorageRecord) -> None:
    """Writes a record down in the place of what was known of it; others of the same name were of other conditions."""
    others = [other for other in read_storages(folder) if other.name != record.name]
    text = StorageDocument(storages=(*others, record)).model_dump_json(indent=1)
    with storing(folder / STORAGE_FILE):
        write_file(folder / STORAGE_FILE, text.encode() + b"\n")
