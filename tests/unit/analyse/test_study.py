"""The one entry: what is said about made-up studies with known answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from plimsoll.analyse.model import Analysis, Difference, DifferenceVerdict
from plimsoll.analyse.study import analyse
from plimsoll.errors import RecordError
from plimsoll.record.model import Environment, Outcome, Verdict
from unit.analyse.made import Made, measured, published, trial_record

LEVELS_TPS = {1: 300.0, 4: 1000.0, 16: 1200.0, 32: 1150.0}


def study(systems: dict[str, float], *, repetitions: int = 3, seconds: int = 30, seed: int = 1) -> Iterator[Made]:
    """Systems that carry a multiple of `LEVELS_TPS`, with 1 % between trials and 2 % between seconds."""
    random = np.random.default_rng(seed)
    for system, factor in systems.items():
        for connections, tps in LEVELS_TPS.items():
            for repetition in range(repetitions):
                mean = tps * factor * np.exp(random.normal(0, 0.01))
                rates = mean * (1 + 0.02 * random.standard_normal(seconds))
                response_ns = np.full(int(rates.sum()), int(connections / mean * 1e9))
                yield measured(
                    rates,
                    system=system,
                    connections=connections,
                    repetition=repetition,
                    response_ns=response_ns,
                    factors={"innodb_flush_log_at_trx_commit": "1" if system == "durable" else "2"},
                )


@pytest.fixture(scope="module")
def two() -> Analysis:
    return analyse("made", list(study({"durable": 1.0, "relaxed": 1.5})))


def at_peaks(analysis: Analysis) -> Difference:
    return next(one for one in analysis.differences if one.connections is None)


def test_cells_hold_the_window_and_not_the_warm_up(two: Analysis) -> None:
    cell = two.curves[0].cells[1]
    assert cell.connections == 4
    assert cell.throughput_tps.value == pytest.approx(1000, rel=0.03)
    assert cell.throughput_tps.trial_count == 3
    assert len(cell.trials) == 3
    bounds = cell.throughput_tps.bounds
    assert bounds is not None
    assert bounds.low < 1000 < bounds.high
    assert "pooled over 8 cells" in bounds.method
    assert "16 degrees" in bounds.method


def test_response_times_come_from_merged_histograms(two: Analysis) -> None:
    response = two.curves[0].cells[1].response_ms
    assert response.p99 == pytest.approx(4.0, rel=0.03)
    assert response.mean == pytest.approx(4.0, rel=0.03)


def test_scale_factor_is_the_ratio_to_the_lowest_level_with_bounds(two: Analysis) -> None:
    first, second, *_ = two.curves[0].cells
    assert first.scale_factor.value == 1.0
    assert second.scale_factor.value == pytest.approx(1000 / 300, rel=0.05)
    bounds = second.scale_factor.bounds
    assert bounds is not None
    assert bounds.low < second.scale_factor.value < bounds.high < 1.05 * bounds.low


def test_peak_is_bracketed_and_pool_per_core(two: Analysis) -> None:
    curve = two.curves[0]
    assert curve.peak.connections == 16
    assert curve.peak.bracketed
    assert 4 not in curve.peak.tied_connections
    assert curve.pool.connections == 16
    assert curve.pool.per_core == 4
    assert "read-write: 16 connections, four per core" in curve.pool.text


def test_difference_at_the_peaks_is_found_and_names_the_factor(two: Analysis) -> None:
    one = at_peaks(two)
    assert (one.base, one.system) == ("durable", "relaxed")
    assert one.verdict is DifferenceVerdict.FASTER
    assert one.ratio.value == pytest.approx(1.5, rel=0.03)
    assert one.other_factors == (("innodb_flush_log_at_trx_commit", "1", "2"),)
    assert two.answer[0].startswith("read-write: relaxed carries the most, 1,8")
    assert any("relaxed carries 5" in text and "more than durable" in text for text in two.answer)


def test_every_common_level_is_compared(two: Analysis) -> None:
    assert [one.connections for one in two.differences] == [None, 1, 4, 16, 32]


def test_equal_systems_cannot_be_told_apart_and_the_answer_says_what_could_have_been_seen() -> None:
    analysis = analyse("made", list(study({"one": 1.0, "other": 1.0}, seed=5)))
    one = at_peaks(analysis)
    assert one.verdict is DifferenceVerdict.UNDECIDED
    assert one.smallest_effect is not None
    assert 1.0 < one.smallest_effect < 1.1
    assert "shows the highest figure" in analysis.answer[0]
    assert any("cannot be told apart" in text and "smallest difference" in text for text in analysis.answer)
    assert any("stays open" in text for text in analysis.limits)


def test_one_repetition_gives_bounds_within_the_run_and_no_winner() -> None:
    analysis = analyse("made", list(study({"durable": 1.0, "relaxed": 3.0}, repetitions=1)))
    bounds = analysis.curves[0].cells[0].throughput_tps.bounds
    assert bounds is not None
    assert "repetitions may differ more" in bounds.method
    assert at_peaks(analysis).verdict is DifferenceVerdict.UNTESTABLE
    assert at_peaks(analysis).smallest_effect is None
    assert "single-repetition" in [one.warning.code for one in analysis.warnings]


def test_two_repetitions_are_pooled_over_cells() -> None:
    analysis = analyse("made", list(study({"durable": 1.0, "relaxed": 1.5}, repetitions=2)))
    bounds = analysis.curves[0].cells[0].throughput_tps.bounds
    assert bounds is not None
    assert "pooled over 8 cells of the workload that were measured alike (8 degrees of freedom)" in bounds.method


def test_two_repetitions_of_one_cell_alone_give_bounds_as_wide_as_two_figures_allow() -> None:
    """Student's t with one degree of freedom: 12.7 standard errors to either side."""
    pair = [published(1000.0, repetition=0), published(1010.0, repetition=1)]
    bounds = analyse("made", pair).curves[0].cells[0].throughput_tps.bounds
    assert bounds is not None
    assert (bounds.low, bounds.high) == pytest.approx((943.4, 1070.6), abs=0.1)
    assert bounds.method == "t on logarithms, 2 repetitions (1 degree of freedom)"


def test_intervals_count_with_their_real_length_and_missing_ones_as_zero() -> None:
    """Nothing completed in the third second, so it has no row; it counts all the same."""
    recording = measured([100.0, 100.0, 0.0, 100.0] * 3, warm_count=0)
    intervals = recording.tables["intervals"].filter(~np.isin(np.arange(12), [2]))
    cut = Made(recording.trial, recording.environment, recording.outcome, {"intervals": intervals})
    assert analyse("made", [cut]).curves[0].cells[0].throughput_tps.value == pytest.approx(75.0)


def test_failed_damaged_and_empty_trials_are_missing_with_their_reason() -> None:
    failed = Made(trial_record(system="b"), Environment(), Outcome(verdict=Verdict.FAILED, reason="server died"))
    empty = Made(trial_record(system="c"), Environment(), Outcome(verdict=Verdict.COMPLETE))
    damaged = SimpleNamespace(trial_id="x", path=Path("x"), reason="intervals.parquet was cut short")

    class Torn(Made):
        def intervals(self) -> None:
            raise RecordError("intervals.parquet: was cut short")

    whole = measured([100.0] * 12)
    torn = Torn(trial_record(system="d"), Environment(), whole.outcome)
    analysis = analyse("made", [whole, failed, empty, torn], [damaged])
    assert [one.reason.split(":")[0] for one in analysis.missing] == [
        "failed",
        "nothing was measured",
        "intervals.parquet",
        "intervals.parquet was cut short",
    ]
    assert [one.name for one in analysis.systems] == ["a"]
    assert "failed-trials" in [one.warning.code for one in analysis.warnings]


def test_a_study_without_complete_trials_says_so() -> None:
    analysis = analyse("made", [])
    assert analysis.curves == ()
    assert "No trial was completed" in analysis.answer[0]


def test_a_trial_that_carried_nothing_has_no_bounds_and_breaks_nothing() -> None:
    nothing = [measured([0.0] * 12, connections=32, system=system) for system in ("a", "b")]
    analysis = analyse("made", [measured([100.0] * 12), *nothing])
    cell = analysis.curves[0].cells[1]
    assert cell.throughput_tps.value == 0.0
    assert cell.throughput_tps.bounds is None
    assert cell.scale_factor.value == 0.0


def test_an_analysis_survives_writing_and_reading(two: Analysis) -> None:
    assert Analysis.model_validate_json(two.model_dump_json()) == two


def test_errors_are_counted_by_code_in_the_window() -> None:
    recording = measured([100.0] * 12, failed=3, errors=[{"class": "retryable", "code": 1213, "count": 36}])
    analysis = analyse("made", [recording])
    cell = analysis.curves[0].cells[0]
    assert [(one.error_class, one.code, one.count) for one in cell.errors] == [("retryable", 1213, 36)]
    assert cell.failed_count == 36
    warning = next(one for one in analysis.warnings if one.warning.code == "errors-occurred")
    assert "1213 (retryable) 36 times" in warning.warning.evidence


def test_what_a_script_counted_by_hand_is_no_error_that_was_seen() -> None:
    by_hand = {"class": "statement", "code": 0, "count": 36}
    (cell,) = (analysis := analyse("made", [measured([100.0] * 12, errors=[by_hand])])).curves[0].cells
    assert [(one.code, one.count, one.was_seen) for one in cell.errors] == [(0, 36, False)]
    assert "errors-occurred" not in {one.warning.code for one in analysis.warnings}
    lost = {"class": "connection", "code": 0, "count": 2}
    analysis = analyse("made", [measured([100.0] * 12, errors=[by_hand, lost])])
    (warning,) = (one.warning for one in analysis.warnings if one.warning.code == "errors-occurred")
    assert warning.evidence.startswith("no code (connection) 2 times: ")


def test_cost_for_each_thousand_transactions_is_said_cheapest_first() -> None:
    recordings = [
        published(2000.0, system="big", cost_per_month=500.0),
        published(1000.0, system="small", cost_per_month=200.0),
    ]
    answer = analyse("made", recordings).answer
    assert any("small 200 and big 250" in text for text in answer)


def test_systems_without_a_cost_are_named_beside_those_that_have_one() -> None:
    recordings = [published(2000.0, system="big", cost_per_month=500.0), published(1000.0, system="small")]
    answer = analyse("made", recordings).answer
    assert any(text.endswith("cheapest first: big 250. No cost is known for small.") for text in answer)


def test_nothing_is_advised_for_a_system_that_carried_nothing() -> None:
    analysis = analyse("made", [published(0.0), published(0.0, connections=8), published(5.0, system="b")])
    assert "Connection pool of a for read-write: unknown; no level carried any." in analysis.answer
    seen = next(one.warning.evidence for one in analysis.warnings if one.warning.code == "peak-at-last-level")
    assert "at 4 connections" in seen


def test_more_than_six_systems_are_each_compared_with_the_best() -> None:
    recordings = [published(1000.0 + index, system=f"s{index}") for index in range(7)]
    analysis = analyse("made", recordings)
    assert {one.base for one in analysis.differences} == {"s6"}
    assert len([one for one in analysis.differences if one.connections is None]) == 6


def test_a_pool_that_is_tied_only_by_noise_is_not_recommended() -> None:
    levels = {1: (900.0, 2200.0, 1500.0), 4: (1900.0, 3000.0, 1400.0), 16: (1500.0, 1000.0, 2400.0)}
    trials = [
        published(tps, connections=connections, repetition=repetition)
        for connections, repeated in levels.items()
        for repetition, tps in enumerate(repeated)
    ]
    pool = analyse("made", trials).curves[0].pool
    assert pool.connections == 4
    assert "4 connections; 1 carried 27.0 % less, but these trials are too noisy to tell them apart" in pool.text
    with_cores = [
        published(tps, system=system, connections=connections, repetition=repetition, cores=4)
        for system in ("a", "b")
        for connections, repeated in levels.items()
        for repetition, tps in enumerate(repeated)
    ]
    advice = [text for text in analyse("made", with_cores).answer if "too noisy" in text]
    assert len(advice) == 2
