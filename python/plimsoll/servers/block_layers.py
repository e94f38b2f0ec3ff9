"""What a block device is made of: md arrays, LVM and other device-mapper targets, down to the disks.

From /sys/class/block/NAME: `md` of arrays (kernel documentation, admin-guide/md), `dm` of device-mapper devices, whose
uuid begins with who made them (LVM-, CRYPT-, mpath-), and `slaves`, the devices below.

Deliberately not here: which device holds a path (`storage`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_LAYERS_MAX = 32
"""A stack of more is cut off: somebody may have made a loop of it."""

_MAKERS = {"LVM": "lvm", "CRYPT": "encrypted", "mpath": "multipath"}


def device_layers(device: str | None, sys: Path = Path("/sys")) -> tuple[str, ...]:
    """One line for each device that is made of others, the uppermost first; nothing for a plain disk.

    Args:
        device: The kernel's name, such as `md0`, `dm-1` or `vda1`.
        sys: Where the kernel shows devices; another folder in tests.
    """
    return () if device is None else tuple(dict.fromkeys(_lines(device, sys, set())))


def _lines(device: str, sys: Path, seen: set[str]) -> Iterator[str]:
    if device in seen or len(seen) >= _LAYERS_MAX:
        return
    seen.add(device)
    block = sys / "class/block" / device
    below = _names(block / "slaves")
    if not below and (parent := _disk_of(block)) is not None:
        yield from _lines(parent, sys, seen)  # a partition: what it is cut from may be an array
        return
    if level := _read(block / "md/level"):
        degraded = _read(block / "md/degraded")
        state = f", {degraded} missing" if degraded not in (None, "0") else ""
        yield f"{device}: {level} of {', '.join(below) or 'unknown members'}{state}"
    elif uuid := _read(block / "dm/uuid"):
        maker = _MAKERS.get(uuid.partition("-")[0], "device mapper")
        name = _read(block / "dm/name")
        yield f"{device}: {maker}{f' {name}' if name else ''} on {', '.join(below) or 'unknown devices'}"
    elif below:
        yield f"{device}: made of {', '.join(below)}"
    for one in below:
        yield from _lines(one, sys, seen)


def _disk_of(block: Path) -> str | None:
    """The disk that a partition is part of; None for a whole device."""
    if not (block / "partition").exists():
        return None
    try:
        return block.resolve(strict=True).parent.name
    except OSError:
        return None


def _names(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return []


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()[:200] or None
    except OSError:
        return None
