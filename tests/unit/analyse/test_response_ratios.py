"""How response times of two systems compare, beside their throughputs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Difference
from plimsoll.analyse.study.ratio_model import RatioVerdict, ResponseRatio
from plimsoll.guide.comparisons import level_differences, peak_differences
from support.made import Made, measured, published

P99_MS = {"a": (20.0, 21.0, 19.5, 20.4), "b": (30.2, 31.0, 29.0, 30.9)}
"""Of each repetition."""


def trial(system: str, repetition: int, p99_ms: float | None, *, tps: float = 100.0, connections: int = 4) -> Made:
    """A trial whose transactions all take as long."""
    response_ns = None if p99_ms is None else np.full(1000, round(p99_ms * 1e6))
    rates = [tps * (1 + 0.004 * repetition)] * 10
    return measured(rates, response_ns=response_ns, system=system, repetition=repetition, connections=connections)


def study(p99_ms: dict[str, tuple[float | None, ...]] = P99_MS, **changes: int) -> list[Made]:
    return [
        trial(system, repetition, of, **changes)
        for system, times in p99_ms.items()
        for repetition, of in enumerate(times)
    ]


def at_level(trials: list[Made], **changes: bool) -> Difference:
    (found,) = (found for found in analyse("made", trials, **changes).differences if found.level is not None)
    return found


def response(trials: list[Made], **changes: bool) -> ResponseRatio:
    found = at_level(trials, **changes).response
    assert found is not None
    return found


def test_they_are_compared_within_repetitions_and_longer_is_slower() -> None:
    found = response(study())
    logs = np.log(P99_MS["b"]) - np.log(P99_MS["a"])
    interval = stats.ttest_1samp(logs, 0.0).confidence_interval()
    assert (found.statistic, found.verdict) == ("p99", RatioVerdict.SLOWER)
    assert found.ratio.value == pytest.approx(np.exp(logs.mean()), rel=0.01), "as exact as the buckets of a histogram"
    assert found.ratio.bounds is not None
    edges = (found.ratio.bounds.low, found.ratio.bounds.high)
    assert edges == pytest.approx(tuple(np.exp(interval)), rel=0.02)


def test_the_shorter_response_time_is_faster_and_turned_round_it_is_slower() -> None:
    found = at_level(study({"a": P99_MS["b"], "b": P99_MS["a"]}))
    assert found.response is not None
    assert found.response.verdict is RatioVerdict.FASTER
    assert found.inverted.response is not None
    assert found.inverted.response.verdict is RatioVerdict.SLOWER
    assert found.inverted.response.ratio.value == pytest.approx(1 / found.response.ratio.value)


def test_where_the_machine_was_not_equally_fast_nothing_is_said_of_them() -> None:
    withheld = at_level(study()).withheld.response
    assert withheld is not None
    assert (withheld.verdict, withheld.ratio.bounds) == (RatioVerdict.DISTURBED, None)


def test_a_study_that_goes_on_until_it_is_decided_has_intervals_that_hold_at_every_look() -> None:
    found = response(study(), at_any_look=True)
    assert found.ratio.bounds is not None
    assert "valid after each of them" in found.ratio.bounds.method


def test_one_repetition_without_a_p99_leaves_none_to_compare() -> None:
    assert at_level(study({"a": P99_MS["a"], "b": (30.2, None, 29.0, 30.9)})).response is None


def test_peaks_at_unlike_levels_have_none() -> None:
    trials = [
        trial(system, repetition, 20.0, tps=tps, connections=connections)
        for system, rates in {"a": (100.0, 50.0), "b": (60.0, 120.0)}.items()
        for connections, tps in zip((4, 8), rates, strict=True)
        for repetition in range(3)
    ]
    peaks, *levels = analyse("made", trials).differences
    assert (peaks.level, peaks.response) == (None, None)
    assert all(level.response is not None for level in levels)


def test_of_published_means_the_change_is_known_and_no_verdict() -> None:
    trials = [
        published(tps, system=system, response_ms={"mean": mean, "max": 900.0})
        for system, tps, mean in (("a", 330.0, 52.0), ("b", 316.0, 54.0))
    ]
    found = response(trials)
    assert (found.statistic, found.verdict, found.ratio.bounds) == ("mean", RatioVerdict.UNTESTABLE, None)
    assert found.ratio.value == pytest.approx(54 / 52)
    table = peak_differences(analyse("made", trials))
    assert table is not None
    shown = {column.heading: entry.text for column, entry in zip(table.columns, table.rows[0], strict=True)}
    assert shown["mean response time"] == "+3.8 %"
    assert shown["response verdict"] == "not testable: no confidence interval"


def test_a_table_without_response_times_has_no_column_for_them() -> None:
    trials = [
        made for connections in (4, 8) for made in study({"a": (None,) * 3, "b": (None,) * 3}, connections=connections)
    ]
    analysis = analyse("made", trials)
    for table in (peak_differences(analysis), level_differences(analysis)):
        assert table is not None
        assert not any("response" in column.heading for column in table.columns)
        assert table.notes == ()
