"""Doubts that only cells, curves and systems together give rise to.

Each check says for itself from which value on it doubts, and why there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.analyse import catalogue
from plimsoll.analyse.cell_model import CellFigures
from plimsoll.analyse.cells import CellKey, MeasuredCell
from plimsoll.analyse.findings import Finding
from plimsoll.analyse.model import Curve, MissingTrial, VariableDifference, WorkloadSummary
from plimsoll.analyse.prose import at_connections
from plimsoll.analyse.rate_model import RateCell, RateCurve
from plimsoll.analyse.ratios import compare
from plimsoll.analyse.warning_kind import WarningKind
from plimsoll.units import format_percent, format_rate

_CLIENT_RATIO_OF_BUSY_HOST = 0.2
"""On a host without idle time, a client with this share takes what the server lacks: sysbench's usual share there."""

_CLIENT_RATIO_ALONE = 0.9
_IDLE_RATIO_OF_BUSY_HOST = 0.05
_ELSEWHERE_RATIO = 0.15
"""Kernel work that counts to no process (interrupts, writing back) stays below this on a quiet host."""

_STEAL_RATIO = 0.02
_PUBLISHED_TOLERANCE = 0.05
"""Single figures without bounds are taken as equal within this."""

_NAMES_SHOWN = 6


def check_cells(curves: Sequence[Curve | RateCurve]) -> Iterator[Finding]:
    """Doubts about single cells."""
    for curve in curves:
        for cell in curve.cells:
            for warning_of in (_client_saturated, _busy_elsewhere, _stolen, _errors, _single):
                found = warning_of(cell)
                if found is not None:
                    kind, evidence, weight = found
                    yield Finding(
                        warning=kind.seen(evidence),
                        system=curve.system,
                        workload=curve.workload,
                        connections=None if isinstance(cell, RateCell) else cell.connections,
                        rate_tps=cell.rate_tps if isinstance(cell, RateCell) else None,
                        weight=weight,
                    )


_Found = tuple[WarningKind, str, float] | None


def _client_saturated(cell: CellFigures) -> _Found:
    client, idle = cell.cpu.client, cell.cpu.idle
    if client is None:
        return None
    shares_busy_host = idle is not None and idle <= _IDLE_RATIO_OF_BUSY_HOST and client >= _CLIENT_RATIO_OF_BUSY_HOST
    if client < _CLIENT_RATIO_ALONE and not shares_busy_host:
        return None
    rest = "" if idle is None else f", of which {format_percent(idle)} was idle"
    return (
        catalogue.CLIENT_SATURATED,
        f"the client took {format_percent(client)} of the host's processors{rest}",
        client,
    )


def _busy_elsewhere(cell: CellFigures) -> _Found:
    cpu = cell.cpu
    if cpu.idle is None or cpu.server is None or cpu.client is None:
        return None
    elsewhere = 1 - cpu.idle - (cpu.iowait or 0.0) - (cpu.steal or 0.0) - cpu.server - cpu.client
    if elsewhere <= _ELSEWHERE_RATIO:
        return None
    seen = f"{format_percent(elsewhere)} of the processors' time went neither to the server nor to the client"
    return catalogue.HOST_BUSY_ELSEWHERE, seen, elsewhere


def _stolen(cell: CellFigures) -> _Found:
    if cell.cpu.steal is None or cell.cpu.steal <= _STEAL_RATIO:
        return None
    seen = f"the hypervisor took {format_percent(cell.cpu.steal)} of the processors' time (steal)"
    return catalogue.HOST_BUSY_ELSEWHERE, seen, cell.cpu.steal


def _errors(cell: CellFigures) -> _Found:
    seen = [error for error in cell.errors if error.was_seen]
    total = sum(error.count for error in seen)
    if total == 0 and cell.failed_count == 0:
        return None
    codes = ", ".join(f"{error.code or 'no code'} ({error.error_class}) {error.count:,} times" for error in seen)
    ending = f"{cell.failed_count:,} transactions failed, {cell.retries_count:,} retries"
    return catalogue.ERRORS_OCCURRED, f"{codes}: {ending}" if codes else ending, float(total + cell.failed_count)


def _single(cell: CellFigures) -> _Found:
    if cell.throughput_tps.trial_count > 1:
        return None
    return catalogue.SINGLE_REPETITION, "there is one trial for each system, workload and level named here", 0.0


def check_curves(curves: Sequence[Curve], workloads: Sequence[WorkloadSummary]) -> Iterator[Finding]:
    """Doubts about where a peak lies."""
    units = {one.name: one.rate_unit for one in workloads}
    for curve in curves:
        levels = [cell.connections for cell in curve.cells]
        peak = curve.peak
        rate = format_rate(peak.throughput_tps.value, units[curve.workload])
        seen = f"the highest throughput, {rate}, was {at_connections(peak.connections)}"
        if not peak.bracketed:
            yield _of_curve(curve, catalogue.PEAK_AT_LAST_LEVEL, f"{seen}, the last level")
        elif peak.connections == levels[0] and levels[0] > 1:
            yield _of_curve(curve, catalogue.PEAK_AT_FIRST_LEVEL, f"{seen}, the first level")


def _of_curve(curve: Curve, kind: WarningKind, evidence: str) -> Finding:
    return Finding(
        warning=kind.seen(evidence), system=curve.system, workload=curve.workload, connections=curve.peak.connections
    )


def check_order(cells: Sequence[MeasuredCell]) -> Iterator[Finding]:
    """Read-only trials that are slower than the read/write trials of the same system and level."""
    by_key = {cell.key: cell for cell in cells}
    reading, mixed = (_workloads_like(cells, words) for words in (("read_only",), ("read_write",)))
    for cell in cells:
        if cell.key.workload not in reading:
            continue
        for other in mixed:
            partner = by_key.get(CellKey(cell.key.system, other, cell.key.connections))
            if partner is not None and _is_slower(cell, partner):
                yield _order_finding(cell, partner)


def _workloads_like(cells: Sequence[MeasuredCell], words: Sequence[str]) -> set[str]:
    found = set()
    for cell in cells:
        workload = cell.trials[0].trial.workload
        text = (workload.kind or workload.name).lower()
        plain = "".join(letter if letter.isalnum() else "_" for letter in text)
        if any(word in plain for word in words):
            found.add(workload.name)
    return found


def _is_slower(cell: MeasuredCell, partner: MeasuredCell) -> bool:
    comparison = compare(cell.throughput, partner.throughput)
    if comparison is None:
        return False
    bounds = comparison.ratio.bounds
    return bounds.high < 1.0 if bounds is not None else comparison.ratio.value < 1.0 - _PUBLISHED_TOLERANCE


def _order_finding(cell: MeasuredCell, partner: MeasuredCell) -> Finding:
    unit = cell.trials[0].trial.workload.rate_unit
    slow, fast = (format_rate(one.throughput.value_tps, unit) for one in (cell, partner))
    return Finding(
        warning=catalogue.READ_ONLY_SLOWER.seen(
            f"{cell.key.workload} reached {slow} where {partner.key.workload} reached {fast}"
        ),
        system=cell.key.system,
        workload=cell.key.workload,
        connections=cell.key.connections,
        weight=partner.throughput.value_tps / max(cell.throughput.value_tps, 1e-9),
    )


def check_study(
    curves: Sequence[Curve], variables: Sequence[VariableDifference], missing: Sequence[MissingTrial]
) -> Iterator[Finding]:
    """Doubts about the study as a whole."""
    unexpected = [one.variable for one in variables if not one.expected]
    if unexpected:
        named = _listed(unexpected)
        yield Finding(warning=catalogue.VARIABLES_DIFFER.seen(f"{len(unexpected)} variables differ: {named}"))
    unrun_count = sum(not one.has_run for one in missing)
    for one in missing:
        never = catalogue.TRIALS_NOT_RUN.seen(f"{unrun_count:,} planned trials have no recording")
        yield Finding(
            warning=catalogue.FAILED_TRIALS.seen(f"{one.trial_id}: {one.reason}") if one.has_run else never,
            system=one.system or None,
            workload=one.workload or None,
            connections=(one.connections or None) if one.rate_tps is None else None,
            rate_tps=one.rate_tps,
        )
    yield from _levels_differ(curves)


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _levels_differ(curves: Sequence[Curve]) -> Iterator[Finding]:
    for workload in dict.fromkeys(curve.workload for curve in curves):
        levels = {
            curve.system: {cell.connections for cell in curve.cells} for curve in curves if curve.workload == workload
        }
        if len(levels) > 1 and not set.intersection(*levels.values()):
            ranges = "; ".join(f"{name}: {', '.join(map(str, sorted(own)))}" for name, own in levels.items())
            yield Finding(warning=catalogue.LEVELS_DIFFER.seen(f"connections measured: {ranges}"), workload=workload)
