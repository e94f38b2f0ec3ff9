"""What a sizing answer rests on, as findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.analyse.cell_model import SpreadKind
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.finding_model import Finding, found
from plimsoll.analyse.missing import unmeasured_systems
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.size_model import Fit, LoadAsked, SizeEvidence, SystemFit


def assumptions(
    asked: LoadAsked, judged: Sequence[SystemFit], curves: Sequence[Curve], analysis: Analysis
) -> Iterator[Finding]:
    """What the answer rests on."""
    with_objective = asked.response_p99_ms is not None
    undisturbed = [one for one in judged if one.verdict is not Fit.DISTURBED]
    bounds = [one.throughput_tps.bounds for one in undisturbed if one.throughput_tps is not None]
    known = [one for one in bounds if one is not None]
    open_ended = any(curve.peak is not None and not curve.peak.is_inside_range for curve in curves)
    demand = asked.demand
    reasons = (
        (True, "same-workload"),
        (demand is not None, "transactions-alike"),
        (demand is not None and demand.yearly_growth is not None, "even-growth"),
        (any(one.horizon is not None and one.horizon.sure_years is not None for one in judged), "date-of-capacity"),
        (any(one.evidence is SizeEvidence.SATURATION for one in judged), "saturation-and-no-capacity"),
        (bool(known), "lower-end-decides"),
        (len(known) < len(bounds), "figures-as-they-stand"),
        (any(one.basis is SpreadKind.WITHIN_RUN for one in known), "some-intervals-within-run"),
        (any(one.interpolated_between for one in judged), "straight-line"),
        (asked.connections is None and bool(curves), "best-level"),
        (with_objective, "failed-count-as-over"),
        (with_objective and any(one.response_p99_ms is not None for one in judged), "p99-as-measured"),
        (open_ended and asked.connections is None, "peak-may-lie-beyond"),
    )
    yield from (found(code) for applies, code in reasons if applies)
    names = {one.system for one in judged}
    if rest := tuple(system.name for system in analysis.systems if system.name not in names):
        yield found("left-out", workload=asked.workload, systems=rest)
    if any(system.origin != "measured" for system in analysis.systems if system.name in names):
        yield found("published")
    if unmeasured := unmeasured_systems(analysis.missing, {system.name for system in analysis.systems}):
        yield found("not-measured-yet", systems=tuple(unmeasured))
