"""A whole study on real servers: its order, its recordings, its guide; and that nothing is lost when it is stopped."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import time
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from plimsoll.record.model import State, Verdict
from plimsoll.record.store import read_study
from plimsoll.run.events import SystemBegan, read_events
from plimsoll.run.folder import read_plan
from support.command import assert_one_clear_message, plimsoll, start_forked
from support.forked_commands import ForkedCommand
from support.recordings import finished_ids
from support.servers import missing
from support.studies import wait_for_trials, wait_until_gone

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "small"
levels = {{ connections = {levels} }}
warm_up = "1s"
settle_limit = "1s"
clients = {{ think_time = "20ms" }}
duration = "2s"
repetitions = 1
reset = "{reset}"

[[workload]]
name = "read/write"
kind = "oltp_read_write"
table_size = 2000

[[system]]
name = "durable"
cost_per_month = 10
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
options = {{ innodb_log_file_size = 16777216 }}

[[system]]
name = "relaxed"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
options = {{ innodb_log_file_size = 20971520 }}
"""


@pytest.fixture
def data_dir(tmp_path: Path) -> dict[str, str]:
    folder = Path(f"/var/tmp/plimsoll-test-run-{os.getpid()}")
    return {"PLIMSOLL_DATA_DIR": str(folder)}


def write_study(
    path: Path, *, levels: tuple[int, ...] = (1, 4), reset: str = "per_system", only_durable: bool = False
) -> Path:
    text = STUDY.format(levels=[*levels], reset=reset)
    path.write_text(text.split('[[system]]\nname = "relaxed"')[0] if only_durable else text)
    return path


def most_servers(process: ForkedCommand, folder: str) -> int:
    """How many servers below a folder were seen at once until a study ended, by their sockets."""
    most = 0
    while process.poll() is None:
        most = max(most, len([*Path(folder).glob("*/sock")]))
        time.sleep(0.05)
    return most


def test_a_study_from_file_to_guide(tmp_path: Path, data_dir: dict[str, str]) -> None:
    study, file = tmp_path / "out", write_study(tmp_path / "s.toml")
    if shutil.which("fio") is None:
        missing("fio is not here: tools/install-test-tools installs it")
    with TemporaryDirectory(dir=Path(data_dir["PLIMSOLL_DATA_DIR"]).parent) as beside_the_data:
        storage = f'\n[[storage]]\npath = "{beside_the_data}"\nname = "disk"\nduration = "1s"\ntests = ["commit"]\n'
        file.write_text(file.read_text() + storage)
        env = {**data_dir, "COLUMNS": "200", "NO_COLOR": "1"}
        process = start_forked("study", "run", file, "--to", study, "--label", "commit=3f2a91c", env=env)
        most = most_servers(process, data_dir["PLIMSOLL_DATA_DIR"])
        output, said = process.communicate()
    assert process.returncode == 0, said
    assert most == 1, "exactly one system runs at a time"
    systems = [e.event.system for e in read_events(study / "events.jsonl") if isinstance(e.event, SystemBegan)]
    assert sorted(systems) == ["durable", "relaxed"]
    assert "[4/4]" in said
    assert said.index("disk: commit: ") < said.index("[1/4]"), "storage is measured before the trials"
    assert re.search(r"a commit's flush is|a flush takes", (study / "guide.md").read_text())
    recordings = read_study(study).recordings
    assert [r.outcome.verdict for r in recordings] == [Verdict.COMPLETE] * 4
    for recording in recordings:
        assert [mark.state for mark in recording.trial.states] == list(State)
        assert recording.outcome.window is not None
        assert (recording.outcome.window.first, recording.outcome.window.last) == (1, 2)
        instance = recording.environment.instances[0]
        assert instance.variables["innodb_buffer_pool_size"] == str(64 * 2**20)
        assert "CREATE TABLE" in instance.tables["sbtest1"]
        assert instance.started_unix_s is not None
        telemetry = recording.telemetry()
        assert telemetry is not None
        assert {"host", "process", "server", "engine"} <= set(telemetry["source"].unique())
    trials = [recording.trial for recording in recordings]
    assert [trial.block for trial in trials] == [0, 0, 1, 1]
    assert len({trial.server_start_id for trial in trials}) == 2
    assert [trial.labels for trial in trials] == [{"commit": "3f2a91c"}] * 4
    assert "Guide: " in output
    assert str(study / "guide.html") in output.replace("\n", "")
    assert (study / "guide.html").read_text().startswith("<!")
    wait_until_gone(data_dir["PLIMSOLL_DATA_DIR"])
    again = plimsoll("study", "run", study, env=data_dir)
    assert again.returncode == 0, again.stderr
    assert "4 of them already finished" in again.stderr
    assert "disk: commit: " not in again.stderr, "storage is measured once"
    other = plimsoll("study", "run", study, "--label", "commit=0000000", env=data_dir)
    assert_one_clear_message(other, 2, "measured with commit=3f2a91c", "choose another folder")
    status = plimsoll("study", "status", study)
    assert "4 of 4 trials complete" in status.stdout
    check_size_answers(study)


def check_size_answers(study: Path) -> None:
    once = plimsoll("size", study, "--tps", "1", "--json")
    answer = json.loads(once.stdout)
    assert once.returncode == 0, "one repetition indicates that it fits"
    assert [(one["verdict"], one["grade"]) for one in answer["systems"]] == [("fits", "indicated")] * 2
    assert "measured once, so" in " ".join(answer["text"])
    assert plimsoll("size", study, "--tps", "1", "--require", "measured").returncode == 1
    assert plimsoll("size", study, "--tps", "10000000").returncode == 1
    wrong = plimsoll("size", study, "--tps", "1", "--workload", "nope")
    assert wrong.returncode == 2
    assert "read/write" in wrong.stderr


@pytest.mark.endure
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_stopping_loses_at_most_the_running_trial(
    tmp_path: Path, data_dir: dict[str, str], number: signal.Signals, code: int
) -> None:
    study = tmp_path / "out"
    file = write_study(tmp_path / "s.toml", levels=(1, 2, 4), reset="per_trial", only_durable=True)
    process = start_forked("study", "run", file, "--to", study, env=data_dir)
    wait_for_trials(study, 1, process)
    process.send_signal(number)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    wait_until_gone(data_dir["PLIMSOLL_DATA_DIR"])
    kept = finished_ids(study)
    assert len(kept) >= 1
    check_what_is_missing(study, kept)
    stamps = {trial: (study / "recordings" / trial / "outcome.json").stat().st_mtime_ns for trial in kept}
    again = plimsoll("study", "run", study, env=data_dir)
    assert again.returncode == 0, again.stderr
    assert len(finished_ids(study)) == 3
    for trial, stamp in stamps.items():
        assert (study / "recordings" / trial / "outcome.json").stat().st_mtime_ns == stamp, "was measured again"
    recordings = read_study(study).recordings
    for recording in recordings:
        assert str(recording.trial.states[0].note).startswith("data as prepared"), "it is put back before each trial"
        assert recording.trial.states[-1].note == "2000 rows"
    assert [recording.trial.block for recording in recordings] == [0, 1, 2], "the server is restarted in between"


def check_what_is_missing(study: Path, kept: Collection[str]) -> None:
    """Whoever stopped it reads which trials have not run, in the status, and in the guide of what has."""
    plan = read_plan(study)
    assert plan is not None
    status = plimsoll("study", "status", study).stdout
    said = re.search(r"not yet run: durable, read/write, (.*) connections?, ", status)
    assert said, status
    unrun = {str(trial.connections) for trial in plan.trials if trial.trial_id not in kept}
    assert set(re.findall(r"\d+", said[1])) == unrun, status
    guide = plimsoll("guide", study)
    assert guide.returncode == 0, guide.stderr
    assert "This study is not complete" in guide.stdout
    assert "has not run yet" in guide.stdout
