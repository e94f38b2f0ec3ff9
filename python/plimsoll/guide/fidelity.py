"""How faithful the learned workloads of a study are, as a section of its guide; words that the page on one shares.

Deliberately not here: the page itself (`learned`), and goals (`plimsoll.learn.fidelity_model`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from plimsoll.analyse.model import Analysis, WorkloadSummary
from plimsoll.analyse.study.workloads import FidelityKind, LearnedFrom
from plimsoll.guide.sections import Section
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, text_column
from plimsoll.learn.fidelity_model import GOALS
from plimsoll.spec.learned_section import FigureKind
from plimsoll.units import format_duration, format_percent
from plimsoll.wording import counted

TITLE = "How faithful the learned workload is"
CAVEATS = (
    "A log does not show the rows of results, what an application holds in memory, statements within stored procedures,"
    " or in which order sessions take locks. A run can agree in every figure here and differ there.",
)

KINDS: dict[FigureKind, str] = {
    "type-share": "share of transactions",
    "statement-share": "share of statements",
    "statements": "statements per transaction",
    "rollbacks": "share rolled back",
    "rows-examined": "rows examined per statement",
    "rows-sent": "rows sent per statement",
    "rows-affected": "rows affected per statement",
    "pages": "pages per statement",
    "handler-reads": "handler reads per statement",
    "deadlocks": "deadlocks per 1,000 transactions",
    "lock-waits": "lock wait timeouts per 1,000 transactions",
    "response-p50": "median response time, ms",
    "response-tail": "p99 over median response time",
    "throughput": "transactions/s",
}
"""What figures of a kind are."""

NOTES = (
    "Shares deviate by points; rows, pages, handler reads and statements by percent of the log's figure, or of 1 where"
    " that is less; rare errors by a factor. A figure is judged where its standard error is at most a third of its"
    " goal, or where it is beyond its goal by three of them.",
)


def kinds_table(kinds: Sequence[FidelityKind], caption: str = "Figures by kind") -> Table:
    """A row for each kind of figure that has a goal."""
    headings = ("Judged", "Within the goal", "Worst deviation", "Goal")
    columns = (text_column("Figure"), *(Column(heading=heading) for heading in headings))
    rows = tuple(
        tuple(
            map(
                Entry,
                (
                    KINDS[kind.kind],
                    f"{kind.judged:,}",
                    f"{kind.met:,}",
                    deviation_text(kind.kind, kind.worst),
                    deviation_text(kind.kind, kind.goal),
                ),
            )
        )
        for kind in kinds
    )
    return Table(caption=caption, columns=columns, rows=rows)


def deviation_text(kind: FigureKind, value: float | None) -> str:
    """A deviation, in the way in which figures of its kind deviate."""
    if value is None:
        return NOT_KNOWN
    how = GOALS[kind].how
    if how == "factor":
        return f"× {value:.2f}"
    return f"{value * 100:.2f} points" if how == "points" else f"{value * 100:.1f} %"


def covered(transactions: float, time: float | None) -> str:
    """The shares of a log that a workload runs."""
    words = f"{format_percent(transactions)} of transactions"
    return words if time is None else f"{words}, {format_percent(time)} of statement time"


def within_goals(kinds: Sequence[FidelityKind]) -> str:
    """Such as `20 of 22 figures are within their goals`."""
    judged, met = sum(kind.judged for kind in kinds), sum(kind.met for kind in kinds)
    are = "is within its goal" if 1 in (judged, met) else "are within their goals"
    return f"{met:,} of {counted(judged, 'figure')} {are}"


def moment(unix_s: float) -> str:
    """A minute of the wall clock."""
    return f"{datetime.fromtimestamp(unix_s, UTC):%Y-%m-%d %H:%M} UTC"


def fidelity_section(analysis: Analysis) -> Section | None:
    """What a guide says of the workloads that were learned; None where none was."""
    learned_workloads = [
        (workload, workload.learned) for workload in analysis.workloads if workload.learned is not None
    ]
    if not learned_workloads:
        return None
    is_checked = any(learned.check is not None for _, learned in learned_workloads)
    return Section(
        anchor="fidelity",
        title=TITLE,
        sentences=tuple(
            sentence for workload, learned in learned_workloads for sentence in _sentences(workload, learned)
        ),
        tables=tuple(
            kinds_table(learned.check.figures, f"{workload.name}: figures by kind")
            for workload, learned in learned_workloads
            if learned.check is not None
        ),
        notes=(*NOTES, *CAVEATS) if is_checked else CAVEATS,
    )


def _sentences(workload: WorkloadSummary, learned: LearnedFrom) -> Iterator[str]:
    log = f"a log of {counted(learned.transactions, 'transaction')}"
    if learned.first_unix_s is not None and learned.last_unix_s is not None:
        log += f" ({moment(learned.first_unix_s)} to {moment(learned.last_unix_s)})"
    runs = covered(learned.transaction_share, learned.time_share)
    yield f"{workload.name} was learned from {log}; it runs {runs}."
    check = learned.check
    if check is None:
        yield f"{workload.name} was never compared with its log: run plimsoll learn check."
        return
    yield (
        f"{workload.name} was compared with its log on {moment(check.at_unix_s)} ({check.server},"
        f" {counted(check.connections, 'connection')}, {format_duration(check.duration_s)}):"
        f" {within_goals(check.figures)}."
    )
