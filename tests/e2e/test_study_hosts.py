"""Whole studies whose servers are on another host, reached over SSH; and what happens when that host is lost."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from support.command import assert_one_clear_message, plimsoll, start_forked
from support.loop_mount import filled, mounted
from support.recordings import finished_ids
from support.ssh_hosts import DISK, SshHost, alone_with_copies, copies_of_engines, ssh_hosts
from support.studies import STEP_S, wait_for_trials
from support.waiting import until

pytestmark = pytest.mark.e2e

STUDY = f"""
[study]
name = "elsewhere"
levels = {{{{ connections = [2] }}}}
warm_up = "1s"
settle_limit = "1s"
clients = {{{{ think_time = "20ms" }}}}
duration = "{{duration}}"
repetitions = {{repetitions}}
reset = "per_trial"

[[workload]]
name = "rw"
kind = "oltp_read_write"
table_size = 1000
tables = 1

[[system]]
name = "there"
host = {{{{ ssh = "db2", python = "{sys.executable}" }}}}
server = {{{{ managed = "mariadb", profile = "bare", buffer_pool = "64M", data_dir = "{DISK}"{{more}} }}}}
"""


@pytest.fixture(scope="module")
def db2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshHost]:
    with ssh_hosts(tmp_path_factory.mktemp("ssh"), "db2") as (host,):
        yield host


def write_study(path: Path, *, duration: str = "2s", repetitions: int = 1, more: str = "") -> Path:
    path.write_text(STUDY.format(duration=duration, repetitions=repetitions, more=more))
    return path


@pytest.mark.endure
def test_drivers_share_the_load_of_a_server_on_another_host(tmp_path: Path, db2: SshHost) -> None:
    file, folder = write_study(tmp_path / "s.toml"), tmp_path / "out"
    file.write_text(file.read_text().replace('reset = "per_trial"', 'reset = "per_trial"\ndrivers = ["local", "db2"]'))
    with alone_with_copies():
        ran = plimsoll("study", "run", file, "--to", folder)
        assert copies_of_engines() == []
    assert ran.returncode == 0, ran.stderr
    (recording,) = read_study(folder).recordings
    assert [(driver.name, driver.is_here) for driver in recording.outcome.drivers] == [("local", True), ("db2", False)]
    assert all((driver.offered_count or 0) > 0 for driver in recording.outcome.drivers)


def test_what_a_host_lacks_is_refused_before_anything_starts(tmp_path: Path, db2: SshHost) -> None:
    file = write_study(tmp_path / "s.toml", more=', cpus = "900"')
    other = write_study(tmp_path / "other.toml", more=", cpu_count = 900").read_text().partition("[[system]]")[2]
    file.write_text(file.read_text() + "[[system]]" + other.replace('"there"', '"there too"'))
    ran = plimsoll("study", "run", file, "--to", tmp_path / "out")
    assert ran.returncode == 3
    assert "system[0].server.cpus:" in ran.stderr
    assert "system[1].server.cpu_count: is 900" in ran.stderr
    assert "db2" in ran.stderr
    file.write_text(file.read_text().replace("db2", "db9.invalid"))
    ran = plimsoll("study", "run", file, "--to", tmp_path / "other")
    assert ran.returncode == 3
    assert "db9.invalid: cannot be reached over SSH" in ran.stderr
    drivers = 'reset = "per_trial"\ndrivers = ["local", "load9.invalid"]'
    file.write_text(write_study(tmp_path / "other.toml").read_text().replace('reset = "per_trial"', drivers))
    ran = plimsoll("study", "run", file, "--to", tmp_path / "drivers")
    assert ran.returncode == 3
    assert "driver load9.invalid: cannot be reached over SSH" in ran.stderr
    assert not list(db2.disk.iterdir()), "no server was made"


@pytest.mark.endure
def test_a_host_that_is_lost_during_set_up_is_waited_for(tmp_path: Path, db2: SshHost) -> None:
    folder = tmp_path / "out"
    running = start_forked("study", "run", write_study(tmp_path / "s.toml"), "--to", folder)
    try:
        assert until(lambda: "data_progressed" in events_of(folder))
        (agent,) = [pid for pid in db2.pids() if "hosts import agent" in command_line(pid)]
        os.kill(agent, signal.SIGKILL)
        _, errors = running.communicate(timeout=300)
    finally:
        running.kill()
    assert running.returncode == 0, errors
    assert "there: its host was lost: " in errors
    assert "; waiting up to 10 min 00 s for it" in errors
    assert [recording.outcome.verdict for recording in read_study(folder).recordings] == [Verdict.COMPLETE]
    assert list(db2.disk.iterdir()) == []


@pytest.mark.endure
def test_a_host_that_is_lost_fails_its_trial_and_the_study_goes_on(tmp_path: Path, db2: SshHost) -> None:
    folder = tmp_path / "out"
    file = write_study(tmp_path / "s.toml", duration="6s", repetitions=3)
    running = start_forked("study", "run", file, "--to", folder)
    try:
        wait_for_trials(folder, 1, running)
        assert until(lambda: _state(folder) == "measure")
        db2.cut()
        mending = threading.Timer(30, db2.mend)
        mending.start()
        _, errors = running.communicate(timeout=300)
    finally:
        running.kill()
        db2.mend()
    recordings = read_study(folder).recordings
    verdicts = [recording.outcome.verdict for recording in recordings]
    assert verdicts.count(Verdict.COMPLETE) == 2, errors
    failed = next(recording for recording in recordings if recording.outcome.verdict is not Verdict.COMPLETE)
    assert failed.outcome.reason is not None
    assert plimsoll("study", "run", file, "--to", folder).returncode == 0
    assert list(db2.disk.iterdir()) == []


@pytest.fixture
def small(tmp_path: Path) -> Iterator[SshHost]:
    """Under the same name as the other, with a small disk of its own."""
    with mounted(Path(f"/var/tmp/plimsoll-test-small-disk-{os.getpid()}"), "ext4", 1500) as disk:
        (disk / "lost+found").rmdir()
        with ssh_hosts(tmp_path, "db2", disk=disk) as (host,):
            yield host


def test_a_study_on_another_host_whose_disk_is_full_or_fills(tmp_path: Path, small: SshHost) -> None:
    """Refused while it is full; ended, with one message, when it fills in a trial; and then run to its end."""
    folder = tmp_path / "out"
    file = write_study(tmp_path / "s.toml", duration="4s", repetitions=2)
    with filled(small.disk, 20 * 2**20):
        refused = plimsoll("study", "run", file, "--to", folder)
    assert_one_clear_message(refused, 3, "of db2", "free space, choose another folder, or load fewer rows")
    running = start_forked("study", "run", file, "--to", folder)
    try:
        assert until(lambda: _state(folder) == "measure", step_s=STEP_S)
        (pristine,) = small.disk.glob("**/pristine")
        with (pristine / "ballast").open("wb") as ballast:  # a copy that cannot fit, whatever is freed
            os.posix_fallocate(ballast.fileno(), 0, 300 * 2**20)
        with filled(small.disk, 20 * 2**20):
            _, errors = running.communicate(timeout=300)
    finally:
        running.kill()
    assert running.returncode == 3, errors
    (line,) = [line for line in errors.splitlines() if line.startswith("plimsoll:")]
    assert "a copy of the data needs" in line
    assert "db2" in line
    assert "free some space" in line
    assert "Traceback" not in errors
    assert "error log" not in errors, "of a server whose data is not there"
    assert list(small.disk.iterdir()) == []
    (kept,) = [trial for trial, verdict in finished_ids(folder).items() if verdict is Verdict.COMPLETE]
    assert plimsoll("study", "run", file, "--to", folder).returncode == 0
    assert kept in finished_ids(folder)
    check_recordings(folder)
    assert list(small.disk.iterdir()) == []


def check_recordings(folder: Path) -> None:
    """Two trials on that host, each with its data put back, with the host's facts and telemetry."""
    recordings = read_study(folder).recordings
    assert [recording.outcome.verdict for recording in recordings] == [Verdict.COMPLETE] * 2
    for recording in recordings:
        assert str(recording.trial.states[0].note).startswith("data as prepared")
        environment = recording.environment
        assert environment.host.name == "db2"
        assert environment.client.on_server_host is True, "a namespace of this machine has its boot id"
        assert environment.client.server_place is not None
        assert "plimsoll started it on db2; its host is this machine" in environment.client.server_place
        telemetry = recording.telemetry()
        assert telemetry is not None
        of_server = telemetry.filter(telemetry["host"] == "db2")
        assert {"host", "process", "server"} <= set(of_server["source"].unique())
        times = of_server["unix_s"]
        mark = recording.trial.states[2].began_unix_s
        assert mark - 2 < times.min() < times.max() < mark + 60  # type: ignore[operator]
    assert "db2" in (folder / "guide.md").read_text()


def _state(folder: Path) -> str:
    """The state of the running trial, by the event log."""
    states = [line for line in events_of(folder).splitlines() if '"state_began"' in line]
    return "measure" if states and '"measure"' in states[-1] else ""


def events_of(folder: Path) -> str:
    """The event log so far."""
    events = folder / "events.jsonl"
    return events.read_text() if events.exists() else ""


def command_line(pid: int) -> str:
    """The arguments of a process; empty for one that has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
