"""A line for each test of storage that was measured, and what the storage of a study adds to its plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from plimsoll.units import format_duration, format_ms, format_number

if TYPE_CHECKING:
    from plimsoll.run.storage_events import StorageMeasured
    from plimsoll.spec.study import StudySpec


def measured_line(event: StorageMeasured) -> str:
    """What one test found."""
    depth = f", queue depth {event.queue_depth}" if event.test.has_depths else ""
    return (
        f"{event.name}: {event.test.value}{depth}: {format_number(event.per_s)} operations/s,"
        f" p99 {format_ms(event.ms_p99)}"
    )


def planned_storage(spec: StudySpec) -> Iterator[str]:
    """One line for each storage that is measured before the trials."""
    if not spec.storage:
        return
    from plimsoll.run.storage import duration_s

    for one in spec.storage:
        yield f"{one.label}: storage is measured before the trials, {format_duration(duration_s([one]))} and more"
