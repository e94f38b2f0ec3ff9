"""Blocks are numbered by starts of servers; what changed since the last trial is noticed before the load."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import SpecError
from plimsoll.record.environment import Environment, InstanceFacts
from plimsoll.record.model import Outcome, State, StateMark, Verdict
from plimsoll.record.store import write_recording
from plimsoll.run.rows import IntervalRows
from plimsoll.run.session import History, LastTrial, Session, read_history, server_start_id
from plimsoll.run.single import joining, recording_wanted
from plimsoll.run.watch import Watch
from support.recordings import a_trial


def environment(version: str, started_unix_s: int | None = 5) -> Environment:
    return Environment(instances=(InstanceFacts(name="a/0", version=version, started_unix_s=started_unix_s),))


def test_a_restart_begins_a_block_and_so_does_the_plan() -> None:
    session = Session(History(next_block=7))
    starts = [(0, "x"), (0, "x"), (0, "y"), (1, "y"), (1, "y"), (1, None), (1, None), (2, "x")]
    assert [session.block_of(*one) for one in starts] == [7, 7, 8, 9, 9, 10, 11, 12]


def test_a_start_of_servers_is_told_from_every_other() -> None:
    one, other = environment("1"), environment("1", 6)
    assert server_start_id(one.instances) == server_start_id(environment("2").instances)
    assert server_start_id(one.instances) != server_start_id(other.instances)
    assert server_start_id((*one.instances, *other.instances)) not in (None, server_start_id(one.instances))
    assert server_start_id(environment("1", None).instances) is None
    assert server_start_id(()) is None


def test_sessions_differ() -> None:
    assert Session().session_id != Session().session_id


def test_what_changed_since_the_last_complete_trial_is_told_once() -> None:
    session = Session(History(last={"a": LastTrial("t0", environment("10.11"), 1.0)}))
    assert session.changed("a", environment("10.11")) is None
    assert session.changed("b", environment("9.7")) is None
    found = session.changed("a", environment("9.7"))
    assert found is not None
    assert (found.trial_id, found.changes) == ("t0", "version of a/0 from 10.11 to 9.7")
    session.ended(a_trial("t1"), environment("9.7"), Outcome(verdict=Verdict.FAILED))
    assert session.changed("a", environment("9.7")) is not None
    session.ended(a_trial("t2"), environment("9.7"), Outcome(verdict=Verdict.COMPLETE))
    assert session.changed("a", environment("9.7")) is None


def test_a_single_run_goes_on_with_the_labels_of_its_folder_and_refuses_others(tmp_path: Path) -> None:
    trial, rows, watch = a_trial("t2"), IntervalRows(driver="", host=""), Watch()
    write_recording(tmp_path, a_trial("t1", labels={"commit": "a"}), Environment(), Outcome(verdict=Verdict.COMPLETE))
    with joining(tmp_path) as joined:
        joined.begin(trial, Environment(), rows, watch)
        assert joined.trial.labels == {"commit": "a"}
    with joining(tmp_path, {"commit": "a"}) as joined:
        joined.begin(trial, Environment(), rows, watch)
        assert joined.trial.labels == {"commit": "a"}
    refused = r"were measured with commit=a.*choose another folder with --record"
    with pytest.raises(SpecError, match=refused), joining(tmp_path, {"commit": "b"}):
        pass
    with pytest.raises(SpecError, match=refused):
        recording_wanted(tmp_path, None, None, None, {"commit": "b"})
    fresh = recording_wanted(tmp_path / "new", None, None, None, {"commit": "b"})
    assert fresh is not None
    assert fresh.labels == {"commit": "b"}


def record(study: Path, trial_id: str, began: float, version: str, verdict: Verdict, block: int) -> None:
    states = (StateMark(state=State.RESET, began_unix_s=began),)
    trial = a_trial(trial_id, states=states, block=block)
    write_recording(study, trial, environment(version), Outcome(verdict=verdict))


def test_history_is_the_latest_complete_trial_of_the_plan_and_all_blocks(tmp_path: Path) -> None:
    record(tmp_path, "early", 1, "10.5", Verdict.COMPLETE, 0)
    record(tmp_path, "late", 3, "10.11", Verdict.COMPLETE, 1)
    record(tmp_path, "failed", 4, "11.4", Verdict.FAILED, 2)
    record(tmp_path, "unplanned", 5, "9.7", Verdict.COMPLETE, 5)
    history = read_history(tmp_path, ["early", "late", "failed"])
    assert history.next_block == 6
    assert [(name, one.trial_id) for name, one in history.last.items()] == [("a", "late")]
    assert history.last["a"].environment == environment("10.11")
    assert read_history(tmp_path).last["a"].trial_id == "unplanned"
