"""Which disks are really below a path: of a partition its disk, of md and device-mapper devices their members.

Deliberately not here: what is known of a device (`storage`).
"""

from __future__ import annotations

from pathlib import Path

from plimsoll.servers.storage import data_device

_SYS = Path("/sys")


def disks_below(path: Path, *, sys: Path = _SYS) -> frozenset[str]:
    """Names of the disks that hold a path, such as `nvme0n1`; none where there is no device, as on tmpfs.

    A loop device counts as a disk of its own, since limits and file systems are its own.

    Args:
        path: An existing file or folder.
        sys: Where the kernel shows devices; another folder in tests.
    """
    device = data_device(path)
    return frozenset() if device is None else disks_of(device, sys=sys)


def disks_of(device: str, *, sys: Path = _SYS) -> frozenset[str]:
    """The same of a device, by the kernel's name of it."""
    block = (sys / "class/block" / device).resolve()
    try:
        members = sorted(one.name for one in (block / "slaves").iterdir())
    except OSError:
        members = []
    if members:
        return frozenset().union(*(disks_of(member, sys=sys) for member in members))
    return frozenset({block.parent.name if (block / "partition").exists() else device})
