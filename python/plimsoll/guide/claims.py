"""The section "Earlier findings": what an earlier study found, and whether this one confirms it.

Deliberately not here: how that is judged (`plimsoll.analyse.study.claims`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.curve_model import CheckedClaim, ClaimVerdict
from plimsoll.guide.sections import Section
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, show_ratio
from plimsoll.prose.phrases import levels_words
from plimsoll.units import format_number
from plimsoll.wording import listed

VERDICTS = {
    ClaimVerdict.SHOWS: "confirmed here",
    ClaimVerdict.DOES_NOT_SHOW: "contradicted here",
    ClaimVerdict.NOT_RESOLVED: "not resolved",
    ClaimVerdict.NOT_MEASURED: "not measured",
}
_HEADINGS = ("finding", "system", "figure", "range that agrees", "measured here", "verdict")


def claims_section(analysis: Analysis) -> Section | None:
    """The whole section; None where the study file states no claim."""
    if not analysis.claims:
        return None
    groups = [list(group) for _, group in itertools.groupby(analysis.claims, lambda claim: (claim.says, claim.source))]
    rows = tuple(_row(claim) for claim in analysis.claims)
    columns = tuple(Column(heading=heading, numeric=False) for heading in _HEADINGS)
    return Section(
        anchor="claims",
        title="Earlier findings",
        sentences=tuple(claim_sentence(group) for group in groups),
        tables=(Table(caption="Earlier findings and what was measured here", columns=columns, rows=rows),),
        notes=(
            "A finding is confirmed where the whole 95 % interval lies within the range that agrees with it,"
            " contradicted where all of it lies outside, and not resolved otherwise. One repetition does not show how"
            " repetitions differ, so it resolves nothing.",
        ),
    )


def claim_sentence(group: Sequence[CheckedClaim]) -> str:
    """A finding with its verdicts; systems of one verdict are named together."""
    first = group[0]
    source = f" ({first.source})" if first.source else ""
    by_verdict: dict[ClaimVerdict, list[str]] = {}
    for claim in group:
        by_verdict.setdefault(claim.verdict, []).append(claim.system)
    if len(by_verdict) == 1:
        verdicts = f"{VERDICTS[first.verdict]}{_of(group)}"
    else:
        verdicts = "; ".join(f"{VERDICTS[verdict]} on {listed(systems)}" for verdict, systems in by_verdict.items())
    return f"“{first.says.rstrip('.')}”{source}: {verdicts}."


def _of(group: Sequence[CheckedClaim]) -> str:
    """What was measured, where there is one system only."""
    return f": {_measured(group[0])}" if len(group) == 1 and group[0].verdict is not ClaimVerdict.NOT_MEASURED else ""


def _row(checked_claim: CheckedClaim) -> tuple[Entry, ...]:
    return (
        Entry(checked_claim.says),
        Entry(checked_claim.system),
        Entry(_figure(checked_claim)),
        Entry(_range(checked_claim)),
        Entry(_measured(checked_claim)),
        Entry(VERDICTS[checked_claim.verdict]),
    )


def _figure(checked_claim: CheckedClaim) -> str:
    match checked_claim.check:
        case "ratio":
            over = checked_claim.base or checked_claim.base_workload
            return f"throughput over that of {over}"
        case "scale_factor":
            return f"scale factor, {checked_claim.workload}"
        case "limited_by":
            return f"what limits {checked_claim.workload}"
        case "peak_per_cpu":
            return f"connections per CPU at the peak, {checked_claim.workload}"
    return f"connections at the peak, {checked_claim.workload}"


def _range(checked_claim: CheckedClaim) -> str:
    if checked_claim.low is None:
        return checked_claim.limited_by or NOT_KNOWN
    low = format_number(checked_claim.low)
    if checked_claim.high is None:
        return f"{low} or more"
    return low if checked_claim.low == checked_claim.high else f"{low} to {format_number(checked_claim.high)}"


def _measured(checked_claim: CheckedClaim) -> str:
    if checked_claim.check == "limited_by":
        return _limit(checked_claim)
    if checked_claim.found is None:
        return NOT_KNOWN
    shown = show_ratio(checked_claim.found)
    if checked_claim.levels:
        return (
            f"{shown.text} (the peak may be at {levels_words(checked_claim.levels)})"
            if len(checked_claim.levels) > 1
            else shown.text
        )
    return f"{shown.text} ({shown.detail})" if shown.detail else f"{shown.text}, without an interval"


def _limit(checked_claim: CheckedClaim) -> str:
    match checked_claim.verdict:
        case ClaimVerdict.NOT_MEASURED:
            return NOT_KNOWN
        case ClaimVerdict.NOT_RESOLVED:
            return "what limits is not known: see “Where the time goes”"
    return checked_claim.resource or "no hardware resource is busy"
