"""Stretches in which nothing completed: what is one, what is none, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.trial.stalls import SeenInterval, find_stalls, silent_from_s
from plimsoll.record.model import OutageRecord, Outcome
from support.made import Made, interval_table, measured
from support.told import answer_of, evidence_of

S = 1_000_000_000


def seen(counts: list[int], ages_s: list[float] | None = None) -> list[SeenInterval]:
    """Seconds with so many transactions each."""
    return [
        SeenInterval(
            from_s=float(second),
            to_s=second + 1.0,
            completed=count,
            oldest_s=None if ages_s is None else ages_s[second],
            in_flight=0 if ages_s is None or not ages_s[second] else 4,
        )
        for second, count in enumerate(counts)
    ]


def spans(intervals: list[SeenInterval], connections: int = 4) -> list[tuple[float, float]]:
    return [(stall.from_s, stall.to_s) for stall in find_stalls(intervals, None, connections)]


def test_a_repetition_that_stood_still_for_three_of_six_seconds() -> None:
    assert spans(seen([68, 0, 0, 0, 9, 33])) == [(1.0, 4.0)]


def test_half_of_the_time_to_the_end() -> None:
    assert spans(seen([500] * 6 + [0] * 6)) == [(6.0, 12.0)]


def test_hardly_anything_is_a_stall_too_and_less_is_none() -> None:
    stalls = find_stalls(seen([1000] * 9 + [12] + [1000] * 9), None, 4)
    assert [(stall.from_s, stall.completed) for stall in stalls] == [(9.0, 12)]
    assert spans(seen([1000] * 9 + [200] + [1000] * 9)) == []


def test_single_seconds_without_any_are_natural_where_a_few_complete_in_each() -> None:
    assert spans(seen([2, 0, 1, 3, 0, 0, 2, 1, 4, 0, 2, 1])) == []
    assert spans(seen([2, 3, 1, 3, 2, 2] * 4 + [0] * 9 + [2, 1, 2, 2])) == [(24.0, 33.0)]


def test_where_nobody_wanted_anything_nothing_stalled() -> None:
    """A rate of 2,000 for two seconds, then 5: what is rare completes at once, and nothing is in flight in between."""
    counts = [2000, 2000, 5, 5, 5, 5, 5, 5]
    assert spans(seen(counts, [0.002] * 8)) == []
    assert spans(seen(counts, [0.002, 0.002, 0.002, 0.9, 1.9, 2.9, 0.002, 0.002])) == [(3.0, 6.0)]


def test_seconds_in_which_connections_were_lost_count() -> None:
    outage = OutageRecord(instance="one", from_s=4.5, to_s=8.2, connections_count=4, lost_count=4)
    made = measured([100.0] * 3 + [0.0] * 3 + [100.0] * 6, in_flight={0: np.array([S // 1000])}, outages=(outage,))
    assert stall_evidence(analyse("made", [made])).startswith(
        "nothing completed for 3.0 of 12.0 s (25.0 %), from 5.0 s"
    )


def stall_evidence(analysis: Analysis) -> str:
    found = (evidence_of(warning) for warning in analysis.warnings if warning.code == "throughput-stalled")
    return next(found, "")


def made(rates: list[float], **changes: object) -> Made:
    response_ns = np.random.default_rng(1).gamma(2, 2e6, 5_000).astype(np.int64)
    return measured(rates, response_ns=response_ns, **changes)  # type: ignore[arg-type]


def test_a_study_says_it_before_anything_else() -> None:
    analysis = analyse("made", [made([500.0] * 4 + [0.0] * 4 + [500.0] * 4), made([500.0] * 12, repetition=1)])
    assert analysis.warnings[0].code == "throughput-stalled"
    assert stall_evidence(analysis) == (
        "nothing completed for 4.0 of 12.0 s (33.3 %), from 6.0 s after the start of the load"
    )
    assert answer_of(analysis)[0] == (
        "read-write: nothing completed for 4.0 of 12.0 s (33.3 %), from 6.0 s after the start of the load, on a at 4"
        " connections (repetition 1). Percentiles of response time hardly show it."
    )
    (cell,) = analysis.curves[0].cells
    assert cell.stalled_ratio == pytest.approx(1 / 6)


def test_of_several_stretches_the_longest_is_told_and_of_several_trials_the_worst() -> None:
    rates = [500.0] * 4 + [0.0] * 2 + [500.0] * 4 + [0.0] * 3 + [500.0] * 7
    analysis = analyse("made", [made(rates), made([500.0] * 18 + [1.0] + [500.0], repetition=1)])
    assert stall_evidence(analysis) == (
        "nothing completed for 5.0 of 20.0 s (25.0 %) in 2 stretches; the longest lasted 3.0 s, from 12.0 s after the"
        " start of the load"
    )
    assert answer_of(analysis)[0].endswith("1 more trial of this workload stalled as well.")


def test_a_steady_study_says_nothing() -> None:
    analysis = analyse("made", [made([500.0, 480.0, 530.0] * 4)])
    assert stall_evidence(analysis) == ""
    assert "completed for" not in answer_of(analysis)[0]
    assert analysis.curves[0].cells[0].stalled_ratio == 0


def test_one_of_several_instances_that_stalls_is_named() -> None:
    import polars as pl

    one = made([500.0] * 12, instances=2)
    rates = np.array([7, 7] + [500] * 5 + [0] * 3 + [500] * 4)
    other = interval_table(rates).with_columns(pl.lit("two").alias("instance"))
    one.tables["intervals"] = pl.concat([one.tables["intervals"], other])
    analysis = analyse("made", [one])
    assert stall_evidence(analysis).startswith("nothing completed on two for 3.0 of 12.0 s (25.0 %), from 7.0 s")
    assert analysis.curves[0].cells[0].stalled_ratio == pytest.approx(3 / 24)


def silent(counts: list[int], after: list[int], ages_s: list[float], connections: int = 4) -> float | None:
    intervals = seen(counts + after, ages_s)
    return silent_from_s(intervals[: len(counts)], intervals[len(counts) :], None, connections)


def test_a_server_is_silent_when_nothing_comes_back_to_the_end() -> None:
    stopped = [0.01] * 6 + [1.0, 2.0, 3.0, 4.0, 5.0]
    assert silent([500] * 6 + [0] * 3, [0, 0], stopped) == 6.0
    assert silent([500] * 6 + [0] * 3, [0, 4], stopped) is None, "it came back while it was waited for"
    assert silent([500] * 9, [0, 0], [0.01] * 9 + [0.0, 0.0]) is None, "nothing was in flight"


def test_silence_from_shortly_before_the_end_on_is_seen_where_all_connections_hang() -> None:
    ages = [0.01] * 8 + [0.3, 1.3, 2.3]
    assert silent([500] * 9, [0, 0], ages) == 9.0
    assert silent([500] * 9, [0, 0], ages, connections=16) is None, "4 of 16 hang: the others had ended what they did"


def test_what_is_slow_at_the_end_is_not_silent() -> None:
    """One connection, half a second each: the last one was cut off after two seconds."""
    assert silent([2] * 10, [0, 0], [0.3] * 10 + [1.3, 2.3], connections=1) is None


def test_a_window_that_misses_intervals_at_its_end_stalled_there() -> None:
    """A recording whose load ended early, with a window that goes on."""
    one = made([500.0] * 8)
    assert one.outcome.window is not None
    window = one.outcome.window.model_copy(update={"last": 13})
    cut: Outcome = one.outcome.model_copy(update={"window": window})
    analysis = analyse("made", [Made(one.trial, one.environment, cut, one.tables)])
    assert stall_evidence(analysis).startswith("nothing completed for 4.0 of 12.0 s (33.3 %), from 10.0 s")
