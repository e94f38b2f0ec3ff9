"""The ratio of two systems that took turns: known values, and how recordings become pairs."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.findings.repetitions import check_turns
from plimsoll.analyse.study.curve_model import DuetBasis
from plimsoll.analyse.study.duets import estimate, log_ratios, trimmed_mean
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.trial.trial_summary import summarise
from plimsoll.record import frames
from plimsoll.record.environment import Environment
from plimsoll.record.histograms import bucket_of_ns
from plimsoll.record.model import Outcome, Verdict, Window
from plimsoll.stats.variance import quantile_t
from support.made import Made, trial_record


def test_a_round_is_its_trimmed_mean_and_the_interval_within_rounds_that_of_yuen() -> None:
    """Of rounds with equal means nothing is left between them; scipy says what is left within."""
    values = np.random.default_rng(1).standard_t(3, 40)
    found = estimate([values, values[::-1]])
    assert found is not None
    assert found.basis is DuetBasis.PAIRS
    assert trimmed_mean(values) == pytest.approx(stats.trim_mean(values, 0.2))
    drawn_in = np.asarray(stats.mstats.winsorize(values, (0.2, 0.2)))
    of_one = drawn_in.var(ddof=1) / (0.6**2 * 40)
    assert found.variance.variance == pytest.approx(of_one / 2)
    assert found.variance.degrees == pytest.approx(2 * (40 - 2 * 8 - 1))
    assert not found.is_widened


def test_rounds_that_differ_more_than_their_pairs_decide() -> None:
    noise = np.random.default_rng(2).normal(0, 0.01, (4, 20))
    found = estimate([one + shift for one, shift in zip(noise, (-0.1, 0.0, 0.1, 0.2), strict=True)])
    assert found is not None
    assert (found.basis, found.variance.degrees) == (DuetBasis.ROUNDS, 3)
    spread = np.array(found.rounds).std(ddof=1) / 2
    assert found.variance.half_width() == pytest.approx(quantile_t(0.975, 3) * spread)
    assert found.log_ratio == pytest.approx(0.05, abs=0.01)


def test_pairs_that_resemble_their_neighbours_widen_the_interval() -> None:
    noise = np.random.default_rng(3).normal(size=(6, 41))
    series = [0.7 * one[1:] + one[:-1] for one in noise]
    found, independent = estimate(series), estimate([one[1:] for one in noise])
    assert found is not None
    assert independent is not None
    assert found.correlation == pytest.approx(0.47, abs=0.1), "0.7 / (1 + 0.49)"
    assert (found.is_widened, independent.is_widened) == (True, False)


def test_one_round_and_pairs_that_are_all_equal_say_nothing() -> None:
    assert estimate([np.arange(10.0)]) is None
    assert estimate([np.ones(10), np.ones(10)]) is None


def turns(
    completed: list[int], *, against: str, first_pair: int = 0, seconds: float = 0.4, is_old: bool = False
) -> pl.DataFrame:
    """Turns in which nothing drains; old ones do not say what began."""
    rows = [
        {
            "driver": "here", "host": "here", "instance": "", "interval": index, "pair": first_pair + index,
            "position": index % 2, "against": against, "from_s": index - 0.1, "counted_from_s": float(index),
            "to_s": index + seconds, "drained_s": index + seconds, "completed": count, "completed_besides": 0,
            "failed": 0, "begun": None if is_old else float(count), "running_s": None if is_old else seconds,
        }
        for index, count in enumerate(completed)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=frames.TURNS)


def test_pairs_are_turns_of_the_same_number_against_each_other() -> None:
    base = pl.concat([turns([100, 200], against="b"), turns([1, 1], against="c", first_pair=7)])
    system = turns([999, 110, 180], against="a", first_pair=-0)
    system = system.with_columns((pl.col("pair") + 0).cast(pl.UInt32))
    found = log_ratios(base, system, base="a", system="b")
    assert np.exp(found) == pytest.approx([999.5 / 100.5, 110.5 / 200.5])


def test_a_rate_is_what_began_over_the_time_in_which_it_ran_where_a_recording_says_so() -> None:
    base, system = turns([100], against="b"), turns([100], against="a")
    drained = system.with_columns(begun=pl.lit(110.0), running_s=pl.lit(0.5))
    assert np.exp(log_ratios(base, drained, base="a", system="b")) == pytest.approx([110.5 / 0.5 / (100.5 / 0.4)])
    old = turns([100], against="b", is_old=True), turns([90], against="a", is_old=True)
    assert np.exp(log_ratios(*old, base="a", system="b")) == pytest.approx([90.5 / 100.5])


@pytest.mark.parametrize(("response_s", "is_warned"), [(0.03, False), (0.06, True)])
def test_turns_that_are_short_for_their_transactions_are_warned_of(response_s: float, is_warned: bool) -> None:
    """Turns of 0.5 s: from 0.1 s before the counted part of 0.4 s."""
    recording = made("a", 0, [100] * 20, "b")
    time_ns = np.array([round(response_s * 1e9)])
    row = {
        "driver": "here", "host": "here", "instance": "one", "role": "source", "interval": 6, "transaction": "t",
        "measure": "response", "buckets": bucket_of_ns(time_ns).tolist(), "counts": [500],
        "sum_ns": float(500 * time_ns[0]), "max_ns": int(time_ns[0]),
    }  # fmt: skip
    recording.tables["histograms"] = pl.DataFrame([row], schema=frames.HISTOGRAMS)
    summary = summarise(recording)
    assert summary is not None
    assert [turn.kind.code for turn in check_turns(summary)] == (["turn-short"] if is_warned else [])


def made(system: str, repetition: int, completed: list[int], against: str) -> Made:
    count = len(completed)
    zeros = dict.fromkeys(frames.INTERVALS, 0)
    rows = [
        {**zeros, "driver": "here", "host": "here", "instance": "one", "role": "source", "transaction": "t",
         "interval": index, "from_s": float(index), "to_s": index + 0.4, "completed": done}
        for index, done in enumerate(completed)
    ]  # fmt: skip
    return Made(
        trial_record(system=system, repetition=repetition, interval_s=0.4),
        Environment(),
        Outcome(verdict=Verdict.COMPLETE, window=Window(first=5, last=count - 1)),
        {"intervals": pl.DataFrame(rows, schema=frames.INTERVALS), "turns": turns(completed, against=against)},
    )


def test_a_study_of_turns_is_compared_by_them_and_only_its_own_turns_count() -> None:
    """Both systems are slower by a factor that differs from pair to pair, which means of rounds do not survive."""
    random = np.random.default_rng(4)
    recordings = []
    for repetition in range(4):
        weather = 400 * np.exp(random.normal(0, 0.5, 25)) * (1 + repetition)
        for system, factor in (("a", 1.0), ("b", 1.1)):
            completed = [int(value) for value in factor * weather * np.exp(random.normal(0, 0.01, 25))]
            recordings.append(made(system, repetition, completed, "b" if system == "a" else "a"))
    analysis = analyse("duet", recordings)
    peak, level = analysis.differences
    assert peak.duet is not None
    assert level.duet is not None
    assert peak.ratio == level.ratio
    assert level.duet.pair_count == 4 * 20, "turns before the window are warm-up"
    assert [round(one.ratio, 1) for one in level.duet.rounds] == [1.1] * 4
    assert level.ratio.value == pytest.approx(1.1, rel=0.01)
    assert level.ratio.bounds is not None
    assert math.log(level.ratio.bounds.high / level.ratio.bounds.low) < 0.04
    assert level.verdict is RatioVerdict.FASTER
    (curve,) = [curve for curve in analysis.curves if curve.system == "a"]
    counted = [sum(recording.tables["turns"]["completed"][5:]) / (20 * 0.4) for recording in recordings[::2]]
    assert curve.cells[0].throughput_tps.value == pytest.approx(np.exp(np.mean(np.log(counted))))
