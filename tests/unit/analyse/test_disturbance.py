"""What a disturbed machine withholds: winners, intervals, fits and capacities; and what it leaves as it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.answers.capacity import capacity_answer
from plimsoll.analyse.answers.size import size
from plimsoll.analyse.answers.size_model import Fit
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.conditions import is_disturbed, met_by, together, unlike
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.trial.condition_model import Disturbance
from plimsoll.analyse.trial.trial_summary import RecordingLike, summarise
from plimsoll.guide.answer import answer_sentence
from plimsoll.guide.headline import headline_findings
from plimsoll.guide.size import worded
from plimsoll.guide.warnings import SearchDoubts, search_doubts
from plimsoll.prose.capacity import capacity_answer_sentence
from plimsoll.record.capacity import (
    GIVEN_UP_FROM,
    Capacity,
    CapacityObjective,
    CapacityRun,
    RunRole,
    RunVerdict,
    SearchRecord,
)
from plimsoll.record.environment import HostFacts
from plimsoll.record.level import Level
from support.disturbed import DISTURBED, QUIET, SHARED, machine_table
from support.made import STARTED_UNIX_S, Made, measured
from unit.analyse.test_duet import turns

SECONDS = 20
REPETITIONS = 4
Second = dict[str, float]


def trial(system: str, repetition: int, seconds: Sequence[Second], tps: float = 1000.0, **more: object) -> Made:
    noise = np.random.default_rng(repetition + len(system)).normal(1, 0.01, len(seconds))
    changes = {"environment": SHARED, **more}
    telemetry = machine_table(seconds)
    return measured(tps * noise, telemetry=telemetry, system=system, repetition=repetition, **changes)  # type: ignore[arg-type]


def study(*seconds: Sequence[Second], tps: Sequence[float] = (1000.0, 500.0)) -> Analysis:
    """Systems a, b, … with such seconds in each of their trials."""
    return analyse(
        "s",
        [
            trial("ab"[index], repetition, own, tps[index])
            for index, own in enumerate(seconds)
            for repetition in range(REPETITIONS)
        ],
    )


def met(*trials: Made) -> list[Disturbance | None]:
    summaries = [summarise(one) for one in trials]
    return met_by([summary for summary in summaries if summary is not None])


def only(*trials: Made) -> Disturbance:
    """What the first of some trials met."""
    found = met(*trials)[0]
    assert found is not None
    return found


def test_other_programs_beside_one_system_leave_no_winner() -> None:
    found = study([QUIET] * SECONDS, [DISTURBED] * SECONDS)
    (difference, *_) = found.differences
    assert difference.verdict is RatioVerdict.DISTURBED
    assert difference.ratio.bounds is None
    assert (difference.simultaneous, difference.smallest_effect, difference.repetitions_needed) == (None, None, None)
    assert difference.unlike is not None
    assert difference.unlike.system.slowness == pytest.approx(2.0, abs=0.1)
    assert difference.unlike.base.slowness == pytest.approx(1.0, abs=0.01)


def test_the_first_sentence_says_what_was_seen_and_when() -> None:
    found = study([QUIET] * SECONDS, [DISTURBED] * SECONDS)
    text = answer_sentence(found.answer[0], found)
    assert text.startswith(
        "read-write: disturbed: no system is called faster. While b was measured the machine was 2.05"
    )
    assert "in 100.0 % of the seconds, between 1970-01-12 13:46:42 and 13:47:02 UTC" in text
    assert "threads waited 4.80 ms per transaction for a processor, against 0.70 ms at best" in text
    assert headline_findings(found)[0] == found.answer[0]
    assert not any("faster" in answer_sentence(one, found) for one in found.answer[1:])
    assert next(one.figures["standing"] for one in found.answer if one.code == "peak") == "only"


def test_a_disturbed_figure_has_no_interval_and_the_other_keeps_its_own() -> None:
    found = study([QUIET] * SECONDS, [DISTURBED] * SECONDS)
    cells = {curve.system: curve.cells[0] for curve in found.curves}
    assert cells["b"].is_disturbed
    assert cells["b"].throughput_tps.bounds is None
    assert cells["a"].throughput_tps.bounds is not None
    peaks = {curve.system: curve.peak for curve in found.curves}
    assert peaks["b"] is not None
    assert peaks["b"].throughput_tps.bounds is None


def took_turns(made: Made, against: str, tps: float = 1000.0, started_unix_s: float = STARTED_UNIX_S) -> Made:
    """The same trial as one side of a round."""
    account = made.outcome.account
    assert account is not None
    pairs = np.random.default_rng(made.trial.repetition).normal(1, 0.01, SECONDS + 2)
    return replace(
        made,
        tables={**made.tables, "turns": turns([int(pair) for pair in tps * pairs], against=against)},
        outcome=made.outcome.model_copy(
            update={"account": account.model_copy(update={"started_unix_s": started_unix_s})}
        ),
    )


def duet(repetition: int, seconds: Sequence[Second], *, tps: Sequence[float] = (1000.0, 500.0)) -> list[Made]:
    """A round of the systems a and b."""
    sides = zip("ab", "ba", tps, strict=True)
    return [took_turns(trial(name, repetition, seconds, own), other, own) for name, other, own in sides]


def test_a_disturbed_round_leaves_a_duet_its_ratio_and_no_absolute_figure_an_interval() -> None:
    """Both systems of a round met the same machine: nothing parts them, and neither did what it can do."""
    rounds = [duet(number, [DISTURBED if number == 2 else QUIET] * SECONDS) for number in range(REPETITIONS)]
    found = analyse("duet", [side for sides in rounds for side in sides])
    (difference, *_) = found.differences
    assert difference.verdict is RatioVerdict.SLOWER
    assert difference.unlike is None
    assert difference.ratio.bounds is not None
    cells = [curve.cells[0] for curve in found.curves]
    assert [cell.is_disturbed for cell in cells] == [True, True]
    assert [cell.throughput_tps.bounds for cell in cells] == [None, None]
    assert answer_sentence(found.answer[0], found).startswith(
        "read-write: disturbed: what was measured of a and b is not what they can do."
    )


def test_a_duet_on_a_quiet_machine_is_not_disturbed() -> None:
    sides = [side for number in range(REPETITIONS) for side in duet(number, [QUIET] * SECONDS)]
    assert [None if one is None else (one.slow_ratio, one.slowness) for one in met(*sides)] == [(0.0, 1.0)] * 8


def test_a_round_in_which_one_side_was_not_sampled_parts_nobody() -> None:
    """A server may be frozen whenever it would be sampled."""
    rounds = [duet(number, [DISTURBED if number == 2 else QUIET] * SECONDS) for number in range(REPETITIONS)]
    rounds[2][1].tables["telemetry"] = rounds[2][1].tables["telemetry"].clear()
    found = met(*(side for sides in rounds for side in sides))
    assert [one is None for one in found] == [False] * 4 + [True] * 2 + [False] * 2
    assert unlike(together(found[::2]), together(found[1::2])) is None


def test_rounds_of_two_studies_are_not_taken_for_one() -> None:
    """Both have a round 0; that of the other study was an hour later, on a busy machine."""
    earlier = duet(0, [QUIET] * SECONDS)
    later = [
        took_turns(one, other, started_unix_s=STARTED_UNIX_S + 3600.0)
        for one, other in zip(duet(0, [DISTURBED] * SECONDS), "ba", strict=True)
    ]
    for one in later:
        table = one.tables["telemetry"]
        one.tables["telemetry"] = table.with_columns(unix_s=table["unix_s"] + 3600.0)
    found = met(*earlier, *later)
    assert [one is not None and is_disturbed(one) for one in found] == [False, False, True, True]


@pytest.mark.parametrize("seconds", [[QUIET] * SECONDS, [DISTURBED] * SECONDS])
def test_both_sides_alike_keep_their_verdict(seconds: Sequence[Second]) -> None:
    found = study(seconds, seconds)
    assert found.differences[0].verdict is RatioVerdict.SLOWER
    assert found.differences[0].ratio.bounds is not None
    assert found.answer[0].code != "disturbed"


@pytest.mark.parametrize("missing", ["server_run_delay_s_per_s", "cpu_idle_ratio", "run_delay_s_per_s"])
def test_nothing_is_withheld_where_a_recording_lacks_a_column(missing: str) -> None:
    sides = [[{name: value for name, value in one.items() if name != missing}] * SECONDS for one in (QUIET, DISTURBED)]
    found = study(*sides)
    assert found.differences[0].verdict is RatioVerdict.SLOWER
    assert found.curves[1].cells[0].disturbance is None


def test_a_machine_whose_processors_nobody_counted_is_not_judged() -> None:
    unknown = SHARED.model_copy(update={"host": HostFacts(name="here")})
    assert met(trial("a", 0, [QUIET] * SECONDS, environment=unknown)) == [None]


def test_a_slower_system_that_saturates_the_machine_is_not_disturbed() -> None:
    """Three times the waits, for itself: nobody else ran."""
    busy = QUIET | {"server_cpu_user_s_per_s": 1.5, "server_run_delay_s_per_s": 3.5, "cpu_idle_ratio": 0.0}
    found = study([QUIET] * SECONDS, [busy] * SECONDS)
    assert found.differences[0].verdict is RatioVerdict.SLOWER


def test_other_programs_that_make_nobody_wait_do_not_tell() -> None:
    idle_taken = QUIET | {"cpu_idle_ratio": 0.0}
    found = study([QUIET] * SECONDS, [idle_taken] * SECONDS)
    assert found.differences[0].verdict is RatioVerdict.SLOWER
    assert found.curves[1].cells[0].disturbance is not None
    assert found.curves[1].cells[0].disturbance.slowness == pytest.approx(1.0)


def test_steal_and_a_low_clock_are_slowness() -> None:
    stolen = QUIET | {"cpu_idle_ratio": 0.0, "cpu_steal_ratio": 0.24}
    assert only(trial("b", 0, [stolen] * SECONDS), trial("a", 0, [QUIET] * SECONDS)).slowness == pytest.approx(
        1.316, abs=0.01
    )
    fast, slow = ([QUIET | {"cpu_frequency_hz": hz}] * SECONDS for hz in (3e9, 2e9))
    assert only(trial("b", 0, slow), trial("a", 0, fast)).slowness == pytest.approx(1.5, abs=0.01)


def test_idle_processors_clock_down_by_themselves() -> None:
    idle = {"server_cpu_user_s_per_s": 0.2, "server_cpu_system_s_per_s": 0.0, "cpu_idle_ratio": 0.75}
    fast, slow = ([QUIET | idle | {"cpu_frequency_hz": hz}] * SECONDS for hz in (3e9, 2e9))
    assert only(trial("b", 0, slow), trial("a", 0, fast)).slowness == pytest.approx(1.0)


@pytest.mark.parametrize(("slow_count", "expected"), [(2, False), (3, True)])
def test_a_tenth_of_the_seconds_may_be_slow(slow_count: int, expected: bool) -> None:
    seconds = [QUIET] * (SECONDS - slow_count) + [DISTURBED] * slow_count
    found = only(trial("a", 0, seconds))
    assert found.slow_ratio == slow_count / SECONDS
    assert is_disturbed(found) is expected
    assert found.from_unix_s == STARTED_UNIX_S + 2 + SECONDS - slow_count
    assert found.to_unix_s == STARTED_UNIX_S + 2 + SECONDS


def test_samples_of_many_threads_count_for_the_seconds_since_the_last_one() -> None:
    seconds = [dict(DISTURBED if second >= 10 else QUIET) for second in range(SECONDS)]
    for second in range(0, SECONDS, 2):
        del seconds[second]["server_run_delay_s_per_s"]
    assert only(trial("a", 0, seconds)).watched_s == SECONDS


def test_too_few_seconds_have_no_best_tenth() -> None:
    assert met(trial("a", 0, [QUIET] * 9)) == [None]
    assert None not in met(trial("a", 0, [QUIET] * 5), trial("a", 1, [QUIET] * 5))


def test_levels_are_judged_apart() -> None:
    """More connections wait more; that is no disturbance."""
    waiting = QUIET | {"server_run_delay_s_per_s": 8.0, "cpu_idle_ratio": 0.0}
    found = met(trial("a", 0, [QUIET] * SECONDS), trial("a", 0, [waiting] * SECONDS, connections=16))
    assert [one is not None and one.slowness for one in found] == [pytest.approx(1.0), pytest.approx(1.0)]


def test_several_trials_together_weigh_their_seconds() -> None:
    one = Disturbance(watched_s=30, slow_ratio=0.0, slowness=1.0, wait_ms=1.0)
    other = Disturbance(watched_s=10, slow_ratio=1.0, slowness=4.0, wait_ms=5.0, from_unix_s=7.0, to_unix_s=9.0)
    found = together([one, None, other])
    assert found is not None
    assert (found.watched_s, found.slow_ratio, found.slowness, found.wait_ms) == (40, 0.25, 2.0, 2.0)
    assert (found.from_unix_s, found.to_unix_s) == (7.0, 9.0)
    assert together([None]) is None
    assert unlike(found, None) is None
    assert unlike(found, found) is None
    assert unlike(one, found) is not None


def test_nothing_fits_by_disturbed_evidence() -> None:
    found = study([QUIET] * SECONDS, [DISTURBED] * SECONDS)
    answer = worded(size(found, tps=100.0, headroom=0.0))
    assert {system.system: system.verdict for system in answer.systems} == {"a": Fit.FITS, "b": Fit.DISTURBED}
    assert answer.systems[1].margin_ratio is None
    assert any(text.startswith("b: Disturbed: it completed 500 tps at 4 connections while") for text in answer.text)
    alone = worded(size(study([QUIET] * 5 + [DISTURBED] * 15, tps=(1000.0,)), tps=100.0, headroom=0.0))
    assert not alone.fits
    assert alone.text[0].startswith("a: Disturbed: it completed")
    assert alone.scale_out == ()


def test_a_disturbed_system_is_not_too_slow_either() -> None:
    answer = size(study([QUIET] * SECONDS, [DISTURBED] * SECONDS), tps=600.0, headroom=0.0)
    assert {system.system: system.verdict for system in answer.systems} == {"a": Fit.FITS, "b": Fit.DISTURBED}


def factor_study(*seconds: Sequence[Second]) -> Analysis:
    """Two factors of two values each; the systems have such seconds, the last factor's values changing fastest."""
    values = [{"flush": flush, "pool": pool} for flush in "12" for pool in "12"]
    return analyse(
        "s",
        [
            trial(f"{value['flush']}{value['pool']}", repetition, met_seconds, tps, factor_values=value)
            for value, met_seconds, tps in zip(values, seconds, (1000.0, 500.0, 1200.0, 600.0), strict=True)
            for repetition in range(REPETITIONS)
        ],
    )


def test_an_effect_that_the_machine_made_is_withheld_and_another_is_kept() -> None:
    quiet, slow = [QUIET] * SECONDS, [DISTURBED] * SECONDS
    found = {factor.factor: factor for factor in factor_study(quiet, slow, quiet, slow).effects.factors}
    assert found["pool"].verdict == "disturbed"
    assert found["pool"].ratio.bounds is None
    assert found["flush"].verdict == "faster"
    kept = {factor.factor: factor.verdict for factor in factor_study(quiet, quiet, quiet, quiet).effects.factors}
    assert kept == {"flush": "faster", "pool": "slower"}


def search(*seconds: Sequence[Second]) -> SearchDoubts:
    """The answer of one search, whose confirmations have such seconds."""
    return search_doubts(*searched(seconds))


def searched(seconds: Sequence[Sequence[Second]], **facts: object) -> tuple[list[RecordingLike], SearchRecord]:
    """A search whose confirmations have such seconds."""
    recordings, runs = [], []
    for number, own in enumerate(seconds):
        made = trial("a", number, own, 400.0, search_id="s", search_role=RunRole.CONFIRM)
        level, trial_id = Level(connections=8, rate_tps=400.0), f"run-{number}"
        recordings.append(replace(made, trial=made.trial.model_copy(update={"trial_id": trial_id, "level": level})))
        runs.append(
            CapacityRun(
                trial_id=trial_id,
                rate_tps=400.0,
                role=RunRole.CONFIRM,
                connections=8,
                throughput_tps=400.0,
                over_ratio=0.0,
                duration_s=float(SECONDS),
                verdict=RunVerdict.HOLDS,
            )
        )
    found = Capacity(capacity_tps=400.0, objective=CapacityObjective(response_ms_p99=20.0), runs=tuple(runs))
    found = found.model_copy(update=facts)
    return recordings, SearchRecord(search_id="s", system="a", workload="read-write", is_finished=True, capacity=found)


def test_a_capacity_of_a_disturbed_machine_is_withheld() -> None:
    assert search([QUIET] * SECONDS, [DISTURBED] * SECONDS).is_disturbed
    assert not search([QUIET] * SECONDS, [QUIET] * SECONDS).is_disturbed


def test_runs_above_the_answer_show_how_slow_those_were_that_it_rests_on() -> None:
    """What the search saw of all its runs, the guide sees too, and marks each run by it."""
    recordings, record = searched([[QUIET] * SECONDS, [DISTURBED] * SECONDS])
    above, counted = record.capacity.runs
    runs = (above.model_copy(update={"rate_tps": 500.0, "is_disturbed": True}), counted)
    record = record.model_copy(update={"capacity": record.capacity.model_copy(update={"runs": runs})})
    (found,) = analyse("s", recordings, searches=[record]).capacities
    assert [run.is_disturbed for run in found.searches[0].capacity.runs] == [False, True]
    assert found.disturbance is not None
    assert found.disturbance.slow_ratio == pytest.approx(0.5, abs=0.1)


def test_a_search_that_was_given_up_is_disturbed_whatever_its_runs_show() -> None:
    recordings, record = searched([[QUIET] * SECONDS] * GIVEN_UP_FROM, capacity_tps=None, low=300.0)
    runs = tuple(run.model_copy(update={"made_again": True}) for run in record.capacity.runs)
    record = record.model_copy(update={"capacity": record.capacity.model_copy(update={"runs": runs})})
    assert search_doubts(recordings, record).is_disturbed
    (found,) = analyse("s", recordings, searches=[record]).capacities
    (line,) = [capacity_answer_sentence(one, "tps") for one in capacity_answer([found], [], lambda *_: None)]
    assert line == (
        "read-write: a has no known capacity with p99 response time within 20.0 ms: the machine was disturbed. It held"
        " at 400 tps in one run."
    )


@pytest.mark.parametrize(("beside_b", "is_undecided"), [(QUIET, False), (DISTURBED, True)])
def test_no_system_is_called_cheapest_by_disturbed_figures(beside_b: Second, is_undecided: bool) -> None:
    trials = [
        trial(system, repetition, [second] * SECONDS, tps, cost_per_month=100.0)
        for system, second, tps in (("a", QUIET, 1000.0), ("b", beside_b, 500.0))
        for repetition in range(REPETITIONS)
    ]
    (cost,) = analyse("s", trials).costs
    assert bool(cost.undecided) is is_undecided
    assert [system.is_disturbed for system in cost.systems] == [False, is_undecided]
    assert cost.systems[1].on_front == ("undecided" if is_undecided else "no")
