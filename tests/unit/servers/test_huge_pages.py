"""Huge pages by a made-up /proc: how many are missing, and what a process has of them; disks below devices."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import HostError, TargetError
from plimsoll.servers.facts import huge_pages_bytes, huge_pages_fault
from plimsoll.servers.managed_server import MIB, pool_bytes_of, pool_options, wait_until_loaded
from plimsoll.servers.storage import disks_of


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "meminfo").write_text(
        "HugePages_Total:     100\nHugePages_Free:       60\nHugepagesize:       2048 kB\n"
    )
    (tmp_path / "7").mkdir()
    (tmp_path / "7/status").write_text("Name:\tmariadbd\nHugetlbPages:\t  8192 kB\n")
    return tmp_path


def test_enough_and_too_few(proc: Path) -> None:
    assert huge_pages_fault(100 * MIB, proc=proc) is None
    fault = huge_pages_fault(1024 * MIB, proc=proc)
    assert fault is not None
    assert "564 huge pages of 2.00 MiB are needed for 1.00 GiB of buffer pool, 60 are free" in fault
    assert fault.endswith("sysctl vm.nr_hugepages=604"), "the 40 that others use stay theirs"


def test_a_kernel_without_them(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 1 kB\n")
    assert "this kernel has no huge pages" in str(huge_pages_fault(1, proc=tmp_path))


def test_what_a_process_has(proc: Path) -> None:
    assert huge_pages_bytes(7, proc=proc) == 8 * MIB
    assert huge_pages_bytes(8, proc=proc) is None


def test_disks_below_partitions_and_volumes(tmp_path: Path) -> None:
    devices = tmp_path / "devices"
    (devices / "sda/sda1").mkdir(parents=True)
    (devices / "sda/sda1/partition").write_text("1\n")
    (devices / "nvme0n1").mkdir()
    (devices / "md0/slaves").mkdir(parents=True)
    (tmp_path / "class/block").mkdir(parents=True)
    for name, place in {"sda": "sda", "sda1": "sda/sda1", "nvme0n1": "nvme0n1", "md0": "md0"}.items():
        (tmp_path / "class/block" / name).symlink_to(devices / place)
    for member in ("sda1", "nvme0n1"):
        (devices / "md0/slaves" / member).symlink_to(tmp_path / "class/block" / member)
    assert disks_of("sda1", sys=tmp_path) == {"sda"}
    assert disks_of("md0", sys=tmp_path) == {"sda", "nvme0n1"}


def test_a_share_of_the_data_in_whole_chunks() -> None:
    for data_bytes, ratio in ((60 * MIB, 0.25), (10 * 2**30, 0.05), (7 * 2**40, 0.1)):
        options = pool_options(pool := pool_bytes_of(data_bytes, ratio))
        chunk = options["innodb_buffer_pool_chunk_size"]
        assert isinstance(chunk, int)
        assert pool % chunk == 0
        assert chunk % MIB == 0
        assert data_bytes * ratio - chunk < pool <= data_bytes * ratio
        assert pool // chunk <= 512
    with pytest.raises(HostError, match=r"pool_ratio: 0.05 of 100 MiB of data is 5.00 MiB, .* at least 8.00 MiB"):
        pool_bytes_of(100 * MIB, 0.05)


class Loading:
    """A server that says one thing after the other."""

    def __init__(self, *said: str) -> None:
        self._said = list(said)

    def rows(self, _statement: str, *_: object) -> list[tuple[object, ...]]:
        said = self._said.pop(0) if len(self._said) > 1 else self._said[0]
        return [("Innodb_buffer_pool_load_status", said)]

    def status(self) -> dict[str, str]:
        return {}


@pytest.mark.parametrize("last", ["Buffer pool(s) load completed at 260101", "Cannot open '/x/ib_buffer_pool'"])
def test_waits_until_the_pool_is_loaded(last: str) -> None:
    slept: list[float] = []
    wait_until_loaded(Loading("", "Loaded 1/2 pages", last), sleep=slept.append)
    assert len(slept) == 2
    with pytest.raises(TargetError, match="was not loaded within 0 s"):
        wait_until_loaded(Loading("Loaded 1/2 pages"), limit_s=0)
