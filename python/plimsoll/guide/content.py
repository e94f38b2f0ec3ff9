"""What a guide says, in its order, before it takes a shape: HTML, Markdown and terminal all show this.

Deliberately not here: any calculation (`plimsoll.analyse`), and any mark-up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from plimsoll.analyse.findings.missing import missing_groups
from plimsoll.analyse.model import (
    Analysis,
    WorkloadSummary,
)
from plimsoll.guide.answer import answer_sentence, has_pool_advice, limit_sentence, pool_sentences
from plimsoll.guide.capacity import CapacityPart, capacity_part
from plimsoll.guide.claims import claims_section
from plimsoll.guide.comparisons import level_differences, peak_differences
from plimsoll.guide.cost import cost_section
from plimsoll.guide.duets import duet_table
from plimsoll.guide.effects import effects_section
from plimsoll.guide.facts import equivalence_section, factor_table, variable_table
from plimsoll.guide.fidelity import fidelity_section
from plimsoll.guide.headline import FirstScreen, Sentence, first_screen, glance_table, rest_findings, sentences
from plimsoll.guide.level_tables import DERIVED, RATES_NOTE, deviations_section
from plimsoll.guide.replication import replication_section
from plimsoll.guide.scalability import scalability_section
from plimsoll.guide.sections import Section
from plimsoll.guide.setup import repeat_section, setup_section
from plimsoll.guide.size import choice_table
from plimsoll.guide.sources import RecordingPart, recording_parts
from plimsoll.guide.storage import data_section, durability_section, storage_section
from plimsoll.guide.system_pages import SystemPage, system_pages
from plimsoll.guide.tables import NOT_KNOWN, Entry, Table, explain_bounds, figures_note, text_column
from plimsoll.guide.trials import condition_table, long_trials_section, outage_table
from plimsoll.guide.warnings import WarningGroup, WarningPart, warning_groups, warning_parts
from plimsoll.guide.where_time import where_section
from plimsoll.guide.words import (
    cleaned,
    unknown_sentences,
    workload_words,
)
from plimsoll.prose.phrases import levels_words, spans, vague_once

_NO_DIFFERENCES = "No two systems were compared."
_DIFFERENCES_AT_RATES = "Systems at target rates are compared by what they sustain: see the answer."
SECTIONS = (
    replication_section,
    durability_section,
    effects_section,
    claims_section,
    where_section,
    long_trials_section,
    storage_section,
    scalability_section,
    cost_section,
    setup_section,
    equivalence_section,
    data_section,
    fidelity_section,
    deviations_section,
    repeat_section,
)

RECORDINGS = "recordings"
"""The folder of a study that holds its recordings, where the guide is in the study's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPart:
    """What is said about one workload besides its charts.

    Attributes:
        description: Kind and options in one line; empty when not known.
        pools: How large a connection pool should be, a sentence for each system.
        caveat: That a TPC-C-derived one has no TPC-C results; empty for others.
        capacity: What was found where capacities were searched for; None for others.
    """

    workload: WorkloadSummary
    description: str
    pools: tuple[str, ...]
    caveat: str
    capacity: CapacityPart | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A guide without shape.

    Attributes:
        analysis: What it is made of, with its texts cleaned.
        choices: Which system to choose for which load; None where none is known to be good for any.
        first: What the first screen says.
        rest: The answer without what the first screen and the table of systems say of it.
        warning_groups: The warnings by severity.
        recordings: Every recording that figures rest on.
        pages: Each system, or those that differ in one factor, in figures.
        peak_differences: Comparisons of peaks; None when there are none, as with `level_differences`.
        duets: Comparisons of systems that took turns; None when none did.
        no_differences: What to say where there are neither.
        factors: What tells the systems apart, as the study or the source says it.
        sections: Effects of factors, earlier findings, where the time goes and others, as far as there is something
            to say.
        unexpected_variables: Those that differ and were not meant to; None when there are none.
    """

    analysis: Analysis
    title: str
    first: FirstScreen
    answer: tuple[str, ...]
    rest: tuple[Sentence, ...]
    limits: tuple[str, ...]
    choices: Table | None
    glance: Table
    bounds: str
    unknown: tuple[str, ...]
    warnings: tuple[WarningPart, ...]
    warning_groups: tuple[WarningGroup, ...]
    workloads: tuple[WorkloadPart, ...]
    pages: tuple[SystemPage, ...]
    rates_note: str
    figures_note: str
    peak_differences: Table | None
    level_differences: Table | None
    duets: Table | None
    no_differences: str
    factors: Table | None
    unexpected_variables: Table | None
    expected_variables: Table | None
    conditions: Table | None
    sections: tuple[Section, ...]
    outages: Table | None
    missing: Table | None
    recordings: tuple[RecordingPart, ...]
    rebuild: str
    capacity: CapacityPart | None = None

    @property
    def recorded(self) -> dict[str, str]:
        """The recordings that a figure can lead to, each with a short name such as `r1`."""
        return {recording.trial_id: f"r{number}" for number, recording in enumerate(self.recordings, start=1)}

    @property
    def result_sections(self) -> tuple[Section, ...]:
        """The sections of results."""
        return tuple(section for section in self.sections if not section.is_background)

    @property
    def background_sections(self) -> tuple[Section, ...]:
        """The sections that tell under which conditions results hold."""
        return tuple(section for section in self.sections if section.is_background)

    @property
    def has_curves(self) -> bool:
        """Levels were measured, or nothing was: what only searched for capacities has no figures of levels to show."""
        return bool(self.analysis.curves) or self.capacity is None


def describe(analysis: Analysis, recordings: str = RECORDINGS) -> Content:
    """All that a guide says about an analysis.

    Args:
        analysis: Of the study.
        recordings: The folder that holds its recordings, relative to the guide.
    """
    analysis = cleaned(analysis)
    has_rates = any(curve.kind.is_at_rate for curve in analysis.curves)
    pages = system_pages(analysis)
    warnings = warning_parts(analysis)
    first = first_screen(analysis, warnings)
    first_texts = {*first.notices, *(headline.text for headline in first.headlines)}
    rest = tuple(
        sentence for sentence in sentences(analysis, rest_findings(analysis)) if sentence.text not in first_texts
    )
    texts = iter(vague_once([headline.text for headline in (*first.headlines, *rest)]))
    headlines, rest = (
        tuple(replace(sentence, text=next(texts)) for sentence in group) for group in (first.headlines, rest)
    )
    return Content(
        analysis=analysis,
        title=f"Sizing guide: {analysis.document.title or analysis.study}",
        first=replace(first, headlines=headlines),
        answer=vague_once([answer_sentence(finding, analysis) for finding in analysis.answer]),
        rest=rest,
        limits=tuple(limit_sentence(limit) for limit in analysis.limits),
        choices=choice_table(analysis),
        glance=glance_table(analysis),
        bounds=explain_bounds(analysis),
        unknown=unknown_sentences(analysis.systems) if analysis.curves or not analysis.capacities else (),
        warnings=warnings,
        warning_groups=warning_groups(warnings),
        workloads=tuple(_workload(analysis, workload) for workload in analysis.workloads),
        pages=pages,
        rates_note=RATES_NOTE if has_rates else "",
        figures_note=figures_note(table for page in pages for table in page.tables),
        peak_differences=peak_differences(analysis),
        level_differences=level_differences(analysis),
        duets=duet_table(analysis),
        no_differences=_DIFFERENCES_AT_RATES if has_rates else _NO_DIFFERENCES,
        factors=factor_table(analysis),
        unexpected_variables=variable_table(analysis, "Unexpected differences", expected=False),
        expected_variables=variable_table(
            analysis, "Expected differences: factors, paths, ports and similar", expected=True
        ),
        conditions=condition_table(analysis),
        sections=tuple(filter(None, (make(analysis) for make in SECTIONS))),
        outages=outage_table(analysis),
        missing=_missing(analysis),
        recordings=recording_parts(analysis, recordings),
        rebuild="plimsoll guide STUDY",
        capacity=capacity_part(analysis),
    )


def _workload(analysis: Analysis, workload: WorkloadSummary) -> WorkloadPart:
    curves = [curve for curve in analysis.curves if curve.workload == workload.name and has_pool_advice(curve)]
    return WorkloadPart(
        workload=workload,
        description=workload_words(workload),
        pools=pool_sentences(curves),
        caveat=DERIVED if workload.deviations else "",
        capacity=capacity_part(analysis, workload.name),
    )


def _missing(analysis: Analysis) -> Table | None:
    if not analysis.missing:
        return None
    headings = ("system", "workload", "level", "repetition", "why", "recording")
    unrun_ids = {trial.trial_id for trial in analysis.missing if not trial.has_run}
    rows = tuple(
        (
            Entry(missing_group.system or NOT_KNOWN),
            Entry(missing_group.workload or NOT_KNOWN),
            Entry(levels_words(missing_group.levels) or NOT_KNOWN),
            Entry(spans(missing_group.repetitions) or NOT_KNOWN),
            Entry(missing_group.reason),
            Entry(", ".join(name for name in missing_group.trial_ids if name not in unrun_ids) or "none"),
        )
        for missing_group in missing_groups(analysis.missing)
    )
    columns = tuple(text_column(heading) for heading in headings)
    return Table(caption="Trials that no figure includes", columns=columns, rows=rows)
