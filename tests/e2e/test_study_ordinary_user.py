"""A whole study as an ordinary user, who may bind servers to CPUs and make no control groups; seen from outside."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from plimsoll.record.store import read_study
from support.command import engines_of
from support.ordinary_user import USER, folder_of_theirs, start_as_them
from support.placing import cpus_allowed, needs_two_cpus, own_groups
from support.servers import server_command
from support.studies import server_below, wait_for_interval, wait_until_gone

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "ordinary"
levels = {{ connections = [2] }}
warm_up = "1s"
settle_limit = "1s"
clients = {{ think_time = "20ms" }}
duration = "4s"
repetitions = 1
reset = "per_trial"
client = {{ cpus = "{client}" }}

[[workload]]
name = "rw"
kind = "oltp_read_write"
table_size = 1000

[[system]]
name = "bound"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
cpus = "{server}"
options = {{ innodb_log_file_size = 16777216 }}
{more}
"""


def written(folder: Path, more: str = "") -> Path:
    client, server = sorted(os.sched_getaffinity(0))[:2]
    file = folder / "s.toml"
    file.write_text(STUDY.format(client=client, server=server, more=more))
    return file


def test_a_study_runs_with_affinity_only() -> None:
    needs_two_cpus()
    server_command("mariadb")
    client, server = sorted(os.sched_getaffinity(0))[:2]
    with folder_of_theirs() as home:
        data_dir, study = home / "servers", home / "out"
        env = {"PLIMSOLL_DATA_DIR": str(data_dir)}
        process = start_as_them(home, "study", "run", written(home), "--to", study, env=env)
        try:
            wait_for_interval(study, process, 1)
            pid = server_below(str(data_dir))
            assert Path(f"/proc/{pid}").stat().st_uid == pwd.getpwnam(USER).pw_uid
            assert cpus_allowed(pid) == {str(server)}
            assert own_groups(pid) == [], "no control group was made"
            (engine,) = engines_of(process)
            assert cpus_allowed(engine) == {str(client)}
            _, errors = process.communicate(timeout=300)
        finally:
            process.kill()
            process.wait()
        assert process.returncode == 0, errors
        (recording,) = read_study(study).recordings
        placement = recording.environment.instances[0].placement
        assert placement is not None
        assert (placement.cpus, placement.cpus_by) == ((server,), "affinity")
        assert recording.environment.client.cpus == (client,)
        assert (study / "guide.html").stat().st_uid == pwd.getpwnam(USER).pw_uid
        wait_until_gone(str(data_dir))


def test_what_needs_a_control_group_is_refused_before_anything_starts() -> None:
    needs_two_cpus()
    server_command("mariadb")
    with folder_of_theirs() as home:
        data_dir, study = home / "servers", home / "out"
        file, env = written(home, "cpu_quota = 0.5"), {"PLIMSOLL_DATA_DIR": str(data_dir)}
        process = start_as_them(home, "study", "run", file, "--to", study, env=env)
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 3, errors
        assert "cpu_quota" in errors
        assert "Traceback" not in errors
        assert not data_dir.exists() or not any(data_dir.iterdir())
