"""Compares the run of a learned workload with the log that it was learned from, figure by figure.

The log of the run is reduced to what is compared. Statements are matched by their canonical text, types by their
statements. Statements of a workload file of which one text or another runs, such as those on tables that differ in a
number, are one. Deliberately not here: running the workload (`plimsoll.run`), goals and errors (`fidelity_model`), and
words.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from plimsoll.analyse.study.workloads import FidelityKind
from plimsoll.learn.event_log import EventLog, Families
from plimsoll.learn.fidelity_model import (
    GOALS,
    CheckConditions,
    Fidelity,
    FidelityFigure,
    LogPeriod,
    mean_figure,
    rare_figure,
    shape_figure,
    share_figure,
)
from plimsoll.learn.profile_model import Profile, TypeProfile
from plimsoll.learn.report import COUNTED, errors_by_number
from plimsoll.learn.report_model import LogReport, TemplateFigures, TypeFigures
from plimsoll.learn.sql_tree import canonical
from plimsoll.learn.transactions import DATA_KINDS, Templates, TypeTotals, folded, seen_in
from plimsoll.spec.learned_section import FigureKind
from plimsoll.spec.workload_file import WorkloadFile

DEADLOCK, LOCK_WAIT = 1213, 1205
"""Error numbers of MySQL and MariaDB."""

_MEANS: tuple[tuple[FigureKind, str], ...] = (
    ("rows-examined", "rows_examined"),
    ("rows-sent", "rows_sent"),
    ("rows-affected", "rows_affected"),
    ("pages", "pages"),
    ("handler-reads", "handler_reads"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedLoad:
    """What was learned, as far as a run is compared with it.

    Attributes:
        statements: Of the workload file.
        report: On the log, with the names of the workload file.
    """

    statements: RunStatements
    report: LogReport
    profile: Profile
    period: LogPeriod


def fidelity_of(load: ComparedLoad, run: ModelRun, conditions: CheckConditions) -> Fidelity:
    """How far a run is from the log.

    Args:
        load: What was learned.
        run: What the log of the run shows.
        conditions: How it was run.
    """
    return Fidelity(
        log=load.period,
        conditions=conditions,
        statements=load.statements.texts,
        transactions_count=run.transactions,
        unlike_count=run.unlike,
        figures=tuple(
            figure
            for figures in (_types(load, run), _statements(load, run), _errors(load, run), _throughput(load, run))
            for figure in figures
        ),
    )


def kinds_of(fidelity: Fidelity) -> tuple[FidelityKind, ...]:
    """All figures of each kind that has a goal, together."""
    by_kind: dict[FigureKind, list[FidelityFigure]] = defaultdict(list)
    for figure in fidelity.figures:
        by_kind[figure.kind].append(figure)
    return tuple(
        FidelityKind(
            kind=kind,
            judged=len(judged),
            met=sum(bool(figure.is_met) for figure in judged),
            worst=max((figure.deviation for figure in judged if figure.deviation is not None), default=None),
            goal=goal.most,
        )
        for kind, goal in GOALS.items()
        if goal.most is not None and kind in by_kind
        for judged in ([figure for figure in by_kind[kind] if figure.is_met is not None],)
    )


def _types(load: ComparedLoad, run: ModelRun) -> Iterator[FidelityFigure]:
    """Figures of types of transactions, and of all those that run together."""
    of_log = {figures.name: figures for figures in load.report.types}
    pairs = [(names, [of_log[name] for name in names if name in of_log]) for names in load.statements.types.values()]
    keys = dict(zip(load.statements.types, pairs, strict=True))
    log_total = sum(figures.count for _, logged in pairs for figures in logged)
    run_total = sum(type_totals.count for type_totals in run.types.values())
    spreads, means, weights = list[float](), list[float](), list[float]()
    for key, (names, logged) in keys.items():
        name, count = " + ".join(names), sum(figures.count for figures in logged)
        if not count:
            yield FidelityFigure(kind="type-share", of=name, log=None, model=None, unjudged="not-in-log")
            continue
        totals = run.types.get(key)
        observed = 0 if totals is None else round(totals.count)
        if run_total:
            yield share_figure("type-share", name, count / log_total, observed / run_total, round(run_total))
        if totals is None or not observed:
            continue
        spread = statements_spread(load.profile, names)
        mean = totals.statements / totals.count
        yield mean_figure("statements", name, _mean(logged, "statements"), mean, spread=spread, count=observed)
        rolled_back = _mean(logged, "rollback_ratio"), totals.rolled_back / totals.count
        yield share_figure("rollbacks", name, *rolled_back, observed)
        p50_us, p99_us = (totals.durations.quantile_us(share) for share in (0.5, 0.99))
        if len(logged) == 1 and p50_us and p99_us:
            yield from _shape(name, logged[0], (p50_us / 1000, p99_us / 1000), observed)
        spreads.append(spread)
        means.append(mean)
        weights.append(totals.count)
    if log_total and weights:
        log_mean = sum(figures.count * figures.statements for _, logged in pairs for figures in logged) / log_total
        mean = sum(weight * type_mean for weight, type_mean in zip(weights, means, strict=True)) / sum(weights)
        variance = sum(
            weight * (spread**2 + (type_mean - mean) ** 2)
            for weight, type_mean, spread in zip(weights, means, spreads, strict=True)
        ) / sum(weights)
        spread = math.sqrt(variance)
        yield mean_figure("statements", "all", log_mean, mean, spread=spread, count=round(sum(weights)))


def _mean(logged: Sequence[TypeFigures], name: str) -> float:
    total = sum(figures.count for figures in logged)
    return float(sum(figures.count * getattr(figures, name) for figures in logged) / total)


def _shape(name: str, log: TypeFigures, run_ms: tuple[float, float], count: int) -> Iterator[FidelityFigure]:
    """The median response time, and how far the tail is from it."""
    p50_ms, p99_ms = run_ms
    if log.p50_ms and log.p99_ms:
        yield shape_figure("response-p50", name, log.p50_ms, p50_ms, count)
        yield shape_figure("response-tail", name, log.p99_ms / log.p50_ms, p99_ms / p50_ms, count)


def _statements(load: ComparedLoad, run: ModelRun) -> Iterator[FidelityFigure]:
    """Figures of statements, and of all of them together; shares are of what the workload runs."""
    of_log = _templates_of(load)
    log_total = sum(template.count for group in of_log.values() for template in group)
    run_total = sum(run.counts.get(number, 0) for number in of_log)
    for number in range(len(load.statements.texts)):
        name, templates = f"#{number + 1}", of_log.get(number, [])
        if not templates or not run_total:
            yield FidelityFigure(
                kind="statement-share", of=name, log=None, model=None, unjudged="not-run" if templates else "not-in-log"
            )
            continue
        shares = sum(template.count for template in templates) / log_total, run.counts.get(number, 0) / run_total
        yield share_figure("statement-share", name, *shares, round(run.transactions))
        yield from _means(name, number, templates, run)
    yield from _means("all", None, [template for group in of_log.values() for template in group], run)


def _templates_of(load: ComparedLoad) -> dict[int, list[TemplateFigures]]:
    """By number of the statement, its templates of the log; without statements whose report lacks some of them."""
    of_log: dict[int, list[TemplateFigures]] = defaultdict(list)
    texts = set[str]()
    for template in load.report.templates:
        text = canonical(template.text)
        if text is not None and (number := load.statements.of_text.get(text)) is not None:
            of_log[number].append(template)
            texts.add(text)
    lacking = {number for text, number in load.statements.of_text.items() if text not in texts}
    return {number: templates for number, templates in of_log.items() if number not in lacking}


def _means(
    name: str, number: int | None, templates: Sequence[TemplateFigures], run: ModelRun
) -> Iterator[FidelityFigure]:
    """Means for each execution that both logs have."""
    count = sum(template.count for template in templates)
    for kind, column in _MEANS:
        values = [getattr(template, column) for template in templates]
        moments = run.moments.get((number, column))
        if not values or moments is None or any(value is None for value in values):
            continue
        log = sum(template.count * value for template, value in zip(templates, values, strict=True)) / count
        yield mean_figure(kind, name, log, moments.mean, spread=moments.deviation, count=moments.count)


def _errors(load: ComparedLoad, run: ModelRun) -> Iterator[FidelityFigure]:
    of_log = load.report.errors_by_number
    if of_log is None or run.errors is None:
        return
    kinds: tuple[tuple[FigureKind, int], ...] = (("deadlocks", DEADLOCK), ("lock-waits", LOCK_WAIT))
    for kind, number in kinds:
        log = of_log.get(number, 0.0), load.report.transactions_count
        yield rare_figure(kind, log, (run.errors.get(number, 0.0), run.transactions))


def _throughput(load: ComparedLoad, run: ModelRun) -> Iterator[FidelityFigure]:
    arrivals = load.report.arrivals
    if arrivals is not None and run.duration_s:
        rate = run.transactions / run.duration_s
        yield shape_figure("throughput", "all", arrivals.mean_tps, rate, round(run.transactions))


def statements_spread(profile: Profile, names: Sequence[str]) -> float:
    """The standard deviation of statements for each transaction of some types.

    Rounds of loops are taken as independent. Types together vary by their means, too.

    Args:
        profile: Of the load.
        names: Of the types.
    """
    types = [type_profile for type_profile in profile.types if type_profile.name in names]
    total = sum(type_profile.share for type_profile in types)
    if not total:
        return 0.0
    mean = sum(type_profile.share * type_profile.statements for type_profile in types) / total
    squares = sum(
        type_profile.share * (_variance(type_profile) + (type_profile.statements - mean) ** 2) for type_profile in types
    )
    return math.sqrt(squares / total)


def _variance(type_profile: TypeProfile) -> float:
    return sum((loop.last - loop.first + 1) ** 2 * _of_rounds(loop.rounds) for loop in type_profile.loops)


def _of_rounds(rounds: Mapping[int, int]) -> float:
    total = sum(rounds.values())
    if not total:
        return 0.0
    mean = sum(number * seen for number, seen in rounds.items()) / total
    return sum(seen * (number - mean) ** 2 for number, seen in rounds.items()) / total


_SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Moments:
    """Of one figure over all executions; the deviation is that of the sample."""

    count: int
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRun:
    """What the log of a run shows.

    Attributes:
        duration_s: From the begin of the first to the begin of the last transaction.
        counts: Executions by number of the statement.
        moments: By number of the statement and column of the events; without those that the log does not have. The
            number None stands for all of them together.
        types: By the numbers of their statements.
        unlike: Transactions that are of no type: cut short by an error, by a statement that found no row, or by the
            end of the run.
        statements: Of all transactions.
        errors: By error number; None where the log does not tell.
    """

    duration_s: float
    counts: dict[int, int]
    moments: dict[tuple[int | None, str], Moments]
    types: dict[Templates, TypeTotals]
    unlike: float
    statements: float
    errors: dict[int, float] | None

    @property
    def transactions(self) -> float:
        """All of them."""
        return self.unlike + sum(totals.count for totals in self.types.values())


def model_run(log: EventLog, statements: RunStatements, *, warm_up_s: float) -> ModelRun:
    """What the log of a run shows, without what else ran on the server.

    Args:
        log: Of the server that the workload ran on.
        statements: Of the workload. Sessions that ran none of them are not of the load.
        warm_up_s: What began earlier after the first of them does not count.
    """
    numbers = {
        template: number
        for template, kind, text in log.templates.select("template", "kind", "text").iter_rows()
        if kind in DATA_KINDS and (number := statements.of(text)) is not None
    }
    events = log.events().filter(pl.col("template").is_in(list(numbers)))
    first_us = events.select(pl.col("start_us").min()).collect().item()
    if first_us is None:
        return ModelRun(duration_s=0, counts={}, moments={}, types={}, unlike=0, statements=0, errors=None)
    sessions = events.select(pl.col("session").unique()).collect()["session"]
    begins = first_us + round(warm_up_s * _SECOND_US)
    counted = replace(
        log, chosen=pl.col("session").is_in(sessions.to_list()) & (pl.col("start_us") >= pl.lit(begins, pl.Int64))
    )
    seen = seen_in(counted, _families(log, numbers))
    arrivals = seen.arrivals.arrivals()
    types = {tuple(numbers.get(template, -1) for template in each.templates): each for each in seen.types.types()}
    return ModelRun(
        duration_s=0.0 if arrivals is None else arrivals.duration_s,
        counts=_counts(counted, numbers),
        moments=_moments(counted, numbers),
        types={key: totals for key, totals in types.items() if key in statements.types},
        unlike=sum(totals.count for key, totals in types.items() if key not in statements.types),
        statements=sum(totals.statements for totals in types.values()),
        errors=errors_by_number(counted),
    )


def _families(log: EventLog, numbers: dict[int, int]) -> Families:
    """Statements of one number together; by their names alone, tables t1 and t2 would pass for a family."""
    members: dict[int, tuple[int, ...]] = {}
    for template, number in sorted(numbers.items()):
        members[number] = (*members.get(number, ()), template)
    alone = {template: template for template in log.templates["template"].to_list()}
    return Families(
        alone | {template: members[number][0] for template, number in numbers.items()},
        {each[0]: each for each in members.values() if len(each) > 1},
    )


def _numbered(log: EventLog, numbers: dict[int, int]) -> pl.LazyFrame:
    given = pl.DataFrame({"template": list(numbers), "number": list(numbers.values())})
    return log.events().join(given.cast({"template": pl.UInt32}).lazy(), on="template")


def _counts(log: EventLog, numbers: dict[int, int]) -> dict[int, int]:
    return dict(_numbered(log, numbers).group_by("number").len().sort("number").collect().iter_rows())


def _moments(log: EventLog, numbers: dict[int, int]) -> dict[tuple[int | None, str], Moments]:
    figures = [
        figure
        for name in COUNTED
        for column in (pl.col(name).cast(pl.Float64),)
        for figure in (
            column.count().alias(f"{name} count"),
            column.mean().alias(f"{name} mean"),
            column.std().fill_null(0.0).alias(f"{name} deviation"),
        )
    ]
    events = _numbered(log, numbers)
    each = events.group_by("number").agg(*figures).collect()
    everything = events.select(pl.lit(None, pl.Int64).alias("number"), *figures).collect()
    return {
        (row["number"], name): Moments(row[f"{name} count"], row[f"{name} mean"], row[f"{name} deviation"])
        for row in (*each.iter_rows(named=True), *everything.iter_rows(named=True))
        for name in COUNTED
        if row[f"{name} count"]
    }


@dataclass(frozen=True, slots=True)
class RunStatements:
    """Statements of a workload, numbered from 0.

    Attributes:
        texts: The first text of each.
        of_text: By canonical text, its number.
        types: By the numbers of its statements in order, repeated blocks once, the names of the transactions that run
            them.
    """

    texts: tuple[str, ...]
    of_text: dict[str, int]
    types: dict[Templates, tuple[str, ...]]

    def of(self, text: str) -> int | None:
        """The number of a statement of a log; None for one that the workload does not run."""
        canonical_text = canonical(text)
        return None if canonical_text is None else self.of_text.get(canonical_text)


def run_statements(file: WorkloadFile) -> RunStatements:
    """The statements of a workload file; those that cannot be parsed are left out."""
    together: list[set[str]] = []
    for transaction in file.transaction:
        for statement in transaction.statement:
            _join(
                together,
                {canonical_text for text in statement.texts if (canonical_text := canonical(text)) is not None},
            )
    of_text = {text: number for number, texts in enumerate(together) for text in texts}
    types: dict[Templates, tuple[str, ...]] = {}
    for transaction in file.transaction:
        firsts = [canonical(statement.texts[0]) for statement in transaction.statement]
        key = folded([of_text[first] for first in firsts if first is not None])
        types[key] = (*types.get(key, ()), transaction.name)
    return RunStatements(tuple(min(texts) for texts in together), of_text, types)


def _join(together: list[set[str]], texts: set[str]) -> None:
    """Puts texts into the set that has one of them; sets that turn out to be one become one."""
    if not texts:
        return
    shared = [group for group in together if group & texts]
    if not shared:
        together.append(texts)
        return
    first, *others = shared
    first |= texts.union(*others)
    for other in others:
        together.remove(other)
