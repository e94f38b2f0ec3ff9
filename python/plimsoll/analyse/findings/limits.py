"""The limitations of what was measured, as findings: the other half of an honest answer.

What a disturbed machine withholds comes before everything else that is said of a workload.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from plimsoll.analyse.findings.doubts import PlacedWarning
from plimsoll.analyse.findings.finding_model import Finding, make_finding
from plimsoll.analyse.findings.machine import buffer_pool_bytes
from plimsoll.analyse.model import Difference
from plimsoll.analyse.study.capacity_model import CapacityRatio, SystemCapacity
from plimsoll.analyse.study.cell_model import Cell
from plimsoll.analyse.study.cells import MeasuredCell
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.study.ratios import BLOCKS_NEEDED
from plimsoll.analyse.trial.condition_model import UnlikeConditions, slow_figures
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.level import FittedBudget

_LONG_WINDOW_S = 300.0
"""InnoDB fills its redo log and reaches its checkpoint rhythm within minutes, not seconds."""


def limits(
    cells: Sequence[MeasuredCell],
    curves: Sequence[Curve],
    differences: Sequence[Difference],
    warnings: Sequence[PlacedWarning],
) -> Iterator[Finding]:
    """What cannot be decided: of rates first, then the gravest first."""
    trials = [trial for cell in cells for trial in cell.trials]
    closed = [cell for cell in cells if not cell.level.kind.is_at_rate]
    yield from _rates([curve for curve in curves if curve.kind.is_at_rate], trials)
    yield from _published(trials)
    yield from _repetitions(closed)
    yield from _in_turn(differences)
    yield from _undecided(differences)
    codes = {warning.code for warning in warnings}
    yield from (make_finding(code) for code in ("client-saturated", "client-on-server-host") if code in codes)
    yield from _peaks([curve for curve in curves if not curve.kind.is_at_rate])
    yield from _duration(trials)
    yield from _cached(trials)
    yield from _closed_loop(closed)


def fitted_limits(fitted: FittedBudget | None) -> Iterator[Finding]:
    """That fewer repetitions were measured than the study asks for."""
    if fitted is not None:
        yield make_finding("repetitions-fitted", **fitted.model_dump())


def _rates(curves: Sequence[Curve], trials: Sequence[TrialSummary]) -> Iterator[Finding]:
    at_rates = [trial for trial in trials if trial.trial.level.kind.is_at_rate]
    if any(curve.peak is not None and curve.peak.is_inside_range for curve in curves):
        yield make_finding("between-rates")
    open_ended = [curve for curve in curves if curve.peak is not None and not curve.peak.is_inside_range]
    if open_ended:
        yield make_finding("highest-rate-unknown", curves=_places(open_ended))
    lengths_s = [trial.outcome.account.duration_s for trial in at_rates if trial.outcome.account is not None]
    if lengths_s:
        excess_ratio = max(trial.trial.interval_s for trial in at_rates) / min(lengths_s)
        yield make_finding("slow-overload", excess_ratio=excess_ratio, load_s=min(lengths_s))
    if curves:
        counts = sorted({curve.cells[0].level.connections for curve in curves})
        yield make_finding("rates-served-by", connections=tuple(counts))


def _places(curves: Sequence[Curve]) -> tuple[tuple[str, str], ...]:
    return tuple((curve.system, curve.workload) for curve in curves)


def _published(trials: Sequence[TrialSummary]) -> Iterator[Finding]:
    published = [trial for trial in trials if trial.is_published]
    if not published:
        return
    yield make_finding("published-figures")
    all_count = len({trial.trial.system.name for trial in trials})
    silences: tuple[tuple[str, Callable[[Mapping[str, float]], bool]], ...] = (
        ("response-times-unknown", lambda stated: not stated),
        ("p99-unknown", lambda stated: bool(stated) and "p99" not in stated),
    )
    for code, is_silent in silences:
        if silent := {trial.trial.system.name for trial in published if is_silent(_stated(trial))}:
            yield make_finding(code, systems=tuple(sorted(silent)), is_every_system=len(silent) == all_count)


def _stated(trial: TrialSummary) -> Mapping[str, float]:
    return trial.outcome.reported.response_ms if trial.outcome.reported is not None else {}


def _repetitions(cells: Sequence[MeasuredCell]) -> Iterator[Finding]:
    unbounded = sum(cell.throughput.spread is None for cell in cells)
    within = sum(1 for cell in cells if cell.throughput.spread and not cell.throughput.spread.seen_between_runs)
    for code, count in (("no-intervals", unbounded), ("intervals-within-run", within)):
        if count:
            yield make_finding(code, cells_count=count, all_count=len(cells))


def _in_turn(differences: Sequence[Difference]) -> Iterator[Finding]:
    """Environments of which one was measured in a single block: nothing tells them from the times."""
    counts: dict[str, int] = {}
    for difference in differences:
        if difference.blocks is not None:
            for name, count in zip(difference.blocks.environments, difference.blocks.counts, strict=True):
                counts[name] = min(count, counts.get(name, count))
    if counts:
        names = tuple(sorted(counts, key=lambda name: (counts[name], name)))
        few = tuple(name for name in names if counts[name] < BLOCKS_NEEDED)
        if few:
            yield make_finding("environments-once", environments=names, few=few)
        else:
            yield make_finding("environments-in-turn", environments=names, blocks_count=min(counts.values()))


def _undecided(differences: Sequence[Difference]) -> Iterator[Finding]:
    peaks = [difference for difference in differences if difference.level is None]
    count = sum(peak.verdict is RatioVerdict.UNRESOLVED for peak in peaks)
    if count:
        is_duet = any(difference.duet is not None for difference in differences)
        yield make_finding("comparisons-undecided", undecided_count=count, all_count=len(peaks), is_duet=is_duet)


def _peaks(curves: Sequence[Curve]) -> Iterator[Finding]:
    single = sorted({curve.cells[0].level.connections for curve in curves if len(curve.cells) == 1})
    if single:
        yield make_finding("one-level", connections=tuple(single))
    open_ended = [
        curve for curve in curves if curve.peak is not None and not curve.peak.is_inside_range and len(curve.cells) > 1
    ]
    if open_ended:
        is_every = len(open_ended) == len(curves) > 3
        yield make_finding("peak-unknown", curves=_places(open_ended), is_every_curve=is_every)


def _duration(trials: Sequence[TrialSummary]) -> Iterator[Finding]:
    lengths_s = [trial.counts.duration_s for trial in trials if trial.counts is not None]
    if lengths_s and max(lengths_s) < _LONG_WINDOW_S:
        yield make_finding("short-windows", window_s_max=max(lengths_s))


def _cached(trials: Sequence[TrialSummary]) -> Iterator[Finding]:
    fits = [
        instance.data_bytes <= pool_bytes
        for trial in trials
        for instance in trial.environment.instances
        if instance.data_bytes is not None and (pool_bytes := buffer_pool_bytes(instance)) is not None
    ]
    if fits and all(fits):
        yield make_finding("data-in-memory")


def _closed_loop(cells: Sequence[MeasuredCell]) -> Iterator[Finding]:
    measured = [(cell.level.kind.client, trial) for cell in cells for trial in cell.trials if trial.counts is not None]
    if not measured:
        return
    clients = {client for client, _ in measured}
    options = [trial.trial.workload.options for _, trial in measured]
    yield make_finding(
        "closed-loop",
        client=clients.pop() if len(clients) == 1 else "connection",
        has_pauses=all("think_time" in option or bool(option.get("times")) for option in options),
    )


def disturbance_answer(
    curves: Sequence[Curve],
    compared: Sequence[Difference],
    searched: Sequence[SystemCapacity] = (),
    ratios: Sequence[CapacityRatio] = (),
) -> Iterator[Finding]:
    """Comparisons without a winner, and figures that are not those of their systems."""
    for workload in dict.fromkeys(
        [*(curve.workload for curve in curves), *(capacity.workload for capacity in searched)]
    ):
        pairs: list[Difference | CapacityRatio] = [*compared, *ratios]
        pairs = [pair for pair in pairs if pair.workload == workload]
        figures: list[tuple[str, Cell | SystemCapacity]] = [
            (curve.system, cell) for curve in curves if curve.workload == workload for cell in curve.cells
        ]
        figures += [(capacity.system, capacity) for capacity in searched if capacity.workload == workload]
        unlike = [(pair.base, pair.system, pair.unlike) for pair in pairs if pair.unlike is not None]
        disturbed = [
            (system, figure.disturbance) for system, figure in figures if figure.is_disturbed and figure.disturbance
        ]
        systems = tuple(dict.fromkeys(system for system, _ in disturbed))
        if unlike:
            base, system, conditions = max(unlike, key=lambda comparison: comparison[2].contrast_ratio)
            yield make_finding(
                "disturbed",
                workload=workload,
                systems=systems,
                comparisons_count=len(unlike),
                compared_count=len(pairs),
                **unlike_figures(base, system, conditions),
            )
        elif disturbed:
            slower, worst = max(disturbed, key=lambda item: item[1].slowness)
            yield make_finding("disturbed", workload=workload, systems=systems, slower=slower, **slow_figures(worst))


def unlike_figures(base: str, system: str, unlike_conditions: UnlikeConditions) -> dict[str, Any]:
    """What the side on the slower machine met, and how slow it was for the other."""
    is_base = unlike_conditions.base.slowness > unlike_conditions.system.slowness
    slower, other = (
        (unlike_conditions.base, unlike_conditions.system)
        if is_base
        else (unlike_conditions.system, unlike_conditions.base)
    )
    return {
        "slower": base if is_base else system,
        "other": system if is_base else base,
        **slow_figures(slower),
        "other_slowness": other.slowness,
        "other_slow_ratio": other.slow_ratio,
    }
