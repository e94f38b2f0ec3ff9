"""Why the demand of a log may ask for more than was measured, as findings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from plimsoll.analyse.finding_model import Finding, found
from plimsoll.analyse.model import WorkloadSummary
from plimsoll.analyse.size_model import LoadAsked, SizeEvidence, SystemFit

BURSTIER_RATIO = 1.25
"""An index of dispersion that is learned from an hour is exact to about 10 %: less above the measured one is none."""

_DAY_S = 86_400

ABOUT_RATES = (
    "sampled",
    "no-times",
    "no-begin",
    "transactions-open",
    "files-damaged",
    "entries-damaged",
    "files-overlap",
)
"""Doubts of a log that bear on how many transactions it shows."""


def demand_doubts(asked: LoadAsked, judged: Sequence[SystemFit], workload: WorkloadSummary) -> Iterator[Finding]:
    """What casts doubt on an answer about the demand of a log."""
    demand = asked.demand
    if demand is None:
        return
    if demand.burstiness is None:
        yield found("burstiness-unknown")
    else:
        at_rate = [one for one in judged if one.evidence is not SizeEvidence.SATURATION]
        measured = _burstiness(workload)
        if demand.burstiness > BURSTIER_RATIO * measured and at_rate:
            yield found("burstier-than-measured", index=demand.burstiness, measured_index=measured)
        if demand.burstiness > BURSTIER_RATIO and len(at_rate) < len(judged):
            yield found("bursts-not-measured", index=demand.burstiness)
    if "long-bursts" in demand.doubts:
        yield found("long-bursts")
    if demand.duration_s < _DAY_S:
        yield found("log-shorter-than-a-day", duration_s=demand.duration_s)
    if codes := tuple(code for code in demand.doubts if code in ABOUT_RATES):
        yield found("log-doubts", codes=codes)


def _burstiness(workload: WorkloadSummary) -> float:
    """Of the load that was measured, as recordings state it; a Poisson process where they state nothing."""
    try:
        stated = float(workload.options.get("burstiness", "1"))
    except ValueError:
        return 1.0
    return stated if math.isfinite(stated) and stated >= 1 else 1.0
