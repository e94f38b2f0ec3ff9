"""What a curve says at a number of connections: measured there, or interpolated between two levels, never beyond them.

Assumption: between two neighbouring levels throughput and response time lie on a straight line. Real curves bend
downwards there more often than upwards below the peak, so that the line is rather too low than too high; around the
peak it may be too high. Confidence intervals are interpolated as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from plimsoll.analyse.cell_model import Bounds, Cell, Estimate, SpreadKind
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.disturbance import together
from plimsoll.analyse.disturbance_model import Disturbance
from plimsoll.record.level import Level


@dataclass(frozen=True, slots=True)
class Point:
    """A place on a curve.

    Attributes:
        is_lower_bound: The response time is one: some transactions had not ended.
        has_unfinished: Some of those never ended.
        failed_ratio: Transactions that failed, were dropped or never ended over all that were due, 0..1.
        single_runs_ms: Where there is no 99th percentile of all trials together, that of each: it lies between them.
        between: The two measured levels that it was interpolated from; None when it was measured.
        repetitions_ms: The 99th percentile of each repetition, those of the slower level where it was interpolated;
            empty where one is unknown.
        lag_grows: The lag of a replica grew there, so that it is not sustained.
        disturbance: What its trials met, where that was so slow for so long that the figures are not the system's; None
            otherwise.
    """

    level: Level
    throughput_tps: Estimate
    response_p99_ms: float | None
    failed_ratio: float
    is_lower_bound: bool = False
    has_unfinished: bool = False
    between: tuple[int, int] | None = None
    single_runs_ms: tuple[float, ...] = ()
    repetitions_ms: tuple[float, ...] = ()
    lag_grows: bool = False
    disturbance: Disturbance | None = None

    @property
    def sure_tps(self) -> float:
        """What is surely sustained: the lower end of the interval, or the figure itself where there is none."""
        bounds = self.throughput_tps.bounds
        return self.throughput_tps.value if bounds is None else bounds.low

    @property
    def possible_tps(self) -> float:
        """What may be sustained: the upper end of the interval, or the figure itself where there is none."""
        bounds = self.throughput_tps.bounds
        return self.throughput_tps.value if bounds is None else bounds.high


def measured_points(curve: Curve) -> list[Point]:
    """All levels of a curve at which a system could be run, rising: of rates those that it sustains."""
    return [point_of(cell) for cell in curve.sustained]


def point_at(curve: Curve, connections: int) -> Point | None:
    """The place of a curve at so many connections; None outside of the measured levels."""
    points = measured_points(curve)
    for point in points:
        if point.level.connections == connections:
            return point
    for low, high in pairwise(points):
        if low.level.connections < connections < high.level.connections:
            return _interpolated(low, high, connections)
    return None


def point_of(cell: Cell) -> Point:
    """What a cell says of itself."""
    lost = cell.failed_count + cell.dropped_count + cell.unfinished_count
    due = cell.completed_count + lost
    response = cell.response_ms
    each = response.single_runs.get("p99", ())
    return Point(
        cell.level,
        cell.throughput_tps,
        response.p99,
        lost / due if due else 0.0,
        is_lower_bound="p99" in response.lower_bounds,
        has_unfinished=cell.unfinished_count > 0,
        single_runs_ms=each if len(each) == cell.throughput_tps.trial_count else (),
        repetitions_ms=cell.repetitions_ms_p99,
        lag_grows=bool(cell.growing_replicas),
        disturbance=cell.disturbance if cell.is_disturbed else None,
    )


def _interpolated(low: Point, high: Point, connections: int) -> Point:
    share = (connections - low.level.connections) / (high.level.connections - low.level.connections)

    def line(start: float, end: float) -> float:
        return start + share * (end - start)

    known = low.response_p99_ms is not None and high.response_p99_ms is not None
    return Point(
        Level(connections=connections),
        Estimate(
            value=line(low.throughput_tps.value, high.throughput_tps.value),
            bounds=_bounds(low, high, share),
            trial_count=min(low.throughput_tps.trial_count, high.throughput_tps.trial_count),
        ),
        line(low.response_p99_ms or 0.0, high.response_p99_ms or 0.0) if known else None,
        max(low.failed_ratio, high.failed_ratio),
        is_lower_bound=low.is_lower_bound or high.is_lower_bound,
        has_unfinished=low.has_unfinished or high.has_unfinished,
        between=(low.level.connections, high.level.connections),
        repetitions_ms=max(low.repetitions_ms, high.repetitions_ms, key=lambda times: sum(times) / len(times))
        if low.repetitions_ms and high.repetitions_ms
        else (),
        lag_grows=low.lag_grows or high.lag_grows,
        disturbance=together((low.disturbance, high.disturbance)),
    )


def _bounds(low: Point, high: Point, share: float) -> Bounds | None:
    one, other = low.throughput_tps.bounds, high.throughput_tps.bounds
    if one is None or other is None:
        return None
    bases = {one.basis, other.basis}
    methods = " and ".join(dict.fromkeys((one.method, other.method)))
    return Bounds(
        low=one.low + share * (other.low - one.low),
        high=one.high + share * (other.high - one.high),
        confidence=min(one.confidence, other.confidence),
        basis=SpreadKind.WITHIN_RUN if SpreadKind.WITHIN_RUN in bases else bases.pop() if len(bases) == 1 else None,
        degrees=min(one.degrees, other.degrees) if one.degrees and other.degrees else None,
        method=f"interpolated between {low.level.connections} and {high.level.connections} connections: {methods}",
    )
