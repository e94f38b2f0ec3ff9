"""Where data lies: file system, device, the disks below it, free space, and how long the device takes to flush a write.

What a block device is made of comes from /sys/class/block/NAME: `md` of arrays (kernel documentation, admin-guide/md),
`dm` of device-mapper devices, whose uuid begins with who made them (LVM-, CRYPT-, mpath-), and `slaves`, the devices
below. Deliberately not here: the storage's limits, which fio measures, and its use over time (package `telemetry`).
"""

from __future__ import annotations

import os
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import HostError
from plimsoll.record.environment import StorageFacts
from plimsoll.units import parse_whole

_WRITE_BYTES = 512


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of /proc/self/mountinfo.

    Attributes:
        device_number: `major:minor`, as /sys/dev/block names it.
    """

    device_number: str
    mount_point: str
    file_system: str
    options: str
    source: str


def storage_facts(path: Path, *, proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> StorageFacts:
    """What can be found out about the storage below a path without writing to it.

    Args:
        path: An existing file or directory.
        proc: Where the kernel shows processes; another folder in tests.
        sys: Where the kernel shows devices; another folder in tests.
    """
    resolved = path.resolve()
    mount = find_mount(resolved, (proc / "self/mountinfo").read_text(encoding="utf-8", errors="replace"))
    device = block_device(mount, sys) if mount else _device_by_number(resolved, sys)
    queue = _queue_folder(sys, device)
    usage = os.statvfs(resolved)
    rotational = _read(queue / "rotational")
    return StorageFacts(
        path=str(resolved),
        file_system=mount.file_system if mount else None,
        mount_options=mount.options if mount else None,
        device=device,
        device_model=_read(queue.parent / "device/model"),
        rotational=None if rotational is None else rotational == "1",
        scheduler=_chosen(_read(queue / "scheduler")),
        free_bytes=usage.f_bavail * usage.f_frsize,
        write_cache=_read(queue / "write_cache"),
        queue_requests=parse_whole(_read(queue / "nr_requests") or ""),
        layers=device_layers(device, sys),
    )


def find_mount(path: Path, mountinfo: str) -> Mount | None:
    """The mount that holds a path: the longest mount point above it, the last one where mounts hide each other."""
    best: Mount | None = None
    for line in mountinfo.splitlines():
        mount = _parse_mount(line)
        if mount is None or not path.is_relative_to(mount.mount_point):
            continue
        if best is None or len(mount.mount_point) >= len(best.mount_point):
            best = mount
    return best


def block_device(mount: Mount, sys: Path = Path("/sys")) -> str | None:
    """The kernel's name of the device below a mount, such as `vda` or `nvme0n1p2`; None where there is none.

    Btrfs and the like have device numbers of their own, so the source of the mount is the second guess.
    """
    by_number = _name_behind(sys / "dev/block" / mount.device_number)
    if by_number is not None or not mount.source.startswith("/dev/"):
        return by_number
    name = Path(mount.source).resolve().name
    return None if _name_behind(sys / "class/block" / name) is None else name


def _device_by_number(path: Path, sys: Path) -> str | None:
    """The device of a path that lies below no mount we can see, as in a chroot, by the number the kernel gives."""
    number = path.stat().st_dev
    return _name_behind(sys / f"dev/block/{os.major(number)}:{os.minor(number)}")


def _name_behind(link: Path) -> str | None:
    """What a link of the kernel leads to; None without one, or where it may not be read, as podman hides some."""
    try:
        return link.resolve(strict=True).name
    except OSError:
        return None


def data_device(path: Path) -> str | None:
    """The kernel's name of the device that holds a path; None where there is none, such as on tmpfs."""
    return storage_facts(path).device


@dataclass(frozen=True, slots=True)
class FlushTimes:
    """How long small writes took until the device said that they are durable.

    Attributes:
        ms_median: What a commit has to expect; other load on the device counts.
        ms_min: What the device can do; hardly depends on other load, so that sizes that follow from it stay the same.
    """

    ms_median: float
    ms_min: float


def measure_flush(
    directory: Path, *, limit_s: float = 1.0, clock: Callable[[], float] = time.perf_counter
) -> FlushTimes:
    """Times small writes with flush in a directory.

    512 bytes are appended to a file of their own and followed by fdatasync, as a redo log does at commit, for at most
    `limit_s` and at most 200 times, at least 5 times.

    Raises:
        HostError: The directory cannot be written to.
    """
    durations_s: list[float] = []
    try:
        with tempfile.TemporaryFile(dir=directory) as file:  # without a name: nothing is left of it, whatever ends us
            block, began_s = os.urandom(_WRITE_BYTES), clock()
            while len(durations_s) < 5 or (len(durations_s) < 200 and clock() - began_s < limit_s):
                sent_s = clock()
                os.write(file.fileno(), block)
                os.fdatasync(file.fileno())
                durations_s.append(clock() - sent_s)
    except OSError as error:
        raise HostError(f"{directory}: a write with flush failed: {error.strerror}; choose another data_dir") from None
    return FlushTimes(statistics.median(durations_s) * 1000, min(durations_s) * 1000)


def _parse_mount(line: str) -> Mount | None:
    """`36 35 98:0 /root /mnt rw,noatime shared:1 - ext3 /dev/root rw,errors=continue` (proc(5))."""
    left, separator, right = line.partition(" - ")
    first, last = left.split(), right.split()
    if not separator or len(first) < 6 or len(last) < 2:
        return None
    options = dict.fromkeys([*first[5].split(","), *(last[2].split(",") if len(last) > 2 else [])])
    return Mount(first[2], _unescape(first[4]), last[0], ",".join(options), _unescape(last[1]))


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _queue_folder(sys: Path, device: str | None) -> Path:
    """The folder of a device's queue; a partition has none of its own but its disk's."""
    if device is None:
        return Path("/nonexistent/queue")
    block = (sys / "class/block" / device).resolve()
    return (block if os.access(block / "queue", os.F_OK) else block.parent) / "queue"


def _chosen(text: str | None) -> str | None:
    """`none [mq-deadline] kyber` says that mq-deadline is in force."""
    match = re.search(r"\[([^\]]+)\]", text or "")
    return match[1] if match else text


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


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
    if level := _read_layer(block / "md/level"):
        degraded = _read_layer(block / "md/degraded")
        state = f", {degraded} missing" if degraded not in (None, "0") else ""
        yield f"{device}: {level} of {', '.join(below) or 'unknown members'}{state}"
    elif uuid := _read_layer(block / "dm/uuid"):
        maker = _MAKERS.get(uuid.partition("-")[0], "device mapper")
        name = _read_layer(block / "dm/name")
        yield f"{device}: {maker}{f' {name}' if name else ''} on {', '.join(below) or 'unknown devices'}"
    elif below:
        yield f"{device}: made of {', '.join(below)}"
    for member in below:
        yield from _lines(member, sys, seen)


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


def _read_layer(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()[:200] or None
    except OSError:
        return None


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
        members = sorted(path.name for path in (block / "slaves").iterdir())
    except OSError:
        members = []
    if members:
        return frozenset().union(*(disks_of(member, sys=sys) for member in members))
    return frozenset({block.parent.name if (block / "partition").exists() else device})
