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
        held_tps: Of a system that was compared by ramps: a rate that held in a steady run; None for none.
    """

    type: Literal["search_ended"] = "search_ended"
    search_id: str
    system: str
    workload: str
    repetition: int
    capacity_tps: float | None
    objective: CapacityObjective
    held_tps: float | None = None


class RatioSoFar(Document):
    """How two systems compare by their ramps so far.

    Attributes:
        ratio: Of what `system` bears to what `base` does.
        low: Lower end of its interval, which holds at every look; None while there is none.
        high: Upper end.
        is_disturbed: The machine was busier beside one of them.
    """

    base: str
    system: str
    ratio: float
    low: float | None = None
    high: float | None = None
    is_disturbed: bool = False


class RampsCompared(Document):
    """How systems compare by the pairs of ramps so far.

    Attributes:
        pair_count: So many pairs.
        ratios: Every two systems.
        remaining_s: About how long it will take at most.
    """

    type: Literal["ramps_compared"] = "ramps_compared"
    workload: str
    repetition: int
    pair_count: int
    ratios: tuple[RatioSoFar, ...]
    remaining_s: float


SearchEvent = SearchBegan | SearchProgressed | SearchEnded | SearchStopped | RampsCompared
"""Whatever is told of a search."""
