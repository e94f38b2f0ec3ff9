"""Sizing by load at target rates: how often a system that is too small is said to fit, and one with reserve is.

Servers are queues (`queue_server`) whose speed varies over tenths of a second and, in some worlds, from run to run.
Each run becomes a recording, and is analysed like any other. There are so many connections that what a system 2 % too
small falls behind by in 10 s is in flight on them, so that little waits and nothing counts as never ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from tests.support.queue_server import QueueServer

from plimsoll.analyse.answers.size import size
from plimsoll.analyse.answers.size_model import Fit, SystemFit
from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.study.cells import measured_cells
from plimsoll.analyse.study.curves import build_curves
from plimsoll.analyse.trial.trial_summary import TrialSummary, left_ratio, summarise
from plimsoll.analyse.trial.window import Overload
from plimsoll.record import frames
from plimsoll.record.level import Level
from support.made import PLACE, STARTED_UNIX_S, Made, measured

RATE_TPS, WARM_S, CONNECTIONS = 1000.0, 2, 128
RUNS, STUDIES = 40, 60

OVERLOADED_TO_THE_END = Overload(from_s=5.0, to_s=None, waiting_max=3000, dropped=0)

WORLDS = {
    "steady": {},
    "independent": {"noise": 0.1},
    "autocorrelated": {"noise": 0.04, "memory": 0.85},
    "slowly-autocorrelated": {"noise": 0.05, "memory": 0.93},
    "runs-differ-3": {"noise": 0.04, "memory": 0.85, "run_noise": 0.03},
    "runs-differ-10": {"noise": 0.04, "memory": 0.85, "run_noise": 0.10},
}


def recording(server: QueueServer, rate_tps: float, window_s: int, chance: np.random.Generator) -> Made:
    """A run at a rate, second by second: what completed, what was in flight at the end, and what waited then."""
    done_s, response_ms = server.responses_ms(rate_tps, WARM_S + window_s, chance)
    done_s = done_s + server.base_ms / 1e3
    due_s = done_s - response_ms / 1e3
    ends_s = np.arange(1, WARM_S + window_s + 1)
    ages_s = {end: end - due_s[(due_s < end) & (done_s >= end)] for end in ends_s}
    waiting = [{"unix_s": STARTED_UNIX_S + end, "value": max(ages_s[end].size - CONNECTIONS, 0.0)} for end in ends_s]
    of_engine = {**PLACE, "source": "engine", "metric": "backlog_count"}
    made = measured(
        np.histogram(done_s, np.arange(WARM_S, WARM_S + window_s + 1))[0],
        warm_count=WARM_S,
        connections=CONNECTIONS,
        response_ns=(response_ms[::20] * 1e6).astype(np.int64),  # of some: what is judged here are counts
        in_flight={
            second: _ns(ages_s[WARM_S + second + 1])
            for second in (-1, window_s - 1)
            if ages_s[WARM_S + second + 1].size
        },
        telemetry=pl.DataFrame([{**of_engine, **one} for one in waiting], schema=frames.TELEMETRY),
    )
    return replace(
        made, trial=made.trial.model_copy(update={"level": Level(connections=CONNECTIONS, rate_tps=rate_tps)})
    )


def _ns(ages_s: np.ndarray) -> np.ndarray:
    return np.maximum(ages_s * 1e9, 1).astype(np.int64)


@cache
def runs(world: str, speed_tps: float, window_s: int, rate_tps: float = RATE_TPS) -> list[TrialSummary]:
    server, chance = QueueServer(speed_tps=speed_tps, **WORLDS[world]), np.random.default_rng(11)
    found = [summarise(recording(server, rate_tps, window_s, chance)) for _ in range(RUNS)]
    return [one for one in found if one is not None]


def judged(repetitions: Sequence[TrialSummary], **asked: float) -> SystemFit:
    """The verdict for the rate itself, without headroom."""
    numbered = [
        replace(
            repetition,
            trial=repetition.trial.model_copy(update={"repetition": number, "trial_id": f"t{number}-{rate}"}),
        )
        for number, repetition in enumerate(repetitions)
        for rate in (repetition.trial.level.offered,)
    ]
    study = Analysis(
        plimsoll_version="0",
        study="made",
        answer=(),
        limits=(),
        systems=(SystemSummary(name="a"),),
        workloads=(WorkloadSummary(name="read-write"),),
        curves=build_curves(measured_cells(numbered), ["read-write"], ["a"]),
    )
    return size(study, **{"tps": RATE_TPS, "headroom": 0.0, **asked}).systems[0]


def share_that_fits(world: str, speed_tps: float, window_s: int, repetitions: int = 3) -> float:
    """Of studies whose repetitions are drawn from the runs of a world."""
    chance, made = np.random.default_rng(13), runs(world, speed_tps, window_s)
    drawn = [chance.choice(RUNS, repetitions, replace=False) for _ in range(STUDIES)]
    return float(np.mean([judged([made[one] for one in own]).verdict is Fit.FITS for own in drawn]))


@pytest.mark.parametrize("world", [name for name in WORLDS if name != "runs-differ-10"])
def test_a_system_two_percent_too_small_for_a_rate_rarely_fits(world: str) -> None:
    """Its backlog is below a second's work in most runs of 10 s, so that none is overloaded to the end."""
    assert share_that_fits(world, 0.98 * RATE_TPS, window_s=10) <= 0.05


@pytest.mark.parametrize("world", ["autocorrelated", "runs-differ-3"])
def test_nor_does_it_in_longer_runs(world: str) -> None:
    assert share_that_fits(world, 0.98 * RATE_TPS, window_s=30) <= 0.05


def test_where_runs_differ_by_ten_percent_four_repetitions_are_needed() -> None:
    assert share_that_fits("runs-differ-10", 0.98 * RATE_TPS, 10, repetitions=4) <= 0.05


@pytest.mark.parametrize("world", WORLDS)
def test_a_system_with_reserve_fits_in_most_studies(world: str) -> None:
    assert share_that_fits(world, 1.3 * RATE_TPS, window_s=10) >= 0.8


@pytest.mark.parametrize(("count", "code"), [(1, "few-repetitions-at-rate"), (2, "few-repetitions-at-rate")])
def test_fewer_than_three_repetitions_indicate_it_and_are_no_measure(count: int, code: str) -> None:
    found = judged(runs("steady", 1.3 * RATE_TPS, 10)[:count])
    assert (found.verdict, found.grade, found.reason.code) == (Fit.FITS, Grade.INDICATED, code)


def test_one_repetition_that_stalled_leaves_it_undecided() -> None:
    stalled = replace(runs("steady", 1.3 * RATE_TPS, 10)[2], overloads=(OVERLOADED_TO_THE_END,))
    found = judged([*runs("steady", 1.3 * RATE_TPS, 10)[:2], stalled])
    assert (found.verdict, found.reason.code) == (Fit.UNDECIDED, "rate-sustained-in-some")


def test_a_repetition_that_drifts_off_leaves_it_undecided() -> None:
    """It falls behind late in its window, by less than a second's work: no overload, but something is left over."""
    fast, slow = runs("steady", 1.3 * RATE_TPS, 10), runs("steady", 0.98 * RATE_TPS, 10)
    behind = next(one for one in slow if not one.overloads and (left_ratio(one) or 0.0) > 0.01)
    found = judged([*fast[:2], replace(behind, unfinished_count=0)])
    assert (found.verdict, found.reason.code) == (Fit.UNDECIDED, "next-run-may-fall-behind")


def test_a_higher_rate_that_all_sustain_answers_for_a_lower_demand() -> None:
    both = [*runs("steady", 1.6 * RATE_TPS, 10, 1.2 * RATE_TPS)[:3], *runs("steady", 1.6 * RATE_TPS, 10)[:2]]
    found = judged(both)
    assert (found.verdict, found.rate_tps) == (Fit.FITS, 1.2 * RATE_TPS)
    assert judged(both, tps=1.1 * RATE_TPS).verdict is Fit.FITS
    assert judged(both, tps=1.3 * RATE_TPS).reason.code == "rates-end-below"
