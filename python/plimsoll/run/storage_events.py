"""What happens while the storage of a study is measured, as values of `events.jsonl`."""

from __future__ import annotations

from typing import Literal

from plimsoll.record.document import Document
from plimsoll.record.storage import StorageMeasurement, StorageRecord, StorageTest


class StorageMeasured(Document):
    """One test of one path was measured.

    Attributes:
        name: Of the path, as the study calls it.
        per_s: Operations in each second, reads and writes together.
        ms_p99: 99th percentile of the slower kind; of commit-like writes that of the flush.
    """

    type: Literal["storage_measured"] = "storage_measured"
    name: str
    test: StorageTest
    queue_depth: int
    per_s: float
    ms_p99: float


def told(record: StorageRecord, one: StorageMeasurement) -> StorageMeasured:
    """The event of a measurement."""
    both = [figures for figures in (one.read, one.write) if figures is not None]
    timed = both if one.flush is None else [one.flush]
    return StorageMeasured(
        name=record.name,
        test=one.test,
        queue_depth=one.queue_depth,
        per_s=sum(figures.per_s for figures in both),
        ms_p99=max((figures.ms_p99 for figures in timed), default=0.0),
    )
