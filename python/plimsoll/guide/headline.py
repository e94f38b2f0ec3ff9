"""What a guide shows first: what was measured, a sentence for each workload, what casts doubt, each system in one row.

Deliberately not here: charts of the first screen (`figures`), and the rest of the answer (`answer`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial

from plimsoll.analyse.answers.answer import TOLD_ONE_BY_ONE, grade_of_pool
from plimsoll.analyse.findings.finding_model import Finding, Grade
from plimsoll.analyse.findings.runs import THROUGHPUT_STALLED
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.study.capacity_model import SystemCost
from plimsoll.analyse.study.cell_model import has_p99
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.points import best_within
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.guide.answer import INDICATED, answer_sentence, has_pool_advice
from plimsoll.guide.cost import money_words, price_words
from plimsoll.guide.level_tables import curves_of
from plimsoll.guide.sources import Source, capacity_sources, cell_sources, sources_of
from plimsoll.guide.tables import (
    NOT_KNOWN,
    PEAK,
    SUSTAINED,
    Column,
    Entry,
    Table,
    show_rate,
    show_statistic,
    text_column,
    whole,
)
from plimsoll.guide.warnings import GRAVEST_COUNT, WarningPart
from plimsoll.prose.phrases import within_words
from plimsoll.record.environment import HostFacts, InstanceFacts
from plimsoll.units import format_bytes
from plimsoll.wording import capitalised, counted, listed

HEADLINE_CODES = (
    "disturbed",
    "capacity",
    "no-capacity",
    "within-objective",
    "objective-missed",
    "sustained-rate",
    "peak",
)
"""The findings that answer how much load a system can carry, the first that a workload has being its headline.

Where the machine was disturbed, that is said instead.
"""

DUET_HEADLINE_CODES = ("disturbed", "comparison", *HEADLINE_CODES[1:])
"""The same where systems took turns: a duet asks which one is faster, and only its ratios are protected from noise."""

_NEITHER = (RatioVerdict.UNRESOLVED, RatioVerdict.EQUAL)
_SHOWN_MAX = 3
_FIRST_WORDS = frozenset(("at", "with", "the", "it", "neither", "no", "none", "not", "if", "connection", "whether"))


@dataclass(frozen=True, slots=True)
class Sentence:
    """One of the answer, with where its figures come from.

    Attributes:
        workload: Which it is about; empty where it is about none.
        names: Of systems; they stay as they are where the sentence begins with one.
    """

    text: str
    sources: tuple[Source, ...] = ()
    workload: str = ""
    names: tuple[str, ...] = ()

    @property
    def without_workload(self) -> str:
        """The text where the workload's name stands above it; it begins with a capital unless a name comes first."""
        text = self.text.removeprefix(f"{self.workload}: ") if self.workload else self.text
        first = text.split(" ", 1)[0].strip(",")
        return capitalised(text, self.names) if first in _FIRST_WORDS else text


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstScreen:
    """What comes before everything else.

    Attributes:
        facts: Name and value: server, host, when it was measured, how much.
        notices: What is to be known before the headlines, such as that the study is not complete.
        headlines: One for each workload; where nothing was measured, what the answer begins with.
        warnings: The gravest.
        more_warnings_count: How many others there are.
    """

    facts: tuple[tuple[str, str], ...]
    notices: tuple[str, ...]
    headlines: tuple[Sentence, ...]
    warnings: tuple[WarningPart, ...]
    more_warnings_count: int


def first_screen(analysis: Analysis, warnings: tuple[WarningPart, ...]) -> FirstScreen:
    """What stands on it; `warnings` are all of them, the gravest first."""
    chosen = headline_findings(analysis)
    about_all = [
        finding
        for finding in analysis.answer
        if finding.workload is None and finding.code in ("incomplete", "lag-grows")
    ]
    if not chosen:
        chosen = [finding for finding in analysis.answer if finding not in about_all][:1]
    return FirstScreen(
        facts=_facts(analysis),
        notices=tuple(answer_sentence(finding, analysis) for finding in about_all),
        headlines=sentences(analysis, chosen),
        warnings=warnings[:GRAVEST_COUNT],
        more_warnings_count=max(len(warnings) - GRAVEST_COUNT, 0),
    )


def sentences(analysis: Analysis, findings: Iterable[Finding]) -> tuple[Sentence, ...]:
    """Findings of the answer as sentences."""
    names = tuple(system.name for system in analysis.systems)
    return tuple(
        Sentence(answer_sentence(finding, analysis), sources_of(finding, analysis), finding.workload or "", names)
        for finding in findings
    )


def headline_findings(analysis: Analysis) -> list[Finding]:
    """For each workload the finding that answers best, and what factors do.

    Of several systems it is that of the one that sustains most. Where it is not resolved which one that is, the
    comparison comes first, and then the figures of both.
    """
    chosen = []
    for workload in analysis.workloads:
        findings = [finding for finding in analysis.answer if finding.workload == workload.name]
        for code in DUET_HEADLINE_CODES if is_duet(analysis, workload.name) else HEADLINE_CODES:
            if same := [finding for finding in findings if finding.code == code]:
                best = same[0] if code in ("comparison", "disturbed") else max(same, key=_merit)
                chosen += _without_a_first(best, findings) or [best, *_beside(best, findings)]
                break
        else:
            chosen += [finding for finding in findings if finding.code != "effects"][:1]
        chosen += [finding for finding in findings if finding.code == "effects"]
    return chosen


_IN_TABLES = {
    "peak": None,
    "pool": None,
    "sustained-rate": "level",
    "within-objective": "level",
    "capacity": "capacity_tps",
}
"""Findings that the table of systems shows in figures, with what has to be known for that."""


def rest_findings(analysis: Analysis) -> list[Finding]:
    """What a page says below its table: nothing that the table, the first screen or a warning says as well.

    Of comparisons it is the first one of each workload, unless that is a headline; a table has them all.
    """
    headlines = headline_findings(analysis)
    is_warned = {warning.code for warning in analysis.warnings}
    compared = {headline.workload for headline in headlines if headline.code in _COMPARED}
    chosen = []
    for finding in analysis.answer:
        if (
            finding in headlines
            or _is_in_table(finding)
            or (finding.code == "stalled" and THROUGHPUT_STALLED.code in is_warned)
        ):
            continue
        if finding.code in _COMPARED:
            if finding.workload in compared:
                continue
            compared.add(finding.workload)
        chosen.append(finding)
    return chosen


_COMPARED = ("comparison", "capacity-compared")


def _is_in_table(finding: Finding) -> bool:
    if finding.code not in _IN_TABLES:
        return False
    needed = _IN_TABLES[finding.code]
    return needed is None or (finding.level if needed == "level" else finding.known.get(needed)) is not None


def _beside(best: Finding, findings: Sequence[Finding]) -> list[Finding]:
    """What a headline needs beside it: without the objective, how much is sustained; of capacities, how they differ."""
    if best.code == "capacity":
        return [finding for finding in findings if finding.code == "capacity-compared"][:1]
    if best.code == "objective-missed" or (best.code == "within-objective" and best.level is None):
        return [finding for finding in findings if finding.code in ("peak", "sustained-rate")][:1]
    return []


def _without_a_first(best: Finding, findings: Sequence[Finding]) -> list[Finding]:
    """The comparison of the highest peak with the next where neither is the first; empty where one is, or is alone."""
    if best.code != "peak":
        return []
    ties = [finding for finding in findings if finding.code == "comparison" and finding.known["verdict"] in _NEITHER]
    compared = next((tie for tie in ties if best.system in (tie.system, tie.known["base"])), None)
    if compared is None:
        return []
    pair = (compared.system, compared.known["base"])
    return [compared, *(finding for finding in findings if finding.code == "peak" and finding.system in pair)]


def is_duet(analysis: Analysis, workload: str) -> bool:
    """Whether systems took turns under a workload."""
    return any(difference.duet is not None for difference in analysis.differences if difference.workload == workload)


def _merit(finding: Finding) -> float:
    if finding.level is None:
        return -1.0
    throughput = finding.known.get("throughput_tps")
    return finding.level.offered if finding.level.kind.is_at_rate or throughput is None else throughput.value


def _facts(analysis: Analysis) -> tuple[tuple[str, str], ...]:
    document = analysis.document
    facts = (
        ("For", document.audience),
        ("By", ", ".join(filter(None, (document.author, document.organisation)))),
        ("Source", _source(analysis)),
        ("Server", _some([name for system in analysis.systems for name in _servers(system)])),
        ("Host", _some([_host(system.environment.host) for system in analysis.systems], separator="; ")),
        ("Measured", _days(analysis)),
        ("Scope", scope(analysis)),
    )
    return tuple((name, value) for name, value in facts if value)


def _source(analysis: Analysis) -> str:
    """What was imported, and so not measured here; empty where nothing was."""
    imported = [system for system in analysis.systems if system.origin != "measured"]
    if not imported:
        return ""
    files = _some([system.imported_from or "" for system in imported])
    which = "" if len(imported) == len(analysis.systems) else f"{_some([system.name for system in imported])}: "
    return f"{which}imported{f' from {files}' if files else ''}, not measured by Plimsoll"


def _servers(system: SystemSummary) -> list[str]:
    return [_server(instance) for instance in system.environment.instances]


def _server(instance: InstanceFacts) -> str:
    """Such as `MariaDB 10.11.14`."""
    version = instance.version or ""
    if "-mariadb" in version.lower():
        return f"MariaDB {version[: version.lower().index('-mariadb')]}"
    return f"MySQL {version}" if version and instance.flavour == "mysql" else version


def _host(host: HostFacts) -> str:
    memory = None if host.memory_bytes is None else format_bytes(host.memory_bytes)
    cores = None if host.cpu_cores is None else f"{host.cpu_cores} core{'' if host.cpu_cores == 1 else 's'}"
    return ", ".join(part for part in (host.name, cores, memory) if part)


def _some(values: list[str], separator: str = ", ") -> str:
    """Each once; those with commas in them are told apart by semicolons."""
    different = list(dict.fromkeys(value for value in values if value))
    rest = len(different) - _SHOWN_MAX
    if rest <= 0:
        return listed(different) if separator == ", " else separator.join(different)
    return f"{separator.join(different[:_SHOWN_MAX])}{separator.rstrip() if separator != ', ' else ''} and {rest} more"


def _days(analysis: Analysis) -> str:
    """The day, or the first and the last one, UTC."""
    began = [trial.began_unix_s for trial in analysis.trials if trial.began_unix_s is not None]
    if not began:
        return ""
    days = dict.fromkeys(_day(datetime.fromtimestamp(at, UTC).date()) for at in (min(began), max(began)))
    return " to ".join(days)


def _day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def scope(analysis: Analysis) -> str:
    """How much was measured, such as `2 systems, 1 workload, 4 levels, 24 trials`."""
    cells = [cell for curve in analysis.curves for cell in curve.cells]
    trials = {trial for cell in cells for trial in cell.trials}
    counts = [(len(analysis.systems), "system"), (len(analysis.workloads), "workload")]
    searches = [search for capacity in analysis.capacities for search in capacity.searches]
    if cells or not searches:
        counts += [(len({cell.level.order for cell in cells}), "level")]
    counts += [(len(trials), "trial")] if trials else []
    parts = [counted(count, noun) for count, noun in counts]
    if searches:
        runs = sum(len(search.capacity.runs) for search in searches)
        parts.append(f"{counted(runs, 'run')} in {len(searches)} {'search' if len(searches) == 1 else 'searches'}")
    return ", ".join(parts)


_NOTHING = Entry(NOT_KNOWN)

_Figure = tuple[str, Callable[[Curve], Entry]]
"""The heading of a column, and what of a curve stands below it."""


def glance_table(analysis: Analysis) -> Table:
    """Every system in one row: its peak and pool under each workload, instances, cores and cost where known.

    Of a workload with too many systems to tell of each in sentences, it says what these would say as well.
    """
    with_cost = any(system.price is not None for system in analysis.systems)
    several = any(system.instances > 1 for system in analysis.systems)
    columns = [text_column("system")]
    columns += [Column(heading="instances")] if several else []
    replicated = any(system.replicas for system in analysis.systems)
    columns += [Column(heading="replicas")] if replicated else []
    columns += [Column(heading="cores")]
    columns += [Column(heading="cost per month")] if with_cost else []
    columns += [
        Column(heading=heading, group=workload.name)
        for workload in analysis.workloads
        for heading in (*_capacity_headings(analysis, workload), *_headings(analysis, workload))
    ]
    rows = tuple(_row(analysis, system, several=several, with_cost=with_cost) for system in analysis.systems)
    return Table(caption="Systems at a glance", columns=tuple(columns), rows=rows, notes=(_words(analysis),))


def many_tables(analysis: Analysis) -> Iterator[Table]:
    """The same in a table for each workload that has too many systems for sentences: narrow enough for a terminal."""
    for workload in analysis.workloads:
        if _is_told_one_by_one(analysis, workload):
            continue
        columns = [text_column("system")]
        columns += [Column(heading=heading) for heading in _headings(analysis, workload)]
        rows = [
            (Entry(system.name), *_entries(analysis, system, workload))
            for system in analysis.systems
            if system.name in _systems_under(analysis, workload)
        ]
        yield Table(caption=workload.name, columns=tuple(columns), rows=tuple(rows))


def _words(analysis: Analysis) -> str:
    """What the headings mean, for those who read no other page."""
    units = dict.fromkeys(workload.rate_unit for workload in analysis.workloads)
    rates = " ".join(f"{unit} is transactions per {'minute' if unit == 'tpm' else 'second'}." for unit in units)
    headings = {heading for workload in analysis.workloads for heading in _headings(analysis, workload)}
    meanings = []
    if any(system.replicas for system in analysis.systems):
        meanings.append("Throughput is that of all servers of a system: instances divide its data, replicas repeat it.")
    if any(_capacity_headings(analysis, workload) for workload in analysis.workloads):
        meanings.append("Capacity is the rate at which the objective is just kept.")
    if any(heading.startswith(PEAK) for heading in headings):
        meanings.append("Peak is the highest throughput that was measured.")
    if "pool" in headings:
        limit = "" if analysis.objective_ms_p99 is None else ", of the levels within the objective"
        meanings.append(f"Pool is how many connections an application should keep open{limit}.")
    if any(heading.startswith(SUSTAINED) for heading in headings):
        meanings.append("Sustained is the highest target rate that was completed without falling behind.")
    return " ".join((rates, *meanings)).strip()


def _row(analysis: Analysis, system: SystemSummary, *, several: bool, with_cost: bool) -> tuple[Entry, ...]:
    entries = [Entry(system.name)]
    entries += [Entry(whole(system.instances))] if several else []
    entries += [Entry(str(system.replicas))] if any(system.replicas for system in analysis.systems) else []
    entries.append(Entry(whole(system.cores)))
    if with_cost:
        entries.append(_NOTHING if system.price is None else Entry(price_words(system.price)))
    for workload in analysis.workloads:
        entries += [_capacity(analysis, system, workload) for _ in _capacity_headings(analysis, workload)]
        entries += _entries(analysis, system, workload)
    return tuple(entries)


def _capacity_headings(analysis: Analysis, workload: WorkloadSummary) -> list[str]:
    is_searched = any(capacity.workload == workload.name for capacity in analysis.capacities)
    return [f"capacity, {workload.rate_unit}"] if is_searched else []


def _capacity(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> Entry:
    capacities = (
        capacity
        for capacity in analysis.capacities
        if (capacity.system, capacity.workload) == (system.name, workload.name)
    )
    capacity = next(capacities, None)
    if capacity is None:
        return _NOTHING
    if capacity.capacity_tps is None:
        return Entry("not known")
    return replace(show_rate(capacity.capacity_tps, workload.rate_unit), sources=capacity_sources(capacity))


def _headings(analysis: Analysis, workload: WorkloadSummary) -> list[str]:
    return [heading for heading, _ in _figures(analysis, workload)]


def _entries(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> list[Entry]:
    """What stands below the headings of one workload."""
    curves = {curve.kind.is_at_rate: curve for _, curve in curves_of(analysis, system.name, workload.name)}
    curve = curves.get(_is_at_rate(analysis, workload))
    return [_NOTHING if curve is None else _sourced(show(curve), curve) for _, show in _figures(analysis, workload)]


def _sourced(entry: Entry, curve: Curve) -> Entry:
    """The entry with the recordings of the peak, unless it has others or is no figure."""
    return entry if entry.source or entry.text == NOT_KNOWN else replace(entry, sources=cell_sources(curve.peak_cell))


def _is_at_rate(analysis: Analysis, workload: WorkloadSummary) -> bool:
    return any(curve.kind.is_at_rate for curve in analysis.curves if curve.workload == workload.name)


def _figures(analysis: Analysis, workload: WorkloadSummary) -> list[_Figure]:
    unit = workload.rate_unit
    if not any(curve.workload == workload.name for curve in analysis.curves) and analysis.capacities:
        return []
    within = _within_figure(analysis.objective_ms_p99, unit)
    if _is_at_rate(analysis, workload):
        return [*within, (f"{SUSTAINED}, {unit}", lambda curve: _sustained(curve, unit)), ("p99 ms", _peak_p99)]
    curves = [curve for curve in analysis.curves if curve.workload == workload.name]
    levels = {cell.level.order: cell.level for curve in curves for cell in curve.cells}
    peak = f"{unit} at {next(iter(levels.values())).label()}" if len(levels) == 1 else f"{PEAK}, {unit}"
    return [
        *within,
        (peak, lambda curve: show_rate(curve.peak.throughput_tps, unit) if curve.peak else _NOTHING),
        *([("pool", _pool)] if any(map(has_pool_advice, curves)) else []),
        *_more(analysis, workload),
    ]


def _within_figure(objective_ms: float | None, unit: str) -> list[_Figure]:
    """The best level within the study's objective; nothing without one."""
    if objective_ms is None:
        return []
    return [(f"{unit} {within_words(objective_ms)}", lambda curve: _within(curve, objective_ms, unit))]


def _sustained(curve: Curve, unit: str) -> Entry:
    if curve.peak is None:
        return Entry("none")
    at_least = "" if curve.peak.is_inside_range else "at least "
    return Entry(f"{at_least}{curve.peak.level.figure(unit)}")


def _peak_p99(curve: Curve) -> Entry:
    cell = curve.peak_cell
    return _NOTHING if cell is None else Entry(show_statistic(cell.response_ms, "p99"))


def _pool(curve: Curve) -> Entry:
    if curve.pool is None or curve.peak is None or not has_pool_advice(curve):
        return _NOTHING
    levels = dict.fromkeys(curve.pool.between or (curve.pool.connections,))
    indicated = INDICATED if grade_of_pool(curve.pool) is Grade.INDICATED else ""
    return Entry(f"{' to '.join(f'{level:,}' for level in levels)}{indicated}")


def _more(analysis: Analysis, workload: WorkloadSummary) -> list[_Figure]:
    """What stands in no sentence when there are many systems."""
    if _is_told_one_by_one(analysis, workload):
        return []
    curves = [curve for curve in analysis.curves if curve.workload == workload.name]
    more: list[_Figure] = []
    if any(has_p99(cell.response_ms) for curve in curves for cell in curve.cells):
        more.append(("p99 ms at the peak", _peak_p99))
    for cost in (cost for cost in analysis.costs if cost.workload == workload.name):
        by_system = {system.system: system for system in cost.systems}
        heading = f"cost per million at {cost.utilisation * 100:.3g} %"
        more.append((heading, partial(_cost, by_system)))
    return more


def _is_told_one_by_one(analysis: Analysis, workload: WorkloadSummary) -> bool:
    return len(_systems_under(analysis, workload)) <= TOLD_ONE_BY_ONE


def _systems_under(analysis: Analysis, workload: WorkloadSummary) -> set[str]:
    return {curve.system for curve in analysis.curves if curve.workload == workload.name}


def _within(curve: Curve, objective_ms: float, unit: str) -> Entry:
    best = best_within(curve, objective_ms)
    return (
        _NOTHING
        if best is None
        else replace(show_rate(best.throughput_tps, unit), sources=cell_sources(curve.cell_at(best.level)))
    )


def _cost(by_system: Mapping[str, SystemCost], curve: Curve) -> Entry:
    cost = by_system.get(curve.system)
    if cost is None:
        return _NOTHING
    return Entry(money_words(cost.per_million.value, cost.price.currency), sources=cost.trials)
