"""The figures of several instances put together to those of the system. What cannot be put together is left out.

Deliberately not here: percentiles of several instances. No arithmetic on percentiles gives the percentile of the whole.
"""

from __future__ import annotations

from plimsoll.importers.grouping import Group
from plimsoll.record.reported import ReportedResult


def merge_rows(group: Group) -> ReportedResult:
    """Throughputs add up; mean response times are weighted by throughput; the largest maximum is the maximum.

    Processor time of the host counts once, and only if all rows state the same.
    """
    points = group.points
    if len(points) == 1:
        only = points[0]
        return ReportedResult(
            throughput_tps=only.throughput_tps,
            throughput_tps_by_instance={only.instance: only.throughput_tps} if only.instance else {},
            response_ms=only.response_ms,
            host_cpu=only.host_cpu,
        )
    return ReportedResult(
        throughput_tps=sum(point.throughput_tps for point in points),
        throughput_tps_by_instance={point.instance: point.throughput_tps for point in points},
        response_ms=_response_ms(group),
        host_cpu={mode: share for mode, share in points[0].host_cpu.items() if _all_state(group, mode, share)},
    )


def lost_statistics(group: Group) -> tuple[str, ...]:
    """What the rows state and the merged result cannot: names of percentiles, and of modes of the processor."""
    merged = merge_rows(group)
    stated = {name for point in group.points for name in (*point.response_ms, *point.host_cpu)}
    return tuple(sorted(stated - merged.response_ms.keys() - merged.host_cpu.keys()))


def _all_state(group: Group, mode: str, share: float) -> bool:
    return all(point.host_cpu.get(mode) == share for point in group.points)


def _response_ms(group: Group) -> dict[str, float]:
    merged = {}
    throughput_tps = sum(point.throughput_tps for point in group.points)
    if throughput_tps > 0 and all("mean" in point.response_ms for point in group.points):
        weighted = sum(point.response_ms["mean"] * point.throughput_tps for point in group.points)
        merged["mean"] = weighted / throughput_tps
    if all("max" in point.response_ms for point in group.points):
        merged["max"] = max(point.response_ms["max"] for point in group.points)
    return merged
