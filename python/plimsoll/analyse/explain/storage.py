"""A commit's flush beside a transaction: what fio measured on the storage that holds a system's data.

The flush is the median of an fdatasync after a small append to a growing file, on idle storage and one at a time. A
transaction that commits waits for at least one such flush where the server is durable, so the two stand beside each
other; with group commit several transactions share one. Storage belongs to a system where both lie on the same device,
or, without a device, in the same file system below the same path.

How much of the device a load used is its reads and writes per second over the most that fio did of each, added up.
That takes a mixture to cost what its parts cost, and every request to cost as much as a random one of 16 KiB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from plimsoll.analyse.explain.where_model import StorageUse, WhereLevel, WhereTime
from plimsoll.analyse.model import SystemSummary
from plimsoll.record.environment import StorageFacts
from plimsoll.record.storage import StorageRecord, StorageTest


def storage_uses(
    storages: Sequence[StorageRecord], systems: Sequence[SystemSummary], where_time: Sequence[WhereTime]
) -> Iterator[StorageUse]:
    """One for each curve with telemetry and each storage that holds data of its system."""
    by_name = {system.name: system for system in systems}
    for where in where_time:
        facts = [instance.storage for instance in by_name[where.system].environment.instances if instance.storage]
        known = [level for level in where.levels if level.response_ms is not None]
        if not known:
            continue
        for storage in storages:
            if any(_holds(storage, fact) for fact in facts):
                yield _use(where, known, storage, is_alone=len(facts) == 1)


def _use(where: WhereTime, known: Sequence[WhereLevel], storage: StorageRecord, *, is_alone: bool) -> StorageUse:
    lowest = known[0]
    busiest = next((level for level in where.levels if level.level == where.limit_level), known[-1])
    commit = storage.find(StorageTest.COMMIT, 1)
    device_ratio = _device_ratio(busiest, storage) if is_alone and storage.is_direct else None
    each, most = lowest.per_transaction, busiest.per_transaction
    return StorageUse(
        system=where.system,
        workload=where.workload,
        storage=storage.name,
        level=lowest.level,
        response_ms=lowest.response_ms or 0.0,
        flush_ms=None if commit is None or commit.flush is None else commit.flush.ms_p50,
        flushes=each.get("flushes"),
        read_kb=each.get("server_read_kb"),
        written_kb=each.get("server_written_kb"),
        redo_kb=each.get("redo_kb"),
        writes_per_s=_per_s(most.get("device_writes"), busiest),
        reads_per_s=_per_s(most.get("device_reads"), busiest),
        busiest_level=busiest.level,
        device_ratio=device_ratio,
        device_limit_tps=busiest.throughput_tps / device_ratio if device_ratio else None,
    )


def _device_ratio(level: WhereLevel, storage: StorageRecord) -> float | None:
    """What a level did to its device over the most that fio did; None where one of the two is not known."""
    done = [
        (_per_s(level.per_transaction.get("device_reads"), level), _most_per_s(storage, StorageTest.RANDOM_READ)),
        (_per_s(level.per_transaction.get("device_writes"), level), _most_per_s(storage, StorageTest.RANDOM_WRITE)),
    ]
    known = [(per_s, most) for per_s, most in done if per_s is not None and most]
    return sum(per_s / most for per_s, most in known) if len(known) == len(done) else None


def _most_per_s(storage: StorageRecord, test: StorageTest) -> float:
    """At the best of the queue depths; 0 where it was not measured."""
    figures = [
        figure
        for measurement in storage.measurements
        if measurement.test is test
        for figure in (measurement.read, measurement.write)
        if figure
    ]
    return max((figure.per_s for figure in figures), default=0.0)


def _per_s(each: float | None, level: WhereLevel) -> float | None:
    return None if each is None else each * level.throughput_tps


def _holds(storage: StorageRecord, data: StorageFacts) -> bool:
    """Whether a storage is that of some data."""
    if storage.facts.device is not None or data.device is not None:
        return storage.facts.device == data.device
    if storage.facts.path is None or data.path is None:
        return False
    return storage.facts.file_system == data.file_system and PurePath(data.path).is_relative_to(storage.facts.path)
