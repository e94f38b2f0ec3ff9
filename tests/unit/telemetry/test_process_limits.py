"""What the server asks of storage, what its control group is stopped for, and the run queue: from made-up folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.telemetry.host import PressureSampler, RunQueueSampler
from plimsoll.telemetry.process import CgroupSampler, ProcessIoSampler
from plimsoll.telemetry.sampler import Sample


def named(samples: list[Sample]) -> dict[str, float]:
    return {sample.metric: sample.value for sample in samples}


def test_what_the_server_asks_of_storage(tmp_path: Path) -> None:
    def write(bytes_written: int, calls: int) -> None:
        (tmp_path / "7").mkdir(exist_ok=True)
        (tmp_path / "7/io").write_text(
            f"rchar: 9\nwchar: 9\nsyscr: 0\nsyscw: {calls}\nread_bytes: 0\nwrite_bytes: {bytes_written}\n"
        )

    write(0, 10)
    sampler = ProcessIoSampler(7, tmp_path)
    assert sampler.sample(1.0) == []
    write(8192, 14)
    assert named(sampler.sample(3.0)) == {
        "server_storage_read_bytes_per_s": 0.0,
        "server_storage_write_bytes_per_s": 4096.0,
        "server_read_calls_per_s": 0.0,
        "server_write_calls_per_s": 2.0,
    }
    with pytest.raises(ProcessLookupError):
        ProcessIoSampler(8, tmp_path).sample(0.0)


def test_of_this_process_as_the_kernel_says_it(tmp_path: Path) -> None:
    sampler = ProcessIoSampler(os.getpid())
    sampler.sample(0.0)
    with (tmp_path / "file").open("wb") as file:
        file.write(os.urandom(2**20))
        os.fsync(file.fileno())
    assert named(sampler.sample(1.0))["server_storage_write_bytes_per_s"] >= 2**20


def groups(root: Path, version: int, **stat: int) -> tuple[Path, Path]:
    """A process 7 in the group /a/b, of which /a has the quota: (proc, cgroups)."""
    proc, base = root / "proc", root / "cgroup" / ("" if version == 2 else "cpu,cpuacct")
    (base / "a/b").mkdir(parents=True, exist_ok=True)
    (proc / "7").mkdir(parents=True, exist_ok=True)
    (proc / "7/cgroup").write_text("0::/a/b\n" if version == 2 else "5:memory:/x\n4:cpu,cpuacct:/a/b\n0::/\n")
    (base / "a/cpu.max" if version == 2 else base / "a/cpu.cfs_quota_us").write_text(
        "50000 100000\n"[: None if version == 2 else 5]
    )
    (base / "a/b/cpu.max" if version == 2 else base / "a/b/cpu.cfs_quota_us").write_text(
        "max 100000\n" if version == 2 else "-1\n"
    )
    (base / "a/cpu.stat").write_text("".join(f"{name} {value}\n" for name, value in stat.items()))
    (base / "a/b/cpu.stat").write_text("nr_periods 0\nnr_throttled 0\n")
    return proc, root / "cgroup"


@pytest.mark.parametrize(("version", "name", "second"), [(2, "throttled_usec", 10**6), (1, "throttled_time", 10**9)])
def test_a_quota_of_a_group_above_the_server(tmp_path: Path, version: int, name: str, second: int) -> None:
    groups(tmp_path, version, nr_periods=100, nr_throttled=10, **{name: second})
    sampler = CgroupSampler(7, tmp_path / "proc", tmp_path / "cgroup")
    assert sampler.sample(1.0) == []
    groups(tmp_path, version, nr_periods=120, nr_throttled=15, **{name: 2 * second})
    assert named(sampler.sample(3.0)) == {"server_throttled_s_per_s": 0.5, "server_throttled_periods_ratio": 0.25}


def test_how_much_of_a_quota_is_used(tmp_path: Path) -> None:
    """The quota is half a CPU; 0.9 s of it in 2 s are nine tenths. Version 1 counts use apart, in nanoseconds."""
    groups(tmp_path / "2", 2, nr_periods=0, usage_usec=10**6)
    groups(tmp_path / "1", 1, nr_periods=0)
    usage = tmp_path / "1/cgroup/cpu,cpuacct/a/cpuacct.usage"
    usage.write_text("1000000000\n")
    (usage.parent / "cpu.cfs_period_us").write_text("200000\n")
    samplers = [CgroupSampler(7, tmp_path / name / "proc", tmp_path / name / "cgroup") for name in ("2", "1")]
    assert [sampler.sample(1.0) for sampler in samplers] == [[], []]
    groups(tmp_path / "2", 2, nr_periods=0, usage_usec=1_900_000)
    usage.write_text("1225000000\n")
    assert [named(sampler.sample(3.0))["server_quota_used_ratio"] for sampler in samplers] == pytest.approx([0.9, 0.45])


def test_without_a_quota_nothing_is_looked_at(tmp_path: Path) -> None:
    groups(tmp_path, 2, nr_periods=1, nr_throttled=0, throttled_usec=0)
    (tmp_path / "cgroup/a/cpu.max").write_text("max 100000\n")
    sampler = CgroupSampler(7, tmp_path / "proc", tmp_path / "cgroup")
    assert sampler.sample(1.0) == sampler.sample(2.0) == []
    assert CgroupSampler(9, tmp_path / "proc", tmp_path / "cgroup").sample(1.0) == []


def test_a_group_that_is_removed_is_told(tmp_path: Path) -> None:
    proc, cgroups = groups(tmp_path, 2, nr_periods=1, nr_throttled=0, throttled_usec=0)
    sampler = CgroupSampler(7, proc, cgroups)
    sampler.sample(1.0)
    (cgroups / "a/cpu.stat").unlink()
    with pytest.raises(OSError, match=r"cpu\.stat"):
        sampler.sample(2.0)


def test_run_queue(tmp_path: Path) -> None:
    def write(waited_ns: int) -> None:
        cpus = "".join(f"cpu{cpu} 0 0 1 1 1 1 5 {waited_ns} 9\ndomain0 3 1 2 3\n" for cpu in range(2))
        (tmp_path / "schedstat").write_text(f"version 17\ntimestamp 1\n{cpus}")

    assert RunQueueSampler(tmp_path).sample(0.0) == [], "a kernel without it"
    write(0)
    sampler = RunQueueSampler(tmp_path)
    assert sampler.sample(0.0) == []
    write(3 * 10**9)
    assert named(sampler.sample(2.0)) == {"run_queue_mean": 3.0}


def test_pressure_that_vanishes_is_told(tmp_path: Path) -> None:
    (tmp_path / "pressure").mkdir()
    (tmp_path / "pressure/cpu").write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
    sampler = PressureSampler(tmp_path)
    sampler.sample(0.0)
    (tmp_path / "pressure/cpu").unlink()
    with pytest.raises(OSError, match="cpu"):
        sampler.sample(1.0)
