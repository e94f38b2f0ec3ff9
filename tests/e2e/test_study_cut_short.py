"""Studies that are cut short in the middle of a trial: what was measured is kept, shown, and never used."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.partial import recover
from plimsoll.record.store import read_study
from plimsoll.run.events import IntervalEnded, read_events
from support.command import plimsoll, start_forked
from support.forked_commands import ForkedCommand
from support.recordings import finished_ids
from support.studies import STEP_S, wait_until_gone
from support.waiting import until

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "cut"
levels = { connections = [2, 3] }
warm_up = "1s"
settle_limit = "1s"
clients = { think_time = "20ms" }
duration = "DURATION"
repetitions = 1
reset = "never"

[[workload]]
name = "ro"
kind = "oltp_read_only"
table_size = 2000

[[system]]
name = "a"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
options = { innodb_log_file_size = 16777216 }
"""


@pytest.fixture
def data_dir() -> dict[str, str]:
    return {"PLIMSOLL_DATA_DIR": f"/var/tmp/plimsoll-test-cut-{os.getpid()}"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_study(tmp_path, "300s")


def write_study(folder: Path, duration: str) -> Path:
    path = folder / "s.toml"
    path.write_text(STUDY.replace("DURATION", duration))
    return path


def intervals_seen(study: Path) -> int:
    return sum(isinstance(event.event, IntervalEnded) for event in read_events(study / "events.jsonl"))


def begun(file: Path, study: Path, env: dict[str, str], count: int) -> ForkedCommand:
    """A study whose first trial has seen so many intervals."""
    process = start_forked("study", "run", file, "--to", study, env=env)
    assert until(lambda: process.poll() is not None or intervals_seen(study) >= count, step_s=STEP_S)
    assert process.poll() is None, process.communicate()
    return process


def status(study: Path) -> dict[str, object]:
    ran = plimsoll("study", "status", study, "--json")
    assert ran.returncode == 0, ran.stderr
    found: dict[str, object] = json.loads(ran.stdout)
    return found


def check_interrupted(study: Path, at_least: int) -> None:
    """The one recording holds every interval from the first on, and no number rests on it."""
    (recording,) = read_study(study).recordings
    assert recording.outcome.verdict is Verdict.INTERRUPTED
    tables = (recording.intervals(), recording.histograms(), recording.telemetry(), recording.errors())
    intervals, histograms, telemetry, errors = tables
    assert intervals is not None
    assert histograms is not None
    assert telemetry is not None
    assert errors is not None
    seen = intervals["interval"].to_list()
    assert seen == list(range(len(seen)))
    assert len(seen) >= at_least
    assert set(histograms["interval"]) == set(seen)
    assert {"host", "process", "server", "engine"} <= set(telemetry["source"])
    assert recording.outcome.window is not None
    assert recording.outcome.window.first == 1
    assert recording.trial.session_id
    assert recording.environment.instances[0].variables
    shown = plimsoll("guide", study, "--json")
    analysis = json.loads(shown.stdout)
    assert analysis["curves"] == []
    assert "interrupted" in analysis["missing"][0]["reason"]


def test_sigkill_in_a_trial_loses_at_most_a_segment_and_ctrl_c_nothing(
    tmp_path: Path, file: Path, data_dir: dict[str, str]
) -> None:
    """Killed in its first trial; it goes on, first keeps what was left, and Ctrl-C ends it in the same trial."""
    study = tmp_path / "out"
    process = begun(file, study, data_dir, 13)
    process.kill()
    process.communicate()
    assert read_study(study).recordings == ()
    assert finished_ids(study) == {}
    killed = status(study)
    assert killed["state"] == "killed"
    assert killed["was"]["system"] == "a"  # type: ignore[index]
    assert killed["kept"][0]["load_s"] >= 10  # type: ignore[index]
    text = plimsoll("study", "status", study).stdout
    assert "killed" in text
    assert "2 trials left" in text
    wait_until_gone(data_dir["PLIMSOLL_DATA_DIR"])
    machine = (study / "machine.json").read_text()

    before = intervals_seen(study)
    again = begun(file, study, data_dir, before + 2)
    assert (study / "machine.json").read_text() == machine
    check_interrupted(study, 10)
    running = status(study)
    assert (running["state"], running["reason"]) == ("running", None)
    assert running["now"]["state"] == "measure"  # type: ignore[index]
    assert running["since_last_event_s"] < 30  # type: ignore[operator]
    seen = intervals_seen(study) - before
    again.send_signal(signal.SIGINT)
    _, errors = again.communicate(timeout=300)
    assert again.returncode == 130, errors
    assert "Traceback" not in errors
    check_interrupted(study, seen)
    assert [path.name for path in (study / "recordings").iterdir() if path.name.startswith(".")] == []
    wait_until_gone(data_dir["PLIMSOLL_DATA_DIR"])
    check_what_is_missing(study, errors)


def check_what_is_missing(study: Path, errors: str) -> None:
    """Whoever stopped it reads which trials were interrupted or have not run, at its end, in the status and guide."""
    stopped = status(study)
    assert (stopped["state"], stopped["reason"]) == ("stopped", "interrupted")
    assert stopped["trials"]["interrupted"] == 1  # type: ignore[index]
    (interrupted,) = read_study(study).recordings
    other = 5 - interrupted.trial.level.connections
    for text in (errors, plimsoll("study", "status", study).stdout):
        assert "1 not yet run" in text
        assert f"not yet run: a, ro, {other} connections" in text
    assert "run the same command again to continue" in errors
    guide = plimsoll("guide", study)
    assert guide.returncode == 0, guide.stderr
    assert "This study is not complete" in guide.stdout
    assert "has not run yet" in guide.stdout


def test_a_folder_that_is_moved_stops_the_study_and_holds_everything(
    tmp_path: Path, file: Path, data_dir: dict[str, str]
) -> None:
    study, moved = tmp_path / "out", tmp_path / "elsewhere"
    process = begun(file, study, data_dir, 12)
    study.rename(moved)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 3, errors
    assert f"the folder was moved to {moved} during the run" in errors
    assert not study.exists(), "results would be split"
    wait_until_gone(data_dir["PLIMSOLL_DATA_DIR"])
    stopped = status(moved)
    assert stopped["state"] == "stopped"
    assert "was moved" in str(stopped["reason"])
    assert stopped["kept"][0]["load_s"] >= 10  # type: ignore[index]


@pytest.mark.endure
def test_a_folder_that_is_removed_stops_the_study(tmp_path: Path, file: Path, data_dir: dict[str, str]) -> None:
    study = tmp_path / "out"
    process = begun(file, study, data_dir, 2)
    shutil.rmtree(study)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 3, errors
    assert "the folder was removed during the run" in errors
    assert not study.exists()
    wait_until_gone(data_dir["PLIMSOLL_DATA_DIR"])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A small tmpfs of our own; needs the right to mount."""
    folder = tmp_path / "small"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)]
    if subprocess.run(words, check=False, capture_output=True).returncode != 0:
        if os.environ.get("CI"):
            pytest.fail("this needs the right to mount a tmpfs")
        pytest.skip("SKIPPED: no right to mount a tmpfs")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_fills_up_in_a_trial_loses_nothing_that_was_written(
    small_disk: Path, file: Path, data_dir: dict[str, str]
) -> None:
    study, filler = small_disk / "out", small_disk / "filler"
    process = begun(file, study, data_dir, 12)
    fill(filler)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 3, errors
    assert "the disk is full" in errors or "No space left" in errors
    assert "Traceback" not in errors
    wait_until_gone(data_dir["PLIMSOLL_DATA_DIR"])
    refused = plimsoll("study", "run", file, "--to", study, env=data_dir)
    assert refused.returncode == 3, refused.stderr
    assert "ree space" in refused.stderr
    filler.unlink()
    assert len(recover(study)) == 1
    check_interrupted(study, 10)


def fill(path: Path) -> None:
    """Takes all space that a file system has left."""
    with path.open("wb", buffering=0) as file:
        for size in (65536, 1):
            try:
                while file.write(bytes(size)):
                    pass
            except OSError:
                continue
