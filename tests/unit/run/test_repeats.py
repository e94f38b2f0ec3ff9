"""Which trials of a study are measured again, from its recordings on disk."""

from __future__ import annotations

from pathlib import Path

from plimsoll.guide.build import of_plan
from plimsoll.plan.model import Estimates, Plan, PlannedTrial
from plimsoll.record.store import read_study, write_recording
from plimsoll.run.planning import unplanned_count
from plimsoll.run.study import trials_to_repeat
from support.disturbed import DISTURBED, QUIET
from unit.analyse.test_disturbance import trial as disturbed_trial
from unit.analyse.test_weather import study, with_weather


def kept(folder: Path, recordings: list) -> Plan:
    for recording in recordings:
        write_recording(
            folder,
            recording.trial,
            recording.environment,
            recording.outcome,
            intervals=recording.intervals(),
            telemetry=recording.telemetry(),
        )
    trials = tuple(
        PlannedTrial(
            trial_id=recording.trial.trial_id,
            system="a",
            workload="read-write",
            connections=4,
            repetition=recording.trial.repetition,
            block=recording.trial.repetition,
            seed=1,
        )
        for recording in recordings
    )
    return Plan(study="made", trials=trials, estimates=Estimates(trial_s=1, total_s=6, disk_bytes=0))


def test_a_trial_on_a_slow_machine_is_measured_again_once(tmp_path: Path) -> None:
    recordings = study()
    plan = kept(tmp_path, recordings)
    (again,) = trials_to_repeat(tmp_path, plan)
    first = recordings[5].trial.trial_id
    assert (again.trial_id, again.repeats, again.block) == (f"{first}-again", first, 6)
    repeat = with_weather(recordings[5], 300.0, trial_id=again.trial_id, repeats=first)
    write_recording(tmp_path, repeat.trial, repeat.environment, repeat.outcome, intervals=repeat.intervals())
    assert trials_to_repeat(tmp_path, plan) == []
    found = read_study(tmp_path)
    assert len(of_plan(plan, found).recordings) == 7
    assert unplanned_count(plan, [recording.trial.trial_id for recording in found.recordings]) == 0


def test_runs_of_a_search_are_never_measured_again(tmp_path: Path) -> None:
    """What they found decided which run came next, and they are the answer of their search."""
    plan = kept(tmp_path, study())
    searched = [trial.model_copy(update={"search_id": "s", "search_role": "confirm"}) for trial in plan.trials]
    assert trials_to_repeat(tmp_path, plan.model_copy(update={"trials": tuple(searched)})) == []


def test_on_a_machine_that_stays_as_it_is_nothing_is_measured_again(tmp_path: Path) -> None:
    assert trials_to_repeat(tmp_path, kept(tmp_path, study(slow_ms=100.0))) == []


def test_a_trial_on_a_disturbed_machine_is_measured_again(tmp_path: Path) -> None:
    """What its reference load shows is as around the others, and so is its share of the processors."""
    recordings = [disturbed_trial("a", number, [DISTURBED if number == 2 else QUIET] * 20) for number in range(4)]
    plan = kept(tmp_path, recordings)
    assert [trial.repeats for trial in trials_to_repeat(tmp_path, plan)] == [recordings[2].trial.trial_id]


def test_a_trial_of_a_side_that_met_another_machine_is_measured_again(tmp_path: Path) -> None:
    """A few slow seconds disturb no figure of their own; they do make two sides unlike."""
    few = [DISTURBED] * 2 + [QUIET] * 18
    recordings = [disturbed_trial("a", number, few if number == 1 else [QUIET] * 20) for number in range(4)]
    plan = kept(tmp_path, recordings)
    assert [trial.repeats for trial in trials_to_repeat(tmp_path, plan)] == [recordings[1].trial.trial_id]


def test_where_all_trials_met_the_same_machine_none_is_measured_again(tmp_path: Path) -> None:
    recordings = [disturbed_trial("a", number, [QUIET] * 20) for number in range(4)]
    assert trials_to_repeat(tmp_path, kept(tmp_path, recordings)) == []
