"""Facts about a machine, from a made-up one."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.record.environment import HostFacts
from plimsoll.servers.facts import host_facts, started_unix_s, usable_memory_bytes

CPU = (
    "processor\t: {n}\nmodel name\t: Made-Up CPU\nphysical id\t: {socket}\ncore id\t\t: {core}\n"
    "flags\t\t: fpu {more}\n\n"
)


def made_up(root: Path, *, more: str = "") -> dict[str, Path]:
    proc, sys, etc = root / "proc", root / "sys", root / "etc"
    for folder in (proc / "sys/kernel", proc / "pressure", proc / "self", sys / "class/dmi/id", etc):
        folder.mkdir(parents=True)
    blocks = [CPU.format(n=n, socket=n // 4, core=n // 2 % 2, more=more) for n in range(8)]
    (proc / "cpuinfo").write_text("".join(blocks))
    (proc / "meminfo").write_text("MemTotal:       1000 kB\nMemFree: 1 kB\n")
    (proc / "sys/kernel/hostname").write_text("db1\n")
    (proc / "sys/kernel/osrelease").write_text("6.1.0\n")
    (proc / "pressure/cpu").touch()
    for node in ("node0", "node1"):
        (sys / "devices/system/node" / node).mkdir(parents=True)
    (sys / "class/dmi/id/sys_vendor").write_text("QEMU\n")
    (etc / "os-release").write_text('NAME="X"\nPRETTY_NAME="Made-Up Linux 1"\n')
    return {"proc": proc, "sys": sys, "etc": etc}


def test_two_sockets_of_two_cores_of_two_threads(tmp_path: Path) -> None:
    assert host_facts(**made_up(tmp_path, more="hypervisor")) == HostFacts(
        name="db1",
        kernel="6.1.0",
        operating_system="Made-Up Linux 1",
        virtualisation="kvm",
        cpu_model="Made-Up CPU",
        cpu_sockets=2,
        cpu_cores=4,
        cpu_threads=8,
        numa_nodes=2,
        memory_bytes=1000 * 1024,
        pressure_stall_information=True,
    )


def test_bare_metal_and_an_unknown_hypervisor(tmp_path: Path) -> None:
    places = made_up(tmp_path)
    assert host_facts(**places).virtualisation == "none", "no flag, whatever the maker"
    (places["sys"] / "class/dmi/id/sys_vendor").write_text("Somebody")
    (places["proc"] / "cpuinfo").write_text("processor: 0\nflags: fpu hypervisor\n")
    assert host_facts(**places).virtualisation == "unknown hypervisor"
    emulated = "processor: 0\nmodel name: QEMU TCG CPU version 2.5+\nflags: fpu hypervisor\n"
    (places["proc"] / "cpuinfo").write_text(emulated)
    assert host_facts(**places).virtualisation == "qemu, which emulates the processor"


def test_an_empty_machine_is_all_none(tmp_path: Path) -> None:
    facts = host_facts(proc=tmp_path, sys=tmp_path, etc=tmp_path)
    assert facts.memory_bytes is None
    assert facts.cpu_threads is None
    assert facts.virtualisation is None
    assert facts.pressure_stall_information is False


@pytest.mark.parametrize(
    ("groups", "file", "text", "expected"),
    [
        ("0::/app\n", "fs/cgroup/app/memory.max", "500000", 500_000),
        ("0::/app\n", "fs/cgroup/app/memory.max", "max", 1_024_000),
        ("5:memory:/box\n", "fs/cgroup/memory/box/memory.limit_in_bytes", "400000", 400_000),
        ("5:memory:/box\n", "fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712", 1_024_000),
        ("5:cpu:/box\n", "fs/cgroup/memory/box/memory.limit_in_bytes", "1", 1_024_000),
    ],
)
def test_memory_of_a_control_group(tmp_path: Path, groups: str, file: str, text: str, expected: int) -> None:
    places = made_up(tmp_path)
    (places["proc"] / "self/cgroup").write_text(groups)
    limit = places["sys"] / file
    limit.parent.mkdir(parents=True, exist_ok=True)
    limit.write_text(text)
    assert usable_memory_bytes(proc=places["proc"], sys=places["sys"]) == expected


class Clock:
    """A server that says what a test wants."""

    def __init__(self, now: object, uptime: object) -> None:
        self._now, self._uptime = now, uptime

    def value(self, _: str) -> object:
        return self._now

    def rows(self, _: str) -> list[tuple[object, ...]]:
        return [("Uptime", self._uptime)]


@pytest.mark.parametrize(
    ("now", "uptime", "expected"),
    [(1000, "400", 600), (1000, "9" * 5000, None), ("9" * 5000, "400", None), (None, "400", None), (1000, "", None)],
)
def test_when_a_server_began_is_unknown_where_it_says_no_number(
    now: object, uptime: object, expected: int | None
) -> None:
    assert started_unix_s(Clock(now, uptime)) == expected  # type: ignore[arg-type]
