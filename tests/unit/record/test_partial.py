"""Recordings that are written segment by segment: joined in order, recovered after a crash, bounded in memory."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from plimsoll.errors import NewerFormatError, StorageError
from plimsoll.record import files, frames
from plimsoll.record.environment import Environment, HostFacts
from plimsoll.record.model import Outcome, Verdict, Window
from plimsoll.record.partial import PartialRecording, recover
from plimsoll.record.store import read_recording, read_study, write_recording
from support.recordings import a_trial, finished_ids, intervals, rewrite, telemetry

COMPLETE = Outcome(verdict=Verdict.COMPLETE, window=Window(first=1, last=3))
DRAFT = Outcome(verdict=Verdict.INTERRUPTED, window=Window(first=2, last=2))
ENVIRONMENT = Environment(host=HostFacts(name="h"))


def begun(study: Path, *, segments: int = 2, trial_id: str = "t1", draft: Outcome = DRAFT) -> PartialRecording:
    """A trial under load: so many segments of two intervals each."""
    partial = PartialRecording.begin(study, trial_id)
    partial.draft(a_trial(trial_id), ENVIRONMENT, draft)
    partial.add("errors.parquet", pl.DataFrame(schema=frames.ERRORS))
    for number in range(segments):
        partial.add("intervals.parquet", intervals(2 * number, 2))
        partial.add("telemetry.parquet", telemetry(2 * number, 2, cpu_idle_ratio=0.5))
    return partial


def names(study: Path) -> list[str]:
    return sorted(path.name for path in (study / "recordings").iterdir())


def test_segments_are_joined_in_their_order(tmp_path: Path) -> None:
    partial = begun(tmp_path, segments=12)
    path = partial.commit(a_trial(), ENVIRONMENT, COMPLETE)
    recording = read_recording(path)
    table, errors = recording.intervals(), recording.errors()
    assert table is not None
    assert errors is not None
    assert table["interval"].to_list() == list(range(24))
    assert errors.is_empty()
    assert recording.histograms() is None
    expected = ["environment.json", "errors.parquet", "intervals.parquet", "outcome.json", "telemetry.parquet"]
    assert sorted(file.name for file in path.iterdir()) == [*expected, "trial.json"]
    assert names(tmp_path) == ["t1"]
    assert finished_ids(tmp_path) == {"t1": Verdict.COMPLETE}


def test_status_variables_that_stay_zero_are_left_out_whatever_segment_they_are_in(tmp_path: Path) -> None:
    partial = begun(tmp_path, segments=1)
    partial.add("telemetry.parquet", telemetry(0, 2, "server", com_select=0.0, com_xa_start=0.0))
    partial.add("telemetry.parquet", telemetry(2, 2, "server", com_select=5.0, com_xa_start=0.0))
    partial.add("telemetry.parquet", telemetry(2, 2, swap_used_bytes=0.0))
    table = read_recording(partial.commit(a_trial(), ENVIRONMENT, COMPLETE)).telemetry()
    assert table is not None
    assert sorted(set(table["metric"])) == ["com_select", "cpu_idle_ratio", "swap_used_bytes"]
    assert table.filter(pl.col("metric") == "com_select")["value"].to_list() == [0, 0, 5, 5]


def test_what_a_crash_left_becomes_an_interrupted_recording(tmp_path: Path) -> None:
    begun(tmp_path, segments=3)
    assert read_study(tmp_path).recordings == ()
    assert finished_ids(tmp_path) == {}
    (one,) = recover(tmp_path)
    recording = read_recording(one.path)
    assert names(tmp_path) == ["t1"]
    assert recording.outcome.verdict is Verdict.INTERRUPTED
    assert recording.outcome.reason is not None
    assert "the first 6 s of load are kept" in recording.outcome.reason
    assert recording.outcome.window == Window(first=2, last=5)
    assert recording.environment == ENVIRONMENT
    table = recording.intervals()
    assert table is not None
    assert table["interval"].to_list() == list(range(6))
    assert recover(tmp_path) == ()


def test_a_crash_in_the_warm_up_has_no_window(tmp_path: Path) -> None:
    begun(tmp_path, draft=DRAFT.model_copy(update={"window": None}))
    (one,) = recover(tmp_path)
    assert one.outcome.window is None


def test_nothing_measured_leaves_nothing(tmp_path: Path) -> None:
    begun(tmp_path, segments=0)
    PartialRecording.begin(tmp_path, "t2")
    assert recover(tmp_path) == ()
    assert names(tmp_path) == []


def test_what_is_left_never_replaces_a_complete_recording(tmp_path: Path) -> None:
    write_recording(tmp_path, a_trial(), ENVIRONMENT, COMPLETE)
    begun(tmp_path)
    assert recover(tmp_path) == ()
    assert finished_ids(tmp_path) == {"t1": Verdict.COMPLETE}
    assert names(tmp_path) == ["t1"]


def test_a_segment_without_its_content_is_left_out(tmp_path: Path) -> None:
    partial = begun(tmp_path, segments=3)
    for name in ("intervals.000002.parquet", "telemetry.000001.parquet"):
        os.truncate(partial.path / name, 100)
    (one,) = recover(tmp_path)
    table, samples = read_recording(one.path).intervals(), read_recording(one.path).telemetry()
    assert table is not None
    assert samples is not None
    assert table["interval"].to_list() == [0, 1, 2, 3]
    assert samples["unix_s"].to_list() == [0, 1, 4, 5]


def test_what_a_newer_plimsoll_left_stays(tmp_path: Path) -> None:
    partial = begun(tmp_path)
    (partial.path / "trial.json").write_text('{"record_format": 99}')
    with pytest.raises(NewerFormatError):
        recover(tmp_path)
    assert (partial.path / "intervals.000001.parquet").exists()


def test_a_folder_that_claims_to_be_elsewhere_is_removed_and_nothing_else(tmp_path: Path) -> None:
    partial = begun(tmp_path)
    text = (partial.path / "trial.json").read_text()
    (partial.path / "trial.json").write_text(text.replace('"t1"', '"../../outside"'))
    (tmp_path / "outside").mkdir()
    assert recover(tmp_path) == ()
    assert (tmp_path / "outside").is_dir()
    assert names(tmp_path) == []


class Killed(BaseException):
    """Stands for the end of the process."""


def test_a_commit_that_dies_at_any_step_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = []
    for steps in range(40):
        study, left = tmp_path / str(steps), iter(range(steps))
        study.mkdir()
        partial = begun(study)

        def dying(*arguments: object, real: object, left: object = left) -> object:
            if next(left, None) is None:  # type: ignore[call-overload]
                raise Killed
            return real(*arguments)  # type: ignore[operator]

        with monkeypatch.context() as patched:
            for owner, name in ((files.os, "fsync"), (Path, "rename"), (Path, "unlink")):
                real = getattr(owner, name)
                patched.setattr(owner, name, lambda *a, real=real, **_: dying(*a, real=real))
            with contextlib.suppress(Killed):
                partial.commit(a_trial(), ENVIRONMENT, COMPLETE)
        recover(study)
        verdicts.append(finished_ids(study)["t1"])
        table = read_recording(study / "recordings" / "t1").intervals()
        assert table is not None
        assert table["interval"].to_list() == [0, 1, 2, 3]
    assert verdicts == sorted(verdicts, key=[Verdict.INTERRUPTED, Verdict.COMPLETE].index)
    assert set(verdicts) == {Verdict.INTERRUPTED, Verdict.COMPLETE}


def test_a_disk_that_is_full_when_segments_are_joined_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    partial = begun(tmp_path)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(files.os, "fsync", full)
        with pytest.raises(StorageError, match="Free space"):
            partial.commit(a_trial(), ENVIRONMENT, COMPLETE)
    path = partial.commit(a_trial(), ENVIRONMENT, COMPLETE)
    table = read_recording(path).intervals()
    assert table is not None
    assert table["interval"].to_list() == [0, 1, 2, 3]


JOIN = """
import resource, sys
from pathlib import Path
from plimsoll.record.model import Outcome, Verdict
from plimsoll.record.environment import Environment
from plimsoll.record.partial import recover
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert recover(Path(sys.argv[1]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_joining_two_hours_takes_little_memory(tmp_path: Path) -> None:
    """28,800 histograms of up to 900 buckets are 175 MB as a table; their join may take a small part of that."""
    partial = begun(tmp_path, segments=1)
    random = np.random.default_rng(1)
    place = {"driver": "d", "host": "h", "instance": "a/0", "transaction": "t", "sum_ns": 1, "max_ns": 2}
    buckets = [np.sort(random.choice(20_000, size, replace=False)).astype(np.uint32) for size in (900, 900, 1, 250)]
    measures = ("response", "service", "pool_wait", "dispatch_delay")
    for segment in range(720):
        rows = [
            {**place, "interval": 10 * segment + n, "measure": m, "buckets": b, "counts": np.ones_like(b, np.uint64)}
            for n in range(10)
            for m, b in zip(measures, buckets, strict=True)
        ]
        partial.add("histograms.parquet", pl.DataFrame(rows, schema=frames.HISTOGRAMS))
    ran = subprocess.run([sys.executable, "-c", JOIN, str(tmp_path)], capture_output=True, text=True, check=True)
    assert int(ran.stdout) * 1024 < 120e6, "bytes"
    path = tmp_path / "recordings" / "t1" / "histograms.parquet"
    assert pl.scan_parquet(path).select(pl.len()).collect().item() == 28_800


def _durations(first: int, count: int) -> pl.DataFrame:
    place = {"driver": "d", "host": "h", "instance": "", "role": "source", "transaction": "t", "sum_ns": 9, "max_ns": 9}
    rows = [
        {**place, "interval": interval, "measure": measure, "buckets": [interval], "counts": [1]}
        for interval in range(first, first + count)
        for measure in ("response", "service", "in_flight_response")
    ]
    return pl.DataFrame(rows, schema=frames.HISTOGRAMS)


def test_joined_histograms_lie_measure_after_measure(tmp_path: Path) -> None:
    """So a reader that asks for one measure passes over the row groups of others."""
    partial = begun(tmp_path, segments=1)
    for segment in range(20):
        partial.add("histograms.parquet", _durations(10 * segment, 10))
    recording = read_recording(partial.commit(a_trial(), ENVIRONMENT, COMPLETE))
    table = recording.histograms()
    assert table is not None
    assert table["measure"].rle_id().max() == 2
    assert table.filter(measure="service")["interval"].to_list() == list(range(200))


@pytest.mark.parametrize("is_old", [False, True], ids=["sorted", "as older versions wrote it"])
def test_only_the_measures_that_are_asked_for_are_read(tmp_path: Path, is_old: bool) -> None:
    table = _durations(0, 100)
    path = write_recording(tmp_path, a_trial(), ENVIRONMENT, COMPLETE, histograms=table)
    if is_old:
        content = io.BytesIO()
        table.write_parquet(content, compression="zstd")
        rewrite(path, "histograms.parquet", content.getvalue())
    found = read_recording(path).histograms(["response"])
    assert found is not None
    assert found.equals(table.filter(measure="response"))
