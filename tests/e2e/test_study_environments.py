"""Studies whose environments a hook switches, with servers on another host that is there in its environment only.

The host is a network namespace; the hook plugs its cable in, and pulls it out for the other environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from support.command import assert_one_clear_message, plimsoll
from support.servers import missing
from support.ssh_hosts import DISK, SshHost, ssh_hosts

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "in turn"
levels = { connections = [2] }
warm_up = "1s"
settle_limit = "1s"
clients = { think_time = "20ms" }
duration = "2s"
repetitions = 2
reset = "per_trial"
switch = "hook"
hooks = { switch = { command = "./switch", limit = "30s" } }

[[workload]]
name = "rw"
kind = "oltp_read_write"
table_size = 500

[[system]]
name = "here"
environment = "metal"
METAL

[[system]]
name = "there"
environment = "virtual"
host = { ssh = "db2", python = "PYTHON" }
VIRTUAL
"""

SERVER = 'server = { managed = "mariadb", profile = "bare", buffer_pool = "64M"MORE }'

SWITCH = """#!/bin/sh
set -eu
echo "$PLIMSOLL_ENVIRONMENT" >> switched
case $PLIMSOLL_ENVIRONMENT in
  virtual) ip netns exec NAMESPACE ip link set eth0 up ;;
  metal) ip netns exec NAMESPACE ip link set eth0 down ;;
esac
"""


@pytest.fixture
def db2(tmp_path: Path) -> Iterator[SshHost]:
    """A host that is not there."""
    (tmp_path / "ssh").mkdir()
    with ssh_hosts(tmp_path / "ssh", "db2") as (host,):
        host.cut()
        yield host


def write_study(folder: Path, host: SshHost, *, metal: str = "", virtual: str = "") -> Path:
    """The study with more keys of its servers."""
    (folder / "switch").write_text(SWITCH.replace("NAMESPACE", host.namespace))
    (folder / "switch").chmod(0o755)
    there = f', data_dir = "{DISK}"{virtual}'
    text = STUDY.replace("METAL", SERVER.replace("MORE", metal)).replace("VIRTUAL", SERVER.replace("MORE", there))
    (folder / "s.toml").write_text(text.replace("PYTHON", sys.executable))
    return folder / "s.toml"


def run(file: Path) -> subprocess.CompletedProcess[str]:
    data_dir = {"PLIMSOLL_DATA_DIR": f"/var/tmp/plimsoll-test-turn-{os.getpid()}"}
    return plimsoll("study", "run", file, "--to", file.parent / "out", env=data_dir)


def test_a_host_that_comes_and_goes_with_its_environment(tmp_path: Path, db2: SshHost) -> None:
    ran = run(write_study(tmp_path, db2))
    assert ran.returncode == 0, ran.stderr
    recordings = read_study(tmp_path / "out").recordings
    assert [recording.outcome.verdict for recording in recordings] == [Verdict.COMPLETE] * 4
    notes = [str(recording.trial.states[0].note) for recording in recordings]
    assert all(note.startswith("data as prepared") for note in notes), "it is put back before each trial"
    assert len({recording.trial.block for recording in recordings}) == 4, "servers are restarted in between"
    switched = (tmp_path / "switched").read_text().split()
    first = recordings_in_time(tmp_path)[0]
    rest = {"metal": ["metal", "virtual", "metal"], "virtual": ["metal", "virtual"]}[str(first)]
    assert switched == ["virtual", *rest], "the host's facts are asked for first"
    assert list(db2.disk.iterdir()) == [], "nothing stays on a host whose environment went away"
    analysis = json.loads((tmp_path / "out" / "guide.json").read_text())
    assert sorted(analysis["differences"][0]["blocks"]["counts"]) == [1, 2]
    assert "machines-differ" not in {one["code"] for one in analysis["warnings"]}


def recordings_in_time(folder: Path) -> list[str | None]:
    """Environments of trials, in the order in which they began."""
    found = read_study(folder / "out").recordings
    return [one.trial.system.environment for one in sorted(found, key=lambda one: one.trial.states[0].began_unix_s)]


def test_a_machine_with_one_cpu_fewer_is_refused_before_anything_is_measured(tmp_path: Path, db2: SshHost) -> None:
    """By facts over SSH; a limit that only the larger machine has is there to make it equal, and explains nothing."""
    count = os.cpu_count() or 1
    if count < 2:
        missing("a machine with one CPU cannot have one fewer")
    file = write_study(tmp_path, db2, metal=', memory_limit = "300M"', virtual=f', cpus = "0-{count - 2}"')
    refused = f"the machines of the environments are not equal: CPUs is {count} (here), {count - 1} (there)"
    assert_one_clear_message(run(file), 3, refused, "memory is 300 MiB (here)", "state it in each system")
    assert not list((tmp_path / "out").glob("recordings/*"))


def test_an_environment_that_cannot_be_reached_ends_the_study_before_anything_is_measured(
    tmp_path: Path, db2: SshHost
) -> None:
    file = write_study(tmp_path, db2)
    (tmp_path / "switch").write_text("#!/bin/sh\nexit 0\n")
    assert_one_clear_message(run(file), 3, "system[1].host: db2: cannot be reached over SSH")
    (tmp_path / "switch").write_text("#!/bin/sh\necho no disk; exit 4\n")
    assert_one_clear_message(run(file), 3, "hook switch: failed with exit code 4", "no disk")
    assert not list((tmp_path / "out").glob("recordings/*"))
