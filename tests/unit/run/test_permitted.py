"""What this machine does not permit, told at once and before anything starts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.run import preflight
from plimsoll.run.preflight import refuse_before_start
from plimsoll.run.server_faults import unpermitted
from plimsoll.servers.placement import Topology
from plimsoll.spec.study import parse_study
from support.placing import needs_controllers

TEXT = """
[study]
name = "s"
levels = { connections = [2] }
client = { cpus = "%s" }
[[workload]]
name = "ro"
kind = "oltp_read_only"
tables = 2
"""
SYSTEM = """
[[system]]
name = "%d"
server = { managed = "mariadb", %s }
"""
TWO = frozenset({0, 1})
MACHINE = Topology(present=TWO | {2}, online=TWO, allowed=frozenset({0}), cores={0: (0,), 1: (1,)})


def faults_of(client: str, *servers: str, topology: Topology | None = None) -> list[str]:
    text = TEXT % client + "".join(SYSTEM % (number, server) for number, server in enumerate(servers))
    return [str(fault) for fault in unpermitted(parse_study(text), topology)]


def test_cpus_that_cannot_be_used_each_with_its_place() -> None:
    found = faults_of("7", 'cpus = "0,2"', "cpu_count = 2", 'cpus = "1"', "nice = 0", topology=MACHINE)
    assert [fault.partition(";")[0] for fault in found] == [
        "study.client.cpus: CPU 7 does not exist on this machine, which has CPU 0-2",
        "system[0].server.cpus: CPU 2 is offline",
        "system[1].server.cpu_count: is 2, and this process may use 1",
        "system[2].server.cpus: CPU 1 is not among those that this process may use (CPU 0)",
    ]


def test_limits_that_the_kernel_refuses_and_a_place_without_a_device(tmp_path: Path) -> None:
    needs_controllers("cpu", "io")
    in_memory = "/dev/shm"
    found = faults_of(
        str(min(os.sched_getaffinity(0))),
        "cpu_quota = 1e12",
        f'io_limits = {{ read_iops = 5 }}, data_dir = "{in_memory}/x"',
        "cpu_quota = 0.5",
    )
    assert [fault.partition("(")[0] for fault in found[:1]] == [
        "system[0].server.cpu_quota: the kernel refuses 100000000000000000 for cpu.cfs_quota_us "
    ]
    assert found[1:] == [
        f"system[1].server.io_limits: {in_memory} is on tmpfs without a block device; choose a data_dir on a disk"
    ]


def test_the_study_is_refused_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "_unfit_servers", lambda _: [])
    text = TEXT % "9999" + SYSTEM % (0, 'cpus = "9998"')
    with pytest.raises(HostError) as caught:
        refuse_before_start(parse_study(text), Path("/var/tmp"), 3)
    first, second = str(caught.value).splitlines()
    assert first.startswith("study.client.cpus: CPU 9999 does not exist")
    assert second.startswith("system[0].server.cpus: CPU 9998 does not exist")
