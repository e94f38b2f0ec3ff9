"""A trial that no figure of an analysis includes."""

from __future__ import annotations

from plimsoll.record.document import Document
from plimsoll.record.level import Level


class MissingTrial(Document):
    """A trial that is no part of any number here, and why.

    Attributes:
        trial_id: Name of its recording, or that which it would have.
        system: Empty when its recording does not even say that; so is the workload, and the level is null.
        workload: Its workload.
        level: Its level.
        repetition: 0, 1, 2, ...; None when not known.
        reason: Why it is missing.
        has_run: False for a planned trial of which there is no recording.
        replaced_by: The trial that measured it again and counts in its place; null for none.
    """

    trial_id: str
    system: str
    workload: str
    level: Level | None = None
    repetition: int | None = None
    reason: str
    has_run: bool = True
    replaced_by: str | None = None
