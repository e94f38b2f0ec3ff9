"""Doubts about the state of trials and the weather of their machines.

Deliberately not here: how either is found (`steady`, `weather`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from plimsoll.analyse.cycles import CYCLES_NEEDED
from plimsoll.analyse.doubts import Code, Doubt, Place, place_of
from plimsoll.analyse.steady_model import SeriesState, StateKind, SteadyState
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.analyse.weather_model import SlowFigure


def check_steadiness(one: TrialSummary) -> Iterator[Doubt]:
    """What is doubtful about the state that a trial was in."""
    if one.steady is None:
        return
    place = place_of(one.trial)
    yield from _changed(place, one.steady)
    for series in one.steady.series:
        if series.state is StateKind.DRIFTING and series.change_ratio is not None:
            code = Code.THROUGHPUT_DRIFTS if series.name == "throughput" else Code.INNODB_DRIFTS
            change = series.change_ratio
            yield place.doubt(code, "drift", abs(change), name=series.name, change_ratio=change)
        elif series.state is StateKind.CYCLIC:
            yield from _few_cycles(place, one.steady, series)


def _changed(place: Place, steady: SteadyState) -> Iterator[Doubt]:
    if len(steady.segments) < 2:
        return
    first, last = steady.segments[0], steady.segments[-1]
    if steady.warm_up_s is not None:
        change = first.mean_tps / last.mean_tps - 1 if last.mean_tps else 0.0
        yield place.doubt(
            Code.WARM_UP_UNFINISHED, "warm-up-unfinished", abs(change), first_s=steady.warm_up_s, change_ratio=change
        )
        return
    means = [one.mean_tps for one in steady.segments]
    yield place.doubt(
        Code.THROUGHPUT_UNSTEADY,
        "unsteady",
        max(means) - min(means),
        changes_count=len(means) - 1,
        low_tps=min(means),
        high_tps=max(means),
        from_s=steady.segments[1].from_s,
    )


def _few_cycles(place: Place, steady: SteadyState, series: SeriesState) -> Iterator[Doubt]:
    period_s, window_s = series.period_s or 0.0, steady.to_s - steady.from_s
    if window_s < CYCLES_NEEDED * period_s:
        cycles = window_s / period_s
        yield place.doubt(
            Code.FEW_CYCLES,
            "few-cycles",
            -cycles,
            name=series.name,
            cycles=cycles,
            period_s=period_s,
            window_s=window_s,
        )


def check_weather(trials: Iterable[TrialSummary], slow: Mapping[str, tuple[SlowFigure, ...]]) -> Iterator[Doubt]:
    """Trials whose machine was slower than around the others."""
    for one in trials:
        for figure in slow.get(one.trial.trial_id, ())[:1]:
            yield place_of(one.trial).doubt(
                Code.MACHINE_SLOWER,
                "machine-slower",
                figure.ratio,
                repetition=one.trial.repetition + 1,
                is_duet=one.turns is not None,
                figure=figure.figure,
                slower_ratio=figure.ratio - 1,
                limit_ratio=figure.limit_ratio - 1,
            )
