"""Sections that let somebody else repeat a study: "Test environment" and "To repeat this study".

What all systems share (hardware, software, options of servers), how trials ran, the statements of each workload, and
the study file. Deliberately not here: what systems have of their own (`system_pages`), and how figures were found
(`methods`).
"""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.analyse.model import Analysis
from plimsoll.guide.facts import shared_definitions, shared_facts, system_facts
from plimsoll.guide.sections import Listing, Section
from plimsoll.guide.system_pages import option_table, shared_options
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, text_column
from plimsoll.guide.words import workload_words
from plimsoll.prose.phrases import levels_words

_NOTHING_KNOWN = "The sources say nothing about the machines beyond the factors of the systems."
_SENT_NOTE = (
    "Of built-in workloads, a ? stands for each value. Of statements that are alike but for a table, a district or the"
    " length of a list, one is shown. TPC-C-derived transactions send some of theirs only in some cases, or once for"
    " each line or district."
)
_STATEMENTS_MAX = 60
_MORE = f"These are the first {_STATEMENTS_MAX} of {{count:,}}; guide.json has all."


def setup_section(analysis: Analysis) -> Section:
    """What was measured on and how; of single systems their pages tell more."""
    definitions = "\n\n".join(text for _, text in shared_definitions(analysis.systems))
    facts, are_several = shared_facts(analysis.systems), len(analysis.systems) > 1
    any_known = any(system_facts(system, ()) for system in analysis.systems)
    tables = (
        _pairs("What all systems share" if are_several else "What the system ran on", facts),
        _pairs("How trials ran", _options(analysis)),
        option_table(
            "Options of all servers" if are_several else "Options of the server", [shared_options(analysis.systems)]
        ),
        _statements(analysis),
    )
    return Section(
        anchor="environments",
        title="Test environment",
        is_background=True,
        sentences=(),
        notes=() if any_known or analysis.study_file else (_NOTHING_KNOWN,),
        tables=tuple(table for table in tables if table is not None),
        listings=(Listing(title="Table definitions", text=definitions, is_printed=False),) if definitions else (),
    )


def repeat_section(analysis: Analysis) -> Section | None:
    """The study file with the command that runs it; None for imports."""
    if analysis.study_file is None:
        return None
    return Section(
        anchor="repeat",
        title="To repeat this study",
        is_background=True,
        sentences=(),
        notes=(
            f"Save the study file below as study.toml, and run with Plimsoll {analysis.plimsoll_version}:"
            " plimsoll study run study.toml",
            "Comments, the arguments of hooks and what is called a secret are left out of it. Add the passwords and the"
            " workload files that it names.",
        ),
        listings=(Listing(title="study.toml", text=analysis.study_file.text),),
    )


def _pairs(caption: str, pairs: Iterable[tuple[str, str]]) -> Table | None:
    rows = tuple((Entry(name), Entry(text)) for name, text in pairs)
    columns = (text_column("what"), text_column("value"))
    return Table(caption=caption, columns=columns, rows=rows) if rows else None


def _options(analysis: Analysis) -> list[tuple[str, str]]:
    """What the recordings say of how trials ran, then what the study file does."""
    cells = [cell for curve in analysis.curves for cell in curve.cells]
    levels = {cell.level.order: cell.level for cell in cells}
    counts = sorted({len(cell.trials) for cell in cells if cell.trials})
    described = ((workload.name, workload_words(workload)) for workload in analysis.workloads)
    options = [("workload", f"{name}: {words}") for name, words in described if words]
    if levels:
        options.append(("levels", levels_words([levels[order] for order in sorted(levels)])))
    stated = {} if analysis.study_file is None else analysis.study_file.options
    options += stated.items()
    if counts and not analysis.study_file:
        options.append(("repetitions", " to ".join(dict.fromkeys(f"{count:,}" for count in (counts[0], counts[-1])))))
    if analysis.objective_ms_p99 is not None:
        options.append(("objective", f"p99 within {analysis.objective_ms_p99:g} ms"))
    return options


def _statements(analysis: Analysis) -> Table | None:
    """A row for each statement, a column for each workload with how often a transaction has it."""
    workloads = [workload for workload in analysis.workloads if workload.statements]
    if not workloads:
        return None
    times = {
        workload.name: {(statement.name, statement.sql): statement.times or "yes" for statement in workload.statements}
        for workload in workloads
    }
    rows = dict.fromkeys(key for of_workload in times.values() for key in of_workload)
    return Table(
        caption="Statements, and how often a transaction has them",
        columns=(
            text_column("transaction"),
            *(Column(heading=workload.name) for workload in workloads),
            text_column("SQL"),
        ),
        rows=tuple(
            (Entry(key[0]), *(Entry(times[workload.name].get(key, NOT_KNOWN)) for workload in workloads), Entry(key[1]))
            for key in list(rows)[:_STATEMENTS_MAX]
        ),
        notes=(
            *([_SENT_NOTE] if any(workload.kind != "statements" for workload in workloads) else []),
            *([_MORE.format(count=len(rows))] if len(rows) > _STATEMENTS_MAX else []),
        ),
    )
