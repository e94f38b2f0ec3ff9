"""What happens while a search for a capacity runs within a study, as events (`events`)."""

from __future__ import annotations

from typing import Literal

from plimsoll.record.capacity import CapacityObjective, CapacityRun
from plimsoll.record.document import Document


class SearchBegan(Document):
    """A search for a capacity begins, or goes on where it stopped."""

    type: Literal["search_began"] = "search_began"
    search_id: str
    system: str
    workload: str
    repetition: int


class SearchProgressed(Document):
    """Where a search stands after a run.

    Attributes:
        run: The last one.
        low_tps: The highest rate that held so far; 0 where none did.
        high_tps: The lowest rate that did not hold; None where all held.
        remaining_s: About how long this search will still take.
    """

    type: Literal["search_progressed"] = "search_progressed"
    search_id: str
    system: str
    workload: str
    repetition: int
    run: CapacityRun
    low_tps: float
    high_tps: float | None
    remaining_s: float


class SearchStopped(Document):
    """A search stopped without an answer, since a run of it must not be believed; the study goes on with others."""

    type: Literal["search_stopped"] = "search_stopped"
    search_id: str
    system: str
    workload: str
    repetition: int
    reason: str


class SearchEnded(Document):
    """A search came to an answer.

    Attributes:
        capacity_tps: The rate at which the objective is just kept; None where none was found.
        objective: What had to hold.
    """

    type: Literal["search_ended"] = "search_ended"
    search_id: str
    system: str
    workload: str
    repetition: int
    capacity_tps: float | None
    objective: CapacityObjective


SearchEvent = SearchBegan | SearchProgressed | SearchEnded | SearchStopped
"""Whatever is told of a search."""
