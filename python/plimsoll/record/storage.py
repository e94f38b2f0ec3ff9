"""`storage.json`: what storage does by itself, as fio measured it. Belongs to a study, not to a trial.

Deliberately not here: measuring (`plimsoll.servers.fio`), and what a database makes of it.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from plimsoll.record.document import Document, UnixSeconds
from plimsoll.record.environment import StorageFacts

STORAGE_FORMAT = 1
"""Version of `storage.json`; docs/storage.md describes it."""

BLOCK_BYTES = 16 * 1024
"""Of random and mixed tests: a page of InnoDB."""

SEQUENTIAL_BYTES = 2**20
COMMIT_BYTES = 512
"""Of commit-like writes: the block of a redo log."""

READ_SHARE = 0.7
"""Of the operations of the mixed test."""


class StorageTest(StrEnum):
    """What is measured, in its order: what only reads comes first, since writes leave work to the device."""

    SEQUENTIAL_READ = "sequential-read"
    RANDOM_READ = "random-read"
    SEQUENTIAL_WRITE = "sequential-write"
    RANDOM_WRITE = "random-write"
    MIXED = "mixed"
    COMMIT = "commit"

    @property
    def has_depths(self) -> bool:
        """Whether it is measured at each queue depth; the others have one request in progress."""
        return self in {StorageTest.RANDOM_READ, StorageTest.RANDOM_WRITE, StorageTest.MIXED}


class OperationFigures(Document):
    """One kind of operation in one test.

    Attributes:
        count: How many completed.
        per_s: How many in each second.
        bytes_per_s: How much they moved; 0 for flushes.
        ms_mean: From the request to its end, milliseconds, as are the percentiles.
        ms_p50: Median.
        ms_p99: 99th percentile.
        ms_p999: 99.9th percentile; null where fio does not say.
    """

    count: int = Field(ge=0)
    per_s: float = Field(ge=0)
    bytes_per_s: float = Field(ge=0)
    ms_mean: float = Field(ge=0)
    ms_p50: float = Field(ge=0)
    ms_p99: float = Field(ge=0)
    ms_p999: float | None = Field(default=None, ge=0)


class StorageMeasurement(Document):
    """One test at one queue depth.

    Attributes:
        test: Which.
        queue_depth: Requests in progress at once.
        block_bytes: Size of each.
        duration_s: How long it ran.
        read: Reads; null where there were none, as are the other two.
        write: Writes.
        flush: Calls of fdatasync, each after a write.
    """

    test: StorageTest
    queue_depth: int
    block_bytes: int
    duration_s: float
    read: OperationFigures | None = None
    write: OperationFigures | None = None
    flush: OperationFigures | None = None


class StorageRecord(Document):
    """One path.

    Attributes:
        name: As the study calls it.
        path: Where.
        size_bytes: Of the file that was read and written.
        duration_s: How long each test was to run.
        is_preconditioned: The file was written several times before.
        is_direct: Reads and writes went past the page cache; false where the file system does not allow that, and then
            the figures are of memory. Commit-like writes go through it and are flushed.
        fio_version: As it says it.
        began_unix_s: When it was first measured.
        facts: The storage below the path.
        measurements: In the order in which they were made.
    """

    name: str
    path: str
    size_bytes: int
    duration_s: float
    is_preconditioned: bool
    is_direct: bool
    fio_version: str
    began_unix_s: UnixSeconds
    facts: StorageFacts
    measurements: tuple[StorageMeasurement, ...] = ()

    def find(self, test: StorageTest, queue_depth: int) -> StorageMeasurement | None:
        """A measurement that was made; None for one that was not."""
        matching = (
            measurement
            for measurement in self.measurements
            if (measurement.test, measurement.queue_depth) == (test, queue_depth)
        )
        return next(matching, None)


class StorageDocument(Document):
    """`storage.json`: all paths of a study that were measured.

    Attributes:
        storage_format: Version of this schema.
        storages: In the order in which they were first measured.
    """

    storage_format: int = STORAGE_FORMAT
    storages: tuple[StorageRecord, ...] = ()
