"""What real servers are given, seen from outside: every thread's CPUs, class and nice, and files of control groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.servers.cgroups import Hierarchy, hierarchies
from plimsoll.servers.placement import InstancePlacement, device_number, placement_facts
from plimsoll.spec.placement import Share
from support.placing import classes, cpus_allowed, needs_controllers, needs_two_cpus, nices, own_groups
from support.servers import FLAVOURS, StartServer, server_base, start_server

__all__ = ["server_base", "start_server"]
pytestmark = pytest.mark.e2e

LIMITS = Share(cpu_quota=1.5, memory_limit_bytes=2**30, io_limits=(("read_bps", 10**8), ("write_iops", 5000)))


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_server_has_what_it_was_given(flavour: str, start_server: StartServer, server_base: Path) -> None:
    needs_two_cpus()
    needs_controllers("cpu", "memory", "io")
    placement = InstancePlacement(cpus=(1,), share=LIMITS, scheduling="batch", nice=5)
    server = start_server(flavour, placement=placement)
    assert len(list(Path(f"/proc/{server.pid}/task").iterdir())) > 5
    assert (cpus_allowed(server.pid), classes(server.pid)) == ({"1"}, {"SCHED_BATCH 0"})
    assert nices(server.pid) - {5} == ({-20} if flavour == "mysql" else set()), "MySQL's page cleaner takes -20"
    groups, found = own_groups(server.pid), hierarchies(pid=server.pid)
    device = device_number(server_base)
    assert cpu_limit(found["cpu"]) == "150000"
    assert memory_limit(found["memory"]) == str(2**30)
    assert io_limit(found["io"], device) == str(10**8)
    facts = placement_facts(server.pid)
    assert facts is not None
    assert (facts.cpus, facts.cpu_quota, facts.memory_limit_bytes) == ((1,), 1.5, 2**30)
    assert facts.io_limits == {f"{device} read_bps": 10**8, f"{device} write_iops": 5000}
    assert (facts.scheduling, facts.nice) == ("batch", 5)
    assert facts.nice_others == ((-20,) if flavour == "mysql" else ())
    assert own_groups(server._guard.pid) == [], "the guardian is none of those that are measured"
    server.stop()
    server.start()
    assert own_groups(server.pid) == groups, "a start again finds the same groups"
    server.remove()
    assert not any(group.exists() for group in groups)


def test_a_real_time_class_and_its_priority(start_server: StartServer) -> None:
    server = start_server("mariadb", placement=InstancePlacement(scheduling="fifo:7"))
    assert classes(server.pid) == {"SCHED_FIFO 7"}
    server.freeze()
    server.thaw()
    assert classes(server.pid) == {"SCHED_FIFO 7"}


def cpu_limit(one: Hierarchy) -> str:
    return (one.current / ("cpu.cfs_quota_us" if one.version == 1 else "cpu.max")).read_text().split()[0]


def memory_limit(one: Hierarchy) -> str:
    return (one.current / ("memory.limit_in_bytes" if one.version == 1 else "memory.max")).read_text().strip()


def io_limit(one: Hierarchy, device: str) -> str:
    if one.version == 1:
        return (one.current / "blkio.throttle.read_bps_device").read_text().split()[1]
    line = next(line for line in (one.current / "io.max").read_text().splitlines() if line.startswith(f"{device} "))
    return dict(pair.split("=") for pair in line.split()[1:])["rbps"]
