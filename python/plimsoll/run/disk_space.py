"""Whether everything that a study writes fits where it comes to lie, file system by file system.

Each path of a server counts where it is: data, redo log, binary logs, undo, temporary files, kept data; recordings too.
Deliberately not here: how large they are (`plan.disk`).
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from plimsoll.plan.build import recordings_bytes
from plimsoll.plan.disk import DiskPart, disk_parts
from plimsoll.servers.directory import default_base_dir, nearest_existing
from plimsoll.spec.study import StudySpec
from plimsoll.units import format_bytes

_CURES = {"data_dir": "load fewer rows", "--to": "record fewer trials"}
"""What else helps than another folder, by the key that says where."""


def missing_space(spec: StudySpec, folder: Path, trial_count: int) -> Iterator[str]:
    """A line for each file system that lacks space, with how much and what to do.

    Args:
        spec: What the user wrote.
        folder: Of the study.
        trial_count: How many trials will be recorded.
    """
    recordings = DiskPart("--to", "recordings", folder, recordings_bytes(spec, trial_count))
    for parts in _by_file_system([*_parts(spec), recordings]):
        wanted, free = sum(part.size_bytes for part in parts), _free_bytes(_place(parts[0]))
        if wanted > free:
            yield _fault(parts, wanted, free)


def _fault(parts: list[DiskPart], wanted: int, free: int) -> str:
    told = ", ".join(f"{format_bytes(one.size_bytes)} of {one.what} in {_place(one)}" for one in parts)
    keys = list(dict.fromkeys(one.key for one in sorted(parts, key=lambda one: -one.size_bytes)))
    cures = [f"choose another folder for one of them ({', '.join(keys)})"]
    cures += [cure for key, cure in _CURES.items() if key == keys[0]]
    return (
        f"the file system of {_place(parts[0])} lacks {format_bytes(wanted - free)}: about {format_bytes(wanted)} are"
        f" needed there and {format_bytes(free)} are free: {told}; free space, or {', or '.join(cures)}"
    )


def _parts(spec: StudySpec) -> Iterator[DiskPart]:
    """What all systems put on disk; parts of one kind in one folder are one."""
    sizes: dict[DiskPart, int] = defaultdict(int)
    for system in spec.system:
        if (server := system.server_here) is None:
            continue
        redo_dir = server.role_dirs.get("redo") or server.data_dir
        free = _free_bytes(Path(redo_dir) if redo_dir else default_base_dir())
        for part in disk_parts(spec, system, free):
            sizes[replace(part, size_bytes=0)] += part.size_bytes
    for part, size in sizes.items():
        yield replace(part, size_bytes=size)


def _by_file_system(parts: Iterable[DiskPart]) -> Iterable[list[DiskPart]]:
    found: dict[int, list[DiskPart]] = defaultdict(list)
    for part in parts:
        found[nearest_existing(_place(part)).stat().st_dev].append(part)
    return found.values()


def _place(part: DiskPart) -> Path:
    return part.folder or default_base_dir()


def _free_bytes(place: Path) -> int:
    return shutil.disk_usage(nearest_existing(place)).free
