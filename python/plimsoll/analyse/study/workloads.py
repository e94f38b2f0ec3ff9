"""What a workload is: whether it only reads, its statements, and from which log it was learned.

It only reads by its kind or, where none is stated, by its name. What a workload file says of its statements, and how
faithful it is to its log, is read from its recorded text; of other workloads the engine said what it sends.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from plimsoll.errors import SpecError
from plimsoll.record.document import Document
from plimsoll.record.model import StatementRecord, WorkloadRecord
from plimsoll.spec.learned_section import FigureKind, LearnedCheck, LearnedSpec
from plimsoll.spec.oltp import reads_only
from plimsoll.spec.transactions import Counts, StatementSpec, TransactionSpec
from plimsoll.spec.workload_file import parse_workload
from plimsoll.spec.workloads import FILE_BYTES_MAX

if TYPE_CHECKING:
    from plimsoll.analyse.model import WorkloadSummary


def is_read_only(workload: WorkloadSummary) -> bool:
    """Whether a workload only reads, by its kind or, where none is stated, by its name."""
    if workload.kind is not None:
        options = workload.options
        return reads_only(
            workload.kind, read_only=options.get("read_only") == "on", nontrx_mode=options.get("nontrx_mode", "select")
        )
    plain = workload.name.lower().replace("-", " ").replace("_", " ")
    return "read only" in plain or "point select" in plain


class WorkloadStatement(Document):
    """A statement of a workload.

    Attributes:
        name: Of the transaction that has it; in a workload file with a number where that has several.
        sql: With `?` for each value, or with `:name` where a workload file draws them.
        times: How often it runs in a transaction, such as `10` or `1 to 5`; null where the recordings do not say.
    """

    name: str
    sql: str
    times: str | None = None


def statements_of(workload: WorkloadRecord, sent: Sequence[StatementRecord]) -> tuple[WorkloadStatement, ...]:
    """The statements that are known of a workload.

    Args:
        workload: As a trial recorded it.
        sent: What the engine sent, where it is no workload file.
    """
    text = workload.options.get("definition")
    if isinstance(text, str):
        return tuple(_of_file(text))
    return tuple(
        WorkloadStatement(
            name=statement.transaction,
            sql=statement.sql,
            times=None if statement.times is None else str(statement.times),
        )
        for statement in sent
    )


def _of_file(text: str) -> Iterator[WorkloadStatement]:
    if len(text) > FILE_BYTES_MAX:
        return
    try:
        file = parse_workload(text)
    except SpecError:
        return
    for transaction in file.transaction:
        for number, statement in enumerate(transaction.statement, start=1):
            name = transaction.name if len(transaction.statement) == 1 else f"{transaction.name}, {number}"
            yield WorkloadStatement(name=name, sql=" | ".join(statement.texts), times=_times(transaction, statement))


def _times(transaction: TransactionSpec, statement: StatementSpec) -> str | None:
    times = transaction.loops.get(statement.loop) if statement.loop is not None else statement.repeat
    return " to ".join(dict.fromkeys(map(str, (times.low, times.high)))) if isinstance(times, Counts) else None


class FidelityKind(Document):
    """All figures of one kind, of a run compared with a log.

    Attributes:
        kind: What they are.
        judged: Figures that had observations enough.
        met: Of these, how many are within the goal.
        worst: The largest deviation among them; null where none was judged. Of shares, counts and means it is a ratio,
            of rare errors a factor.
        goal: The largest deviation that is within it.
    """

    kind: FigureKind
    judged: int
    met: int
    worst: float | None = None
    goal: float


class FidelityCheck(Document):
    """The last comparison of a workload's run with its log.

    Attributes:
        at_unix_s: When, seconds since 1970.
        server: Flavour and version.
        connections: In a closed loop.
        duration_s: How long it ran, seconds.
        figures: By kind.
    """

    at_unix_s: float
    server: str
    connections: int
    duration_s: float
    figures: tuple[FidelityKind, ...]


class LearnedFrom(Document):
    """The log that a workload was learned from.

    Attributes:
        first_unix_s: Its first second, since 1970; null where its times are not known.
        last_unix_s: Its last second, since 1970; null where its times are not known.
        transactions: In the log.
        transaction_share: Of these, in types that run, 0..1.
        time_share: Of statement time, in types that run, 0..1; null where the log has no durations.
        check: Null where the workload was never compared with its log.
    """

    first_unix_s: float | None
    last_unix_s: float | None
    transactions: float
    transaction_share: float
    time_share: float | None
    check: FidelityCheck | None


def learned_from(workload: WorkloadRecord) -> LearnedFrom | None:
    """Where a workload was learned; None for one that was not, or whose recorded file cannot be read."""
    text = workload.options.get("definition")
    if not isinstance(text, str) or len(text) > FILE_BYTES_MAX:
        return None
    try:
        spec = LearnedSpec.model_validate(tomllib.loads(text)["learned"])
    except (KeyError, ValueError, RecursionError):
        return None
    return LearnedFrom(
        first_unix_s=None if spec.first is None else spec.first.timestamp(),
        last_unix_s=None if spec.last is None else spec.last.timestamp(),
        transactions=spec.transactions,
        transaction_share=spec.transaction_share,
        time_share=spec.time_share,
        check=None if spec.check is None else _check(spec.check),
    )


def _check(check: LearnedCheck) -> FidelityCheck:
    return FidelityCheck(
        at_unix_s=check.at.timestamp(),
        server=check.server,
        connections=check.connections,
        duration_s=check.duration_s,
        figures=tuple(FidelityKind(**figure.model_dump()) for figure in check.figures),
    )
