"""The section "Earlier findings": what an earlier study found, and whether this one confirms it.

In an import it is what the authors concluded, beside their own figures.

Deliberately not here: how that is judged (`plimsoll.analyse.study.claims`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from plimsoll.analyse.answers.size_evidence import MEASURED_ORIGIN
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.curve_model import CheckedClaim, ClaimVerdict
from plimsoll.guide.answer import INDICATED
from plimsoll.guide.sections import Section
from plimsoll.guide.tables import NOT_KNOWN, Entry, Table, show_ratio, text_column
from plimsoll.prose.phrases import levels_words
from plimsoll.wording import counted, listed

VERDICTS = {
    ClaimVerdict.SHOWS: "confirmed here",
    ClaimVerdict.DOES_NOT_SHOW: "contradicted here",
    ClaimVerdict.NOT_RESOLVED: "not resolved",
    ClaimVerdict.NOT_MEASURED: "not measured",
}
_HEADINGS = ("finding", "system", "figure", "range that agrees", "measured here", "verdict")
_NOTE = (
    "A finding is confirmed where the whole 95 % interval lies within the range that agrees with it, contradicted where"
    " all of it lies outside, and not resolved otherwise. One repetition does not show how repetitions differ, so it"
    " resolves nothing."
)

AGREE, DISAGREE = f"the figures agree{INDICATED}", f"the figures do not agree{INDICATED}"
"""What is said of figures that were published once, where a verdict would need repetitions."""

_IMPORTED_VERDICTS = {
    ClaimVerdict.SHOWS: "the repetitions of the source confirm it",
    ClaimVerdict.DOES_NOT_SHOW: "the repetitions of the source contradict it",
    ClaimVerdict.NOT_MEASURED: "the table does not show it",
    ClaimVerdict.NOT_RESOLVED: "the repetitions of the source leave it open",
}
_IMPORTED_HEADINGS = ("conclusion", "system", "figure", "range that agrees", "in the source", "verdict")
_IMPORTED_NOTE = (
    "Figures agree where they lie within the range. Without repetitions nothing says how far chance moved them, so"
    " agreement is an indication, not a confirmation."
)


def claims_section(analysis: Analysis) -> Section | None:
    """The whole section; None where nobody states a claim."""
    if not analysis.claims:
        return None
    groups = [list(group) for _, group in itertools.groupby(analysis.claims, lambda claim: (claim.says, claim.source))]
    is_import = all(system.origin != MEASURED_ORIGIN for system in analysis.systems)
    rows = _rows(analysis, is_import=is_import)
    headings = _IMPORTED_HEADINGS if is_import else _HEADINGS
    caption = "Conclusions and figures" if is_import else "Earlier findings and what was measured here"
    columns = tuple(text_column(heading) for heading in headings)
    return Section(
        anchor="claims",
        title="What the authors concluded" if is_import else "Earlier findings",
        sentences=tuple(claim_sentence(group, is_import=is_import) for group in groups),
        tables=(Table(caption=caption, columns=columns, rows=rows),),
        notes=(_IMPORTED_NOTE if is_import else _NOTE,),
    )


def claim_sentence(group: Sequence[CheckedClaim], *, is_import: bool = False) -> str:
    """A finding with its verdicts; systems of one verdict are named together."""
    first = group[0]
    source = f" ({first.source})" if first.source else ""
    by_verdict: dict[str, list[str]] = {}
    for claim in group:
        by_verdict.setdefault(_verdict(claim, is_import=is_import), []).append(f"{claim.system}{_level(claim)}")
    if len(by_verdict) == 1:
        verdicts = f"{next(iter(by_verdict))}{_of(group, is_import=is_import)}"
    else:
        verdicts = "; ".join(f"{verdict} on {listed(systems)}" for verdict, systems in by_verdict.items())
    return f"“{first.says.rstrip('.')}”{source}: {verdicts}."


def _verdict(claim: CheckedClaim, *, is_import: bool) -> str:
    if not is_import:
        return VERDICTS[claim.verdict]
    if claim.verdict is ClaimVerdict.NOT_RESOLVED and claim.found is not None and claim.found.trial_count == 1:
        return AGREE if claim.is_in_range else DISAGREE
    return _IMPORTED_VERDICTS[claim.verdict]


def _of(group: Sequence[CheckedClaim], *, is_import: bool) -> str:
    """What was measured, where there is one system only."""
    if len(group) > 1 or group[0].verdict is ClaimVerdict.NOT_MEASURED:
        return ""
    return f": {_measured(group[0], is_import=is_import)}"


def _rows(analysis: Analysis, *, is_import: bool) -> tuple[tuple[Entry, ...], ...]:
    """A row for each claim and what was found; systems of which the same was found share it."""
    systems: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for claim in analysis.claims:
        stated = (claim.source, claim.workload, claim.base_workload or "")
        fields = (
            claim.says,
            _figure(claim, is_import=is_import),
            _range(claim),
            _measured(claim, is_import=is_import),
            _verdict(claim, is_import=is_import),
        )
        systems.setdefault((stated, fields), []).append(claim.system)
    every = {system.name for system in analysis.systems}
    return tuple(
        (Entry(fields[0]), Entry(_systems(list(dict.fromkeys(sharing)), every)), *map(Entry, fields[1:]))
        for (_, fields), sharing in systems.items()
    )


def _systems(names: Sequence[str], every: set[str]) -> str:
    return "every system" if len(names) > 1 and set(names) == every else listed(names)


def _figure(checked_claim: CheckedClaim, *, is_import: bool) -> str:
    match checked_claim.check:
        case "ratio":
            over = checked_claim.base or checked_claim.base_workload
            return f"throughput{_level(checked_claim)} over that of {over}, {checked_claim.workload}"
        case "scale_factor":
            return f"scale factor{_level(checked_claim)}, {checked_claim.workload}"
        case "limited_by":
            return f"what limits {checked_claim.workload}"
        case "peak_per_cpu":
            return f"connections per {'core' if is_import else 'CPU'} at the peak, {checked_claim.workload}"
    return f"connections at the peak, {checked_claim.workload}"


def _level(checked_claim: CheckedClaim) -> str:
    return "" if checked_claim.connections is None else f" at {counted(checked_claim.connections, 'connection')}"


def _range(checked_claim: CheckedClaim) -> str:
    if checked_claim.low is None:
        return checked_claim.limited_by or NOT_KNOWN
    low = _as_written(checked_claim.low)
    if checked_claim.high is None:
        return f"{low} or more"
    return low if checked_claim.low == checked_claim.high else f"{low} to {_as_written(checked_claim.high)}"


def _as_written(number: float) -> str:
    """A number with all the digits that somebody wrote, which a rounded one may contradict."""
    return f"{number:,.10g}"


def _measured(checked_claim: CheckedClaim, *, is_import: bool) -> str:
    if checked_claim.check == "limited_by":
        return _limit(checked_claim)
    if checked_claim.found is None:
        return NOT_KNOWN
    if is_import and checked_claim.levels:
        return _as_written(checked_claim.found.value)
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
