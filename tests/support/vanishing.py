"""Looking at what may vanish meanwhile: files that others rename, control groups, processes and their threads.

What is gone is left out, or read as nothing. `Path.glob` and `Path.iterdir` raise in the middle of a walk instead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")


def names_in(folder: Path) -> list[str]:
    """What lies in a folder, by name; nothing once it is gone."""
    try:
        return os.listdir(folder)  # noqa: PTH208  (whole or not at all)
    except OSError:
        return []


def below(folder: Path) -> Iterator[Path]:
    """All that lies in a folder and in those below it."""
    for parent, folders, files in os.walk(folder):
        yield from (Path(parent, name) for name in (*folders, *files))


def content(path: Path) -> bytes:
    """Of a file; empty once it is gone, or for one that may not be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def link(path: Path) -> str:
    """Where a symbolic link leads, as the kernel names it; empty once it is gone."""
    try:
        return os.readlink(path)  # noqa: PTH115  (a path would lose what is no path, such as a socket)
    except OSError:
        return ""


def processes() -> list[int]:
    """All of this machine that this process can see."""
    return [int(name) for name in names_in(PROC) if name.isdecimal()]


def words_of(pid: int) -> list[bytes]:
    """A process' command line; empty once it is gone, and for one of the kernel."""
    return content(PROC / str(pid) / "cmdline").split(b"\0")[:-1]


def threads(pid: int) -> list[Path]:
    """Folders of a process' threads."""
    return [PROC / str(pid) / "task" / name for name in names_in(PROC / str(pid) / "task")]


def stat(folder: Path) -> list[str]:
    """Fields of `stat` of a process or thread from the third on, which is its state; empty once it is gone."""
    return content(folder / "stat").decode(errors="replace").rpartition(")")[2].split()


def children(pid: int) -> list[int]:
    """What a process began and is still there, oldest first; numbers of processes begin again at the last one.

    The kernel's own list of children may leave out some while others end.
    """
    looked = {child: stat(PROC / str(child)) for child in processes()}
    found = [(int(fields[19]), child) for child, fields in looked.items() if fields and int(fields[1]) == pid]
    return [child for _, child in sorted(found)]


def control_groups(parent: str) -> list[Path]:
    """Control groups of both versions that lie in a group of some name."""
    mounts = [line.split() for line in (PROC / "mounts").read_text().splitlines()]
    walks = [os.walk(mount[1]) for mount in mounts if mount[2] in ("cgroup", "cgroup2")]
    return [
        Path(folder, name)
        for walk in walks
        for folder, names, _ in walk
        if folder.endswith(f"/{parent}")
        for name in names
    ]
