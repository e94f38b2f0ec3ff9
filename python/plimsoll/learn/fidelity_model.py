"""How far a learned workload's run is from the log that it was learned from, as values. They hold no literal.

`fidelity.json` is this document. Its figures are deviations of the model's figures from those of the log, held against
the goals for them.

A log is what the model is to resemble, so its figures count as exact; only those of the run have a standard error.
Counts of rare errors vary in both. A figure is judged where its standard error is at most a third of its goal: one that
is at the goal's edge is then told from one without deviation by three standard errors. How many observations a goal
needs follows from that.

Deliberately not here: the comparison (`fidelity`, which takes longer to import), and words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from plimsoll.record.document import Document
from plimsoll.spec.learned_section import FigureKind

FIDELITY_FORMAT: Final = 1
"""Version of this schema."""

Unjudged = Literal["too-few", "no-goal", "not-run", "not-in-log"]
"""Why a figure is not held against its goal: too few observations; there is no goal, as for what depends on the
machine; the run has none of it; the log's report does not have it."""


class FidelityFigure(Document):
    """One figure of the log and of the run.

    Attributes:
        kind: What it is.
        of: `all`, the name of a type, or `#3` for the third statement.
        log: In the log; null where the log does not show it.
        model: In the run of the workload; null where the run has none of it.
        deviation: Of the run from the log: a difference of shares, a difference over the log's figure, or a factor of
            at least 1, as the kind has it; null where one side is not known. Of counts per execution the difference is
            taken over at least 1, so that a hundredth of a row is no deviation.
        goal: The largest deviation that is within it; null where there is none.
        is_met: Null where it is not judged.
        unjudged: Why it is not judged; null where it is.
        observed_count: Transactions or executions of the run that it rests on.
        needed_count: How many make the standard error a third of the goal; null where that is not known.
    """

    kind: FigureKind
    of: str
    log: float | None
    model: float | None
    deviation: float | None = None
    goal: float | None = None
    is_met: bool | None = None
    unjudged: Unjudged | None = None
    observed_count: int = 0
    needed_count: int | None = None


class LogPeriod(Document):
    """The log that the workload was learned from.

    Attributes:
        first_unix_s: When its first transaction began, seconds since 1970; null where the log has no times.
        last_unix_s: When its last transaction began.
        transactions_count: All of them.
        transaction_share: Share of the transactions whose types the workload runs, 0..1.
        time_share: Share of the statement time that is theirs, 0..1; null where the log has no durations.
    """

    first_unix_s: int | None
    last_unix_s: int | None
    transactions_count: float
    transaction_share: float
    time_share: float | None


class CheckConditions(Document):
    """How the workload was run.

    Attributes:
        checked_unix_s: When, seconds since 1970.
        server: Flavour and version.
        connections: In a closed loop without think time.
        connections_from: `log`: transactions that were open at a time in the log, on average; `given` by the user;
            `default` where the log has no times.
        scale: Rows of the tables, as a share of those that there were.
        duration_s: Length of the run that counts.
        warm_up_s: Load before what counts.
    """

    checked_unix_s: int
    server: str
    connections: int
    connections_from: Literal["log", "given", "default"]
    scale: float
    duration_s: float
    warm_up_s: float


class Fidelity(Document):
    """How far the run of a learned workload is from its log.

    Attributes:
        fidelity_format: Version of this document.
        log: The log that the workload was learned from.
        conditions: How the workload was run.
        statements: Texts of the statements that figures are of: `#1` is the first.
        transactions_count: Of the run.
        unlike_count: Transactions of the run that are no type of the workload: cut short by an error, by a statement
            that found no row, or by the end of the run.
        figures: What was compared.
    """

    fidelity_format: Literal[1] = FIDELITY_FORMAT
    log: LogPeriod
    conditions: CheckConditions
    statements: tuple[str, ...]
    transactions_count: float
    unlike_count: float
    figures: tuple[FidelityFigure, ...]


COUNT_MIN = 30
"""Observations without which no mean and no share is judged, however little they vary."""

_ERRORS_PER_GOAL = 3
_NONE_SEEN = 3.0


@dataclass(frozen=True, slots=True)
class Goal:
    """How a kind of figure deviates, and how much it may.

    Attributes:
        how: `points`, a difference of shares; `ratio`, a difference over the log's figure; `factor`, the larger figure
            over the smaller one.
        most: None where there is no goal.
    """

    how: Literal["points", "ratio", "factor"]
    most: float | None


GOALS: dict[FigureKind, Goal] = {
    "type-share": Goal("points", 0.01),
    "statement-share": Goal("points", 0.01),
    "statements": Goal("ratio", 0.01),
    "rollbacks": Goal("points", 0.01),
    "rows-examined": Goal("ratio", 0.05),
    "rows-sent": Goal("ratio", 0.05),
    "rows-affected": Goal("ratio", 0.05),
    "pages": Goal("ratio", 0.10),
    "handler-reads": Goal("ratio", 0.10),
    "deadlocks": Goal("factor", 2),
    "lock-waits": Goal("factor", 2),
    "response-p50": Goal("factor", None),
    "response-tail": Goal("factor", None),
    "throughput": Goal("factor", None),
}


def share_figure(kind: FigureKind, of: str, log: float, model: float, count: int) -> FidelityFigure:
    """Two shares.

    Args:
        kind: What of.
        of: Whose.
        log: Share in the log, 0..1.
        model: Share in the run.
        count: Independent observations of the run: transactions, whose statements come together.
    """
    chance = max(min(log, 1 - log), min(model, 1 - model))
    return _judged(kind, of, log, model, model - log, spread=math.sqrt(chance * (1 - chance)), count=count)


def mean_figure(kind: FigureKind, of: str, log: float, model: float, *, spread: float, count: int) -> FidelityFigure:
    """Two means.

    Args:
        kind: What of.
        of: Whose.
        log: Mean in the log.
        model: Mean in the run.
        spread: Standard deviation of a single observation of the run.
        count: Observations of the run.
    """
    least = max(abs(log), 1.0)
    return _judged(kind, of, log, model, (model - log) / least, spread=spread / least, count=count)


def rare_figure(kind: FigureKind, log: tuple[float, float], model: tuple[float, float]) -> FidelityFigure:
    """Two rates of rare events for each 1,000 transactions.

    A count of none stands for at most three (the rule of three: 95 % confidence), so that it can be told from many.

    Args:
        kind: What of.
        log: Events and transactions of the log.
        model: Events and transactions of the run.
    """
    most = GOALS[kind].most
    assert most is not None, "rare events have a goal"
    rates = log[0] / max(log[1], 1), model[0] / max(model[1], 1)
    (low_count, low_of), (high_count, high_of) = (log, model) if rates[0] <= rates[1] else (model, log)
    least = max(low_count, _NONE_SEEN) / max(low_of, 1)
    factor = max(high_count / max(high_of, 1) / least, 1.0)
    error = math.sqrt(1 / max(low_count, _NONE_SEEN) + 1 / max(high_count, _NONE_SEEN))
    allowed = math.log(most) / _ERRORS_PER_GOAL
    is_far = math.log(factor) - 2 * error > math.log(most)
    figure = FidelityFigure(
        kind=kind,
        of="all",
        log=rates[0] * 1000,
        model=rates[1] * 1000,
        goal=most,
        observed_count=round(model[0]),
        needed_count=math.ceil(2 / allowed**2),
    )
    if error > allowed and not is_far:
        return figure.model_copy(update={"unjudged": "too-few"})
    return figure.model_copy(update={"deviation": factor, "is_met": factor <= most})


def shape_figure(kind: FigureKind, of: str, log: float, model: float, count: int) -> FidelityFigure:
    """Two figures that depend on the machine, so that there is no goal."""
    factor = max(log, model) / min(log, model) if min(log, model) > 0 else None
    return FidelityFigure(
        kind=kind, of=of, log=log, model=model, deviation=factor, unjudged="no-goal", observed_count=count
    )


def _judged(
    kind: FigureKind, of: str, log: float, model: float, deviation: float, *, spread: float, count: int
) -> FidelityFigure:
    goal = GOALS[kind].most
    assert goal is not None, "shares and means have goals"
    needed = max(COUNT_MIN, math.ceil((_ERRORS_PER_GOAL * spread / goal) ** 2))
    figure = FidelityFigure(
        kind=kind,
        of=of,
        log=log,
        model=model,
        deviation=abs(deviation),
        goal=goal,
        observed_count=count,
        needed_count=needed,
    )
    error = spread / math.sqrt(max(count, 1))
    is_far = count >= COUNT_MIN and abs(deviation) - _ERRORS_PER_GOAL * error > goal
    if count < needed and not is_far:
        return figure.model_copy(update={"unjudged": "too-few"})
    return figure.model_copy(update={"is_met": abs(deviation) <= goal})
