"""What a database makes of its storage, as values; part of the analysis."""

from __future__ import annotations

from plimsoll.record.document import Document
from plimsoll.record.level import Level


class StorageUse(Document):
    """A transaction of one system and workload beside the storage that holds the system's data.

    Attributes:
        system: Which.
        workload: Which.
        storage: Name of the storage.
        level: The lowest level with figures: there, queueing adds least.
        response_ms: Mean response time there, milliseconds.
        flush_ms: Median time of an fdatasync after a small append, as fio measured it on the idle storage.
        flushes: Flushes of files that the server asked for, per transaction; null when unknown.
        read_kb: What the server asked storage for, per transaction; null when unknown, as are those below.
        written_kb: What it caused to be written.
        redo_kb: The part of it that was redo.
        writes_per_s: Writes of the data's device per second at the highest throughput.
        reads_per_s: Reads there.
        busiest_level: The level with the highest throughput.
        device_ratio: Reads and writes of the data's device there as shares of the most that fio did of each, in pages
            of 16 KiB at random, added up; null when unknown, for several servers, and where fio used the page cache.
        device_limit_tps: Throughput at which that would be 1 if a transaction's reads and writes stayed the same.
    """

    system: str
    workload: str
    storage: str
    level: Level
    response_ms: float
    flush_ms: float | None = None
    flushes: float | None = None
    read_kb: float | None = None
    written_kb: float | None = None
    redo_kb: float | None = None
    writes_per_s: float | None = None
    reads_per_s: float | None = None
    busiest_level: Level
    device_ratio: float | None = None
    device_limit_tps: float | None = None
