"""A row of the report: one quantity, ours beside a peer's, its goal, and whether that was met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bench.ratios import Bounded, bounded

Verdict = Literal["met", "likely met", "likely missed", "missed", "no goal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is wanted of a row.

    Attributes:
        of: Whether it is about the ratio to the peer, or about our own value.
        limit: In the row's unit, or a ratio.
        at_most: The limit is an upper one; a lower one otherwise.
    """

    of: Literal["ratio", "ours"]
    limit: float
    at_most: bool = True

    def text(self, unit: str) -> str:
        """As people read it."""
        sign = "<=" if self.at_most else ">="
        return f"{sign} {self.limit:g} {'x' if self.of == 'ratio' else unit}"

    def verdict(self, found: Bounded) -> Verdict:
        """Met or missed; only likely so when the bounds reach over the limit, or there are none."""
        met = self._holds(found.value)
        if found.low is None or found.high is None or self._holds(found.low) != self._holds(found.high):
            return "likely met" if met else "likely missed"
        return "met" if met else "missed"

    def _holds(self, value: float) -> bool:
        return value <= self.limit if self.at_most else value >= self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One quantity.

    Attributes:
        name: What was measured, with its level.
        unit: Of `ours` and `peer`.
        ours: Values, one for each pair.
        peer: The peer's, in the same order; None when there is no peer.
        goal: None when nothing is wanted of it.
        note: What a reader must know to read the row right.
    """

    name: str
    unit: str
    ours: Sequence[float]
    peer: Sequence[float] | None = None
    goal: Goal | None = None
    note: str = ""

    @property
    def value(self) -> Bounded:
        """Ours."""
        return bounded(self.ours)

    @property
    def ratio(self) -> Bounded | None:
        """Ours over the peer's."""
        if self.peer is None:
            return None
        return bounded([ours / peer for ours, peer in zip(self.ours, self.peer, strict=True)])

    @property
    def verdict(self) -> Verdict:
        """Whether the goal was met."""
        if self.goal is None:
            return "no goal"
        found = self.ratio if self.goal.of == "ratio" else self.value
        assert found is not None, "a goal about a ratio needs a peer"
        return self.goal.verdict(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Rows that belong together.

    Attributes:
        title: What they are about, and against whom.
        skipped: Why there are no rows; empty when there are.
        failed: What went wrong, so that there are no rows; empty when there are.
    """

    title: str
    rows: tuple[Row, ...] = ()
    skipped: str = ""
    failed: str = ""

    @property
    def without_rows(self) -> str:
        """Why there are no rows, as a sentence without its end; empty when there are."""
        return f"Skipped: {self.skipped}" if self.skipped else f"Failed: {self.failed}" if self.failed else ""
