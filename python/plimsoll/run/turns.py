"""From the parts of turns, as the engine sends them, to the interval and the row that a recording keeps of each turn.

An interval of a duet's recording is the counted part of one of its system's turns: so its length is the time that the
system ran, and everything that reads intervals counts that time and no other. Errors of the whole turn go with it.
Deliberately not here: whose turn it is when (`plan.duet`), and freezing (`duet`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.drive.protocol import ErrorCount, GroupInterval, Interval
from plimsoll.plan.duet import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTaken:
    """A turn that is over.

    Attributes:
        turn: Which.
        interval: Its counted part, with the groups of its side and the errors of the whole turn.
        row: What `turns.parquet` keeps of it, besides its place.
        ended: How many transactions completed, failed or were dropped in the whole turn.
    """

    turn: Turn
    interval: Interval
    row: dict[str, Any]
    ended: int


class TurnParts:
    """Gathers the parts of the running turn."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Interval]] = {}

    def add(self, part: Interval) -> None:
        """Takes a part in; what belongs to no turn is passed over."""
        if part.turn is not None:
            self._parts.setdefault(part.turn.part, []).append(part)

    def take(self, turn: Turn, *, index: int, instances: Iterable[str], against: str) -> TurnTaken | None:
        """The turn whose parts were gathered; afterwards there are none. None where it did not come to its end.

        Args:
            turn: Which one it was.
            index: Of its interval in the recording.
            instances: Of its side.
            against: The other system of its pair.
        """
        parts, self._parts = self._parts, {}
        if not {"lead", "counted", "drain"} <= parts.keys():
            return None
        named = set(instances)
        own = {part: [group for one in found for group in _of(one, named)] for part, found in parts.items()}
        counted, besides = parts["counted"][0], [*own["lead"], *own["drain"]]
        interval = counted.model_copy(
            update={"index": index, "turn": None, "groups": _with_errors(own["counted"], besides)}
        )
        completed = _sum(own["counted"], "completed")
        completed_besides = _sum(besides, "completed")
        failed = _sum([*own["counted"], *besides], "failed")
        row = {
            "interval": index,
            "pair": turn.pair,
            "position": turn.position,
            "against": against,
            "from_s": parts["lead"][0].from_ns / 1e9,
            "counted_from_s": counted.from_ns / 1e9,
            "to_s": counted.to_ns / 1e9,
            "drained_s": parts["drain"][-1].to_ns / 1e9,
            "completed": completed,
            "completed_besides": completed_besides,
            "failed": failed,
        }
        dropped = _sum([*own["counted"], *besides], "dropped")
        return TurnTaken(turn=turn, interval=interval, row=row, ended=completed + completed_besides + failed + dropped)


def _of(interval: Interval, instances: set[str]) -> list[GroupInterval]:
    return [group for group in interval.groups if group.instance in instances]


def _sum(groups: Iterable[GroupInterval], count: str) -> int:
    return sum(getattr(one.counts, count) for group in groups for one in group.snapshot.transactions.values())


def _with_errors(counted: Sequence[GroupInterval], besides: Sequence[GroupInterval]) -> list[GroupInterval]:
    """The groups of the counted part with all errors, and without what was in flight: all of that ended."""
    return [_one_with_errors(group, [other for other in besides if _is_same(group, other)]) for group in counted]


def _is_same(group: GroupInterval, other: GroupInterval) -> bool:
    return (group.instance, group.role) == (other.instance, other.role)


def _one_with_errors(group: GroupInterval, others: Sequence[GroupInterval]) -> GroupInterval:
    counts: Counter[tuple[str | None, str, int]] = Counter()
    for one in (group, *others):
        for error in one.snapshot.errors:
            counts[error.transaction, error.error_class, error.code] += error.count
    errors = [
        ErrorCount.model_validate({"transaction": transaction, "class": kind, "code": code, "count": count})
        for (transaction, kind, code), count in counts.items()
    ]
    return group.model_copy(update={"snapshot": group.snapshot.model_copy(update={"errors": errors}), "in_flight": {}})
