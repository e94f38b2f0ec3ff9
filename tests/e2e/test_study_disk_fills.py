"""A disk that fills up while data is copied in a whole study: one clear message, nothing lost, nothing half copied."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from support.command import assert_one_clear_message, plimsoll, start_forked
from support.endure import in_endure
from support.loop_mount import filled, leave_little, mounted
from support.recordings import finished_ids
from support.servers import server_command
from support.studies import wait_for_interval, wait_for_load, wait_until_gone

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "full"
levels = { connections = [2, 3] }
warm_up = "1s"
settle_limit = "1s"
clients = { think_time = "20ms" }
duration = "4s"
repetitions = 1
reset = "per_trial"

[[workload]]
name = "rw"
kind = "oltp_read_write"
tables = 4
table_size = 500

[[system]]
name = "a"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
options = { innodb_log_file_size = 67108864 }
"""


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """Without shared blocks, so that a copy needs its own space."""
    server_command("mariadb")
    folder = Path(f"/var/tmp/plimsoll-test-fills-{os.getpid()}")
    with mounted(folder, "ext4", 2000) as place:
        shutil.rmtree(place / "lost+found", ignore_errors=True)
        yield place


def written(folder: Path) -> Path:
    file = folder / "s.toml"
    file.write_text(STUDY)
    return file


@pytest.mark.endure
def test_a_disk_that_fills_before_data_is_put_back(small_disk: Path, tmp_path: Path) -> None:
    """Putting back removes the old data first; what it freed and little more is taken by somebody else meanwhile."""
    data_dir, study = small_disk / "servers", tmp_path / "out"
    env = {"PLIMSOLL_DATA_DIR": str(data_dir)}
    process = start_forked("study", "run", written(tmp_path), "--to", study, env=env)
    try:
        wait_for_interval(study, process, 0)
        (pristine,) = data_dir.glob("*/pristine")
        with (pristine / "ballast").open("wb") as ballast:  # a copy that cannot fit, whatever is freed
            os.posix_fallocate(ballast.fileno(), 0, 300 * 2**20)
        with filled(small_disk, 20 * 2**20):
            _, errors = process.communicate(timeout=300)
            assert process.returncode == 3, errors
            check_said_once(errors)
            wait_until_gone(str(data_dir))
            (kept,) = [one for one, verdict in finished_ids(study).items() if verdict is Verdict.COMPLETE]
            with filled(small_disk, 50 * 2**20):  # also what the removed servers had
                refused = plimsoll("study", "run", study, env=env)
            assert_one_clear_message(refused, 3, f"the file system of {data_dir} lacks", "free space, or")
    finally:
        process.kill()
        process.wait()
    again = plimsoll("study", "run", study, env=env)
    assert again.returncode == 0, again.stderr
    assert kept in finished_ids(study)
    assert list(finished_ids(study).values()) == [Verdict.COMPLETE] * 2
    wait_until_gone(str(data_dir))


def check_said_once(errors: str) -> None:
    """What lacks space and what to do, and no server's log about data that is not there."""
    assert "Traceback" not in errors
    lines = [line for line in errors.splitlines() if line.startswith("plimsoll:")]
    assert len(lines) == 1, errors
    assert "a copy of the data needs" in lines[0]
    assert "free some space" in lines[0]
    assert "error log" not in errors


def test_a_disk_that_fills_while_the_first_copy_is_made(small_disk: Path, tmp_path: Path) -> None:
    """The pre-flight check finds enough, and somebody else takes it while rows are loaded."""
    data_dir, study = small_disk / "servers", tmp_path / "out"
    env = {"PLIMSOLL_DATA_DIR": str(data_dir)}
    file = written(tmp_path)
    file.write_text(file.read_text().replace("table_size = 500", "table_size = 60000"))
    process = start_forked("study", "run", file, "--to", study, env=env)
    try:
        wait_for_load(study, process)
        with filled(small_disk, 150 * 2**20):
            _, errors = process.communicate(timeout=300)
            assert process.returncode == 3, errors
            assert "Traceback" not in errors
            assert "free some space" in errors
            wait_until_gone(str(data_dir))
            assert read_study(study).recordings == ()
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("phase", [in_endure("load"), "trial"])
def test_a_server_that_waits_for_space_is_named_at_once(phase: str, small_disk: Path, tmp_path: Path) -> None:
    """MariaDB waits for space for its binary log, without an answer to anybody and without an end."""
    data_dir, study = tmp_path / "servers", tmp_path / "out"
    file = written(tmp_path)
    options = "log_bin = true, binlog_cache_size = 67108864, innodb_log_file_size"
    text = file.read_text().replace("innodb_log_file_size", options).replace("[2, 3]", "[2]")
    text = text.replace('profile = "bare"', f'profile = "bare"\nbinlog_dir = "{small_disk}/logs"')
    text = text.replace("table_size = 500", f"table_size = {300_000 if phase == 'load' else 500}")
    file.write_text(text.replace('duration = "4s"', 'duration = "300s"'))
    process = start_forked("study", "run", file, "--to", study, env={"PLIMSOLL_DATA_DIR": str(data_dir)})
    try:
        if phase == "load":
            wait_for_load(study, process)
        else:
            wait_for_interval(study, process, 1)
        leave_little(small_disk)
        _, errors = process.communicate(timeout=300)
    finally:
        process.kill()
        process.wait()
    # Where the server can start again after the trial, for recovery may free a little, only the trial has failed.
    assert process.returncode == 3 or (phase == "trial" and process.returncode == 4), errors
    full = f"the disk of {small_disk}/logs/a-"
    assert full in errors, errors
    assert "are free" in errors
    assert "and the server's error log says so" in errors
    assert "choose another binlog_dir" in errors
    if phase == "trial":
        (one,) = read_study(study).recordings
        assert full in str(one.outcome.reason)
    wait_until_gone(str(data_dir))
