"""Whether a study runs, was killed, was stopped or is finished; and what is left of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from plimsoll.errors import NewerFormatError, RecordError
from plimsoll.record.environment import Environment
from plimsoll.record.model import RECORD_FORMAT_MAX, Outcome, State, Verdict
from plimsoll.record.partial import PartialRecording
from plimsoll.run.events import (
    AnswerProgressed,
    DataProgressed,
    DuetProgressed,
    Event,
    EventLog,
    IntervalEnded,
    RampsCompared,
    RatioSoFar,
    StateBegan,
    StudyBegan,
    StudyEnded,
    SystemBegan,
    TrialBegan,
    TrialEnded,
)
from plimsoll.run.folder import HeldFolder, resolve
from plimsoll.run.planning import plan_study
from plimsoll.run.status import RunState, StudyStatus, duet_words, lines_of, study_status
from plimsoll.run.study import run_study
from support.recordings import a_trial, intervals

GOLDEN = Path(__file__).parents[2] / "golden" / "study_format_1"
BEGAN = StudyBegan(study="old", trial_count=4, finished_count=2, estimated_s=20)
TRIAL = TrialBegan(
    trial_id="t", system="a", workload="ro", connections=4, repetition=1, position=3, remaining_s=3600.0
)  # fmt: skip
INTERVAL = IntervalEnded(
    index=3, state=State.MEASURE, throughput_tps=1234.0, response_ms_p99=5.0, error_count=0
)  # fmt: skip
ENDED = TrialEnded(
    trial_id="t", system="a", workload="ro", connections=4, verdict=Verdict.COMPLETE, reason=None, throughput_tps=1.0,
    response_ms_p99=None,
)  # fmt: skip
OVER = StudyEnded(complete_count=2, failed_count=0, missing_count=2, reason="interrupted")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two of four trials are complete, one failed; nothing is known of how it ended."""
    folder = Path(shutil.copytree(GOLDEN, tmp_path / "old"))
    (folder / "events.jsonl").unlink()
    return folder


def say(folder: Path, *events: Event) -> None:
    log = EventLog(folder / "events.jsonl")
    for event in events:
        log.say(event)
    log.close()


def told(status: StudyStatus) -> str:
    return "\n".join(lines_of(status))


def test_nothing_heard_is_not_begun(folder: Path) -> None:
    status = study_status(folder)
    assert (status.state, status.since_last_event_s, status.trials.left) == (RunState.NOT_BEGUN, None, 2)
    assert told(status).splitlines()[2:] == ["not begun", "  2 trials left, about 21 s"]


def test_a_running_study_says_what_runs_and_what_is_left(folder: Path) -> None:
    say(folder, BEGAN, SystemBegan(system="a", block=0))
    with HeldFolder(folder):
        starting = study_status(folder)
        assert (starting.state, starting.now, starting.doing) == (RunState.RUNNING, None, "starting a")
        say(folder, DataProgressed(system="a", phase="load", done_count=500, total_count=1000))
        assert study_status(folder).doing == "a: load 500 of 1,000"
        say(folder, TRIAL, StateBegan(state=State.MEASURE), INTERVAL)
        status = study_status(folder)
    assert status.now is not None
    assert (status.now.state, status.now.throughput_tps) == (State.MEASURE, 1234.0)
    assert 3500 < status.remaining_s <= 3600
    assert status.since_last_event_s is not None
    assert status.since_last_event_s < 60
    assert "  now: a, ro, 4 connections, repetition 2, measure: 1,234 tps, response p99 5.00 ms" in told(status)
    assert "running; last event" in told(status)
    assert "run the same command again" not in told(status)


LOOK = AnswerProgressed(
    repetitions=1, is_decided=False, more_max=1, trials_left=1, text=("ro, 4 connections: b is 3.0 % faster than a",)
)
AUTO = BEGAN.model_copy(update={"is_until_decided": True})


def test_a_study_that_ends_when_decided_says_what_it_knows_and_what_that_still_takes(folder: Path) -> None:
    """Two trials of its plan have not run; its answer needs one more."""
    say(folder, AUTO, LOOK)
    status = study_status(folder)
    assert (status.answer, status.trials.left, status.left) == (LOOK, 2, 1)
    assert status.remaining_s == pytest.approx(21 / 2, rel=0.1)
    lines = told(status).splitlines()
    assert lines[2:4] == ["after 1 repetition:", "  ro, 4 connections: b is 3.0 % faster than a"]
    assert lines[-1].startswith("  about 1 trial left, about 11 s")
    assert json.loads(status.model_dump_json())["answer"]["text"] == list(LOOK.text)
    say(folder, TRIAL, ENDED)
    assert study_status(folder).left == 0, "what ran since then needs no more"
    say(folder, BEGAN)
    assert study_status(folder).answer is None, "it has a number of repetitions now"


def test_one_that_its_budget_ended_is_finished(folder: Path) -> None:
    say(folder, AUTO, LOOK.model_copy(update={"is_over_budget": True, "trials_left": 0}), OVER)
    assert study_status(folder).state is RunState.FINISHED


def test_a_duet_says_how_its_systems_compare(folder: Path) -> None:
    known = DuetProgressed(
        workload="ro", connections=4, base="a", system="b", pairs_planned=30, rounds_count=2, rounds_planned=6,
        ratio=1.05, low=1.01, high=1.09,
    )  # fmt: skip
    turns = known.model_copy(update={"pair_count": 12, "ratio": 1.1, "low": None, "high": None})
    turns_of_auto = turns.model_copy(update={"rounds_planned": None})
    say(folder, BEGAN, TRIAL, known, TRIAL, turns_of_auto)
    between = "ro, 4 connections: b +5.0 % (+1.0 % to +9.0 %) against a, after 2 of 6 rounds"
    with HeldFolder(folder):
        running = told(study_status(folder)).splitlines()
    assert running[2:4] == [between, "round 3, pair 12 of 30: b +10.0 % against a so far"]
    killed = told(study_status(folder))
    assert between in killed
    assert "pair 12" not in killed, "turns of a round that was cut short do not count"


def test_ramps_are_so_far_until_the_study_has_ended(folder: Path) -> None:
    ratio = RatioSoFar(base="a", system="b", ratio=1.5, low=1.2, high=1.9)
    ramps = RampsCompared(workload="ro", repetition=0, pair_count=7, ratios=(ratio,), remaining_s=40.0)
    say(folder, AUTO, ramps)
    with HeldFolder(folder):
        assert "(95 % confidence 1.20 to 1.90) so far; at most about 40 s left" in told(study_status(folder))
    say(folder, LOOK.model_copy(update={"is_over_budget": True, "trials_left": 0}), OVER)
    finished = study_status(folder)
    assert finished.state is RunState.FINISHED
    assert "ro, 7 pairs of ramps: b bears 1.50 times the load of a (95 % confidence 1.20 to 1.90)\n" in told(finished)


def test_one_that_was_killed_says_what_ran_and_what_is_kept_of_it(folder: Path) -> None:
    say(folder, BEGAN, TRIAL, StateBegan(state=State.MEASURE), INTERVAL)
    partial = PartialRecording.begin(folder, "t")
    partial.draft(a_trial("t"), Environment(), Outcome(verdict=Verdict.INTERRUPTED))
    partial.add("intervals.parquet", intervals(0, 34))
    PartialRecording.begin(folder, "nothing-in-it")
    status = study_status(folder)
    assert (status.state, status.now) == (RunState.KILLED, None)
    assert status.was is not None
    assert status.was.trial_id == "t"
    assert [one.load_s for one in status.kept] == [34.0]
    assert "kept of it: 34 s of load" in told(status)
    assert "2 trials left, about 21 s; run the same command again to continue" in told(status)


def test_one_that_said_its_last_word_was_stopped_or_is_finished(folder: Path) -> None:
    say(folder, BEGAN, TRIAL, ENDED, OVER)
    status = study_status(folder)
    assert (status.state, status.reason, status.now, status.was) == (RunState.STOPPED, "interrupted", None, None)
    assert "stopped " in told(status)
    assert ": interrupted" in told(status)
    plan = (folder / "plan.json").read_text()
    names = {path.name for path in (folder / "recordings").iterdir()}
    document = json.loads(plan)
    done = [one for one in document["trials"] if one["trial_id"] in names][:2]
    (folder / "plan.json").write_text(json.dumps({**document, "trials": done}))
    finished = study_status(folder)
    assert (finished.state, finished.trials.left) == (RunState.FINISHED, 0)
    assert "finished" in told(finished)
    say(folder, BEGAN)
    assert study_status(folder).state is RunState.KILLED


def flip(folder: Path, name: str = "histograms.parquet") -> Path:
    """Changes one bit of a complete recording."""
    path = next(path for path in sorted((folder / "recordings").iterdir()) if "r0" in path.name)
    content = bytearray((path / name).read_bytes())
    content[100] ^= 1
    (path / name).write_bytes(content)
    return path


def test_a_flipped_bit_is_noticed_and_its_trial_runs_again(folder: Path) -> None:
    path = flip(folder)
    status = study_status(folder)
    assert (status.trials.complete, status.trials.damaged) == (1, 1)
    assert "1 damaged (their bytes changed)" in told(status)
    _, spec, _ = resolve(folder, None)
    planned = plan_study(spec, folder)
    assert path.name not in planned.finished
    assert path.name in {trial.trial_id for trial in planned.plan.trials}


def snapshot(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_a_run_changes_nothing_where_a_newer_plimsoll_recorded(folder: Path) -> None:
    path = next((folder / "recordings").iterdir()) / "trial.json"
    path.write_text(f'{{"record_format": {RECORD_FORMAT_MAX + 1}}}')
    (path.parent / "outcome.json").unlink()
    before = snapshot(folder)
    file, spec, _ = resolve(folder, None)
    with pytest.raises(NewerFormatError, match=r"newer Plimsoll.*Upgrade") as caught:
        run_study(file, spec, folder, lambda _: None)
    assert caught.value.exit_code == 5
    assert snapshot(folder) == before
    with pytest.raises(NewerFormatError):
        study_status(folder)


def test_no_study_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no study here"):
        study_status(tmp_path)


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (1.01, 1.09, " (+1.0 % to +9.0 %)"),
        (0.093, 12.113, " (not known within a factor of 3)"),
        (1.02, 4.0, " (+2.0 % to +300.0 %)"),
        (None, None, ""),
    ],
)
def test_intervals_of_a_duet_that_are_too_wide_are_told_in_words(low: float, high: float, told: str) -> None:
    of_cell = {"workload": "w", "connections": 4, "system": "b", "base": "a", "pairs_planned": 10}
    event = DuetProgressed(**of_cell, rounds_count=2, rounds_planned=None, ratio=1.05, low=low, high=high)
    assert duet_words(event) == f"w, 4 connections: b +5.0 %{told} against a, after 2 rounds"
