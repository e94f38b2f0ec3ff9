"""Whether findings of an earlier study show in this one.

A claim names a figure and the range that would agree with it. It shows here when the 95 % interval of the figure lies
within the range, does not show when it lies outside, and is not resolved otherwise. One rule holds for every kind:
only an interval that knows how repetitions differ decides, so one repetition of each cell decides nothing.

* A peak agrees by all levels that may be it: those not shown to have less than the highest. Where the last level is
  one of them, the peak may lie beyond. Without a level in the range the study cannot tell.
* A limit agrees by the verdict of `where_time`, where the interval of utilisation keeps to its side of the threshold. A
  busy device does not resolve it, since it may have capacity even so; nor does a network that was not measured.

Assumption: those of the figures. The intervals are not corrected for the number of claims: each was made in advance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from plimsoll.analyse.explain.scaling_model import Scalability
from plimsoll.analyse.explain.where_model import ResourceDemand, WhereTime, WhereVerdict, is_device
from plimsoll.analyse.explain.where_time import BUSY_RATIO, own_bottlenecks
from plimsoll.analyse.model import Difference
from plimsoll.analyse.study.cell_model import Bounds, Estimate, SpreadKind
from plimsoll.analyse.study.cells import MeasuredCell
from plimsoll.analyse.study.curve_model import CheckedClaim, ClaimVerdict, Curve
from plimsoll.analyse.study.curves import highest, may_be_peak
from plimsoll.analyse.study.ratios import ratio_of
from plimsoll.record.level import Level
from plimsoll.spec.claims import ClaimSpec

_OF_HARDWARE = (WhereVerdict.SATURATED, WhereVerdict.FIRST_TO_SATURATE)
_OF_NO_HARDWARE = (WhereVerdict.WAIT_GROWS, WhereVerdict.UNEXPLAINED_WAIT_GROWS)


def check_claims(
    claims: Iterable[ClaimSpec],
    cells: Sequence[MeasuredCell],
    curves: Sequence[Curve],
    differences: Sequence[Difference],
    *,
    where_time: Sequence[WhereTime],
    scalability: Sequence[Scalability],
) -> tuple[CheckedClaim, ...]:
    """Holds each claim against what was measured, one about all systems against each of them in turn."""
    closed = {(curve.system, curve.workload): curve for curve in curves if not curve.kind.is_at_rate}
    rising = {key: _rising(cells, curve) for key, curve in closed.items()}
    limits = {(limit.system, limit.workload): limit for limit in where_time}
    cpus = {(scaling.system, scaling.workload): scaling.cpus or scaling.cores for scaling in scalability}
    places = {
        (cell.system, cell.workload, cell.level.connections): cell for cell in cells if not cell.level.kind.is_at_rate
    }
    systems = tuple(dict.fromkeys(system for system, _ in closed))
    checked = []
    for claim in claims:
        for system in (claim.system,) if claim.system else systems:
            system_claim, key = claim.of_system(system), (system, claim.workload)
            match claim.check:
                case "limited_by":
                    checked.append(_of_limit(system_claim, limits.get(key)))
                case "peak_connections" | "peak_per_cpu":
                    checked.append(_of_peak(system_claim, rising.get(key, []), cpus.get(key)))
                case "scale_factor":
                    checked.append(_of_figure(system_claim, _scale_factor(system_claim, system, places)))
                case _ if claim.base is not None:
                    checked.append(
                        _of_figure(system_claim, _between_systems(system_claim, differences, places, closed))
                    )
                case _:
                    checked.append(_of_figure(system_claim, _between_workloads(system_claim, system, places, closed)))
    return tuple(checked)


_Places = Mapping[tuple[str, str, int], MeasuredCell]
"""Cells by system, workload and connections."""


def _scale_factor(claim: ClaimSpec, system: str, places: _Places) -> Estimate | None:
    """Throughput at a level over that at a lower one; None where one of them was not measured."""
    lowest = min((level for name, workload, level in places if (name, workload) == (system, claim.workload)), default=0)
    low = places.get((system, claim.workload, claim.from_connections or lowest))
    high = places.get((system, claim.workload, claim.connections or 0))
    return None if low is None or high is None else ratio_of(high.throughput, low.throughput)


def _between_workloads(
    claim: ClaimSpec, system: str, places: _Places, curves: Mapping[tuple[str, str], Curve]
) -> Estimate | None:
    """Throughput of one workload over that of another, at a level or at the peak of each."""
    assert claim.base_workload is not None, "checked when the study file was read"
    return _ratio(claim, (system, claim.workload), (system, claim.base_workload), places, curves)


def _ratio(
    claim: ClaimSpec,
    compared: tuple[str, str],
    base: tuple[str, str],
    places: _Places,
    curves: Mapping[tuple[str, str], Curve],
) -> Estimate | None:
    """Throughput of a system under a workload over that of a base, at a level or at the peak of each."""
    cells = []
    for key in (compared, base):
        curve = curves.get(key)
        peak = None if curve is None else curve.peak
        cells.append(places.get((*key, claim.connections or (peak.level.connections if peak else 0))))
    measured, base_cell = cells
    return None if measured is None or base_cell is None else ratio_of(measured.throughput, base_cell.throughput)


def _between_systems(
    claim: ClaimSpec,
    differences: Sequence[Difference],
    places: _Places,
    curves: Mapping[tuple[str, str], Curve],
) -> Estimate | None:
    """As the study compares the two; a study of many systems compares only pairs with the best one."""
    for difference in differences:
        level = None if difference.level is None else difference.level.connections
        if difference.workload != claim.workload or level != claim.connections:
            continue
        if (difference.system, difference.base) == (claim.system, claim.base):
            return difference.ratio
        if (difference.base, difference.system) == (claim.system, claim.base):
            return _inverse(difference.ratio)
    assert claim.system is not None, "a claim about all systems is checked for each"
    assert claim.base is not None, "asked for claims that have one"
    return _ratio(claim, (claim.system, claim.workload), (claim.base, claim.workload), places, curves)


def _inverse(ratio: Estimate) -> Estimate:
    bounds = ratio.bounds and ratio.bounds.model_copy(
        update={"low": 1 / ratio.bounds.high, "high": 1 / ratio.bounds.low}
    )
    return ratio.model_copy(update={"value": 1 / ratio.value, "bounds": bounds})


def _of_figure(claim: ClaimSpec, estimate: Estimate | None) -> CheckedClaim:
    low, high = claim.ratio or claim.scale_factor or (0.0, math.inf)
    verdict = ClaimVerdict.NOT_MEASURED if estimate is None else _within(estimate.bounds, low, high)
    return _checked(claim, verdict, low, high, estimate=estimate)


def _decides(bounds: Bounds | None) -> bool:
    """Whether an interval can decide a claim: seconds of single runs do not say how repetitions differ."""
    return bounds is not None and not bounds.is_vague and bounds.basis is not SpreadKind.WITHIN_RUN


def _within(bounds: Bounds | None, low: float, high: float) -> ClaimVerdict:
    if bounds is None or not _decides(bounds):
        return ClaimVerdict.NOT_RESOLVED
    if low <= bounds.low and bounds.high <= high:
        return ClaimVerdict.SHOWS
    return ClaimVerdict.DOES_NOT_SHOW if bounds.high < low or high < bounds.low else ClaimVerdict.NOT_RESOLVED


def _rising(cells: Sequence[MeasuredCell], curve: Curve) -> list[MeasuredCell]:
    """The cells of a curve by rising level."""
    curve_cells = (cell for cell in cells if (cell.system, cell.workload) == (curve.system, curve.workload))
    return sorted((cell for cell in curve_cells if not cell.level.kind.is_at_rate), key=lambda cell: cell.level.order)


def _of_peak(claim: ClaimSpec, rising: Sequence[MeasuredCell], cpus: int | None) -> CheckedClaim:
    low, high = claim.peak_connections or claim.peak_per_cpu or (0.0, math.inf)
    each = 1 if claim.peak_connections else cpus
    if not each or not any(low <= cell.level.connections / each <= high for cell in rising):
        return _checked(claim, ClaimVerdict.NOT_MEASURED, low, high)
    means = [cell.throughput for cell in rising]
    possible = may_be_peak(means)
    agree = [low <= rising[index].level.connections / each <= high for index in possible]
    is_beyond = possible[-1] == len(rising) - 1  # beyond the last level throughput may rise on
    verdict = ClaimVerdict.NOT_RESOLVED
    is_known = all(_decides(mean.estimate().bounds) for mean in means)
    if is_known and all(agree) and (not is_beyond or math.isinf(high)):
        verdict = ClaimVerdict.SHOWS
    elif not any(agree) and not (is_beyond and rising[-1].level.connections / each < low):
        verdict = ClaimVerdict.DOES_NOT_SHOW
    best = rising[highest(means)]
    peak = Estimate(value=best.level.connections / each, trial_count=best.throughput.trial_count)
    return _checked(claim, verdict, low, high, estimate=peak, levels=[rising[index].level for index in possible])


def _of_limit(claim: ClaimSpec, where: WhereTime | None) -> CheckedClaim:
    if where is None or where.verdict is WhereVerdict.UNKNOWN:
        return _checked(claim, ClaimVerdict.NOT_MEASURED)
    busy = [_utilisation(demand) for demand in own_bottlenecks(where.demands) if not is_device(demand.resource)]
    first = next((_utilisation(demand) for demand in where.demands if demand.resource == where.resource), None)
    if where.verdict in _OF_HARDWARE and not is_device(where.resource) and _is_known(first, BUSY_RATIO, math.inf):
        is_hardware = True
    elif (
        where.verdict in _OF_NO_HARDWARE
        and where.is_network_known
        and all(_is_known(utilisation, 0.0, BUSY_RATIO) for utilisation in busy)
    ):
        is_hardware = False
    else:
        return _checked(claim, ClaimVerdict.NOT_RESOLVED)
    agrees = is_hardware == (claim.limited_by == "hardware")
    verdict = ClaimVerdict.SHOWS if agrees else ClaimVerdict.DOES_NOT_SHOW
    return _checked(claim, verdict, resource=where.resource if is_hardware else None)


def _utilisation(demand: ResourceDemand) -> Bounds | None:
    """The interval of how busy a resource was, from that of the throughput at which it would be busy all the time."""
    bounds = demand.saturation_tps.bounds
    if bounds is None:
        return None
    at_limit = demand.utilisation_ratio * demand.saturation_tps.value
    return bounds.model_copy(update={"low": at_limit / bounds.high, "high": at_limit / bounds.low})


def _is_known(bounds: Bounds | None, low: float, high: float) -> bool:
    """Whether a utilisation is known to lie within limits."""
    return _within(bounds, low, high) is ClaimVerdict.SHOWS


def _checked(
    claim: ClaimSpec,
    verdict: ClaimVerdict,
    low: float | None = None,
    high: float = math.inf,
    *,
    estimate: Estimate | None = None,
    levels: Sequence[Level] = (),
    resource: str | None = None,
) -> CheckedClaim:
    assert claim.system is not None, "a claim about all systems is checked for each"
    assert claim.check is not None, "checked when the study file was read"
    return CheckedClaim(
        says=claim.says,
        source=claim.source,
        workload=claim.workload,
        system=claim.system,
        base=claim.base,
        base_workload=claim.base_workload,
        connections=claim.connections,
        check=claim.check,
        low=low,
        high=None if math.isinf(high) else high,
        limited_by=claim.limited_by,
        found=estimate,
        levels=tuple(levels),
        resource=resource,
        verdict=verdict,
    )
