"""`plimsoll trend`: order, questions, what is left out of the test, and what rules come to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from plimsoll.analyse.answers.compare_model import GateOutcome, Metric
from plimsoll.analyse.answers.compare_verdicts import GateRule
from plimsoll.analyse.answers.trend import NewestRatio, PastStudy, trend
from plimsoll.analyse.answers.trend_model import TrendAnswer
from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.analyse.study.cell_model import SpreadKind
from plimsoll.analyse.study.comparison import LogRatio
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.errors import SpecError
from plimsoll.record.environment import Environment, HostFacts
from plimsoll.stats.level_shifts import ShiftKind, detectable_shift
from plimsoll.stats.variance import MeanVariance
from support.histories import history, machine

SLOWER = GateRule(Metric.THROUGHPUT, 0.05)


def logs(size: int = 30, seed: int = 9) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.015, size)


def stepped(step: float, age: int, size: int = 30, seed: int = 9) -> np.ndarray:
    values = logs(size, seed)
    values[size - age :] -= step
    return values


def outcome(answer: TrendAnswer) -> GateOutcome:
    return answer.gates[0].outcome


def test_a_step_has_its_size_its_study_and_a_grade() -> None:
    answer = trend(history(stepped(0.08, 10), repetitions=3, noise=0.01))
    (place,) = answer.places
    (shift,) = place.shifts
    assert (shift.kind, shift.change.verdict, shift.grade) == (ShiftKind.LASTING, RatioVerdict.SLOWER, Grade.MEASURED)
    bounds = shift.change.ratio.bounds
    assert bounds is not None
    assert bounds.low < np.exp(-0.08) < bounds.high
    assert bounds.basis is SpreadKind.SESSIONS
    assert shift.after_value / shift.before_value == pytest.approx(shift.change.ratio.value)
    assert shift.earliest_index <= 20 <= shift.latest_index
    assert answer.grade is Grade.MEASURED


def test_without_a_step_it_says_what_would_have_been_found() -> None:
    (place,) = trend(history(logs())).places
    assert place.shifts == ()
    assert place.detectable_ratio is not None
    assert 1.01 < place.detectable_ratio < 1.10
    few = trend(history(logs(5))).places[0]
    assert (few.detectable_ratio, few.detectable_power) == (None, 0.0)


def test_studies_stand_in_order_of_time_or_of_a_label() -> None:
    studies = history(logs(4), labels=[{"version": version} for version in ("11.10", "11.4", "9.0", "11.4.1")])
    names = [study.name for study in studies]
    by_time = trend(studies[::-1])
    assert ([study.name for study in by_time.studies], by_time.ordered_by) == (names, "time")
    by_label = trend(studies, order_by="version")
    assert [study.labels["version"] for study in by_label.studies] == ["9.0", "11.4", "11.4.1", "11.10"]
    with pytest.raises(SpecError, match="nights/00: has no label 'commit'"):
        trend(studies, order_by="commit")


def test_studies_whose_times_are_not_known_stand_as_they_were_named() -> None:
    studies = history(logs(4))
    timeless = [
        PastStudy(
            study.name,
            [
                replace(
                    side,
                    trials=[
                        replace(trial, trial=trial.trial.model_copy(update={"states": ()})) for trial in side.trials
                    ],
                )
                for side in study.sides
            ],
        )
        for study in studies[::-1]
    ]
    answer = trend(timeless)
    assert answer.ordered_by == "given"
    assert answer.studies[0].name == "nights/03"
    assert "order-given" in {note.code for note in answer.notes}


def test_studies_that_ask_another_question_are_refused() -> None:
    studies = [*history(logs(3), options={"table_size": 1000}), *history(logs(3), options={"table_size": 2000})]
    with pytest.raises(SpecError, match=r"asks another question: table_size of workload read-write is 2000, and 1000"):
        trend(studies)
    with pytest.raises(SpecError, match="at least two studies"):
        trend(studies[:1])
    with pytest.raises(SpecError, match="no system, workload and level, and no capacity, in common"):
        trend([*history([0.0], connections=(1,)), *history([0.0], connections=(2,))])


def test_a_changed_environment_is_named_at_its_study() -> None:
    kernels = {day: Environment(host=HostFacts(kernel=kernel)) for day, kernel in ((0, "6.1"), (20, "6.8"))}
    answer = trend(history(stepped(0.08, 10), environments=kernels))
    assert [index for index, study in enumerate(answer.studies) if study.changes] == [20]
    (change,) = answer.studies[20].changes
    assert (change.what, change.base, change.system) == ("kernel", "6.1", "6.8")


def test_a_disturbed_study_is_shown_and_not_tested() -> None:
    values = logs()
    values[12] -= 0.5
    met = {day: machine(slow=day == 12) for day in range(30)}
    answer = trend(history(values, machines=met))
    (place,) = answer.places
    assert [point.study_index for point in place.points if not point.is_used] == [12]
    assert place.deviation_ratio is not None
    assert place.deviation_ratio < 0.03
    assert "studies-disturbed" in {note.code for note in answer.notes}
    newest = trend(
        history(stepped(0.2, 1), machines={day: machine(slow=day == 29) for day in range(30)}), rules=[SLOWER]
    )
    assert outcome(newest) is GateOutcome.UNDECIDED


def test_where_most_studies_are_disturbed_all_are_tested_and_steps_are_indicated() -> None:
    answer = trend(history(stepped(0.12, 10), machines={day: machine(slow=day % 4 != 0) for day in range(30)}))
    (place,) = answer.places
    assert place.is_mostly_disturbed
    assert all(point.is_used for point in place.points)
    assert [shift.grade for shift in place.shifts] == [Grade.INDICATED]
    assert "mostly-disturbed" in {note.code for note in answer.notes}


def test_nothing_is_said_of_a_step_that_comes_with_a_slower_machine() -> None:
    """All of it disturbed would be left out; here only a few seconds are slow, and more so after the step."""
    met = {day: machine(slow_s=0 if day < 20 else 6) for day in range(30)}
    answer = trend(history(stepped(0.12, 10), machines=met), rules=[SLOWER], newest=10)
    (shift,) = answer.places[0].shifts
    assert shift.unlike is not None
    assert (shift.change.verdict, shift.change.ratio.bounds) == (RatioVerdict.DISTURBED, None)
    assert shift.grade is Grade.UNKNOWN
    assert outcome(answer) is GateOutcome.UNDECIDED


def test_rules_judge_the_newest_studies() -> None:
    assert outcome(trend(history(logs(60)), rules=[SLOWER])) is GateOutcome.PASSED
    for age in (1, 3, 5):
        assert outcome(trend(history(stepped(0.2, age, 60)), rules=[SLOWER])) is GateOutcome.FAILED
    assert outcome(trend(history(stepped(0.2, 20, 60)), rules=[SLOWER])) is GateOutcome.PASSED, "an old step is no news"
    assert outcome(trend(history(stepped(0.2, 20, 60)), rules=[SLOWER], newest=20)) is GateOutcome.FAILED
    assert outcome(trend(history(stepped(0.05, 1, 60)), rules=[SLOWER])) is GateOutcome.UNDECIDED
    assert outcome(trend(history(logs(3)), rules=[SLOWER])) is GateOutcome.UNDECIDED


def test_a_place_that_the_newest_study_lacks_is_undecided_and_a_dead_one_fails() -> None:
    studies = history(logs(30), connections=(1, 4))
    newest = studies[-1].sides[0]
    lacking = PastStudy("newest", [replace(newest, trials=newest.trials[:1])])
    answer = trend([*studies[:-1], lacking], rules=[SLOWER])
    assert answer.gates[0].undecided_at == (("read-write", "4 connections"),)
    assert answer.gates[0].passed_at == (("read-write", "1 connection"),)
    dead = PastStudy(
        "newest", [replace(newest, trials=[replace(trial, throughput_tps=0.0) for trial in newest.trials])]
    )
    assert outcome(trend([*studies[:-1], dead], rules=[SLOWER])) is GateOutcome.FAILED


def test_the_newest_are_beyond_a_limit_if_some_begin_is_and_within_it_if_all_are() -> None:
    def ratio(value: float) -> LogRatio:
        variance = MeanVariance(0.01**2, 50)
        return LogRatio(value=value, variance=variance, repetitions=3, basis=SpreadKind.SESSIONS, method="")

    slow, same = ratio(-0.2), ratio(0.0)
    both = NewestRatio([slow, same], higher_is_slower=False)
    assert both.chance_at_least(SLOWER.log_limit) == pytest.approx(2 * slow.chance_at_least(SLOWER.log_limit))
    assert both.chance_at_most(SLOWER.log_limit) == pytest.approx(slow.chance_at_most(SLOWER.log_limit))
    assert both.worst is slow
    p99 = NewestRatio([ratio(0.2), same], higher_is_slower=True)
    assert p99.chance_at_most(0.1) == pytest.approx(2 * ratio(0.2).chance_at_most(0.1))
    assert p99.further_beyond(0.1, 0.05) is None


@pytest.mark.parametrize("seed", [14, 16, 43])
def test_a_step_that_may_have_begun_among_the_newest_is_no_older_one(seed: int) -> None:
    """The newest five are 8 % slower; the study before them happens to be slow as well."""
    answer = trend(history(stepped(0.08, 5, 40, seed)), rules=[SLOWER])
    (shift,) = answer.places[0].shifts
    assert (shift.study_index, shift.latest_index >= 35) == (34, True), "its begin is estimated one too early"
    assert outcome(answer) is GateOutcome.FAILED


@pytest.mark.parametrize("seed", [35, 43, 76])
def test_a_begin_that_is_estimated_too_early_makes_no_rule_pass(seed: int) -> None:
    """The newest three are 6 % slower; a step is found before them, and is smaller for the good studies in it."""
    answer = trend(history(stepped(0.06, 3, 40, seed)), rules=[SLOWER])
    assert answer.places[0].shifts[-1].study_index < 37 <= answer.places[0].shifts[-1].latest_index
    assert outcome(answer) is GateOutcome.UNDECIDED


def test_a_large_new_step_fails_whatever_kind_its_estimated_begin_makes_it() -> None:
    """Good studies behind a begin that is too early make it look as if slow ones became frequent."""
    answer = trend(history(stepped(0.2, 3, 40, 106)), rules=[SLOWER])
    assert answer.places[0].shifts[-1].kind is ShiftKind.ONE_SIDED
    assert outcome(answer) is GateOutcome.FAILED


def test_a_hundred_places_together_still_show_a_step() -> None:
    """With 1,999 simulated histories the least chance, 0.0006, would be more than the share of one place of 5 %."""
    answer = trend(history(stepped(0.2, 10, 20), connections=range(1, 101)))
    assert [len(place.shifts) for place in answer.places] == [1] * 100


def test_after_an_earlier_step_the_rest_is_tested_at_its_share_of_the_level() -> None:
    (place,) = trend(history(stepped(0.2, 20, 60))).places
    assert len(place.shifts) == 1
    assert place.detectable_ratio is not None
    assert place.deviation_ratio is not None
    stretch = 20, place.detectable_studies, round(place.correlation, 1)
    at_its_share, at_all_of_it = (detectable_shift(*stretch, alpha, 0.9).shift for alpha in (0.05 * 20 / 60, 0.05))
    stated = np.log(place.detectable_ratio) / place.deviation_ratio
    assert stated == pytest.approx(at_its_share)
    assert stated != pytest.approx(at_all_of_it)


def test_nothing_is_said_of_a_history_in_which_nothing_completed() -> None:
    studies = [
        PastStudy(study.name, [replace(side, trials=[replace(side.trials[0], throughput_tps=0.0)])])
        for study in history(logs(8))
        for side in study.sides
    ]
    (place,) = trend(studies).places
    assert (place.shifts, place.detectable_ratio, place.newest) == ((), None, None)


@pytest.mark.parametrize("order_by", [None, "version"])
def test_a_study_without_a_complete_trial_is_left_out_and_decides_nothing_if_it_is_the_newest(
    order_by: str | None,
) -> None:
    studies = history(logs(60), labels=[{"version": f"1.{day}"} for day in range(60)])

    def without(empty: PastStudy) -> PastStudy:
        return PastStudy(empty.name, [], [trial.trial for trial in empty.trials])

    amid = trend([without(studies[30]), *studies[:30], *studies[31:]], rules=[SLOWER], order_by=order_by)
    assert len(amid.studies) == 59
    assert outcome(amid) is GateOutcome.PASSED
    assert [note.code for note in amid.notes] == ["studies-without-trials"]
    newest = trend([without(studies[59]), *studies[:59]], rules=[SLOWER], order_by=order_by)
    assert outcome(newest) is GateOutcome.UNDECIDED
    assert [note.code for note in newest.notes] == ["studies-without-trials", "newest-without-trials"]
    unknown = PastStudy("unknown", [])
    assert outcome(trend([*studies, unknown], rules=[SLOWER], order_by=order_by)) is GateOutcome.UNDECIDED
    assert outcome(trend([unknown, *studies], rules=[SLOWER], order_by=order_by)) is GateOutcome.PASSED
    with pytest.raises(SpecError, match="at least two studies that have a complete trial"):
        trend([studies[0], unknown])
