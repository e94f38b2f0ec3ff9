"""Control groups of made-up machines: trees of files in the form of version 1, version 2 and containers."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.servers.cgroups import Group, hierarchies, make_groups, parent_of, planned_groups
from plimsoll.servers.placement import Topology, placement_facts
from plimsoll.servers.placing import note_groups, remove_groups
from plimsoll.spec.placement import Share

EIGHT = frozenset(range(8))
PAIRS = {cpu: (cpu - cpu % 2, cpu - cpu % 2 + 1) for cpu in EIGHT}
SIBLINGS = Topology(present=EIGHT, online=EIGHT, allowed=EIGHT, cores=PAIRS)
ALL = Share(cpu_quota=1.5, memory_limit_bytes=2**30, io_limits=(("read_bps", 10**6), ("write_iops", 50)))


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def v2(tmp_path: Path, *, own: str = "/user.slice/me", passed_on: str = "cpuset cpu io memory") -> Path:
    """A machine with version 2; returns its /proc. The root passes controllers on, our own group does not."""
    root = tmp_path / "cgroup"
    written(root, {"cgroup.controllers": "cpuset cpu io memory pids\n", "cgroup.subtree_control": passed_on + "\n"})
    written(root / "user.slice", {"cgroup.subtree_control": "memory pids\n"})
    written(root / "user.slice/me", {"cgroup.subtree_control": "\n", "cpuset.cpus.effective": "0-3\n"})
    return written(
        tmp_path / "proc",
        {
            "self/mountinfo": f"30 1 0:26 / {root} rw - cgroup2 cgroup2 rw,nsdelegate\n",
            "self/cgroup": f"0::{own}\n",
        },
    )


def v1(tmp_path: Path, *, root: str = "/", own: str = "/") -> Path:
    lines, groups = [], []
    for number, name in enumerate(("cpuset", "cpu,cpuacct", "memory", "blkio"), start=2):
        folder = written(tmp_path / "cgroup" / name, {"cpuset.mems": "0-1\n", "cpuset.cpus": "0-3\n"})
        lines.append(f"{number} 1 0:{number} {root} {folder} rw - cgroup cgroup rw,{name}")
        groups.append(f"{number}:{name}:{own}")
    text = {"self/mountinfo": "\n".join(lines) + "\n", "self/cgroup": "\n".join(groups) + "\n"}
    return written(tmp_path / "proc", text)


def contents(groups: tuple[Group, ...], tmp_path: Path) -> dict[str, list[str]]:
    return {
        str(group.path.relative_to(tmp_path / "cgroup")): [f"{file}={text}" for file, text, _ in group.settings]
        for group in groups
    }


def test_version_2_in_the_nearest_group_that_passes_controllers_on(tmp_path: Path) -> None:
    found = hierarchies(v2(tmp_path))
    assert {one.version for one in found.values()} == {2}
    assert parent_of(["memory"], found) == tmp_path / "cgroup/user.slice"
    assert parent_of(["memory", "cpu"], found) == tmp_path / "cgroup"
    (group,) = groups = planned_groups("x-1", ALL, cpus=(0, 2), device="8:0", by_controller=found)
    assert contents(groups, tmp_path) == {
        "plimsoll/x-1": [
            "cpuset.cpus=0,2",
            "cpu.max=150000 100000",
            "memory.max=1073741824",
            "memory.swap.max=0",
            "io.max=8:0 rbps=1000000",
            "io.max=8:0 wiops=50",
        ]
    }
    assert group.above == (("cgroup.subtree_control", "+cpuset +cpu +memory +io"),)


def test_a_cpuset_that_is_not_passed_on_keeps_no_limit_from_being_set(tmp_path: Path) -> None:
    found = hierarchies(v2(tmp_path, passed_on="memory"))
    (group,) = planned_groups("x-1", Share(memory_limit_bytes=1), cpus=(0,), device=None, by_controller=found)
    assert {key for _, _, key in group.settings} == {"memory_limit"}
    assert planned_groups("x-1", Share(), cpus=(0,), device=None, by_controller=found) == ()


def test_version_1_below_our_own_group(tmp_path: Path) -> None:
    groups = planned_groups("x-1", ALL, cpus=(1,), device="8:0", by_controller=hierarchies(v1(tmp_path)))
    assert contents(groups, tmp_path) == {
        "cpuset/plimsoll/x-1": ["cpuset.mems=0-1", "cpuset.cpus=1"],
        "cpu,cpuacct/plimsoll/x-1": ["cpu.cfs_period_us=100000", "cpu.cfs_quota_us=150000"],
        "memory/plimsoll/x-1": ["memory.limit_in_bytes=1073741824", "memory.memsw.limit_in_bytes=1073741824"],
        "blkio/plimsoll/x-1": ["blkio.throttle.read_bps_device=8:0 1000000", "blkio.throttle.write_iops_device=8:0 50"],
    }
    assert groups[0].above == (("cpuset.mems", "0-1"), ("cpuset.cpus", "0-3"))


def test_a_container_that_sees_names_from_outside(tmp_path: Path) -> None:
    """Without a namespace of its own, /proc names the group as the host does; it is the root of the mount."""
    found = hierarchies(v1(tmp_path, root="/docker/abc", own="/docker/abc"))
    assert found["memory"].current == tmp_path / "cgroup/memory"


@pytest.mark.parametrize(
    ("share", "message"),
    [
        (Share(cpu_quota=1.0), r"cpu_quota: no control group passes on the controllers cpu; as root: echo \+cpu > "),
        (Share(io_limits=(("read_bps", 1),)), "io_limits: no control group passes on the controllers io"),
    ],
)
def test_a_controller_that_nobody_passes_on(tmp_path: Path, share: Share, message: str) -> None:
    found = hierarchies(v2(tmp_path, passed_on="memory"))
    with pytest.raises(HostError, match=message):
        planned_groups("x-1", share, cpus=None, device="8:0", by_controller=found)


def test_a_controller_that_is_not_there_and_cpus_that_need_none(tmp_path: Path) -> None:
    found = hierarchies(written(tmp_path / "proc", {"self/mountinfo": "", "self/cgroup": "0::/\n"}))
    assert planned_groups("x-1", Share(), cpus=(0,), device=None, by_controller=found) == (), "affinity will do"
    with pytest.raises(HostError, match="memory_limit: this machine has no cgroup controller memory; mount it"):
        planned_groups("x-1", Share(memory_limit_bytes=1), cpus=None, device=None, by_controller=found)


def test_a_tree_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = hierarchies(v2(tmp_path))
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(HostError, match=r"memory_limit: .*user\.slice is not writable for this user; run Plimsoll as"):
        planned_groups("x-1", Share(memory_limit_bytes=1), cpus=None, device=None, by_controller=found)


def test_groups_are_made_in_a_folder_of_their_own_and_removed_with_it(tmp_path: Path) -> None:
    found = hierarchies(v2(tmp_path))
    groups = planned_groups("x-abc123", Share(cpu_quota=0.5), cpus=None, device=None, by_controller=found)
    make_groups(groups)
    own = tmp_path / "cgroup/plimsoll"
    assert (own / "cgroup.subtree_control").read_text() == "+cpu"
    assert (own / "x-abc123/cpu.max").read_text() == "50000 100000"
    directory = tmp_path / "x-abc123"
    directory.mkdir()
    note_groups(directory, [str(groups[0].path)])
    for file in ("cgroup.subtree_control", "x-abc123/cpu.max"):  # a kernel's files go with their folder
        (own / file).unlink()
    remove_groups(directory)
    assert not own.exists()
    assert list(directory.iterdir()) == []


def test_groups_of_others_are_never_touched(tmp_path: Path) -> None:
    """A note that somebody changed leads nowhere else."""
    directory = tmp_path / "x-abc123"
    others = [tmp_path / "cgroup/x-abc123", tmp_path / "cgroup/plimsoll/other"]
    for folder in (directory, *others):
        folder.mkdir(parents=True)
    note_groups(directory, [str(other) for other in others])
    remove_groups(directory)
    assert all(other.is_dir() for other in others)


def test_what_is_in_effect_is_the_tightest_limit_on_the_way_up(tmp_path: Path) -> None:
    proc = v2(tmp_path)
    written(tmp_path / "cgroup/user.slice", {"cpu.max": "200000 100000\n", "memory.max": "max\n"})
    own = {"cpu.max": "max 100000\n", "memory.max": "4096\n", "io.max": "8:0 rbps=max wbps=7 riops=max wiops=max\n"}
    written(tmp_path / "cgroup/user.slice/me", own)
    stat = ") S " + " ".join(["0"] * 15) + " 5 " + " ".join(["0"] * 20) + " 10 1 0"
    written(
        proc,
        {
            "stat": "cpu 1\n" + "".join(f"cpu{number} 1\n" for number in range(8)),
            "7/cgroup": "0::/user.slice/me\n",
            "7/task/7/status": "Cpus_allowed_list:\t0-3\n",
            "7/task/7/stat": "7 (x" + stat,
        },
    )
    facts = placement_facts(7, proc, SIBLINGS)
    assert facts is not None
    assert (facts.cpus, facts.cpus_by, facts.cpu_quota) == ((0, 1, 2, 3), "cgroup", 2.0)
    assert facts.cores == 2, "siblings are one core"
    assert (facts.memory_limit_bytes, facts.io_limits) == (4096, {"8:0 write_bps": 7})
    assert (facts.scheduling, facts.nice) == ("fifo:10", 5)
    assert facts.processors == 2.0
    assert placement_facts(8, proc) is None
