"""A page for each system: what it is, all its curves in one chart, all its levels in one table, its options.

Systems that differ only in the factor that `[document] group_by` names share a page, with columns for each value. What
all systems share stands in the test environment (`setup`). Deliberately not here: tables of levels (`level_tables`),
and facts of machines (`facts`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product, takewhile

from plimsoll.analyse.explain.variables import is_own, spelled, stated_options
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.study.factors import NOT_SET, factors_of
from plimsoll.analyse.trial.instances import REPLICA
from plimsoll.guide.charts import Charted
from plimsoll.guide.drawing import alt
from plimsoll.guide.facts import (
    Fact,
    InstancePart,
    instance_parts,
    shared_definitions,
    shared_facts,
    shown,
    system_facts,
)
from plimsoll.guide.level_tables import curves_of, instance_tables, notpm_tables, system_tables, type_tables
from plimsoll.guide.marks import (
    PAGE,
    Chart,
    Row,
    Series,
    Style,
    axis_y,
    chart_of,
    finish,
    lines_and_points,
    rate_words,
    series_colours,
    series_dashes,
    series_shapes,
)
from plimsoll.guide.sections import SectionChart
from plimsoll.guide.tables import NOT_KNOWN, Entry, Table, text_column
from plimsoll.guide.words import clean, grouped
from plimsoll.prose.phrases import factor_name, factor_value, is_secret
from plimsoll.record.environment import HostFacts, InstanceFacts
from plimsoll.record.level import LevelKind
from plimsoll.units import format_bytes, parse_whole

PAGES_TITLE = "Systems one by one"

_COLUMNS_MAX = 14
"""Figures of a table that several systems share; with more, each has a table of its own."""


@dataclass(frozen=True, slots=True)
class Line:
    """How one line of a page's chart is drawn: the colour says which system, the dash which workload."""

    name: str
    colour: str
    dash: str
    shape: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPage:
    """A system in figures, or several that differ in one factor.

    Attributes:
        names: Of the systems.
        facts: What is known of all of them and not of every system of the study.
        differences: Facts that tell them apart; None for one system.
        lines: How the chart's lines are drawn.
        levels: A row for each number of connections; none where there was only load at rates.
        more: A table for each workload at rates, for each that has more than one type of transaction, and for each that
            several instances share.
        options: What servers were set to otherwise than in every system; None where nothing is known.
        instances: All variables, and definitions of tables.
    """

    name: str
    names: tuple[str, ...]
    facts: tuple[Fact, ...]
    differences: Table | None
    charts: tuple[SectionChart, ...]
    lines: tuple[Line, ...]
    levels: tuple[Table, ...]
    more: tuple[Table, ...]
    options: Table | None
    instances: tuple[InstancePart, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Those of figures."""
        return (*self.levels, *self.more)

    @property
    def has_variables(self) -> bool:
        """Some server said which variables are effective."""
        return any(instance.variables for instance in self.instances)


def system_pages(analysis: Analysis) -> tuple[SystemPage, ...]:
    """Every system, in its order."""
    return tuple(_page(analysis, name or analysis.study, systems) for name, systems in _groups(analysis))


_Group = tuple[str, list[SystemSummary]]
"""What a page is called, and its systems."""


def _groups(analysis: Analysis) -> list[_Group]:
    """Systems whose names differ by the factor's value alone, then those whose other factors are the same."""
    factor = analysis.document.group_by
    by_name = grouped(analysis.systems, lambda system: _page_name(system, factor))
    by_others = [alike for _, alike in grouped(by_name, lambda group: _others(*group, factor))]
    merged = [_merged(analysis, alike) for alike in by_others]
    names = Counter(name for groups in merged for name, _ in groups)
    kept = (alike if names[groups[0][0]] > 1 else groups for alike, groups in zip(by_others, merged, strict=True))
    order = [system.name for system in analysis.systems]
    return sorted((group for groups in kept for group in groups), key=lambda group: order.index(group[1][0].name))


_PLACES = frozenset({"target", "host", "replicas", "data_dir", "replica_data_dir", "encryption"})
"""Factors that say where a system is and how it was reached: no two need agree in them to share a page."""


def _others(name: str, systems: Sequence[SystemSummary], factor: str) -> frozenset[tuple[str, str]] | str:
    """All factors but that one; the name where a system does not have it, or they do not agree in the others."""
    if any(factors_of(system).value_by_name(factor) is None for system in systems):
        return name
    others = {frozenset(_other_factors(system, factor).items()) for system in systems}
    return others.pop() if len(others) == 1 else name


def _other_factors(system: SystemSummary, factor: str) -> dict[str, str]:
    factors = system.factor_values or factors_of(system).stated
    return {name: value for name, value in factors.items() if name != factor and name not in _PLACES}


def _merged(analysis: Analysis, groups: list[_Group]) -> list[_Group]:
    """One group of them; as they are where the factor does not tell their systems apart, or nothing names all."""
    factor = analysis.document.group_by
    systems = [system for _, members in groups for system in members]
    values = {factors_of(system).value_by_name(factor) for system in systems}
    if len(groups) == 1 or len(values) < len(systems):
        return groups
    name = _common_words([system.name for system in systems]) or _words_of_others(analysis, systems[0], factor)
    return [(name, systems)] if name else groups


_JOINING = frozenset({"a", "and", "at", "by", "for", "from", "in", "of", "on", "the", "to", "using", "with"})


def _common_words(names: Sequence[str]) -> str:
    """What names begin and end with alike.

    >>> _common_words(["db on NVMe", "db on SAS"]), _common_words(["NVMe, large db", "SAS, large db"])
    ('db', 'large db')
    """
    split = [name.split() for name in names]
    first = _common_start(split)
    last = _common_start([words[: len(first) - 1 : -1] if first else words[::-1] for words in split])[::-1]
    while first and first[-1] in _JOINING:
        first.pop()
    while last and last[0] in _JOINING:
        last.pop(0)
    return " ".join([*first, *last]).strip(" ,;:/-")


def _common_start(lists: Sequence[Sequence[str]]) -> list[str]:
    return [words[0] for words in takewhile(lambda words: len(set(words)) == 1, zip(*lists, strict=False))]


def _words_of_others(analysis: Analysis, system: SystemSummary, factor: str) -> str:
    """The other factors that tell it from some system of the study."""
    of_each = [_other_factors(other, factor) for other in analysis.systems]
    factors = _other_factors(system, factor)
    telling = [name for name in factors if any(other.get(name) != factors[name] for other in of_each)]
    return ", ".join(f"{factor_name(name)} {factor_value(name, factors[name])}" for name in telling)


def _page(analysis: Analysis, name: str, systems: Sequence[SystemSummary]) -> SystemPage:
    labels = _labels(systems, analysis.document.group_by)
    shared, definitions = shared_facts(analysis.systems), shared_definitions(analysis.systems)
    facts = [_own_facts(analysis, system, shared) for system in systems]
    common = tuple(fact for fact in facts[0] if all(fact in other for other in facts[1:]))
    everywhere = shared_options(analysis.systems)
    own_options = [
        {name: option for name, option in system_options(system).items() if everywhere.get(name) != option}
        for system in systems
    ]
    return SystemPage(
        name=name,
        names=tuple(system.name for system in systems),
        facts=common,
        differences=_differences([dict(each) for each in facts], dict(common), labels) if len(systems) > 1 else None,
        charts=tuple(_charts(analysis, systems)),
        lines=tuple(_lines(analysis, systems, labels)),
        levels=_levels(analysis, systems, labels),
        more=tuple(table for system in systems for table in _more(analysis, system)),
        options=option_table("Options of its own", own_options, labels),
        instances=tuple(part for system in systems for part in instance_parts(system, definitions)),
    )


def _page_name(system: SystemSummary, factor: str) -> str:
    """The name without what stands for the factor in it; empty where nothing is left."""
    value = factors_of(system).value_by_name(factor)
    if not value:
        return system.name
    padded = f", {system.name}, "
    for part in (f"{factor}={value}", f"{factor} {value}", value):
        if f", {part}, " in padded:
            return padded.replace(f", {part}, ", ", ", 1).strip(", ")
    return system.name


def _labels(systems: Sequence[SystemSummary], factor: str) -> tuple[str, ...]:
    """What each system of a page is called there: the beginning of its value, where that tells them apart."""
    if len(systems) == 1:
        return ("",)
    known = [None if is_secret(factor) else factors_of(system).value_by_name(factor) for system in systems]
    values = [value or system.name for value, system in zip(known, systems, strict=True)]
    brief = [re.split(r", | \(", value, maxsplit=1)[0] for value in values]
    chosen = brief if len(set(brief)) == len(systems) else values
    return tuple(chosen) if len(set(chosen)) == len(systems) else tuple(system.name for system in systems)


def _own_facts(analysis: Analysis, system: SystemSummary, shared: Sequence[Fact]) -> tuple[Fact, ...]:
    """Factors that not all systems share, but for those that options or facts of the machine say; and these facts."""
    environment = system.environment
    elsewhere = {*system_options(system), *(environment.reported if environment.host != HostFacts() else ())}
    factors = [
        (factor_name(name), factor_value(name, value))
        for name, value in system.factors.items()
        if name not in elsewhere and any(other.factors.get(name) != value for other in analysis.systems)
    ]
    return (*factors, *system_facts(system, shared))


def _differences(facts: Sequence[dict[str, str]], common: dict[str, str], labels: Sequence[str]) -> Table | None:
    names = dict.fromkeys(name for each in facts for name in each if name not in common)
    if not names:
        return None
    return Table(
        caption="What differs between them",
        columns=(text_column(""), *map(text_column, labels)),
        rows=tuple((Entry(name), *(Entry(each.get(name) or NOT_KNOWN) for each in facts)) for name in names),
    )


def _levels(analysis: Analysis, systems: Sequence[SystemSummary], labels: Sequence[str]) -> tuple[Table, ...]:
    """One table of all of them; one for each where that would be too wide."""
    joined, _ = system_tables(analysis, systems, labels)
    if joined is None or len(systems) == 1 or len(joined.columns) <= _COLUMNS_MAX + 1:
        return () if joined is None else (joined,)
    tables = (system_tables(analysis, [system])[0] for system in systems)
    return tuple(table for table in tables if table is not None)


def _more(analysis: Analysis, system: SystemSummary) -> tuple[Table, ...]:
    return (
        *system_tables(analysis, [system])[1],
        *notpm_tables(analysis, system),
        *type_tables(analysis, system),
        *instance_tables(analysis, system),
    )


class _PageSeries(Series):
    """How lines of a page are told apart, also in grey: by a system's colour in all of the guide, dash, and shape.

    The dash is the workload's; a shape belongs to one line of the page.
    """

    def __init__(self, analysis: Analysis, workloads: list[str], lines: int, style: Style) -> None:
        super().__init__([clean(system.name) for system in analysis.systems], style)
        shapes, dashes = series_shapes(lines), series_dashes(len(workloads))
        self.shape = alt.Shape("line:O", scale=alt.Scale(domain=list(range(lines)), range=shapes), legend=None)
        self.dash = alt.StrokeDash("workload:N", scale=alt.Scale(domain=workloads, range=dashes), legend=None)


def _drawn(analysis: Analysis, systems: Sequence[SystemSummary]) -> dict[tuple[LevelKind, str], list[WorkloadSummary]]:
    """The workloads that a chart shows, by kind of load and unit: those with more than one level."""
    names = {system.name for system in systems}
    charts: dict[tuple[LevelKind, str], list[WorkloadSummary]] = {}
    for workload in analysis.workloads:
        curves = [curve for curve in analysis.curves if curve.workload == workload.name and curve.system in names]
        for kind in dict.fromkeys(curve.kind for curve in curves if len(curve.cells) > 1):
            charts.setdefault((kind, workload.rate_unit), []).append(workload)
    return charts


def _charts(analysis: Analysis, systems: Sequence[SystemSummary]) -> Iterator[SectionChart]:
    for (kind, _), workloads in _drawn(analysis, systems).items():
        names = [system.name for system in systems]
        draw = partial(_page_chart, analysis, names, kind, workloads)
        title = f"{'Completed' if kind.is_at_rate else 'Throughput'} against {kind.axis.lower()}"
        is_of_its_own = len(names) * len(workloads) > 1  # a single line stands in the workload's chart as well
        yield SectionChart(title=title, draw=draw, is_printed=is_of_its_own)


def _page_chart(
    analysis: Analysis, systems: Sequence[str], kind: LevelKind, workloads: Sequence[WorkloadSummary], style: Style
) -> Chart:
    shown = [clean(name) for name in systems]
    known = [clean(workload.name) for workload in analysis.workloads]
    charted = [Charted(analysis, workload, kind) for workload in workloads]
    rows: list[Row] = [
        {**row, "workload": name, "line": known.index(name) * len(shown) + shown.index(row["system"])}
        for name, of in zip((clean(workload.name) for workload in workloads), charted, strict=True)
        for row in of.rows
        if row["system"] in shown
    ]
    x = charted[0].levels_axis(rows)
    top = max(row["rate"] for row in rows) * 1.06 or 1.0
    y = axis_y("rate:Q", rate_words(charted[0].unit), alt.Scale(domain=[0, top], nice=False))
    tooltip = [alt.Tooltip("workload:N", title="workload"), *charted[0].tooltip]
    marks = _PageSeries(analysis, known, len(known) * len(shown), style)
    return finish(alt.layer(*lines_and_points(chart_of(rows), x, y, marks, tooltip)), style)


def _lines(analysis: Analysis, systems: Sequence[SystemSummary], labels: Sequence[str]) -> Iterator[Line]:
    names = [system.name for system in analysis.systems]
    colours, count = series_colours(PAGE, len(names)), len(analysis.workloads)
    drawn = {workload.name for workloads in _drawn(analysis, systems).values() for workload in workloads}
    of_workloads = zip(analysis.workloads, series_dashes(count), strict=True)
    lines = list(product(of_workloads, zip(systems, labels, strict=True)))
    for ((workload, dash), (system, label)), shape in zip(lines, series_shapes(len(lines)), strict=True):
        if workload.name in drawn and curves_of(analysis, system.name, workload.name):
            name = f"{workload.name}, {label}" if label else workload.name
            yield Line(name, colours[names.index(system.name)], " ".join(map(str, dash)), shape)


@dataclass(frozen=True, slots=True)
class Option:
    """What an option of a system is set to, as the server says it.

    Attributes:
        value: In effect on its first source; None where it is set on others only.
        default: The server's own; empty where that is not known.
        elsewhere: Whose value is another, and that value; None where it is not set there.
    """

    value: str | None
    default: str = ""
    elsewhere: tuple[tuple[str, str | None], ...] = ()


_OF_THE_PLACE = ("mysqlx", "user")
"""Options that Plimsoll gives its own servers, besides paths and ports: where they run, not how."""

_SIZES = frozenset(
    {
        "innodb_buffer_pool_size",
        "innodb_log_buffer_size",
        "innodb_log_file_size",
        "innodb_page_size",
        "innodb_redo_log_capacity",
        "max_binlog_size",
        "max_heap_table_size",
        "query_cache_size",
        "tmp_table_size",
    }
)

MEANINGS: Mapping[str, str] = {
    "binlog_expire_logs_seconds": "removes binary logs after so many seconds",
    "binlog_format": "what the binary log holds: changed rows, statements, or either (MIXED)",
    "expire_logs_days": "removes binary logs after so many days",
    "general_log": "logs every statement",
    "innodb_adaptive_hash_index": "builds an index in memory for pages that are searched often",
    "innodb_buffer_pool_instances": "parts of the buffer pool, each with locks of its own",
    "innodb_buffer_pool_size": "memory for pages of tables and indexes",
    "innodb_change_buffering": "which changes of secondary indexes wait until their page is read",
    "innodb_doublewrite": "writes pages twice, so that a half-written page can be restored after a crash",
    "innodb_file_per_table": "gives each table a file of its own",
    "innodb_flush_log_at_trx_commit": "1: a commit writes and flushes the redo log; 2: it writes, and a flush follows"
    " about once a second; 0: both about once a second",
    "innodb_flush_method": "how files are opened and flushed; O_DIRECT: data files bypass the system's page cache",
    "innodb_flush_neighbors": "writes changed neighbours together with a page",
    "innodb_io_capacity": "I/O operations a second for background work, such as writing changed pages",
    "innodb_io_capacity_max": "the same where writing changed pages falls behind",
    "innodb_lock_wait_timeout": "seconds that a transaction waits for a row lock",
    "innodb_log_buffer_size": "memory for redo records that are not written yet",
    "innodb_log_file_size": "size of each redo log file; a larger log lets changed pages wait longer",
    "innodb_log_files_in_group": "number of redo log files",
    "innodb_page_cleaners": "threads that write changed pages",
    "innodb_page_size": "size of a page of tables and indexes",
    "innodb_purge_threads": "threads that remove old versions of rows",
    "innodb_read_io_threads": "threads for reading ahead",
    "innodb_redo_log_capacity": "size of the redo log; a larger one lets changed pages wait longer",
    "innodb_thread_concurrency": "most threads inside InnoDB at once; 0: no limit",
    "innodb_write_io_threads": "threads for writing pages",
    "large_pages": "memory in huge pages",
    "local_infile": "lets clients load files with LOAD DATA LOCAL",
    "log_bin": "writes all changes to the binary log, for replicas and recovery to a point in time",
    "max_binlog_size": "size at which a new binary log file begins",
    "max_connections": "most client connections at once",
    "max_heap_table_size": "largest table in memory",
    "max_prepared_stmt_count": "most prepared statements of all connections together",
    "performance_schema": "measures what happens inside the server",
    "query_cache_size": "memory for results of queries",
    "query_cache_type": "keeps results of queries for the same text",
    "skip_name_resolve": "does not look up names of clients' hosts",
    "slow_query_log": "logs slow statements",
    "sync_binlog": "flushes the binary log after so many commit groups; 0: leaves that to the operating system",
    "table_open_cache": "tables that stay open",
    "thread_handling": "a thread for each connection, or a pool of threads",
    "thread_pool_size": "groups of threads in the pool",
    "tmp_table_size": "largest temporary table in memory",
    "transaction_isolation": "isolation level of transactions that set none",
}
"""What options do that decide performance or durability, in a few words; of others a guide says nothing."""


def system_options(system: SystemSummary) -> dict[str, Option]:
    """What a system's servers were set to: by their option files, else as they say themselves.

    The first source speaks for all servers, but where others have another value. Paths and ports are no options.
    """
    instances = sorted(system.environment.instances, key=lambda instance: instance.role == REPLICA)
    servers = [_Server(instance, _set_options(instance), _variables(instance)) for instance in instances]
    first = next((server for server in servers if server.stated), None)
    if first is None:
        return {}
    names = sorted({name for server in servers for name in server.stated})
    return {
        name: Option(
            first.value(name), first.instance.variable_defaults.get(name, ""), _elsewhere(name, first, servers)
        )
        for name in names
        if name not in _OF_THE_PLACE and not any(_is_own(name, server) for server in servers)
    }


@dataclass(frozen=True, slots=True)
class _Server:
    """A server, what it was set to, and all that is in effect."""

    instance: InstanceFacts
    stated: Mapping[str, str]
    variables: Mapping[str, str]

    def value(self, name: str) -> str | None:
        """What is in effect, else what was set."""
        return self.variables.get(name, self.stated.get(name))


def _variables(instance: InstanceFacts) -> dict[str, str]:
    return {name.lower(): value for name, value in instance.variables.items()}


def _set_options(instance: InstanceFacts) -> Mapping[str, str]:
    variables = _variables(instance)
    chosen = {name: variables[name] for name in instance.variables_set or () if name in variables}
    return dict(stated_options(instance)) or chosen


def _is_own(name: str, server: _Server) -> bool:
    value = server.stated.get(name)
    return value is not None and is_own(name, {server.instance.name: value})


def _elsewhere(name: str, first: _Server, servers: Iterable[_Server]) -> tuple[tuple[str, str | None], ...]:
    """Each other value once; of servers of which nothing is known nothing is said."""
    others = {}
    for server in servers:
        value = server.value(name)
        if (server.stated or server.variables) and spelled(value) != spelled(first.value(name)):
            who = "replicas" if server.instance.role == REPLICA else "other sources"
            others[who, spelled(value)] = value
    return tuple((who, value) for (who, _), value in others.items())


def _size(name: str, value: str) -> str:
    size_bytes = parse_whole(value) if name in _SIZES else None
    return value if size_bytes is None else _exact_bytes(size_bytes)


def _exact_bytes(size_bytes: int) -> str:
    """A size as everywhere else where that is a whole number of its unit, else in the largest unit of which it is.

    >>> _exact_bytes(1024 * 2**20), _exact_bytes(1028 * 2**20), _exact_bytes(0)
    ('1.00 GiB', '1,028 MiB', '0 B')
    """
    count, unit = size_bytes, 0
    while count and count % 1024 == 0 and unit < len(_UNITS) - 1:
        count, unit = count // 1024, unit + 1
    return format_bytes(size_bytes) if count < 1024 else f"{count:,} {_UNITS[unit]}"


_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def shared_options(systems: Iterable[SystemSummary]) -> dict[str, Option]:
    """Those that all systems have, with the same value."""
    first, *others = [system_options(system) for system in systems] or [{}]
    return {name: option for name, option in first.items() if all(other.get(name) == option for other in others)}


def option_table(caption: str, options: Sequence[Mapping[str, Option]], labels: Sequence[str] = ("",)) -> Table | None:
    """A row for each option; None without any. Columns that would be empty are left out.

    Args:
        caption: Of the table.
        options: Of each system.
        labels: What each is called, where they are several.
    """
    names = sorted({name for each in options for name in each})
    if not names:
        return None
    defaults = {name: _default_words(name, options, labels) for name in names}
    columns = [text_column("option"), *(text_column(label or "value") for label in labels)]
    columns += [text_column("server's default")] if any(defaults.values()) else []
    rows = []
    for name in names:
        row = [Entry(name), *(Entry(_option_words(name, each[name]) if name in each else "") for each in options)]
        row += [Entry(defaults[name])] if any(defaults.values()) else []
        rows.append((*row, Entry(MEANINGS.get(name, ""))))
    return Table(caption=caption, columns=(*columns, text_column("what it does")), rows=tuple(rows))


def _option_words(name: str, option: Option) -> str:
    others = (f"on {who}: {_value_words(name, value)}" for who, value in option.elsewhere)
    return "; ".join([_value_words(name, option.value), *others])


def _value_words(name: str, value: str | None) -> str:
    if value is None:
        return NOT_SET
    return shown(name, _size(name, value)) or "(empty)"


def _default_words(name: str, options: Sequence[Mapping[str, Option]], labels: Sequence[str]) -> str:
    """The server's own default, of each system where systems have different ones."""
    known = [(label, each[name].default) for label, each in zip(labels, options, strict=True) if name in each]
    known = [(label, shown(name, _size(name, default))) for label, default in known if default]
    if len({default for _, default in known}) < 2:
        return known[0][1] if known else ""
    return "; ".join(f"{label}: {default}" for label, default in known)
