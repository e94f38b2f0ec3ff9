"""A small file system of its own on a loop device: for tests of devices, shared blocks and full disks.

Needs root, the right to mount and the file system's tools; elsewhere the test is skipped with that reason. What is
mounted is unmounted at the end, and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_MAKE = {"xfs": ("mkfs.xfs", "-q", "-m", "reflink=1"), "btrfs": ("mkfs.btrfs", "-q"), "ext4": ("mkfs.ext4", "-q")}


@contextmanager
def mounted(folder: Path, file_system: str, size_mib: int) -> Iterator[Path]:
    """A mount point of a new file system, empty; the folder must not exist."""
    command = _MAKE[file_system]
    if os.geteuid() != 0 or shutil.which(command[0]) is None:
        pytest.skip(f"{file_system} on a loop device is not here: it needs root and {command[0]}")
    folder.mkdir(parents=True)
    image, place = folder / "image", folder / "mounted"
    with image.open("wb") as file:
        file.truncate(size_mib * 2**20)
    subprocess.run([*command, str(image)], check=True, capture_output=True)
    place.mkdir()
    done = subprocess.run(["mount", "-o", "loop", str(image), str(place)], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        shutil.rmtree(folder)
        pytest.skip(f"a loop device cannot be mounted here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)
        shutil.rmtree(folder)


@contextmanager
def filled(place: Path, left_bytes: int) -> Iterator[None]:
    """Takes the space of a file system but so much, and gives it back."""
    filler = place / f"filler-{left_bytes}"
    usage = os.statvfs(place)
    subprocess.run(["fallocate", "-l", str(usage.f_bavail * usage.f_frsize - left_bytes), str(filler)], check=True)
    try:
        yield
    finally:
        filler.unlink()


def leave_little(place: Path) -> None:
    """Fills a file system but for a few blocks, those that only root may use as well."""
    rest, usage = place / "rest", os.statvfs(place)
    with rest.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        if (most := usage.f_bavail * usage.f_frsize - 2**25) > 0:
            os.posix_fallocate(file.fileno(), 0, most)
            file.seek(most)
        while True:
            file.write(bytes(4096))
    os.truncate(rest, rest.stat().st_size - 16 * 1024)
