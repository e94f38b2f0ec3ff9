"""Peaks of published tables that call their workload by different names, set beside each other.

Two tables of one study often hold the same work under two names, such as the names of their files. Where no system
appears under more than one workload, nothing else brings them together. Whether the work was the same is not known, so
the workload is one more factor that differs.

Deliberately not here: workloads that were measured here. Those differ on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.factors import PER_INSTANCE, Factors, compare_factors, factors_of
from plimsoll.analyse.finding_model import Finding, found
from plimsoll.analyse.model import SystemSummary, WorkloadSummary


def across_workloads(
    workloads: Sequence[WorkloadSummary], systems: Mapping[str, SystemSummary], curves: Sequence[Curve]
) -> Iterator[Finding]:
    """Compares the highest peak of all with that of each other workload."""
    if not _stand_apart(workloads, systems, curves):
        return
    peaks = sorted((_highest(curves, one.name) for one in workloads), key=lambda curve: -_peak_tps(curve))
    yield from (_compared(peaks[0], lower, systems) for lower in peaks[1:] if _peak_tps(lower) > 0)


def _stand_apart(
    workloads: Sequence[WorkloadSummary], systems: Mapping[str, SystemSummary], curves: Sequence[Curve]
) -> bool:
    each_once = bool(curves) and len({curve.system for curve in curves}) == len(curves)
    published = all(one.origin != "measured" for one in systems.values())
    same_unit = len({one.rate_unit for one in workloads}) == 1
    return len(workloads) > 1 and each_once and published and same_unit and all(one.kind is None for one in workloads)


def _highest(curves: Sequence[Curve], workload: str) -> Curve:
    return max((curve for curve in curves if curve.workload == workload), key=_peak_tps)


def _peak_tps(curve: Curve) -> float:
    return 0.0 if curve.peak is None else curve.peak.throughput_tps.value


def _compared(high: Curve, low: Curve, systems: Mapping[str, SystemSummary]) -> Finding:
    factors = compare_factors(_factors(high, systems), _factors(low, systems))
    return found(
        "comparison-across-workloads",
        system=high.system,
        workload=high.workload,
        base=low.system,
        base_workload=low.workload,
        ratio=_peak_tps(high) / _peak_tps(low),
        differing=factors.differing,
        one_sided=factors.one_sided,
    )


def _factors(curve: Curve, systems: Mapping[str, SystemSummary]) -> Factors:
    assert curve.peak is not None, "only rates may have none"
    level = curve.peak.level
    own = {"workload": curve.workload, "connections": str(level.connections)}
    if level.connections_per_instance is not None:
        own[PER_INSTANCE] = str(level.connections_per_instance)
    return factors_of(systems[curve.system], own)
