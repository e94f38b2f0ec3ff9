"""Control groups: which limits this machine lets us set, and the files that set them, for cgroup version 1 and 2.

All groups are made below a folder `plimsoll`: with version 1 below the group that Plimsoll runs in, with version 2
below the nearest one above that passes the controllers on. Nothing is ever written to a group of others.

Sources: Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst of Linux. Deliberately not here: who joins (`placing`),
what is in effect (`placement`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import HostError
from plimsoll.servers.placing import OWN_FOLDER, remove_group
from plimsoll.spec.placement import Share, format_cpus

PROC = Path("/proc")
CONTROLLERS = ("cpuset", "cpu", "memory", "io")
PERIOD_US = 100_000
_KEYS = {"cpuset": "cpus", "cpu": "cpu_quota", "memory": "memory_limit", "io": "io_limits"}
"""What a controller limits, as the study file says it."""

_IN_V1 = {"io": "blkio"}
_IO_FILES_V1 = {name: f"blkio.throttle.{name}_device" for name in ("read_bps", "write_bps", "read_iops", "write_iops")}
IO_KEYS_V2 = {"read_bps": "rbps", "write_bps": "wbps", "read_iops": "riops", "write_iops": "wiops"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hierarchy:
    """Where a controller is.

    Attributes:
        version: 1 or 2.
        mount: Where its hierarchy is mounted.
        current: The group that this process is in, below the mount.
    """

    version: int
    mount: Path
    current: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group to be made.

    Attributes:
        path: Its folder; the one above it is Plimsoll's.
        settings: Contents of its files, in the order in which they are written: (file, content, key of the study file).
        above: Contents of files of the folder above it, which are written first.
    """

    path: Path
    settings: tuple[tuple[str, str, str], ...]
    above: tuple[tuple[str, str], ...] = ()


def hierarchies(proc: Path = PROC, pid: int | str = "self") -> dict[str, Hierarchy]:
    """Where each controller is that this machine has mounted, and which groups a process is in.

    Raises:
        OSError: There is no such process.
    """
    groups = dict(_groups((proc / str(pid) / "cgroup").read_text(encoding="utf-8", errors="replace")))
    by_controller: dict[str, Hierarchy] = {}
    for line in (proc / "self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines():
        left, _, right = line.partition(" - ")
        first, last = left.split(), right.split()
        if len(first) < 5 or len(last) < 3 or last[0] not in ("cgroup", "cgroup2"):
            continue
        mount, root = Path(first[4]), first[3]
        if last[0] == "cgroup2":
            group = _below(mount, root, groups.get("", "/"))
            for name in _words(mount / "cgroup.controllers"):
                if name in CONTROLLERS:
                    by_controller.setdefault(name, Hierarchy(version=2, mount=mount, current=group))
            continue
        for name in CONTROLLERS:
            in_v1 = _IN_V1.get(name, name)
            if in_v1 in last[2].split(","):
                group = _below(mount, root, groups.get(in_v1, "/"))
                by_controller[name] = Hierarchy(version=1, mount=mount, current=group)
    return by_controller


def _groups(text: str) -> Iterator[tuple[str, str]]:
    """Group by controller from /proc/PID/cgroup; that of version 2 by the empty name."""
    for line in text.splitlines():
        _, controllers, group = line.split(":", 2)
        for name in controllers.split(","):
            yield name, group


def _below(mount: Path, root: str, group: str) -> Path:
    """A group's folder; a container sees its own root of the hierarchy, and perhaps names from outside."""
    inside = group[len(root) :] if root != "/" and (group + "/").startswith(root.rstrip("/") + "/") else group
    folder = mount / inside.lstrip("/")
    return folder if folder.is_dir() else mount


def parent_of(controllers: Sequence[str], by_controller: Mapping[str, Hierarchy]) -> Path | str:
    """The group below which one for controllers can be made, or why there is none, with the cure.

    Args:
        controllers: Of one hierarchy, at least one.
        by_controller: Where controllers are.
    """
    if missing := [name for name in controllers if name not in by_controller]:
        return f"this machine has no cgroup controller {missing[0]}; mount it, or give the container its /sys/fs/cgroup"
    hierarchy = by_controller[controllers[0]]
    candidates = [hierarchy.current]
    if hierarchy.version == 2:
        above = [
            hierarchy.current,
            *(folder for folder in hierarchy.current.parents if folder.is_relative_to(hierarchy.mount)),
        ]
        candidates = [folder for folder in above if {*controllers} <= {*_words(folder / "cgroup.subtree_control")}]
        if not candidates:
            passed_on = " ".join(f"+{name}" for name in controllers)
            return (
                f"no control group passes on the controllers {', '.join(controllers)}; as root: echo {passed_on} >"
                f" {hierarchy.mount}/cgroup.subtree_control"
            )
    writable = [folder for folder in candidates if os.access(folder, os.W_OK)]
    if not writable:
        return (
            f"{candidates[0]} is not writable for this user; run Plimsoll as root, or with a control group of its own"
            " (systemd-run --user --scope -p Delegate=yes; container: --privileged --cgroupns=host with"
            " -v /sys/fs/cgroup:/sys/fs/cgroup:rw)"
        )
    return writable[0]


def _parents(wanted: Iterable[str], by_controller: Mapping[str, Hierarchy]) -> dict[str, Path]:
    """Where each controller's group is made: with version 2 one for all of them, since a process is in one group only.

    CPUs can be held by affinity too, if a little less firmly: without a cpuset that is permitted they are left out.

    Raises:
        HostError: One that is needed cannot be used; the message begins with the key of the study file.
    """
    parents: dict[str, Path] = {}
    names = list(wanted)
    in_v2 = [name for name in names if name in by_controller and by_controller[name].version == 2]
    sets = [in_v2, *([name] for name in names if name not in in_v2)]
    for controllers in filter(None, sets):
        needed = [name for name in controllers if name != "cpuset"]
        if isinstance(parent := parent_of(controllers, by_controller), Path):
            parents |= dict.fromkeys(controllers, parent)
        elif needed and isinstance(parent := parent_of(needed, by_controller), Path):
            parents |= dict.fromkeys(needed, parent)
        elif needed:
            raise HostError(f"{_KEYS[needed[0]]}: {parent}")
    return parents


def planned_groups(
    name: str, share: Share, *, cpus: Sequence[int] | None, device: str | None, by_controller: Mapping[str, Hierarchy]
) -> tuple[Group, ...]:
    """The groups that set an instance's limits; CPUs only where a cpuset is permitted.

    Args:
        name: Of the instance's directory, and of its groups.
        share: What it may use.
        cpus: CPUs that it runs on; None for all.
        device: Number of the device with the data, `major:minor`; needed for I/O limits.
        by_controller: Where controllers are.

    Raises:
        HostError: A controller that is needed cannot be used; the message says what to do.
    """
    wanted = _wanted(share, cpus=cpus, device=device, by_controller=by_controller)
    by_path: dict[Path, list[tuple[str, str, str]]] = {}
    controllers: dict[Path, list[str]] = {}
    for controller, parent in _parents(wanted, by_controller).items():
        path = parent / OWN_FOLDER / name
        by_path.setdefault(path, []).extend(wanted[controller])
        controllers.setdefault(path, []).append(controller)
    return tuple(
        Group(path=path, settings=tuple(settings), above=_above(path, controllers[path], by_controller))
        for path, settings in by_path.items()
    )


def _wanted(
    share: Share, *, cpus: Sequence[int] | None, device: str | None, by_controller: Mapping[str, Hierarchy]
) -> dict[str, list[tuple[str, str, str]]]:
    """Files and contents by controller."""
    wanted: dict[str, list[tuple[str, str, str]]] = {}
    if cpus is not None and "cpuset" in by_controller:
        memory_nodes = _read(by_controller["cpuset"].current, "cpuset.effective_mems", "cpuset.mems")
        nodes = [("cpuset.mems", memory_nodes, "cpus")] if by_controller["cpuset"].version == 1 else []
        wanted["cpuset"] = [*nodes, ("cpuset.cpus", format_cpus(tuple(cpus)), "cpus")]
    if share.cpu_quota is not None:
        quota_us = round(share.cpu_quota * PERIOD_US)
        wanted["cpu"] = (
            [("cpu.cfs_period_us", str(PERIOD_US), "cpu_quota"), ("cpu.cfs_quota_us", str(quota_us), "cpu_quota")]
            if _is_v1("cpu", by_controller)
            else [("cpu.max", f"{quota_us} {PERIOD_US}", "cpu_quota")]
        )
    if share.memory_limit_bytes is not None:
        limit = str(share.memory_limit_bytes)
        files = (
            (("memory.limit_in_bytes", limit), ("memory.memsw.limit_in_bytes", limit))
            if _is_v1("memory", by_controller)
            else (("memory.max", limit), ("memory.swap.max", "0"))
        )
        wanted["memory"] = [(file, content, "memory_limit") for file, content in files]
    if share.io_limits:
        assert device is not None, "whoever limits I/O says of which device"
        wanted["io"] = (
            [(_IO_FILES_V1[name], f"{device} {value}", f"io_limits.{name}") for name, value in share.io_limits]
            if _is_v1("io", by_controller)
            else [
                ("io.max", f"{device} {IO_KEYS_V2[name]}={value}", f"io_limits.{name}")
                for name, value in share.io_limits
            ]
        )
    return wanted


def _is_v1(controller: str, by_controller: Mapping[str, Hierarchy]) -> bool:
    return controller in by_controller and by_controller[controller].version == 1


def _above(
    path: Path, controllers: Iterable[str], by_controller: Mapping[str, Hierarchy]
) -> tuple[tuple[str, str], ...]:
    """What Plimsoll's own folder needs: version 2 passes controllers on, cpusets of version 1 begin empty."""
    names = list(controllers)
    if by_controller[names[0]].version == 2:
        return (("cgroup.subtree_control", " ".join(f"+{name}" for name in names)),)
    if "cpuset" not in names:
        return ()
    parent = path.parent.parent
    return (
        ("cpuset.mems", _read(parent, "cpuset.effective_mems", "cpuset.mems")),
        ("cpuset.cpus", _read(parent, "cpuset.effective_cpus", "cpuset.cpus")),
    )


_OPTIONAL = {"memory.memsw.limit_in_bytes", "memory.swap.max"}  # absent where the kernel does not count swap


def make_group(group: Group) -> None:
    """Makes a group and sets its limits.

    Raises:
        HostError: The kernel refuses something; the message begins with the key of the study file.
    """
    try:
        for _ in range(3):  # another Plimsoll removes the folder when it was the last one in it
            group.path.parent.mkdir(mode=0o755, exist_ok=True)
            try:
                for file, content in group.above:
                    (group.path.parent / file).write_text(content, encoding="ascii")
                group.path.mkdir(mode=0o755)
                break
            except FileNotFoundError:
                continue
    except OSError as error:
        raise HostError(
            f"{group.settings[0][2]}: the control group {group.path} cannot be made: {os.strerror(error.errno or 0)}"
        ) from None
    for file, content, key in group.settings:
        if file in _OPTIONAL and not (group.path / file).exists():
            continue
        try:
            (group.path / file).write_text(content, encoding="ascii")
        except OSError as error:
            raise HostError(
                f"{key}: the kernel refuses {content} for {file} ({os.strerror(error.errno or 0)}); choose another"
                " value"
            ) from None


def make_groups(groups: Iterable[Group]) -> None:
    """Makes groups, all or none. Raises as `make_group`."""
    made: list[Path] = []
    try:
        for group in groups:
            made.append(group.path)
            make_group(group)
    except BaseException:
        for path in made:
            remove_group(path)
        raise


def _words(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="ascii", errors="replace").split()
    except OSError:
        return []


def _read(folder: Path, *names: str) -> str:
    """The first of some files that says something."""
    return next((words[0] for name in names if (words := _words(folder / name))), "0")
