"""How throughput scales with connections: which law fits, where the peak is, how far the curve continues.

The law with the lowest AICc is chosen. A peak is stated inside the measured range only when the USL is that law and
the whole 95 % interval of its peak lies there; outside when the whole interval does. A law does not fit when residuals
as large as these have a chance below 1 % (F test for lack of fit) and exceed 5 %. A curve may be continued to twice
its last level only when nothing speaks against it: see `Caution`.

A step is superlinear when throughput per connection rises by at least 5 % and beyond noise (one-sided t test within
repetitions, Bonferroni over the steps, 5 %).

Sources: Gunther 2007, chapters 4 and 5; Hurvich and Tsai 1989. Fits and bootstrap: `stats.scaling_laws`.

The levels of a curve, one by one: scale factor, efficiency and throughput per processor. The scale factor is
throughput over that of the lowest level, efficiency is the scale factor over the factor of connections. Throughput per
processor is over the processors that were kept busy, by the server alone where its processor time is known: a client
on the same machine is then left out.

Steps of a curve at which throughput rose by more than the connections did, and their likely reason. More work for each
connection cannot come from the connections: either transactions became cheaper, because work is done for several at
once (group commit, interrupts, wake-ups), which shows as less processor time per transaction; or the machine was slow
to wake while it had little to do (idle states, halt polling of a virtual machine), which shows as the same processor
time per transaction beside idle processors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.analyse.explain.scaling_model import (
    Caution,
    LawFit,
    Region,
    Scalability,
    ScalingLevel,
    ScalingVerdict,
    SuperlinearReason,
    SuperlinearStep,
)
from plimsoll.analyse.explain.where_time import OTHERS_RATIO
from plimsoll.analyse.findings.client import CLIENT_ON_SERVER_HOST, CLIENT_SATURATED
from plimsoll.analyse.findings.doubts import PlacedWarning
from plimsoll.analyse.study.cell_model import Bounds, Cell, Estimate, SpreadKind
from plimsoll.analyse.study.cells import MeasuredCell
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.ratios import log_ratio
from plimsoll.analyse.trial.processors import servers_host, shares_processors
from plimsoll.record.environment import HostFacts
from plimsoll.record.level import LevelKind
from plimsoll.stats.scaling_laws import (
    Fitted,
    Floats,
    Law,
    Levels,
    bootstrap,
    corrected_aic,
    fit,
    levels_of,
    log_law,
    misfit_probability,
    peak_connections,
)
from plimsoll.stats.variance import quantile_t

LEVELS_NEEDED = 4
"""One more than the USL has parameters."""

_MISFIT_PROBABILITY = 0.01
_MISFIT_RATIO = 0.05
_WIDE_BAND_RATIO = 0.25
_CONTINUED = 2.0
"""A curve may be continued to so many times its last level at most."""

_PERCENT = (2.5, 97.5)


@dataclass(frozen=True, slots=True)
class CurveFits:
    """What the fits of one curve say.

    Attributes:
        chosen: The law with the lowest AICc; None with too few levels.
        peak: Where the USL puts the peak, and its 95 % interval; infinite where it has none.
        shapes: Bootstrap of the chosen law, (draws, 2).
        log_scales: Of lambda, (draws,).
    """

    verdict: ScalingVerdict
    chosen: Fitted | None = None
    probability: float | None = None
    peak: tuple[float, float, float] = (math.inf, math.inf, math.inf)
    shapes: Floats | None = None
    log_scales: Floats | None = None

    def band(self, connections: Floats) -> Floats:
        """Lower and upper edge of the throughput at each number of connections, (2, levels)."""
        assert self.shapes is not None, "no law was fitted"
        assert self.log_scales is not None, "it was drawn with the shapes"

        drawn = self.log_scales[:, None] + log_law(connections, self.shapes)
        return np.exp(np.percentile(drawn, _PERCENT, axis=0))


def judge(levels: Levels) -> CurveFits:
    """Chooses a law and says what it knows of the peak."""
    if levels.connections.size < LEVELS_NEEDED:
        return CurveFits(ScalingVerdict.TOO_FEW_LEVELS)
    fits = [fit(levels, law) for law in Law]
    chosen = min(fits, key=lambda fitted: (corrected_aic(levels, fitted), fitted.law.shape_count))
    usl = fits[-1]
    usl_shapes, usl_scales = bootstrap(levels, usl)
    shapes, scales = (usl_shapes, usl_scales) if chosen is usl else bootstrap(levels, chosen)
    peaks = peak_connections(usl_shapes)
    low, high = np.quantile(peaks, np.array(_PERCENT) / 100, method="nearest")
    peak = float(peak_connections(np.array([usl.shape]))[0])
    probability = misfit_probability(levels, chosen)
    last = float(levels.connections[-1])
    if _is_misfit(levels, chosen, probability):
        verdict = ScalingVerdict.DOES_NOT_FIT
    elif chosen is usl and high <= last:
        verdict = ScalingVerdict.PEAK_INSIDE
    else:
        verdict = ScalingVerdict.PEAK_OUTSIDE if low > last else ScalingVerdict.NOT_RESOLVED
    return CurveFits(verdict, chosen, probability, (peak, float(low), float(high)), shapes, scales)


def _is_misfit(levels: Levels, fitted: Fitted, probability: float | None) -> bool:
    is_unlikely = probability is not None and probability < _MISFIT_PROBABILITY
    if levels.residual is None:  # nothing says how large noise is: a law that misses a level by that much is no law
        is_unlikely = _largest_residual(levels, fitted) > 2 * _MISFIT_RATIO
    return is_unlikely and _largest_residual(levels, fitted) > _MISFIT_RATIO


def _largest_residual(levels: Levels, fitted: Fitted) -> float:
    return float(np.expm1(np.abs(levels.log_tps - fitted.log_at(levels.connections)).max()))


def scalabilities(
    cells: Iterable[MeasuredCell], curves: Iterable[Curve], warnings: Sequence[PlacedWarning]
) -> tuple[Scalability, ...]:
    """One for each curve whose clients go at their own pace and that has at least two levels with throughput."""
    measured = {(cell.system, cell.workload, cell.level.order): cell for cell in cells}
    per_curve = []
    for curve in curves:
        curve_cells = [
            (cell, measured_cell)
            for cell in curve.cells
            if (measured_cell := measured.get((curve.system, curve.workload, cell.level.order))) is not None
            and min(trial.throughput_tps for trial in measured_cell.trials) > 0
            and cell.level.connections > 0
        ]
        if curve.kind is LevelKind.CLOSED and len(curve_cells) > 1:
            per_curve.append(_scalability(curve, curve_cells, warnings))
    return tuple(per_curve)


def _scalability(
    curve: Curve, curve_cells: Sequence[tuple[Cell, MeasuredCell]], warnings: Sequence[PlacedWarning]
) -> Scalability:
    cells = [cell for cell, _ in curve_cells]
    host = curve_cells[0][1].trials[0].environment.host
    servers = servers_host(curve_cells[0][1].trials[0].environment)
    levels = _levels([measured for _, measured in curve_cells])
    judged = judge(levels)
    steps = superlinear_steps(cells, levels, host)
    within = [
        measured for _, measured in curve_cells if servers.cpu_cores and measured.level.connections <= servers.cpu_cores
    ]
    inner = judge(_levels(within)) if LEVELS_NEEDED <= len(within) < len(curve_cells) else None
    peak, low, high = judged.peak
    best = max(cell.throughput_tps.value for cell in cells)
    return Scalability(
        system=curve.system,
        workload=curve.workload,
        verdict=judged.verdict,
        fit=_law_fit(levels, judged),
        fit_within_cores=None if inner is None else _law_fit(_levels(within), inner),
        peak_connections=peak if math.isfinite(peak) else None,
        peak_low=low if math.isfinite(low) else None,
        peak_high=high if math.isfinite(high) else None,
        cautions=_cautions(
            curve,
            levels,
            judged,
            warnings,
            is_superlinear=bool(steps),
            is_shared=_is_shared([measured for _, measured in curve_cells]),
        ),
        superlinear=steps,
        levels=scaling_levels([measured for _, measured in curve_cells], cells, _lines(levels, judged)),
        cores=servers.cpu_cores,
        cpus=servers.cpu_threads,
        tps_per_core=best / servers.cpu_cores if servers.cpu_cores else None,
        sibling_gain=_sibling_gain([measured for _, measured in curve_cells], servers),
    )


def _lines(levels: Levels, judged: CurveFits) -> Floats:
    """The law and the edges of its band at each level, (3, levels); NaN where none was fitted."""
    lines = np.full((3, levels.connections.size), np.nan)
    if judged.chosen is not None:
        lines[0], lines[1:] = np.exp(judged.chosen.log_at(levels.connections)), judged.band(levels.connections)
    return lines


def _is_shared(cells: Sequence[MeasuredCell]) -> bool:
    """Whether the client took processors from the server."""
    return any(shares_processors(trial.environment) for cell in cells for trial in cell.trials)


def _sibling_gain(cells: Sequence[MeasuredCell], host: HostFacts) -> Estimate | None:
    """What the levels that need sibling threads add to those that do not: the highest level of each."""
    last = {region_of(cell.level.connections, host): cell for cell in cells}
    on_cores, on_siblings = last.get(Region.CORES), last.get(Region.SIBLINGS)
    if on_cores is None or on_siblings is None:
        return None
    gain = log_ratio(on_siblings.throughput, on_cores.throughput)
    return None if gain is None else gain.estimate()


def _levels(cells: Sequence[MeasuredCell]) -> Levels:
    names = sorted({trial.trial.repetition for cell in cells for trial in cell.trials})
    table = np.full((len(cells), len(names)), np.nan)
    for row, cell in enumerate(cells):
        for trial in cell.trials:
            table[row, names.index(trial.trial.repetition)] = math.log(trial.throughput_tps)
    return levels_of(table, np.array([float(cell.level.connections) for cell in cells]))


def _law_fit(levels: Levels, judged: CurveFits) -> LawFit | None:
    chosen = judged.chosen
    if chosen is None or judged.shapes is None:
        return None
    edges = np.percentile(judged.shapes, _PERCENT, axis=0)
    sigma, kappa = ((float(edges[0, index]), float(edges[1, index])) for index in (0, 1))
    return LawFit(
        law=chosen.law,
        lambda_tps=math.exp(chosen.log_scale),
        sigma=chosen.shape[0],
        kappa=chosen.shape[1],
        sigma_bounds=sigma if chosen.law.shape_count else None,
        kappa_bounds=kappa if chosen.law is Law.USL else None,
        levels_count=levels.connections.size,
        residual_ratio_max=_largest_residual(levels, chosen),
        misfit_probability=judged.probability,
    )


def _cautions(
    curve: Curve,
    levels: Levels,
    judged: CurveFits,
    warnings: Sequence[PlacedWarning],
    *,
    is_superlinear: bool,
    is_shared: bool,
) -> tuple[Caution, ...]:
    codes = {
        warning.code
        for warning in warnings
        if (not warning.systems or curve.system in warning.systems)
        and (not warning.workloads or curve.workload in warning.workloads)
    }
    is_wide = False
    if judged.chosen is not None:
        low, high = judged.band(levels.connections[-1:] * _CONTINUED)[:, 0]
        is_wide = math.sqrt(high / low) - 1 > _WIDE_BAND_RATIO
    reasons = (
        (judged.verdict is ScalingVerdict.TOO_FEW_LEVELS, Caution.TOO_FEW_LEVELS),
        (judged.verdict is ScalingVerdict.DOES_NOT_FIT, Caution.DOES_NOT_FIT),
        (is_wide, Caution.WIDE_BAND),
        (levels.repetitions < 2, Caution.ONE_REPETITION),
        (CLIENT_SATURATED.code in codes, Caution.CLIENT_SATURATED),
        (CLIENT_ON_SERVER_HOST.code in codes and is_shared, Caution.CLIENT_ON_SERVER_HOST),
        (is_superlinear, Caution.SUPERLINEAR),
    )
    return tuple(caution for applies, caution in reasons if applies)


def scaling_levels(cells: Sequence[MeasuredCell], described: Sequence[Cell], lines: Floats) -> tuple[ScalingLevel, ...]:
    """Each level of one curve.

    Args:
        cells: By rising level.
        described: What is said about each.
        lines: Throughput by the law and the edges of its band, (3, levels); NaN where none was fitted.
    """
    environment = cells[0].trials[0].environment
    servers = servers_host(environment)
    takes_turns = any(trial.turns is not None for cell in cells for trial in cell.trials)
    cpus = None if takes_turns else environment.host.cpu_threads  # of systems in turn, the processors are of all
    shown = [[None if math.isnan(value) else float(value) for value in line] for line in lines]
    return tuple(
        ScalingLevel(
            level=cell.level,
            region=region_of(cell.level.connections, servers),
            scale_factor=_scale_factor(cell, described[0]),
            efficiency=_efficiency(cell, described[0]),
            tps_per_server_cpu=_per_cpu(cell, cell.cpu.server, cpus),
            tps_per_busy_cpu=_per_cpu(cell, _busy_ratio(cell), cpus),
            fitted_tps=shown[0][index],
            low_tps=shown[1][index],
            high_tps=shown[2][index],
        )
        for index, cell in enumerate(described)
    )


def region_of(connections: int, host: HostFacts) -> Region:
    """Whether a host has a core, or at least a hardware thread, for each connection."""
    if not host.cpu_cores:
        return Region.UNKNOWN
    if connections <= host.cpu_cores:
        return Region.CORES
    return Region.SIBLINGS if connections <= (host.cpu_threads or 0) else Region.BEYOND


def _scale_factor(cell: Cell, lowest: Cell) -> Estimate:
    """The curve's own, unless that is over a level at which nothing completed."""
    if cell.scale_factor is not None and lowest.scale_factor is not None and lowest.scale_factor.value == 1.0:
        return cell.scale_factor
    return Estimate(value=cell.throughput_tps.value / lowest.throughput_tps.value)


def _efficiency(cell: Cell, lowest: Cell) -> Estimate:
    """The scale factor over the factor of connections, with the interval of the former."""
    factor = cell.level.connections / lowest.level.connections
    scale = _scale_factor(cell, lowest)
    bounds = scale.bounds
    if bounds is not None:
        bounds = Bounds(**{**bounds.model_dump(), "low": bounds.low / factor, "high": bounds.high / factor})
    return Estimate(value=scale.value / factor, bounds=bounds, trial_count=scale.trial_count)


def _busy_ratio(cell: Cell) -> float | None:
    """Share of the host's processor time in which something ran, 0..1."""
    return None if cell.cpu.idle is None else 1 - cell.cpu.idle - (cell.cpu.iowait or 0.0)


def _per_cpu(cell: Cell, share: float | None, cpus: int | None) -> float | None:
    """Throughput over so large a share of the host's CPUs."""
    return cell.throughput_tps.value / (share * cpus) if share and share > 0 and cpus else None


RISE_RATIO = 0.05
"""A smaller rise of throughput per connection is not worth a word."""

_ALPHA = 0.05
_CHEAPER_RATIO = 0.05
_IDLE_RATIO = 0.25


def steps_beyond_noise(levels: Levels) -> list[tuple[int, float, float]]:
    """Which steps are superlinear: index of the lower level, log ratio per connection, its standard error."""
    if levels.residual is None:
        return []
    gains = np.diff(levels.log_tps) - np.diff(np.log(levels.connections))
    errors = np.sqrt(levels.residual * (1 / levels.weights[:-1] + 1 / levels.weights[1:]))
    limit = quantile_t(1 - _ALPHA / gains.size, levels.degrees)
    return [
        (index, float(gain), float(error))
        for index, (gain, error) in enumerate(zip(gains, errors, strict=True))
        if gain > limit * error and gain > math.log1p(RISE_RATIO)
    ]


def superlinear_steps(cells: Sequence[Cell], levels: Levels, host: HostFacts) -> tuple[SuperlinearStep, ...]:
    """The superlinear steps of a curve, rising; none without repetitions.

    Args:
        cells: By rising level, as `levels` has them.
        levels: Their throughputs.
        host: Says how many processors there are.
    """
    return tuple(
        _step((cells[index], cells[index + 1]), gain, error, levels, host)
        for index, gain, error in steps_beyond_noise(levels)
    )


def _step(pair: tuple[Cell, Cell], gain: float, error: float, levels: Levels, host: HostFacts) -> SuperlinearStep:
    low, high = pair
    width = quantile_t(0.975, levels.degrees) * error
    bounds = Bounds(
        low=math.exp(gain - width),
        high=math.exp(gain + width),
        basis=SpreadKind.POOLED,
        degrees=levels.degrees,
        method="t on logarithms within repetitions, spread pooled over the levels of the curve",
    )
    costs = [_cpu_s(cell, host) for cell in (low, high)]
    ratio = costs[1] / costs[0] if costs[0] and costs[1] else None
    return SuperlinearStep(
        from_connections=low.level.connections,
        to_connections=high.level.connections,
        per_connection_ratio=Estimate(value=math.exp(gain), bounds=bounds, trial_count=levels.repetitions),
        cpu_ratio=ratio,
        idle_ratio=low.cpu.idle,
        reason=SuperlinearReason.OTHERS if any(map(_is_busy_elsewhere, pair)) else _reason(ratio, low.cpu.idle),
    )


def _cpu_s(cell: Cell, host: HostFacts) -> float | None:
    """Processor time of the server per transaction, seconds."""
    if cell.cpu.server is None or not host.cpu_threads or cell.throughput_tps.value <= 0:
        return None
    return cell.cpu.server * host.cpu_threads / cell.throughput_tps.value


def _is_busy_elsewhere(cell: Cell) -> bool:
    """Whether neither server nor client took much of the busy processor time, which then says nothing of either."""
    cpu = cell.cpu
    if cpu.idle is None or cpu.server is None:
        return False
    busy = 1 - cpu.idle - (cpu.iowait or 0.0)
    return busy - cpu.server - (cpu.client or 0.0) >= OTHERS_RATIO * busy > 0


def _reason(cpu_ratio: float | None, idle_ratio: float | None) -> SuperlinearReason:
    if cpu_ratio is None:
        return SuperlinearReason.UNKNOWN
    if cpu_ratio < 1 - _CHEAPER_RATIO:
        return SuperlinearReason.BATCHING
    is_idle = idle_ratio is not None and idle_ratio > _IDLE_RATIO
    return SuperlinearReason.IDLE_STATES if is_idle else SuperlinearReason.UNKNOWN
