"""Which environment is there and which comes next, without servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import HookError, SpecError
from plimsoll.plan.model import PlannedTrial
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, State, StateMark, SystemRecord, Verdict
from plimsoll.record.store import write_recording
from plimsoll.run.environments import Hosts, Switcher, Turn, current_environment, turn_by_hand
from plimsoll.run.events import HookBegan, HookEnded
from plimsoll.run.hooks import HookPlace, SystemHooks
from plimsoll.run.planning import plan_study
from plimsoll.spec.study import STUDY_FILE, StudySpec, parse_study
from support.recordings import a_trial

STUDY = """
[study]
name = "s"
levels = { connections = [1] }
repetitions = 4
switch = SWITCH

[[workload]]
name = "w"
kind = "oltp_read_only"

[[system]]
name = "on metal"
target = "mysql://u@a/d"
environment = "metal"

[[system]]
name = "in guest"
target = "mysql://u@b/d"
environment = "virtual"
"""


def spec_of(switch: str = '"hand"', more: str = "") -> StudySpec:
    return parse_study(STUDY.replace("SWITCH", switch) + more)


class Study:
    """A study that is measured without measuring."""

    def __init__(self, folder: Path, text: str) -> None:
        self.folder, self.spec = folder, parse_study(text)
        (folder / STUDY_FILE).write_text(text)
        self.second = 0

    def turn(self, environment: str) -> Turn:
        return turn_by_hand(self.spec, plan_study(self.spec, self.folder), self.folder, environment)

    def measure(self, trial: PlannedTrial, verdict: Verdict = Verdict.COMPLETE) -> None:
        of = {one.name: one.environment for one in self.spec.system}
        self.second += 1
        record = a_trial(trial.trial_id, states=(StateMark(state=State.RESET, began_unix_s=float(self.second)),))
        system = SystemRecord(name=trial.system, environment=of[trial.system])
        record = record.model_copy(update={"system": system, "repetition": trial.repetition})
        write_recording(self.folder, record, Environment(), Outcome(verdict=verdict))

    def run(self, environment: str) -> tuple[list[int], str | None]:
        """Measures what is due: repetitions, and the environment that comes next."""
        turn = self.turn(environment)
        for trial in turn.todo:
            self.measure(trial)
        return [trial.repetition for trial in turn.todo], turn.following


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path, STUDY.replace("SWITCH", '"hand"'))


def test_environments_alternate_with_another_one_between_two_blocks(study: Study) -> None:
    assert study.run("metal") == ([0, 1], "virtual")
    assert study.run("metal") == ([], "virtual"), "nothing more here now"
    assert study.run("virtual") == ([0, 1], "metal")
    assert study.run("virtual") == ([], "metal"), "two blocks in a row would be one"
    assert study.run("metal") == ([2, 3], "virtual")
    assert study.run("virtual") == ([2, 3], None)
    assert study.run("virtual") == ([], None)


def test_any_environment_may_be_the_first(study: Study) -> None:
    assert study.run("virtual") == ([0, 1], "metal")
    assert study.run("metal") == ([0, 1], "virtual")
    assert study.run("metal") == ([], "virtual")
    assert study.run("virtual") == ([2, 3], "metal")
    assert study.run("metal") == ([2, 3], None)


def test_what_failed_or_was_interrupted_is_measured_in_its_own_round(study: Study) -> None:
    first, second = study.turn("metal").todo
    study.measure(first)
    study.measure(second, Verdict.FAILED)
    assert study.run("virtual") == ([0, 1], "metal")
    assert study.run("metal") == ([1], "virtual")
    assert study.run("virtual") == ([2, 3], "metal"), "the round before ended elsewhere"


TRUE, FALSE = "true", "false"


def checks(**commands: str) -> str:
    return "".join(f"[environment.{name}]\ncheck = {command!r}\n" for name, command in commands.items())


@pytest.mark.parametrize(
    ("more", "said", "found"),
    [
        ("", "metal", "metal"),
        (checks(virtual=TRUE), None, "virtual"),
        (checks(virtual=TRUE, metal=FALSE), None, "virtual"),
        (checks(virtual=TRUE, metal=FALSE), "virtual", "virtual"),
    ],
)
def test_the_environment_is_said_or_found(tmp_path: Path, more: str, said: str | None, found: str) -> None:
    place = HookPlace(study="s", folder=tmp_path)
    assert current_environment(spec_of(more=more), said, place) == found


@pytest.mark.parametrize(
    ("more", "said", "error", "told"),
    [
        ("", None, SpecError, "none has a check. Say --environment metal or --environment virtual"),
        ("", "cloud", SpecError, "'cloud' is no environment of the study; it has metal, virtual"),
        (checks(virtual=TRUE, metal=TRUE), None, SpecError, "the checks find metal and virtual"),
        (checks(virtual=FALSE), None, SpecError, "the checks find none of them"),
        (checks(virtual=FALSE), "virtual", HookError, "its check does not find it"),
        (checks(virtual="sh -c 'exit 2'"), "virtual", HookError, "hook check: failed with exit code 2"),
    ],
)
def test_what_is_wrong_about_it_is_told(
    tmp_path: Path, more: str, said: str | None, error: type[Exception], told: str
) -> None:
    with pytest.raises(error) as caught:
        current_environment(spec_of(more=more), said, HookPlace(study="s", folder=tmp_path))
    assert told in str(caught.value)


def test_only_studies_that_are_switched_by_hand_are_told_an_environment(tmp_path: Path) -> None:
    place = HookPlace(study="s", folder=tmp_path)
    spec = spec_of('"hook"\nhooks = { switch = "true" }')
    assert current_environment(spec, None, place) is None
    with pytest.raises(SpecError, match="leave it out"):
        current_environment(spec, "metal", place)


def test_a_hook_switches_only_when_the_environment_changes(tmp_path: Path) -> None:
    write = "sh -c 'echo $PLIMSOLL_ENVIRONMENT >> log'"
    spec = spec_of(f'"hook"\nhooks = {{ switch = "{write}" }}', checks(virtual="test ! -e gone"))
    events: list[HookBegan | HookEnded] = []
    place = HookPlace(study="s", folder=tmp_path, say=events.append)
    switcher, hooks = Switcher(spec, place, Hosts()), SystemHooks(place, spec.system[0])
    for name in ("metal", "metal", "virtual", "virtual", "metal"):
        switcher.to(name, hooks.keep)
    assert (tmp_path / "log").read_text().split() == ["metal", "virtual", "metal"]
    assert len(hooks.take()) == 3, "the next recording keeps the output"
    (tmp_path / "gone").touch()
    for _ in range(2):  # where it is unknown what is there, it is switched again
        with pytest.raises(HookError, match="the check of the environment 'virtual' does not find it"):
            switcher.to("virtual", hooks.keep)
    assert (tmp_path / "log").read_text().split()[3:] == ["virtual", "virtual"]
    assert {event.hook for event in events} == {"switch", "check"}
