"""CPUs of made-up machines: which are chosen, how they are divided, and why some cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.servers.placement import Topology, choose_cpus, cpu_faults, divide_cpus, read_topology


def machine(folder: Path, cores: list[str], *, present: str | None = None, online: str | None = None) -> Path:
    """A tree of files like /sys/devices/system/cpu with these lists of siblings."""
    count = 0
    for core in cores:
        cpus = [int(cpu) for cpu in core.split(",")]
        count += len(cpus)
        for cpu in cpus:
            (folder / f"cpu{cpu}/topology").mkdir(parents=True)
            (folder / f"cpu{cpu}/topology/thread_siblings_list").write_text(f"{core}\n")
    (folder / "present").write_text(present or f"0-{count - 1}\n")
    (folder / "online").write_text(online or f"0-{count - 1}\n")
    return folder


@pytest.fixture
def four_cores(tmp_path: Path) -> Topology:
    """Four cores of two hardware threads each; siblings are four apart, as Linux usually numbers them."""
    return read_topology(machine(tmp_path, ["0,4", "1,5", "2,6", "3,7"]), allowed=range(8))


def test_one_cpu_of_each_core_before_the_second_of_any(four_cores: Topology) -> None:
    assert choose_cpus(2, four_cores) == (0, 1)
    assert choose_cpus(4, four_cores) == (0, 1, 2, 3)
    assert choose_cpus(5, four_cores) == (0, 1, 2, 3, 4)


def test_siblings_that_are_numbered_side_by_side(tmp_path: Path) -> None:
    assert choose_cpus(2, read_topology(machine(tmp_path, ["0,1", "2,3"]), allowed=range(4))) == (0, 2)


def test_the_load_generators_cpus_are_chosen_last(four_cores: Topology) -> None:
    assert choose_cpus(2, four_cores, avoid=(0, 1)) == (2, 3)
    assert choose_cpus(7, four_cores, avoid=(0, 4)) == (0, 1, 2, 3, 5, 6, 7)


def test_only_cpus_that_may_be_used_are_chosen(tmp_path: Path) -> None:
    tree = machine(tmp_path, ["0", "1", "2", "3"], online="0-2")
    assert choose_cpus(2, read_topology(tree, allowed=(1, 2))) == (1, 2)


def test_instances_have_whole_cores(four_cores: Topology) -> None:
    assert divide_cpus(range(8), 2, four_cores) == ((0, 1, 4, 5), (2, 3, 6, 7))
    assert divide_cpus((0, 1, 2, 3), 4, four_cores) == ((0,), (1,), (2,), (3,))


def test_why_a_cpu_cannot_be_used(tmp_path: Path) -> None:
    topology = read_topology(machine(tmp_path, ["0", "1", "2", "3"], online="0-2"), allowed=(0, 1))
    assert list(cpu_faults((0, 1), topology)) == []
    absent, offline, closed = cpu_faults((1, 2, 3, 9), topology)
    assert absent == "CPU 9 does not exist on this machine, which has CPU 0-3; choose among these"
    assert offline.startswith("CPU 3 is offline; as root: echo 1 > /sys/devices/system/cpu/cpu3/online")
    assert closed.startswith("CPU 2 is not among those that this process may use (CPU 0-1); start Plimsoll without")


def test_a_machine_that_tells_nothing(tmp_path: Path) -> None:
    topology = read_topology(tmp_path, allowed=(0, 1))
    assert choose_cpus(2, topology) == (0, 1)
    assert divide_cpus((0, 1), 2, topology) == ((0,), (1,))
