"""One system under one workload over rising connections: scale factors, the peak, and the pool size it implies.

Assumptions: a level is tied with the peak when the bounds of their ratio include 1; each level is compared for itself,
so that of many tied levels a few may be missed. Where no bounds can be given the peak stands alone. The peak is the
highest of several noisy figures and so a little optimistic. The pool advice follows the sizing practice of HP's guide
for ProLiant blades (2008): the fewest connections that carry what the peak carries; more only wait inside the server.

Deliberately not here: models of scalability (Amdahl, USL), and any guess beyond the last level.
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analyse.cell_model import Estimate
from plimsoll.analyse.cells import MeasuredCell, describe
from plimsoll.analyse.model import Curve, Peak, PoolAdvice
from plimsoll.analyse.ratios import compare
from plimsoll.units import format_number, format_percent

NOTABLE_SHORT_RATIO = 0.1
"""From here on a tied level is no good advice by itself: it is tied because the trials are noisy."""

_SMALL_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four"}


def build_curve(cells: Sequence[MeasuredCell]) -> Curve:
    """Builds the curve of one system under one workload.

    Args:
        cells: All of it, at least one, in any order.
    """
    rising = sorted(cells, key=lambda cell: cell.key.connections)
    peak = find_peak(rising)
    key = rising[0].key
    lowest = next((cell for cell in rising if cell.throughput.value_tps > 0), rising[0])
    return Curve(
        system=key.system,
        workload=key.workload,
        cells=tuple(describe(cell, _scale_factor(cell, lowest)) for cell in rising),
        peak=peak,
        pool=_pool_advice(key.workload, peak, rising),
    )


def highest(cells: Sequence[MeasuredCell]) -> MeasuredCell:
    """The cell with the highest throughput; the one with fewer connections of two equal ones."""
    return max(cells, key=lambda cell: (cell.throughput.value_tps, -cell.key.connections))


def find_peak(rising: Sequence[MeasuredCell]) -> Peak:
    """Finds the level with the highest throughput, and those that cannot be told from it."""
    best = highest(rising)
    return Peak(
        connections=best.key.connections,
        throughput_tps=best.throughput.estimate(),
        bracketed=best is not rising[-1],
        tied_connections=tuple(cell.key.connections for cell in rising if cell is best or _is_tied(cell, best)),
    )


def _is_tied(cell: MeasuredCell, best: MeasuredCell) -> bool:
    comparison = compare(cell.throughput, best.throughput)
    return comparison is not None and not comparison.differs


def _scale_factor(cell: MeasuredCell, lowest: MeasuredCell) -> Estimate:
    if cell is lowest:
        return Estimate(value=1.0, trial_count=cell.throughput.trial_count)
    comparison = compare(cell.throughput, lowest.throughput)
    if comparison is None:  # it carried nothing
        return Estimate(value=0.0, trial_count=cell.throughput.trial_count)
    return comparison.ratio


def _pool_advice(workload: str, peak: Peak, rising: Sequence[MeasuredCell]) -> PoolAdvice:
    connections = peak.connections if _is_lost_in_noise(peak, rising) else peak.tied_connections[0]
    cores = rising[0].trials[0].environment.host.cpu_cores
    per_core = connections / cores if cores else None
    if peak.throughput_tps.value <= 0:
        return PoolAdvice(connections=connections, per_core=per_core, text=f"{workload}: unknown; no level carried any")
    text = f"{workload}: {connections} connection{'s' if connections != 1 else ''}{_per_core_words(per_core)}"
    return PoolAdvice(connections=connections, per_core=per_core, text=text + _beyond_words(peak, rising))


def _per_core_words(per_core: float | None) -> str:
    if per_core is None:
        return ""
    if per_core >= 1 or per_core == 0:
        number = _SMALL_NUMBERS.get(int(per_core)) if per_core == int(per_core) else None
        return f", {number or format_number(per_core)} per core"
    return f", one for every {format_number(1 / per_core).removesuffix('.00')} cores"


def _short_of_peak(peak: Peak, rising: Sequence[MeasuredCell]) -> float:
    smallest = next(cell for cell in rising if cell.key.connections == peak.tied_connections[0])
    best_tps = peak.throughput_tps.value
    return 1 - smallest.throughput.value_tps / best_tps if best_tps > 0 else 0.0


def _is_lost_in_noise(peak: Peak, rising: Sequence[MeasuredCell]) -> bool:
    return _short_of_peak(peak, rising) > NOTABLE_SHORT_RATIO


def _beyond_words(peak: Peak, rising: Sequence[MeasuredCell]) -> str:
    last = rising[-1].key.connections
    if len(rising) == 1:
        return "; no other level was measured"
    if _is_lost_in_noise(peak, rising):
        short = format_percent(_short_of_peak(peak, rising))
        return (
            f"; {peak.tied_connections[0]} carried {short} less, but these trials are too noisy to tell "
            "them apart: more repetitions would show whether fewer are enough"
            f"{_still_rose(peak, last)}"
        )
    if peak.tied_connections[0] == last:
        return _still_rose(peak, last)
    if peak.tied_connections[0] == rising[0].key.connections > 1:
        return "; fewer were not measured"
    if len(peak.tied_connections) > 1:
        return "; more gave no throughput that could be told from it"
    return ""


def _still_rose(peak: Peak, last: int) -> str:
    if peak.connections != last:
        return ""
    return f"; throughput still rose at {last}, the last level measured, so the right size may be larger"
