"""The one entry: what is said about made-up studies with known answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis, Difference
from plimsoll.analyse.study.curve_model import PoolReason
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.errors import RecordError
from plimsoll.guide.answer import pool_sentence
from plimsoll.record.environment import Environment
from plimsoll.record.level import Level
from plimsoll.record.model import Outcome, Verdict
from plimsoll.wording import counted
from support.made import Made, measured, published, trial_record
from support.told import answer_of, evidence_of, limits_of

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
    return next(difference for difference in analysis.differences if difference.level is None)


def test_cells_hold_the_window_and_not_the_warm_up(two: Analysis) -> None:
    cell = two.curves[0].cells[1]
    assert cell.level == Level(connections=4)
    assert cell.throughput_tps.value == pytest.approx(1000, rel=0.03)
    assert cell.throughput_tps.trial_count == 3
    assert len(cell.trials) == 3
    bounds = cell.throughput_tps.bounds
    assert bounds is not None
    assert bounds.low < 1000 < bounds.high
    assert "its own repetitions, moderated by that of 2 systems at the same level" in bounds.method
    assert bounds.degrees is not None
    assert 2 <= bounds.degrees <= 4, "two systems, three repetitions"


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
    assert bounds.low < second.scale_factor.value < bounds.high < 1.15 * bounds.low


def test_peak_is_inside_the_range_and_pool_per_core(two: Analysis) -> None:
    curve = two.curves[0]
    assert curve.peak.level.connections == 16
    assert curve.peak.is_inside_range
    assert Level(connections=4) not in curve.peak.tied_levels
    assert curve.pool.connections == 16
    assert curve.pool.per_core == 4
    assert any("connection pool = 4 connections for each processor core" in text for text in answer_of(two))


def test_difference_at_the_peaks_is_found_and_names_the_factor(two: Analysis) -> None:
    one = at_peaks(two)
    assert (one.base, one.system) == ("durable", "relaxed")
    assert one.verdict is RatioVerdict.FASTER
    assert one.ratio.value == pytest.approx(1.5, rel=0.03)
    assert one.other_factors == (("innodb_flush_log_at_trx_commit", "1", "2"),)
    assert answer_of(two)[0].startswith("read-write: relaxed completes the most: 1,8")
    assert any("the peak of relaxed is 5" in text and "higher than that of durable" in text for text in answer_of(two))


def test_every_common_level_is_compared(two: Analysis) -> None:
    assert [difference.level and difference.level.connections for difference in two.differences] == [None, 1, 4, 16, 32]


def test_equal_systems_are_equal_within_the_share_that_the_study_allows() -> None:
    recordings = list(study({"one": 1.0, "other": 1.0}, seed=5))
    one = at_peaks(analyse("made", recordings))
    assert (one.verdict, one.equal_within, one.repetitions_needed) == (RatioVerdict.EQUAL, 0.05, 0)
    assert any("are equal within 5 % (95 % CI" in text for text in answer_of(analyse("made", recordings)))
    strict = at_peaks(analyse("made", recordings, equal_within=0.002))
    assert (strict.verdict, strict.equal_within) == (RatioVerdict.UNRESOLVED, 0.002)


def test_what_is_open_says_what_was_detectable_and_what_would_decide() -> None:
    analysis = analyse("made", list(study({"one": 1.0, "other": 1.0}, seed=5)), equal_within=0.01)
    one = at_peaks(analysis)
    assert one.verdict is RatioVerdict.UNRESOLVED
    assert one.smallest_effect is not None
    assert 1.0 < one.smallest_effect < 1.2
    assert one.repetitions_needed is not None
    assert "other completes 1,205 tps" in answer_of(analysis)[0]
    assert not any("highest figure" in text or "the most" in text for text in answer_of(analysis))
    (text,) = [text for text in answer_of(analysis) if "not resolved whether the peaks" in text]
    assert "The minimum detectable effect (80 % power) is" in text
    assert f"about {one.repetitions_needed} more repetition" in text
    assert any("not resolved in the comparison of peaks" in text for text in limits_of(analysis))


def test_a_study_that_goes_on_until_decided_has_no_detectable_effect_and_says_what_would_decide() -> None:
    """Its number of repetitions was not fixed before: "0.0 %" would claim that it sees everything."""
    made = list(study({"one": 1.0, "other": 1.01}, seed=5))
    analysis = analyse("made", made, equal_within=0.01, at_any_look=True)
    assert at_peaks(analysis).smallest_effect is None
    (text,) = [text for text in answer_of(analysis) if "not resolved whether the peaks" in text]
    assert "minimum detectable effect" not in text
    needed = at_peaks(analysis).repetitions_needed
    assert needed
    assert f"). About {counted(needed, 'more repetition')} would decide." in text


def test_one_repetition_gives_bounds_within_the_run_and_no_winner() -> None:
    analysis = analyse("made", list(study({"durable": 1.0, "relaxed": 3.0}, repetitions=1)))
    bounds = analysis.curves[0].cells[0].throughput_tps.bounds
    assert bounds is not None
    assert "repetitions may differ more" in bounds.method
    assert at_peaks(analysis).verdict is RatioVerdict.UNTESTABLE
    assert at_peaks(analysis).smallest_effect is None
    assert "single-repetition" in [warning.code for warning in analysis.warnings]


def test_two_repetitions_are_moderated_by_those_of_the_other_system() -> None:
    analysis = analyse("made", list(study({"durable": 1.0, "relaxed": 1.5}, repetitions=2)))
    bounds = analysis.curves[0].cells[0].throughput_tps.bounds
    assert bounds is not None
    assert "moderated by that of 2 systems at the same level that were measured alike" in bounds.method


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
    assert [system.name for system in analysis.systems] == ["a"]
    assert "failed-trials" in [warning.code for warning in analysis.warnings]


def test_a_study_without_complete_trials_says_so() -> None:
    analysis = analyse("made", [])
    assert analysis.curves == ()
    assert "No trial was completed" in answer_of(analysis)[0]


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
    assert [(error.error_class, error.code, error.count) for error in cell.errors] == [("retryable", 1213, 36)]
    assert cell.failed_count == 36
    warning = next(warning for warning in analysis.warnings if warning.code == "errors-occurred")
    assert "1213 (retryable) 36 times" in evidence_of(warning)


def test_what_a_script_counted_by_hand_is_no_error_that_was_seen() -> None:
    by_hand = {"class": "statement", "code": 0, "count": 36}
    (cell,) = (analysis := analyse("made", [measured([100.0] * 12, errors=[by_hand])])).curves[0].cells
    assert [(error.code, error.count, error.was_seen) for error in cell.errors] == [(0, 36, False)]
    assert "errors-occurred" not in {warning.code for warning in analysis.warnings}
    lost = {"class": "connection", "code": 0, "count": 2}
    analysis = analyse("made", [measured([100.0] * 12, errors=[by_hand, lost])])
    (warning,) = (warning for warning in analysis.warnings if warning.code == "errors-occurred")
    assert evidence_of(warning).startswith("no code (connection) 2 times: ")


def test_cost_of_a_million_transactions_is_said_cheapest_first() -> None:
    recordings = [
        published(2000.0, system="big", cost_per_month=500.0),
        published(1000.0, system="small", cost_per_month=200.0),
    ]
    answer = answer_of(analyse("made", recordings))
    assert any("cheapest first: small 0.152 and big 0.190." in text for text in answer)


def test_systems_without_a_cost_are_named_beside_those_that_have_one() -> None:
    recordings = [published(2000.0, system="big", cost_per_month=500.0), published(1000.0, system="small")]
    answer = answer_of(analyse("made", recordings))
    assert any(text.endswith("of the highest throughput: big 0.190. No price is known of small.") for text in answer)


def test_nothing_is_advised_for_a_system_that_carried_nothing() -> None:
    recordings = [published(0.0), published(0.0, connections=8), published(4.0, connections=2, system="b")]
    analysis = analyse("made", [*recordings, published(5.0, system="b")])
    assert "read-write: connection pool for a: unknown: nothing completed at any level." in answer_of(analysis)
    seen = next(evidence_of(warning) for warning in analysis.warnings if warning.code == "peak-at-last-level")
    assert "at 4 connections" in seen


def test_more_than_six_systems_are_each_compared_with_the_best() -> None:
    recordings = [published(1000.0 + index, system=f"s{index}") for index in range(7)]
    analysis = analyse("made", recordings)
    assert {difference.base for difference in analysis.differences} == {"s6"}
    assert len([difference for difference in analysis.differences if difference.level is None]) == 6


def test_a_pool_that_noise_leaves_open_is_not_resolved() -> None:
    levels = {1: (900.0, 2200.0, 1500.0), 4: (1900.0, 3000.0, 1400.0), 16: (1500.0, 1000.0, 2400.0)}
    trials = [
        published(tps, connections=connections, repetition=repetition)
        for connections, repeated in levels.items()
        for repetition, tps in enumerate(repeated)
    ]
    curve = analyse("made", trials).curves[0]
    assert (curve.pool.connections, curve.pool.between) == (16, (1, 16))
    assert curve.pool.reason is PoolReason.UNRESOLVED
    assert "not resolved: between 1 and 16 connections" in pool_sentence(curve)
    with_cores = [
        published(tps, system=system, connections=connections, repetition=repetition, cores=4)
        for system in ("a", "b")
        for connections, repeated in levels.items()
        for repetition, tps in enumerate(repeated)
    ]
    advice = [text for text in answer_of(analyse("made", with_cores)) if "not resolved: between" in text]
    assert len(advice) == 2
