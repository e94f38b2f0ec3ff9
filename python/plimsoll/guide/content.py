"""What a guide says, in its order, before it takes a shape: HTML, Markdown and terminal all show this.

Deliberately not here: any calculation (`plimsoll.analyse`), and any mark-up.
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.analyse.missing import missing_groups
from plimsoll.analyse.model import Analysis, Difference, SystemSummary, VariableDifference, WorkloadSummary
from plimsoll.guide.factors import factor_table
from plimsoll.guide.facts import EnvironmentPart, environment_parts
from plimsoll.guide.glance import glance_table
from plimsoll.guide.instances import instance_tables
from plimsoll.guide.numbers import NOT_KNOWN, explain_bounds, show_change
from plimsoll.guide.outages import outage_table
from plimsoll.guide.rates import NOTE, rate_tables
from plimsoll.guide.tables import Column, Entry, Table, figures_note, system_table
from plimsoll.guide.tpcc import deviation_table, notpm_tables
from plimsoll.guide.types import type_tables
from plimsoll.guide.words import (
    cleaned,
    effect_words,
    grouped,
    other_factor_words,
    place_words,
    pool_sentence,
    sentence,
    unknown_sentences,
    verdict_words,
    workload_words,
)

_NO_DIFFERENCES = "No two systems were compared."
_DIFFERENCES_AT_RATES = "Systems that were driven at rates are set side by side by what they carry: see the answer."
NO_ENVIRONMENTS = "The sources say nothing about the machines beyond what tells the systems apart."


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPart:
    """What is said about one workload besides its charts.

    Attributes:
        description: Kind and options in one line; empty when not known.
        pools: How large a connection pool should be, a sentence for each system.
        deviations: Where a TPC-C-derived one departs from the specification; None for others.
    """

    workload: WorkloadSummary
    description: str
    pools: tuple[str, ...]
    deviations: Table | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPart:
    """A system in figures.

    Attributes:
        levels: A row for each number of connections; None where there was only load at rates.
        more: A table for each workload at rates, for each that has more than one type of transaction, and for each that
            several instances share.
    """

    name: str
    levels: Table | None
    more: tuple[Table, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        """All of them."""
        return self.more if self.levels is None else (self.levels, *self.more)


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningPart:
    """A warning in full.

    Attributes:
        places: What it is about; the same warning may have been raised at several.
    """

    code: str
    evidence: str
    advice: str
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A guide without shape.

    Attributes:
        analysis: What it is made of, with its texts cleaned.
        warning_codes: Each code with how many warnings carry it.
        peak_differences: Comparisons of peaks; None when there are none, as with `level_differences`.
        no_differences: What to say where there are neither.
        factors: What tells the systems apart, as the study or the source says it.
        unexpected_variables: Those that differ and were not meant to; None when there are none.
    """

    analysis: Analysis
    title: str
    answer: tuple[str, ...]
    limits: tuple[str, ...]
    glance: Table
    bounds: str
    unknown: tuple[str, ...]
    warning_codes: tuple[tuple[str, int], ...]
    warnings: tuple[WarningPart, ...]
    workloads: tuple[WorkloadPart, ...]
    systems: tuple[SystemPart, ...]
    rates_note: str
    figures_note: str
    peak_differences: Table | None
    level_differences: Table | None
    no_differences: str
    factors: Table | None
    unexpected_variables: Table | None
    expected_variables: Table | None
    environments: tuple[EnvironmentPart, ...]
    outages: Table | None
    missing: Table | None
    rebuild: str


def describe(analysis: Analysis) -> Content:
    """All that a guide says about an analysis."""
    analysis = cleaned(analysis)
    differences = analysis.differences
    systems = tuple(_system(analysis, one) for one in analysis.systems)
    return Content(
        analysis=analysis,
        title=f"Sizing guide: {analysis.study}",
        answer=analysis.answer,
        limits=analysis.limits,
        glance=glance_table(analysis),
        bounds=explain_bounds(analysis),
        unknown=unknown_sentences(analysis.systems),
        warning_codes=tuple(
            (code, len(group)) for code, group in grouped(analysis.warnings, lambda placed: placed.warning.code)
        ),
        warnings=_warnings(analysis),
        workloads=tuple(_workload(analysis, workload) for workload in analysis.workloads),
        systems=systems,
        rates_note=NOTE if analysis.rate_curves else "",
        figures_note=figures_note(table for part in systems for table in part.tables),
        peak_differences=_differences("Peaks compared", [one for one in differences if one.connections is None]),
        level_differences=_differences(
            "The same number of connections compared", [one for one in differences if one.connections is not None]
        ),
        no_differences=_NO_DIFFERENCES if not analysis.rate_curves else _DIFFERENCES_AT_RATES,
        factors=factor_table(analysis),
        unexpected_variables=_variables(analysis, "Not meant to differ", expected=False),
        expected_variables=_variables(analysis, "Meant to differ, or a path, port or the like", expected=True),
        environments=environment_parts(analysis.systems),
        outages=outage_table(analysis),
        missing=_missing(analysis),
        rebuild="plimsoll guide STUDY",
    )


def _system(analysis: Analysis, system: SystemSummary) -> SystemPart:
    levels = system_table(analysis, system)
    more = (
        *rate_tables(analysis, system),
        *notpm_tables(analysis, system),
        *type_tables(analysis, system),
        *instance_tables(analysis, system),
    )
    return SystemPart(name=system.name, levels=levels if levels.rows or not more else None, more=more)


def _workload(analysis: Analysis, workload: WorkloadSummary) -> WorkloadPart:
    pools = tuple(pool_sentence(curve) for curve in analysis.curves if curve.workload == workload.name)
    return WorkloadPart(
        workload=workload, description=workload_words(workload), pools=pools, deviations=deviation_table(workload)
    )


def _warnings(analysis: Analysis) -> tuple[WarningPart, ...]:
    same = grouped(analysis.warnings, lambda placed: placed.warning)
    return tuple(
        WarningPart(
            code=warning.code,
            evidence=sentence(warning.evidence),
            advice=sentence(warning.advice),
            places=tuple(dict.fromkeys(place_words(placed, analysis) for placed in group)),
        )
        for warning, group in same
    )


def _differences(caption: str, differences: list[Difference]) -> Table | None:
    if not differences:
        return None
    with_level = any(one.connections is not None for one in differences)
    with_others = any(one.other_factors or one.one_sided_factors for one in differences)
    columns = [_words("compared"), _words("workload")]
    columns += [Column(heading="connections")] if with_level else []
    columns += [
        Column(heading="throughput"),
        _words("verdict"),
        Column(heading="smallest difference these trials find"),
    ]
    columns += [_words("what else differs")] if with_others else []
    rows = tuple(_difference_row(one, with_level=with_level, with_others=with_others) for one in differences)
    return Table(caption=caption, columns=tuple(columns), rows=rows)


def _difference_row(one: Difference, *, with_level: bool, with_others: bool) -> tuple[Entry, ...]:
    change = show_change(one.ratio)
    level = [Entry(NOT_KNOWN if one.connections is None else f"{one.connections:,}")] if with_level else []
    others = [Entry(other_factor_words(one) or NOT_KNOWN)] if with_others else []
    return (
        Entry(f"{one.system} against {one.base}"),
        Entry(one.workload),
        *level,
        Entry(change.value, change.bounds),
        Entry(verdict_words(one)),
        Entry(effect_words(one)),
        *others,
    )


def _variables(analysis: Analysis, caption: str, *, expected: bool) -> Table | None:
    found = [variable for variable in analysis.variables if variable.expected is expected]
    if not found:
        return None
    names = [system.name for system in analysis.systems if any(system.name in variable.values for variable in found)]
    rows = tuple((Entry(variable.variable), *_variable_entries(variable, names)) for variable in found)
    return Table(caption=caption, columns=(_words("variable"), *(_words(name) for name in names)), rows=rows)


def _variable_entries(variable: VariableDifference, names: list[str]) -> list[Entry]:
    values = [variable.values.get(name) for name in names]
    return [Entry("does not have it" if value is None else value or "(empty)") for value in values]


def _missing(analysis: Analysis) -> Table | None:
    if not analysis.missing:
        return None
    headings = ("system", "workload", "level", "repetition", "why", "recording")
    unrun_ids = {one.trial_id for one in analysis.missing if not one.has_run}
    rows = tuple(
        (
            Entry(one.system or NOT_KNOWN),
            Entry(one.workload or NOT_KNOWN),
            Entry(one.level or NOT_KNOWN),
            Entry(one.repetitions or NOT_KNOWN),
            Entry(one.reason),
            Entry(", ".join(name for name in one.trial_ids if name not in unrun_ids) or "none"),
        )
        for one in missing_groups(analysis.missing)
    )
    columns = tuple(_words(heading) for heading in headings)
    return Table(caption="Trials that are no part of any figure", columns=columns, rows=rows)


def _words(heading: str) -> Column:
    return Column(heading=heading, numeric=False)
