"""How a trial goes, in so few points that a page can draw it: the same for one that runs and one that is over.

Intervals come in one by one, from a running trial or from a recording. A point covers one interval at first. When there
are too many points, neighbours become one, and each covers twice as long: so eight hours are as many points as ten
minutes. Percentiles are never averaged: those of a point are of all transactions that ended in the 10 s before its end,
or within the point where that is longer, from merged histograms. Deliberately not here: where intervals come from
(`moments`), and what a page looks like.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plimsoll.analyse.trial.histograms import NOTHING, SparseHistogram, merge, percentile_ms
from plimsoll.record.histograms import BUCKET_COUNT
from plimsoll.record.model import State

POINTS_MAX = 600
"""A page has no more pixels than that for a chart, and a phone has half as many."""

RECENT_S = 10.0
"""Percentiles of a second alone say little of the 99th of a hundred."""

SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

MEANS = frozenset(("machine", "server", "client", "steal"))
"""Gauges whose point is the mean of its intervals; of all others it is the largest."""

GAUGES = (
    "waiting",
    "in_flight",
    "connected",
    "machine",
    "server",
    "client",
    "steal",
    "dirty",
    "checkpoint_age",
    "history",
    "lag",
)
"""What a page shows besides transactions, errors and times; docs/serve.md says what each is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One interval of a trial.

    Attributes:
        unix_s: When it ended, wall clock.
        length_s: Its length, seconds.
        counts: It is part of the measured window. What comes after that has its state and does not count.
        completed: Transactions that completed.
        failed: Transactions that failed or were dropped.
        errors: Failed statements by their class and code, as people read it.
        response: Response times of what completed.
        gauges: By the names of `GAUGES`; without those that are not known.
    """

    index: int
    unix_s: float
    length_s: float
    state: State
    counts: bool
    completed: int
    failed: int
    errors: Mapping[str, int]
    response: SparseHistogram
    gauges: Mapping[str, float]


class _Tally:
    """Response times that come and go, one bucket after the other."""

    def __init__(self) -> None:
        self._counts = np.zeros(BUCKET_COUNT, dtype=np.int64)
        self._max_ns = 0

    def add(self, response: SparseHistogram) -> None:
        self._counts[response.buckets] += response.counts
        self._max_ns = max(self._max_ns, response.max_ns)

    def remove(self, response: SparseHistogram) -> None:
        self._counts[response.buckets] -= response.counts

    def take(self) -> SparseHistogram:
        """All that were added; afterwards there are none."""
        taken, self._max_ns = self.histogram, 0
        self._counts[taken.buckets] = 0
        return taken

    @property
    def histogram(self) -> SparseHistogram:
        used = np.flatnonzero(self._counts)
        return SparseHistogram(used, self._counts[used], 0.0, self._max_ns)

    @property
    def times_ms(self) -> Times:
        return _times_ms(self.histogram)


Times = tuple[float | None, ...]
"""Percentiles of response time by `SHARES`, milliseconds."""


def _times_ms(response: SparseHistogram) -> Times:
    return tuple(percentile_ms(response, share) for share in SHARES.values())


@dataclass(slots=True)
class _Point:
    """Some intervals that follow each other.

    Attributes:
        response: Empty while the point is not full: its course then has them.
        times_ms: Of the last `RECENT_S` before its end, or of the point where that is longer.
    """

    end_unix_s: float
    length_s: float
    count: int
    state: State
    completed: int
    failed: int
    errors_count: int
    gauges: dict[str, float]
    response: SparseHistogram = NOTHING
    times_ms: Times = (None,) * len(SHARES)

    def joined(self, later: _Point) -> _Point:
        """This point and the next one as one."""
        count, length_s = self.count + later.count, self.length_s + later.length_s
        gauges = {**self.gauges, **later.gauges}
        for name in self.gauges.keys() & later.gauges.keys():
            pair = self.gauges[name], later.gauges[name]
            mean = (pair[0] * self.count + pair[1] * later.count) / count
            gauges[name] = mean if name in MEANS else max(pair)
        response = merge([self.response, later.response]) or NOTHING
        return _Point(
            end_unix_s=later.end_unix_s,
            length_s=length_s,
            count=count,
            state=later.state if later.length_s >= self.length_s / 2 else self.state,
            completed=self.completed + later.completed,
            failed=self.failed + later.failed,
            errors_count=self.errors_count + later.errors_count,
            gauges=gauges,
            response=response,
            times_ms=_times_ms(response) if length_s > RECENT_S else later.times_ms,
        )


@dataclass(slots=True)
class _Sum:
    """What happened in the intervals that count."""

    duration_s: float = 0.0
    completed: int = 0
    failed: int = 0
    response: _Tally = field(default_factory=_Tally)

    def add(self, moment: Moment) -> None:
        self.duration_s += moment.length_s
        self.completed += moment.completed
        self.failed += moment.failed
        self.response.add(moment.response)

    def document(self) -> dict[str, Any] | None:
        """Its figures; None before anything was measured."""
        if not self.duration_s:
            return None
        return {
            "duration_s": self.duration_s,
            "completed": self.completed,
            "failed": self.failed,
            "tps": self.completed / self.duration_s,
            **dict(zip(SHARES, self.response.times_ms, strict=True)),
        }


class Course:
    """Takes intervals in, and gives what a page draws.

    Attributes:
        revision: Rises when earlier points changed; a page then needs all of them again.
        last_index: Of the last interval; -1 before the first.
    """

    def __init__(self, points_max: int = POINTS_MAX) -> None:
        """Takes how many points there may be, an even number."""
        self.revision = 0
        self.last_index = -1
        self._points_max, self._per_point = points_max, 1
        self._points: list[_Point] = []
        self._recent: deque[Moment] = deque()
        self._recent_response, self._open_response = _Tally(), _Tally()
        self._errors: Counter[str] = Counter()
        self._measured = _Sum()
        self._began_unix_s = self._length_s = 0.0
        self._last: Moment | None = None

    def add(self, moment: Moment) -> None:
        """Takes the next interval in; one that is not later than the last is passed over."""
        if moment.index <= self.last_index:
            return
        if self._last is None:
            self._length_s = moment.length_s
            self._began_unix_s = moment.unix_s - moment.length_s * (moment.index + 1)
        self.last_index, self._last = moment.index, moment
        self._errors.update(moment.errors)
        if moment.counts:
            self._measured.add(moment)
        self._recent.append(moment)
        self._recent_response.add(moment.response)
        while self._recent[0].unix_s <= moment.unix_s - RECENT_S + moment.length_s / 2:
            self._recent_response.remove(self._recent.popleft().response)
        self._place(moment)

    def _place(self, moment: Moment) -> None:
        point = _Point(
            end_unix_s=moment.unix_s,
            length_s=moment.length_s,
            count=1,
            state=moment.state,
            completed=moment.completed,
            failed=moment.failed,
            errors_count=sum(moment.errors.values()),
            gauges=dict(moment.gauges),
        )
        if self._points and self._points[-1].count < self._per_point:
            self._points[-1] = self._points[-1].joined(point)
        elif self._points and moment.length_s < self._length_s / 2:  # the rest of the last interval of all
            self._points[-1] = replace(self._points[-1].joined(point), count=self._points[-1].count)
        else:
            if len(self._points) == self._points_max:
                self._halve()
            self._points.append(point)
        self._open_response.add(moment.response)
        if self._points[-1].count >= self._per_point:
            point = self._points[-1]
            point.response = merge([point.response, self._open_response.take()]) or NOTHING
            is_long = point.length_s > RECENT_S
            point.times_ms = _times_ms(point.response) if is_long else self._recent_response.times_ms

    def _halve(self) -> None:
        """Makes one point of each two neighbours."""
        pairs = zip(self._points[::2], self._points[1::2], strict=True)
        self._points = [first.joined(second) for first, second in pairs]
        self._per_point *= 2
        self.revision += 1

    def _open_times_ms(self) -> Times:
        """Those of the last point, as far as it goes."""
        is_long = self._points[-1].length_s > RECENT_S
        return (self._open_response if is_long else self._recent_response).times_ms

    @property
    def points_count(self) -> int:
        """How many points there are."""
        return len(self._points)

    def document(self, since: int = 0) -> dict[str, Any]:
        """What a page draws, as JSON.

        Args:
            since: Points before that one are left out: the page has them.
        """
        if self._points and self._points[-1].count < self._per_point:
            self._points[-1].times_ms = self._open_times_ms()
        points = self._points[since:]
        recent_errors: Counter[str] = Counter()
        for moment in self._recent:
            recent_errors.update(moment.errors)
        return {
            "revision": self.revision,
            "since": since,
            "began_unix_s": self._began_unix_s,
            "intervals": self.last_index + 1,
            "state": None if self._last is None else str(self._last.state),
            "errors": [[name, count, recent_errors[name]] for name, count in self._errors.most_common(20)],
            "measured": self._measured.document(),
            "columns": _columns(points, self._began_unix_s),
        }


def _columns(points: Sequence[_Point], began_unix_s: float) -> dict[str, list[Any]]:
    """A value for each point, by name; None where it is not known."""
    times = [point.times_ms for point in points]
    columns: dict[str, list[Any]] = {
        "at_s": [round(point.end_unix_s - began_unix_s, 3) for point in points],
        "length_s": [round(point.length_s, 3) for point in points],
        "state": [str(point.state) for point in points],
        "tps": [point.completed / max(point.length_s, 1e-9) for point in points],
        **{name: [times_ms[place] for times_ms in times] for place, name in enumerate(SHARES)},
        "errors": [point.errors_count / max(point.length_s, 1e-9) for point in points],
        "failed": [point.failed / max(point.length_s, 1e-9) for point in points],
    }
    return columns | {name: [point.gauges.get(name) for point in points] for name in GAUGES}
