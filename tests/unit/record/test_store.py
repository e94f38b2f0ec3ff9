"""Recordings: committed whole or not at all, replaced without a gap, refused with a path and a cure."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from plimsoll.errors import HostError, RecordError
from plimsoll.record import files, frames
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, Verdict
from plimsoll.record.partial import recover
from plimsoll.record.store import read_recording, read_study, write_recording
from support.recordings import a_trial, finished_ids, rewrite, telemetry, write


def test_tables_that_were_not_written_are_none(tmp_path: Path) -> None:
    recording = read_recording(write(tmp_path, telemetry=pl.DataFrame(schema=frames.TELEMETRY)))
    telemetry = recording.telemetry()
    assert telemetry is not None
    assert telemetry.is_empty()
    assert recording.intervals() is recording.histograms() is recording.errors() is None


def test_recordings_come_in_the_order_in_which_they_ran(tmp_path: Path) -> None:
    for trial_id, position in (("a", 2), ("b", 0), ("c", 1)):
        write(tmp_path, trial_id, position=position)
    assert [recording.trial.trial_id for recording in read_study(tmp_path).recordings] == ["b", "c", "a"]


def test_a_failed_recording_is_replaced(tmp_path: Path) -> None:
    write(tmp_path, verdict=Verdict.FAILED, telemetry=pl.DataFrame(schema=frames.TELEMETRY))
    assert finished_ids(tmp_path) == {"t1": Verdict.FAILED}
    path = write(tmp_path)
    assert finished_ids(tmp_path) == {"t1": Verdict.COMPLETE}
    assert read_recording(path).telemetry() is None
    assert [entry.name for entry in path.parent.iterdir()] == ["t1"]


@pytest.mark.parametrize("trial_id", ["", ".", "..", "../x", "a/b", "/etc", ".partial-x", "a\0b", "x" * 101, "a\n"])
def test_an_id_that_is_no_folder_name_is_refused(tmp_path: Path, trial_id: str) -> None:
    with pytest.raises(RecordError, match="trial_id"):
        write(tmp_path / "study", trial_id)
    assert list(tmp_path.iterdir()) == []


def test_partials_are_passed_over_and_removed(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.with_name(".partial-t2-00000000").mkdir()
    assert len(read_study(tmp_path).recordings) == 1
    recover(tmp_path)
    assert [entry.name for entry in path.parent.iterdir()] == ["t1"]


def test_a_crash_between_the_two_renames_loses_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, verdict=Verdict.FAILED)
    path.rename(path.with_name(".replaced-t1"))
    assert finished_ids(tmp_path) == {"t1": Verdict.FAILED}
    assert read_study(tmp_path).recordings[0].trial.trial_id == "t1"
    recover(tmp_path)
    assert read_recording(path).outcome.verdict is Verdict.FAILED


def test_a_crash_before_the_old_one_is_removed_keeps_the_new_one(tmp_path: Path) -> None:
    old = write(tmp_path, verdict=Verdict.FAILED)
    old.rename(old.with_name(".replaced-t1"))
    path = tmp_path / "recordings" / "t1"
    write(tmp_path / "other").rename(path)
    assert finished_ids(tmp_path) == {"t1": Verdict.COMPLETE}
    assert len(read_study(tmp_path).recordings) == 1
    recover(tmp_path)
    assert read_recording(path).outcome.verdict is Verdict.COMPLETE
    assert [entry.name for entry in path.parent.iterdir()] == ["t1"]


class Killed(BaseException):
    """Stands for the end of the process: nothing that touches the disk works any more."""


def die_after(patched: pytest.MonkeyPatch, steps: int) -> None:
    """Lets the first syncs, renames and removals through, and none after them."""
    left = iter(range(steps))

    def dying(real: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            if next(left, None) is None:
                raise Killed
            return real(*arguments, **options)

        return call

    patched.setattr(files.os, "fsync", dying(os.fsync))
    patched.setattr(Path, "rename", dying(Path.rename))
    patched.setattr(files.shutil, "rmtree", dying(files.shutil.rmtree))


def test_a_writer_killed_at_any_step_leaves_the_old_or_the_new_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survived = []
    for steps in range(30):
        study = tmp_path / str(steps)
        write(study, verdict=Verdict.FAILED)
        with monkeypatch.context() as patched, contextlib.suppress(Killed):
            die_after(patched, steps)
            write(study)
        before = finished_ids(study)["t1"]
        recover(study)  # what lacked only its name gets it
        survived.append(finished_ids(study)["t1"])
        assert survived[-1] in (before, Verdict.COMPLETE)
        assert [entry.name for entry in (study / "recordings").iterdir()] == ["t1"]
    assert survived == sorted(survived, key=[Verdict.FAILED, Verdict.COMPLETE].index)
    assert set(survived) == {Verdict.FAILED, Verdict.COMPLETE}


@pytest.mark.parametrize(
    ("number", "cure"), [(errno.ENOSPC, "Free space"), (errno.EDQUOT, "Free space"), (errno.EACCES, "may be written")]
)
def test_what_the_disk_refuses_leaves_the_older_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, cure: str
) -> None:
    path = write(tmp_path, verdict=Verdict.FAILED)

    def refuse(descriptor: int) -> None:
        if list(path.parent.glob(".partial-*/trial.json")):
            raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(files.os, "fsync", refuse)
        with pytest.raises(HostError, match=cure):
            write(tmp_path)
    assert read_recording(path).outcome.verdict is Verdict.FAILED
    assert [entry.name for entry in path.parent.iterdir()] == ["t1"]


def test_a_study_that_cannot_be_made_is_a_host_error(tmp_path: Path) -> None:
    (tmp_path / "study").write_text("a file")
    with pytest.raises(HostError, match="study"):
        write(tmp_path / "study")


def test_a_folder_of_another_name_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path)
    with pytest.raises(RecordError, match="holds trial 't1'"):
        read_recording(path.rename(path.with_name("t2")))


def test_missing_things_are_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no recording here"):
        read_recording(tmp_path / "none")
    with pytest.raises(RecordError, match="no study here"):
        read_study(tmp_path / "none")
    assert finished_ids(tmp_path / "none") == {}
    recover(tmp_path / "none")
    path = write(tmp_path)
    (path / "environment.json").unlink()
    with pytest.raises(RecordError, match=r"environment\.json: the file is missing"):
        read_recording(path)
    (path / "outcome.json").unlink()
    with pytest.raises(RecordError, match="never finished"):
        read_recording(path)


def parquet(frame: pl.DataFrame, folder: Path) -> bytes:
    frame.write_parquet(folder / "frame")
    return (folder / "frame").read_bytes()


TELEMETRY = telemetry(0, 1, cpu_user_ratio=0.5)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (TELEMETRY.drop("value"), "columns must be"),
        (TELEMETRY.with_columns(more=1), "columns must be"),
        (TELEMETRY.cast({"value": pl.Int64}), "value is Int64, must be Float64"),
        (TELEMETRY.with_columns(source=pl.lit(None, pl.String)), "values missing in source"),
    ],
)
def test_a_table_of_another_shape_is_refused(tmp_path: Path, frame: pl.DataFrame, words: str) -> None:
    path = write(tmp_path, telemetry=TELEMETRY)
    rewrite(path, "telemetry.parquet", parquet(frame, tmp_path))
    with pytest.raises(RecordError, match=words):
        read_recording(path).telemetry()
    with pytest.raises(AssertionError, match=words):
        write(tmp_path, telemetry=frame)


@pytest.mark.parametrize(
    ("name", "column", "schema"),
    [("intervals", "rolled_back", frames.INTERVALS), ("errors", "transaction", frames.ERRORS)],
)
def test_recordings_from_before_a_column_was_there_have_no_values_in_it(
    tmp_path: Path, name: str, column: str, schema: dict[str, pl.DataType]
) -> None:
    row = {name: 1 if kind.is_numeric() else "x" for name, kind in schema.items()}
    table = pl.DataFrame([row, {**row, column: None}], schema=schema)
    path = write(tmp_path, **{name: table})
    read = getattr(read_recording(path), name)()
    assert read[column].to_list() == [row[column], None]
    rewrite(path, f"{name}.parquet", parquet(table.drop(column), tmp_path))
    assert getattr(read_recording(path), name)()[column].to_list() == [None, None]


def test_a_histogram_with_a_count_too_few_is_refused(tmp_path: Path) -> None:
    row = {"driver": "d", "host": "h", "instance": "", "interval": 0, "transaction": "t", "measure": "response"}
    torn = pl.DataFrame([{**row, "buckets": [1, 2], "counts": [1], "sum_ns": 1, "max_ns": 1}], schema=frames.HISTOGRAMS)
    with pytest.raises(AssertionError, match="differ in length"):
        write(tmp_path, histograms=torn)


def test_a_number_that_json_cannot_say_is_refused_by_the_writer(tmp_path: Path) -> None:
    trial = a_trial().model_copy(update={"interval_s": float("nan")})
    with pytest.raises(ValueError, match="interval_s"):
        write_recording(tmp_path, trial, Environment(), Outcome(verdict=Verdict.COMPLETE))
