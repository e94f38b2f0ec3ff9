"""Where data lies, from made-up mount tables and device trees."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.servers.storage import block_device, find_mount, measure_flush, storage_facts

MOUNTS = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,discard
40 27 259:0 / /mnt/my\\040disk rw,noatime - xfs /dev/nvme0n1 rw,attr2
41 27 0:60 / /mnt/memory rw - tmpfs tmpfs rw
42 27 0:61 /sub /mnt/pool rw - btrfs /dev/sdb rw
43 41 0:62 / /mnt/memory rw - tmpfs second rw
broken line
"""


def made_up_machine(root: Path) -> tuple[Path, Path]:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mountinfo").write_text(MOUNTS)
    disk = root / "sys/devices/vda"
    (disk / "vda1").mkdir(parents=True)
    (disk / "queue").mkdir()
    (disk / "device").mkdir()
    (disk / "queue/rotational").write_text("0\n")
    (disk / "queue/scheduler").write_text("none [mq-deadline] kyber\n")
    (disk / "device/model").write_text("Fast One \n")
    for folder, name, to in (
        ("dev/block", "254:1", disk / "vda1"),
        ("class/block", "vda1", disk / "vda1"),
        ("class/block", "sdb", disk),
    ):
        (root / "sys" / folder).mkdir(parents=True, exist_ok=True)
        (root / "sys" / folder / name).symlink_to(to)
    return root / "proc", root / "sys"


@pytest.mark.parametrize(
    ("path", "file_system", "source"),
    [
        ("/var/tmp", "ext4", "/dev/vda1"),
        ("/mnt/my disk/data", "xfs", "/dev/nvme0n1"),
        ("/mnt/my disks", "ext4", "/dev/vda1"),
        ("/mnt/memory/x", "tmpfs", "second"),
        ("/proc", "proc", "proc"),
    ],
)
def test_the_longest_mount_point_holds_a_path(path: str, file_system: str, source: str) -> None:
    mount = find_mount(Path(path), MOUNTS)
    assert mount is not None
    assert (mount.file_system, mount.source) == (file_system, source)


def test_facts_of_a_partition_come_from_its_disk(tmp_path: Path) -> None:
    proc, sys = made_up_machine(tmp_path)
    facts = storage_facts(Path("/etc"), proc=proc, sys=sys)
    assert (facts.device, facts.device_model, facts.rotational) == ("vda1", "Fast One", False)
    assert (facts.scheduler, facts.file_system) == ("mq-deadline", "ext4")
    assert facts.mount_options == "rw,relatime,discard"
    assert facts.free_bytes is not None


def test_in_a_chroot_the_device_is_known_by_its_number(tmp_path: Path) -> None:
    proc, sys = made_up_machine(tmp_path)
    (proc / "self/mountinfo").write_text("22 27 0:21 / /proc rw,relatime - proc proc rw\n")
    number = tmp_path.stat().st_dev
    link = sys / f"dev/block/{os.major(number)}:{os.minor(number)}"
    link.unlink(missing_ok=True)
    link.symlink_to(sys / "devices/vda/vda1")
    facts = storage_facts(tmp_path, proc=proc, sys=sys)
    assert (facts.device, facts.file_system, facts.rotational) == ("vda1", None, False)


def test_file_systems_with_made_up_device_numbers_are_found_by_source(tmp_path: Path) -> None:
    _, sys = made_up_machine(tmp_path)
    pool, memory = find_mount(Path("/mnt/pool"), MOUNTS), find_mount(Path("/mnt/memory"), MOUNTS)
    assert pool is not None
    assert memory is not None
    assert block_device(pool, sys) == "sdb"
    assert block_device(memory, sys) is None


def test_a_device_that_may_not_be_looked_at_is_unknown(tmp_path: Path) -> None:
    _, sys = made_up_machine(tmp_path)
    mount, own = find_mount(Path("/etc"), MOUNTS), os.geteuid()
    assert mount is not None
    assert block_device(mount, sys) == "vda1"
    (sys / "dev/block").chmod(0)
    (sys / "class/block").chmod(0)
    try:
        if own == 0:
            os.seteuid(65534)
        assert block_device(mount, sys) is None
    finally:
        os.seteuid(own)
        (sys / "dev/block").chmod(0o755)
        (sys / "class/block").chmod(0o755)


def test_flush_is_timed_on_a_clock_of_milliseconds(tmp_path: Path) -> None:
    ticks = iter(range(10_000))
    times = measure_flush(tmp_path, limit_s=30, clock=lambda: float(next(ticks)))
    assert (times.ms_median, times.ms_min) == (1000.0, 1000.0)
    assert list(tmp_path.iterdir()) == []
    real = measure_flush(tmp_path, limit_s=0.1)
    assert 0 < real.ms_min <= real.ms_median < 10_000


def test_flush_leaves_no_file_behind_however_it_ends(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from plimsoll.servers.storage import measure_flush\n"
        "measure_flush(Path(sys.argv[1]), clock=lambda: os.kill(os.getpid(), signal.SIGKILL) or 0)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == -9
    assert list(tmp_path.iterdir()) == []


def test_flush_in_a_place_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="a write with flush failed"):
        measure_flush(tmp_path / "absent")
