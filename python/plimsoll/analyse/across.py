"""Peaks of published tables that call their workload by different names, set beside each other.

Two tables of one study often hold the same work under two names, such as the names of their files. Where no system
appears under more than one workload, nothing else brings them together. Whether the work was the same is not known, so
the workload is one more factor that differs.

Deliberately not here: workloads that were measured here. Those differ on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analyse.factors import PER_INSTANCE, Factors, compare_factors, factors_of
from plimsoll.analyse.model import Curve, SystemSummary, WorkloadSummary
from plimsoll.analyse.prose import at_connections, factor_words, more
from plimsoll.units import format_rate


def across_workloads(
    workloads: Sequence[WorkloadSummary], systems: Mapping[str, SystemSummary], curves: Sequence[Curve]
) -> Iterator[str]:
    """Compares the highest peak of all with that of each other workload, in whole sentences."""
    if not _stand_apart(workloads, systems, curves):
        return
    peaks = sorted((_highest(curves, one.name) for one in workloads), key=lambda curve: -_peak_tps(curve))
    unit = workloads[0].rate_unit
    yield from (_sentence(peaks[0], lower, systems, unit) for lower in peaks[1:] if _peak_tps(lower) > 0)


def _stand_apart(
    workloads: Sequence[WorkloadSummary], systems: Mapping[str, SystemSummary], curves: Sequence[Curve]
) -> bool:
    each_once = len({curve.system for curve in curves}) == len(curves)
    published = all(one.origin != "measured" for one in systems.values())
    same_unit = len({one.rate_unit for one in workloads}) == 1
    return len(workloads) > 1 and each_once and published and same_unit and all(one.kind is None for one in workloads)


def _highest(curves: Sequence[Curve], workload: str) -> Curve:
    return max((curve for curve in curves if curve.workload == workload), key=_peak_tps)


def _peak_tps(curve: Curve) -> float:
    return curve.peak.throughput_tps.value


def _sentence(high: Curve, low: Curve, systems: Mapping[str, SystemSummary], unit: str) -> str:
    peaks = " against ".join(
        f"{format_rate(_peak_tps(curve), unit)} {at_connections(curve.peak.connections)}" for curve in (high, low)
    )
    found = compare_factors(_factors(high, systems), _factors(low, systems))
    named = factor_words(found.differing, found.one_sided)
    return (
        f"If {high.workload} and {low.workload} are the same work: at its peak {high.system} shows "
        f"{more(_peak_tps(high) / _peak_tps(low))} {low.system} ({peaks}).{named}"
    )


def _factors(curve: Curve, systems: Mapping[str, SystemSummary]) -> Factors:
    own = {"workload": curve.workload, "connections": str(curve.peak.connections)}
    peak = next(cell for cell in curve.cells if cell.connections == curve.peak.connections)
    if peak.connections_per_instance is not None:
        own[PER_INSTANCE] = str(peak.connections_per_instance)
    return factors_of(systems[curve.system], own)
