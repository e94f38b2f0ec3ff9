"""From the parts of turns, as the engine sends them, to the interval and the row that a recording keeps of each turn.

An interval of a duet's recording is the counted part of one of its system's turns: so its length is the time that the
system ran, and everything that reads intervals counts that time and no other. Errors of the whole turn go with it, and
the durations of the transactions that ended in the drain: without them none would be longer than a turn.
Deliberately not here: whose turn it is when (`plan.duet`), freezing (`duet`), and the rate of a turn (`analyse.begun`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.analyse.begun import Begun, ResponseTimes, TurnEnds, begun_in
from plimsoll.analyse.histograms import SparseHistogram
from plimsoll.drive.merging import merge_measures
from plimsoll.drive.protocol import ErrorCount, GroupInterval, Histogram, Interval, Snapshot
from plimsoll.plan.duet import Turn
from plimsoll.run.rows import merged


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
        self._response_times: dict[int, ResponseTimes] = defaultdict(ResponseTimes)

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
        groups = [_whole(group, own["drain"], besides) for group in own["counted"]]
        interval = counted.model_copy(update={"index": index, "turn": None, "groups": groups})
        begun = self._begun(turn.side, own, (counted.to_ns - counted.from_ns) / 1e9)
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
            "begun": begun.count,
            "running_s": begun.running_s,
        }
        dropped = _sum([*own["counted"], *besides], "dropped")
        return TurnTaken(turn=turn, interval=interval, row=row, ended=completed + completed_besides + failed + dropped)

    def _begun(self, side: int, own: Mapping[str, Sequence[GroupInterval]], counted_s: float) -> Begun:
        """What began in the counted part; the response times of the whole turn are remembered."""
        response_times = self._response_times[side]
        response_times.add(_response_times([*own["lead"], *own["counted"], *own["drain"]]))
        ended = [*own["counted"], *own["drain"]]
        turn = TurnEnds(
            counted_s=counted_s,
            connections=sum(group.connected_count for group in own["counted"]),
            completed=_sum(ended, "completed"),
            failed=_sum(ended, "failed"),
            ages_before=_ages(own["lead"]),
            ages_after=_ages(own["counted"]),
            drained=_response_times(own["drain"]),
        )
        return begun_in(turn, response_times)


def _of(interval: Interval, instances: set[str]) -> list[GroupInterval]:
    return [group for group in interval.groups if group.instance in instances]


def _sum(groups: Iterable[GroupInterval], count: str) -> int:
    return sum(getattr(one.counts, count) for group in groups for one in group.snapshot.transactions.values())


def _response_times(groups: Iterable[GroupInterval]) -> SparseHistogram:
    """Of all transactions that completed."""
    return merged(one.histograms.get("response") for group in groups for one in group.snapshot.transactions.values())


def _ages(groups: Iterable[GroupInterval]) -> SparseHistogram:
    """Of all transactions in flight at the end of a part."""
    return merged(group.in_flight.get("response") for group in groups)


def _whole(group: GroupInterval, drained: Iterable[GroupInterval], besides: Iterable[GroupInterval]) -> GroupInterval:
    """The counted part of a group with all errors and the durations of what drained; nothing is in flight any more."""
    snapshots = [other.snapshot for other in drained if _is_same(group, other)]
    errors = [other.snapshot for other in besides if _is_same(group, other)]
    snapshot = Snapshot(
        transactions={
            name: one.model_copy(update={"histograms": merge_measures([one.histograms, *_durations(name, snapshots)])})
            for name, one in group.snapshot.transactions.items()
        },
        errors=_all_errors([group.snapshot, *errors]),
    )
    return group.model_copy(update={"snapshot": snapshot, "in_flight": {}})


def _durations(transaction: str, snapshots: Iterable[Snapshot]) -> Iterator[dict[str, Histogram]]:
    """Histograms of one transaction type, by measure."""
    return (one.transactions[transaction].histograms for one in snapshots if transaction in one.transactions)


def _is_same(group: GroupInterval, other: GroupInterval) -> bool:
    return (group.instance, group.role) == (other.instance, other.role)


def _all_errors(snapshots: Iterable[Snapshot]) -> list[ErrorCount]:
    counts: Counter[tuple[str | None, str, int]] = Counter()
    for one in snapshots:
        for error in one.errors:
            counts[error.transaction, error.error_class, error.code] += error.count
    return [
        ErrorCount.model_validate({"transaction": transaction, "class": kind, "code": code, "count": count})
        for (transaction, kind, code), count in counts.items()
    ]
