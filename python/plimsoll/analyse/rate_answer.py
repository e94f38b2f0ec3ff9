"""What systems carry of the rates that were tried, and what that cannot decide, in whole sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.analyse.answer import TOLD_ONE_BY_ONE
from plimsoll.analyse.model import WorkloadSummary
from plimsoll.analyse.objective import judge_objective
from plimsoll.analyse.points import point_of
from plimsoll.analyse.prose import listed, p99_words, rate_with_bounds
from plimsoll.analyse.rate_model import RateCell, RateCurve
from plimsoll.analyse.size_model import Fit
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.units import format_duration, format_exact, format_ms, format_percent


def rate_answer(
    workloads: Sequence[WorkloadSummary], curves: Sequence[RateCurve], *, objective_ms_p99: float | None = None
) -> Iterator[str]:
    """For each workload, the system that carries most first."""
    for workload in workloads:
        own = [curve for curve in curves if curve.workload == workload.name]
        told = sorted(own, key=lambda curve: -(curve.carried_tps or 0.0))
        for curve in told[:1] if len(own) > TOLD_ONE_BY_ONE else told:
            yield f"{workload.name}: {curve.system} {_carried(curve, workload.rate_unit)}."
            if objective_ms_p99 is not None:
                yield f"{workload.name}: {_within(curve, objective_ms_p99, workload.rate_unit)}."
        if len(own) <= TOLD_ONE_BY_ONE:
            yield from _side_by_side(workload, own)


def _carried(curve: RateCurve, unit: str) -> str:
    if curve.carried_tps is None:
        low = curve.cells[0]
        return f"fell behind at the lowest rate that was tried: {_fell_behind(low, unit)}"
    best = next(cell for cell in curve.cells if cell.rate_tps == curve.carried_tps)
    carried = f"{_wanted(best.rate_tps, unit)}{_response(best)}"
    if not curve.bracketed:
        return f"carries every rate that was tried, up to {carried}"
    beyond = next(cell for cell in curve.cells if cell.rate_tps > best.rate_tps)
    return f"carries {carried}, and fell behind at the next rate: {_fell_behind(beyond, unit)}"


def _wanted(rate_tps: float, unit: str) -> str:
    return f"{format_exact(rate_tps * (60 if unit == 'tpm' else 1))} {unit}"


def _fell_behind(cell: RateCell, unit: str) -> str:
    done = rate_with_bounds(cell.throughput_tps, unit)
    dropped = f", and {cell.dropped_count:,} transactions were dropped" if cell.dropped_count else ""
    return f"of {_wanted(cell.rate_tps, unit)} it completed {done}{dropped}"


def _response(cell: RateCell) -> str:
    words = p99_words(cell.response_ms)
    return f", where {words}" if words else ""


def _within(curve: RateCurve, objective_ms_p99: float, unit: str) -> str:
    condition = f"with 99 % of transactions within {format_ms(objective_ms_p99)}, {curve.system} carries"
    keeping = [cell for cell in _carried_cells(curve) if _keeps(cell, objective_ms_p99)]
    if not keeping:
        return f"{condition} no rate that was tried"
    more = ", perhaps more at rates that were not tried" if keeping[-1] is curve.cells[-1] else ""
    return f"{condition} {_wanted(keeping[-1].rate_tps, unit)}{more}"


def _carried_cells(curve: RateCurve) -> list[RateCell]:
    return [cell for cell in curve.cells if curve.carried_tps is not None and cell.rate_tps <= curve.carried_tps]


def _keeps(cell: RateCell, objective_ms_p99: float) -> bool:
    return judge_objective(point_of(cell), objective_ms_p99)[0] is Fit.FITS


def _side_by_side(workload: WorkloadSummary, curves: Sequence[RateCurve]) -> Iterator[str]:
    """Response times of all systems at the highest rate that all of them carry."""
    carried = [{cell.rate_tps: cell for cell in _carried_cells(curve)} for curve in curves]
    common = set.intersection(*(set(cells) for cells in carried)) if len(carried) > 1 else set()
    if not common:
        return
    rate_tps = max(common)
    found = [(curve.system, cells[rate_tps].response_ms) for curve, cells in zip(curves, carried, strict=True)]
    times = [
        f"{'at least ' if 'p99' in one.lower_bounds else ''}{format_ms(one.p99)} on {system}"
        for system, one in found
        if one.p99 is not None
    ]
    if len(times) > 1:
        rate = _wanted(rate_tps, workload.rate_unit)
        yield f"{workload.name}: at {rate}, which all carry, 99 % of transactions took at most {listed(times)}."


def rate_limits(curves: Sequence[RateCurve], trials: Sequence[TrialSummary]) -> Iterator[str]:
    """What the rates that were tried cannot decide; nothing where none was."""
    if not curves:
        return
    if any(curve.bracketed and curve.carried_tps is not None for curve in curves):
        yield "Between the highest rate that a system carries and the next one that was tried nothing is known."
    if names := [f"{curve.system} ({curve.workload})" for curve in curves if not curve.bracketed]:
        yield f"How much more {listed(names)} would carry is unknown: no rate that was tried was too much."
    lengths_s = [one.outcome.account.duration_s for one in trials if one.outcome.account is not None]
    if lengths_s:
        ratio = max(one.trial.interval_s for one in trials) / min(lengths_s)
        yield (
            f"A rate less than {format_percent(ratio)} above what a system carries does not show as overload within "
            f"{format_duration(min(lengths_s))} of load: it may count as carried, and would not be for ever."
        )
    counts = sorted({curve.connections for curve in curves})
    yield (
        f"Rates were served by {listed([f'{count:,}' for count in counts])} connections: with more or fewer of them "
        "other rates may be carried. Response times carry no bounds."
    )
