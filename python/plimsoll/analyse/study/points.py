"""What a curve says at a number of connections, and whether a response-time objective is met there.

What a curve says at a number of connections: measured there, or interpolated between two levels, never beyond them.
Assumption: between two neighbouring levels throughput and response time lie on a straight line. Real curves bend
downwards there more often than upwards below the peak, so that the line is rather too low than too high; around the
peak it may be too high. Confidence intervals are interpolated as well.

Whether a response-time objective is met at a point of a curve. Where the lag of a replica grows, nothing is sustained,
and no objective is met.

Failed, dropped and unfinished transactions count as over the objective: with more than 1 % of them, 99 % cannot be
within it. With fewer, the percentile decides, which is a little too kind where some failed. Unknown response times
meet nothing, and neither does a percentile that is known to be at least so much, and perhaps more. Where only the
percentiles of single runs are known, that of all runs together lies between the lowest and the highest: an objective
outside of them is decided.

What each system sustains while the study's response-time objective holds: the best measured level that keeps it. Only
measured levels count; where between two of them the objective begins to fail is not known. A curve whose last level
still keeps the objective may sustain more beyond it, and that is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from plimsoll.analyse.answers.size_model import Fit
from plimsoll.analyse.findings.finding_model import Finding, make_finding
from plimsoll.analyse.study.cell_model import Bounds, Cell, Estimate, SpreadKind
from plimsoll.analyse.study.conditions import together
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.trial.condition_model import Disturbance
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
    low_bounds, high_bounds = low.throughput_tps.bounds, high.throughput_tps.bounds
    if low_bounds is None or high_bounds is None:
        return None
    bases = {low_bounds.basis, high_bounds.basis}
    methods = " and ".join(dict.fromkeys((low_bounds.method, high_bounds.method)))
    return Bounds(
        low=low_bounds.low + share * (high_bounds.low - low_bounds.low),
        high=low_bounds.high + share * (high_bounds.high - low_bounds.high),
        confidence=min(low_bounds.confidence, high_bounds.confidence),
        basis=SpreadKind.WITHIN_RUN if SpreadKind.WITHIN_RUN in bases else bases.pop() if len(bases) == 1 else None,
        degrees=min(low_bounds.degrees, high_bounds.degrees) if low_bounds.degrees and high_bounds.degrees else None,
        method=f"interpolated between {low.level.connections} and {high.level.connections} connections: {methods}",
    )


ALLOWED_FAILED_RATIO = 0.01
"""More of the transactions that failed, were dropped or never ended, and 99 % of them cannot be within anything."""


class Fault(StrEnum):
    """Why an objective is not known to be met."""

    LAG_GROWS = "lag-grows"
    FAILED = "failed"
    TIMES_UNKNOWN = "times-unknown"
    TOO_SLOW = "too-slow"
    UNFINISHED = "unfinished"
    SINGLE_RUNS = "single-runs"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether an objective is met.

    Attributes:
        fault: None when it is.
        times_ms: The 99th percentile, or those of single runs, that decided.
    """

    fit: Fit
    fault: Fault | None = None
    times_ms: tuple[float, ...] = ()


def judge_objective(point: Point, response_p99_ms: float | None) -> Judgement:
    """Whether the response-time objective is met at a point; without one it is, unless a replica's lag grows."""
    if point.lag_grows:
        return Judgement(Fit.DOES_NOT_FIT, Fault.LAG_GROWS)
    if response_p99_ms is None:
        return Judgement(Fit.FITS)
    if point.failed_ratio > ALLOWED_FAILED_RATIO:
        return Judgement(Fit.DOES_NOT_FIT, Fault.FAILED)
    known_ms = point.single_runs_ms if point.response_p99_ms is None else (point.response_p99_ms,)
    return _judge_times(point, known_ms, response_p99_ms)


def _judge_times(point: Point, known_ms: tuple[float, ...], response_p99_ms: float) -> Judgement:
    if not known_ms:
        return Judgement(Fit.UNDECIDED, Fault.TIMES_UNKNOWN)
    if min(known_ms) > response_p99_ms:
        return Judgement(Fit.DOES_NOT_FIT, Fault.TOO_SLOW, known_ms)
    if point.is_lower_bound:
        return Judgement(Fit.UNDECIDED, Fault.UNFINISHED, known_ms)
    if max(known_ms) <= response_p99_ms:
        return Judgement(Fit.FITS, None, known_ms)
    return Judgement(Fit.UNDECIDED, Fault.SINGLE_RUNS, known_ms)


def within_objective(
    curves: Iterable[Curve],
    objective_ms_p99: float | None,
    *,
    only_best: bool = False,
    lost_by: Callable[[str], str | None] = lambda _: None,
) -> Iterator[Finding]:
    """One finding for each curve, or one for all where none keeps it; none without an objective.

    Args:
        curves: Of one workload and kind of load.
        objective_ms_p99: 99 % of transactions may take at most so long, milliseconds.
        lost_by: What a system may lose and another one does not.
        only_best: Only for the system that sustains most within it, if any does.
    """
    if objective_ms_p99 is None:
        return
    best_points = [(curve, best_within(curve, objective_ms_p99)) for curve in curves]
    if len(best_points) > 1 and all(
        best is None and _unknown(curve, objective_ms_p99) is None for curve, best in best_points
    ):
        yield _missed_by_all([curve for curve, _ in best_points], objective_ms_p99)
        return
    if only_best:
        best_points = [(curve, best) for curve, best in best_points if best is not None]
        best_points = sorted(best_points, key=lambda pair: -pair[1].throughput_tps.value if pair[1] else 0.0)[:1]
    for curve, best in best_points:
        yield make_finding(
            "within-objective",
            system=curve.system,
            workload=curve.workload,
            level=None if best is None else best.level,
            objective_ms_p99=objective_ms_p99,
            throughput_tps=None if best is None else best.throughput_tps,
            is_last_level=best is not None and best.level.order == curve.cells[-1].level.order,
            unknown=None if best is not None else _unknown(curve, objective_ms_p99),
            less_durable=None if best is None else lost_by(curve.system),
        )


def _missed_by_all(curves: Sequence[Curve], objective_ms_p99: float) -> Finding:
    """No system keeps it at any level; `system` and `level` are those that come nearest."""
    points = [(curve.system, point) for curve in curves for point in measured_points(curve)]
    known = [
        (point.response_p99_ms, system, point.level)
        for system, point in points
        if point.response_p99_ms is not None and point.response_p99_ms > objective_ms_p99
    ]
    lowest_ms, system, level = min(known, key=lambda candidate: candidate[0], default=(None, None, None))
    return make_finding(
        "objective-missed",
        system=system,
        workload=curves[0].workload,
        level=level,
        objective_ms_p99=objective_ms_p99,
        response_ms_p99=lowest_ms,
        systems_count=len(curves),
    )


def best_within(curve: Curve, objective_ms_p99: float) -> Point | None:
    """The best level of those that keep an objective; None when no level is known to."""
    keeping = [
        measured_point
        for measured_point in measured_points(curve)
        if judge_objective(measured_point, objective_ms_p99).fit is Fit.FITS
    ]
    if curve.kind.is_at_rate:
        return keeping[-1] if keeping else None
    return max(keeping, key=lambda point: point.throughput_tps.value, default=None)


def _unknown(curve: Curve, objective_ms_p99: float) -> str | None:
    """Why it is not known; None where it is known that no level keeps it."""
    points = measured_points(curve)
    if not points or any(judge_objective(point, objective_ms_p99).fit is not Fit.UNDECIDED for point in points):
        return None
    return "unfinished" if points[0].is_lower_bound else "response-times"
