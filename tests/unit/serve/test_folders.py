"""What a list says of studies and folders of runs, and what it does not read for that."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from plimsoll.record.environment import Environment, InstanceFacts
from plimsoll.record.model import Outcome, Verdict, Window
from plimsoll.record.store import write_recording
from plimsoll.run.events import EventLog, StudyEnded
from plimsoll.run.folder import HeldFolder
from plimsoll.serve import folders
from plimsoll.serve.folders import Folders, runs_of
from support.recordings import a_trial, intervals

OUTCOME = Outcome(verdict=Verdict.COMPLETE, window=Window(first=1, last=3))
SERVER = Environment(instances=(InstanceFacts(name="a/0", flavour="mariadb", version="11.4.2-MariaDB-log"),))


def runs(folder: Path, count: int = 1) -> Path:
    for number in range(count):
        write_recording(folder, a_trial(f"t{number}"), SERVER, OUTCOME, intervals=intervals(0, 4))
    return folder


def study(folder: Path) -> Path:
    runs(folder)
    (folder / "plan.json").write_text(json.dumps({"study": "flush", "trials": [{"system": "b"}, {"system": "a"}]}))
    return folder


def test_each_has_its_name_state_server_and_answer(tmp_path: Path) -> None:
    runs(tmp_path / "x" / "runs", 2)
    flush = study(tmp_path / "flush")
    found = [{"code": "pool", "text": "Pool."}, {"code": "peak", "text": "It does 1.5 tps. Or more."}]
    (flush / "guide.json").write_text(json.dumps({"answer": found, "systems": []}))
    entries = {entry.place: entry for entry in Folders(tmp_path).entries()}
    assert set(entries) == {"x/runs", "flush"}
    alone, of_study = entries["x/runs"], entries["flush"]
    assert (alone.name, alone.state, alone.recordings_count, alone.server) == ("runs", "finished", 2, "mariadb 11.4.2")
    assert (of_study.name, of_study.state, of_study.answer) == ("flush", "stopped", "It does 1.5 tps.")
    assert of_study.sides == ("flush:b", "flush:a")
    assert alone.sides == ("x/runs:a",)


def test_a_study_runs_while_its_lock_is_held_and_is_finished_after_its_last_event(tmp_path: Path) -> None:
    folder, known = study(tmp_path / "flush"), Folders(tmp_path)
    with HeldFolder(folder):
        assert known.entries()[0].state == "running"
    assert known.entries()[0].state == "stopped"
    log = EventLog(folder / "events.jsonl")
    log.say(StudyEnded(complete_count=1, failed_count=0, missing_count=0))
    assert known.entries()[0].state == "finished"
    log.say(StudyEnded(complete_count=1, failed_count=0, missing_count=1))
    log.close()
    assert known.entries()[0].state == "stopped"


def test_the_folder_that_is_served_may_be_a_study_itself(tmp_path: Path) -> None:
    study(tmp_path)
    (entry,) = Folders(tmp_path).entries()
    assert (entry.place, entry.sides) == ("", (".:b", ".:a"))


def test_damaged_files_cost_what_they_say_and_no_list(tmp_path: Path) -> None:
    folder = study(tmp_path / "flush")
    for name in ("plan.json", "guide.json", "events.jsonl"):
        (folder / name).write_bytes(b'{"study": [' * 5000)
    (entry,) = Folders(tmp_path).entries()
    assert (entry.name, entry.answer, entry.systems) == ("flush", "", ("a",))


def test_a_study_that_has_said_nothing_yet_is_listed(tmp_path: Path) -> None:
    folder = study(tmp_path / "flush")
    EventLog(folder / "events.jsonl").close()
    assert Folders(tmp_path).entries()[0].state == "stopped"


def test_a_list_reads_no_tables(tmp_path: Path) -> None:
    folder = runs(tmp_path / "runs", 3)
    for table in folder.glob("recordings/*/*.parquet"):
        table.unlink()
    assert Folders(tmp_path).entries()[0].recordings_count == 3


def test_only_the_recordings_that_are_shown_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = runs(tmp_path / "runs", 7)
    monkeypatch.setattr(folders, "RUNS_SHOWN", 3)
    shown = runs_of(folder, 3)
    assert (shown.first, shown.total, len(shown.rows)) == (3, 7, 3)
    assert {(run.system, run.verdict, run.tps) for run in shown.rows} == {("a", "complete", 100.0)}
    shutil.rmtree(folder / "recordings" / shown.rows[0].trial_id)
    (folder / "recordings" / shown.rows[0].trial_id).mkdir()
    assert "damaged" in {run.verdict for first in (0, 3, 6) for run in runs_of(folder, first).rows}


def test_hidden_folders_and_what_lies_too_deep_are_left_alone(tmp_path: Path) -> None:
    runs(tmp_path / ".hidden")
    runs(tmp_path / "1" / "2" / "3" / "4" / "5")
    runs(tmp_path / "1" / "2" / "3" / "4" / "x" / "y")
    assert Folders(tmp_path).entries() == []
