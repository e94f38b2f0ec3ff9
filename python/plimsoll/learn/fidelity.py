"""Compares the run of a learned workload with the log that it was learned from, figure by figure.

Statements are matched by their canonical text, types by their statements. Deliberately not here: running the workload
(`plimsoll.run`), goals and errors (`deviations`), and words.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.analyse.learned_model import FidelityKind
from plimsoll.learn.canonical_sql import canonical
from plimsoll.learn.deviations import GOALS, mean_figure, rare_figure, shape_figure, share_figure
from plimsoll.learn.fidelity_model import CheckConditions, Fidelity, FidelityFigure, LogPeriod
from plimsoll.learn.loop_spread import statements_spread
from plimsoll.learn.model_run import ModelRun
from plimsoll.learn.profile_model import Profile
from plimsoll.learn.report_model import LogReport, TemplateFigures, TypeFigures
from plimsoll.learn.run_statements import RunStatements
from plimsoll.spec.learned import FigureKind

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
class LearnedLoad:
    """What was learned, as far as a run is compared with it.

    Attributes:
        statements: Of the workload file.
        report: On the log, with the names of the workload file.
    """

    statements: RunStatements
    report: LogReport
    profile: Profile
    period: LogPeriod


def fidelity_of(load: LearnedLoad, run: ModelRun, conditions: CheckConditions) -> Fidelity:
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
    found: dict[FigureKind, list[FidelityFigure]] = defaultdict(list)
    for one in fidelity.figures:
        found[one.kind].append(one)
    return tuple(
        FidelityKind(
            kind=kind,
            judged=len(judged),
            met=sum(bool(one.is_met) for one in judged),
            worst=max((one.deviation for one in judged if one.deviation is not None), default=None),
            goal=goal.most,
        )
        for kind, goal in GOALS.items()
        if goal.most is not None and kind in found
        for judged in ([one for one in found[kind] if one.is_met is not None],)
    )


def _types(load: LearnedLoad, run: ModelRun) -> Iterator[FidelityFigure]:
    """Figures of types of transactions, and of all those that run together."""
    of_log = {one.name: one for one in load.report.types}
    pairs = [(names, [of_log[name] for name in names if name in of_log]) for names in load.statements.types.values()]
    keys = dict(zip(load.statements.types, pairs, strict=True))
    log_total = sum(one.count for _, found in pairs for one in found)
    run_total = sum(one.count for one in run.types.values())
    spreads, means, weights = list[float](), list[float](), list[float]()
    for key, (names, found) in keys.items():
        name, count = " + ".join(names), sum(one.count for one in found)
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
        yield mean_figure("statements", name, _mean(found, "statements"), mean, spread=spread, count=observed)
        rolled_back = _mean(found, "rollback_ratio"), totals.rolled_back / totals.count
        yield share_figure("rollbacks", name, *rolled_back, observed)
        p50_us, p99_us = (totals.durations.quantile_us(share) for share in (0.5, 0.99))
        if len(found) == 1 and p50_us and p99_us:
            yield from _shape(name, found[0], (p50_us / 1000, p99_us / 1000), observed)
        spreads.append(spread)
        means.append(mean)
        weights.append(totals.count)
    if log_total and weights:
        log_mean = sum(one.count * one.statements for _, found in pairs for one in found) / log_total
        mean = sum(weight * one for weight, one in zip(weights, means, strict=True)) / sum(weights)
        variance = sum(
            weight * (spread**2 + (one - mean) ** 2)
            for weight, one, spread in zip(weights, means, spreads, strict=True)
        ) / sum(weights)
        spread = math.sqrt(variance)
        yield mean_figure("statements", "all", log_mean, mean, spread=spread, count=round(sum(weights)))


def _mean(found: Sequence[TypeFigures], name: str) -> float:
    total = sum(one.count for one in found)
    return float(sum(one.count * getattr(one, name) for one in found) / total)


def _shape(name: str, log: TypeFigures, run_ms: tuple[float, float], count: int) -> Iterator[FidelityFigure]:
    """The median response time, and how far the tail is from it."""
    p50_ms, p99_ms = run_ms
    if log.p50_ms and log.p99_ms:
        yield shape_figure("response-p50", name, log.p50_ms, p50_ms, count)
        yield shape_figure("response-tail", name, log.p99_ms / log.p50_ms, p99_ms / p50_ms, count)


def _statements(load: LearnedLoad, run: ModelRun) -> Iterator[FidelityFigure]:
    """Figures of statements, and of all of them together; shares are of what the workload runs."""
    of_log = _templates_of(load)
    log_total = sum(one.count for found in of_log.values() for one in found)
    run_total = sum(run.counts.get(number, 0) for number in of_log)
    for number in range(len(load.statements.texts)):
        name, found = f"#{number + 1}", of_log.get(number, [])
        if not found or not run_total:
            yield FidelityFigure(
                kind="statement-share", of=name, log=None, model=None, unjudged="not-run" if found else "not-in-log"
            )
            continue
        shares = sum(one.count for one in found) / log_total, run.counts.get(number, 0) / run_total
        yield share_figure("statement-share", name, *shares, round(run.transactions))
        yield from _means(name, number, found, run)
    yield from _means("all", None, [one for found in of_log.values() for one in found], run)


def _templates_of(load: LearnedLoad) -> dict[int, list[TemplateFigures]]:
    """By number of the statement, its templates of the log; without statements whose report lacks some of them."""
    of_log: dict[int, list[TemplateFigures]] = defaultdict(list)
    texts = set[str]()
    for template in load.report.templates:
        text = canonical(template.text)
        if text is not None and (number := load.statements.of_text.get(text)) is not None:
            of_log[number].append(template)
            texts.add(text)
    lacking = {number for text, number in load.statements.of_text.items() if text not in texts}
    return {number: found for number, found in of_log.items() if number not in lacking}


def _means(name: str, number: int | None, found: Sequence[TemplateFigures], run: ModelRun) -> Iterator[FidelityFigure]:
    """Means for each execution that both logs have."""
    count = sum(one.count for one in found)
    for kind, column in _MEANS:
        values = [getattr(one, column) for one in found]
        moments = run.moments.get((number, column))
        if not values or moments is None or any(value is None for value in values):
            continue
        log = sum(one.count * value for one, value in zip(found, values, strict=True)) / count
        yield mean_figure(kind, name, log, moments.mean, spread=moments.deviation, count=moments.count)


def _errors(load: LearnedLoad, run: ModelRun) -> Iterator[FidelityFigure]:
    of_log = load.report.errors_by_number
    if of_log is None or run.errors is None:
        return
    kinds: tuple[tuple[FigureKind, int], ...] = (("deadlocks", DEADLOCK), ("lock-waits", LOCK_WAIT))
    for kind, number in kinds:
        log = of_log.get(number, 0.0), load.report.transactions_count
        yield rare_figure(kind, log, (run.errors.get(number, 0.0), run.transactions))


def _throughput(load: LearnedLoad, run: ModelRun) -> Iterator[FidelityFigure]:
    arrivals = load.report.arrivals
    if arrivals is not None and run.duration_s:
        rate = run.transactions / run.duration_s
        yield shape_figure("throughput", "all", arrivals.mean_tps, rate, round(run.transactions))
