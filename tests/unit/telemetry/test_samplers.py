"""Each sampler on a made-up /proc, with counters whose rates are known."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import TargetError
from plimsoll.servers.control import ControlConnection, Row
from plimsoll.spec.target import Target
from plimsoll.telemetry.device import DeviceSampler, busy_ratio, device_busy_ms
from plimsoll.telemetry.host import CpuSampler, MemorySampler, PressureSampler
from plimsoll.telemetry.process import ProcessSampler
from plimsoll.telemetry.sampler import Deltas, Sample
from plimsoll.telemetry.server_status import ServerStatusSampler


def named(samples: list[Sample]) -> dict[str, float]:
    assert len({sample.metric for sample in samples}) == len(samples)
    return {sample.metric: sample.value for sample in samples}


def write_stat(proc: Path, user: int, idle: int, *, ctxt: int = 0, cpu1: str = "0 0 0 0 0 0 0 0 0 0") -> None:
    proc.mkdir(exist_ok=True)
    (proc / "stat").write_text(
        f"cpu  {user} 10 20 {idle} 5 3 2 10 7 0\ncpu0 {user} 10 20 {idle} 5 3 2 10 7 0\ncpu1 {cpu1}\n"
        f"intr {ctxt * 2} 0 0 1\nctxt {ctxt}\nbtime 1\nprocesses 9\nprocs_running 3\nprocs_blocked 0\n"
    )


def test_cpu(tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    write_stat(proc, 100, 1000, ctxt=500)
    sampler = CpuSampler(proc)
    assert named(sampler.sample(10.0)) == {"runnable_count": 3.0, "blocked_count": 0.0}
    write_stat(proc, 130, 1070, ctxt=1500, cpu1="0 0 0 100 100 0 0 0 0 0")
    seen = named(sampler.sample(12.0))
    assert seen["cpu_user_ratio"] == pytest.approx(0.3)
    assert seen["cpu_idle_ratio"] == pytest.approx(0.7)
    assert seen["cpu_system_ratio"] == seen["cpu_iowait_ratio"] == seen["cpu_steal_ratio"] == 0
    assert seen["cpu0_busy_ratio"] == pytest.approx(0.3)
    assert seen["cpu1_busy_ratio"] == 0.0, "idle and waiting"
    assert (seen["cpu0_softirq_ratio"], seen["cpu1_softirq_ratio"]) == (0.0, 0.0)
    assert seen["context_switches_per_s"] == 500
    assert seen["interrupts_per_s"] == 1000


def test_every_column_of_cpu_time_has_its_mode(tmp_path: Path) -> None:
    modes = ["user", "user", "system", "idle", "iowait", "system", "system", "steal"]
    for column, mode in enumerate(modes):
        write_stat(tmp_path / "proc", 0, 0)
        sampler = CpuSampler(tmp_path / "proc")
        sampler.sample(0)
        fields = [0, 10, 20, 0, 5, 3, 2, 10, 7, 0]
        fields[column] += 50
        text = " ".join(map(str, fields))
        (tmp_path / "proc/stat").write_text(f"cpu  {text}\nintr 0\nctxt 0\nprocs_running 1\n")
        assert named(sampler.sample(1))[f"cpu_{mode}_ratio"] == 1.0, (column, mode)


def test_soft_interrupts_of_a_cpu(tmp_path: Path) -> None:
    write_stat(tmp_path / "proc", 0, 0)
    sampler = CpuSampler(tmp_path / "proc")
    sampler.sample(0)
    write_stat(tmp_path / "proc", 0, 0, cpu1="30 0 0 30 0 0 40 0 0 0")
    assert named(sampler.sample(1))["cpu1_softirq_ratio"] == 0.4


@given(st.lists(st.tuples(*[st.integers(0, 10**6)] * 10), min_size=2, max_size=5))
def test_cpu_shares_add_up_to_one(tmp_path_factory: pytest.TempPathFactory, ticks: list[tuple[int, ...]]) -> None:
    """Whatever the counters do, falling back included, shares are shares."""
    proc = tmp_path_factory.mktemp("proc")
    sampler = CpuSampler(proc)
    for second, fields in enumerate(ticks):
        (proc / "stat").write_text(f"cpu  {' '.join(map(str, fields))}\nintr 0\nctxt 0\nprocs_running 1\n")
        shares = [value for name, value in named(sampler.sample(float(second))).items() if name.endswith("_ratio")]
        assert all(0 <= share <= 1 for share in shares)
        assert not shares or sum(shares) == pytest.approx(1.0)


def test_memory(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text(
        "MemTotal: 1000 kB\nMemAvailable: 600 kB\nBuffers: 10 kB\nCached: 300 kB\nShmem: 50 kB\nDirty: 7 kB\n"
        "SwapTotal: 100 kB\nSwapFree: 60 kB\nHugePages_Total: 0\n"
    )
    assert named(MemorySampler(tmp_path).sample(0)) == {
        "memory_available_bytes": 600 * 1024,
        "page_cache_bytes": 260 * 1024,
        "dirty_bytes": 7 * 1024,
        "swap_used_bytes": 40 * 1024,
    }


def test_pressure(tmp_path: Path) -> None:
    folder = tmp_path / "pressure"
    folder.mkdir()

    def write(some: int, full: int) -> None:
        for resource in ("cpu", "io", "memory"):
            lines = [
                f"{kind} avg10=1.00 avg60=0.00 avg300=0.00 total={n}" for kind, n in (("some", some), ("full", full))
            ]
            (folder / resource).write_text("\n".join(lines) + "\n")

    sampler = PressureSampler(tmp_path)
    write(1000, 0)
    assert sampler.sample(1.0) == []
    write(501_000, 9_000_000)
    assert named(sampler.sample(2.0)) == {
        "pressure_cpu_some_ratio": 0.5,
        "pressure_io_some_ratio": 0.5,
        "pressure_io_full_ratio": 1.0,
        "pressure_memory_some_ratio": 0.5,
        "pressure_memory_full_ratio": 1.0,
    }


def test_no_pressure_information(tmp_path: Path) -> None:
    sampler = PressureSampler(tmp_path)
    assert sampler.sample(1.0) == sampler.sample(2.0) == []


def disk_line(reads: int, read_sectors: int, writes: int, sectors: int, busy_ms: int, queued: int, flushes: int) -> str:
    return f" 254 0 vda {reads} 0 {read_sectors} 0 {writes} 0 {sectors} 0 0 {busy_ms} {queued} 0 0 0 0 {flushes} 1\n"


def test_device(tmp_path: Path) -> None:
    other = " 254 1 vda1 999999 0 9 0 9 0 9 0 0 9 9\n"
    (tmp_path / "diskstats").write_text(other + disk_line(10, 80, 20, 160, 1000, 5000, 3))
    sampler = DeviceSampler("vda", tmp_path)
    assert sampler.sample(1.0) == []
    (tmp_path / "diskstats").write_text(other + disk_line(30, 480, 120, 2160, 2000, 9000, 103))
    assert named(sampler.sample(3.0)) == {
        "read_bytes_per_s": 400 * 512 / 2,
        "write_bytes_per_s": 2000 * 512 / 2,
        "read_per_s": 10.0,
        "write_per_s": 50.0,
        "busy_ratio": 0.5,
        "queue_length_mean": 2.0,
        "flush_per_s": 50.0,
        "read_ms_mean": 0.0,
        "write_ms_mean": 0.0,
        "flush_ms_mean": 0.0,
    }
    with pytest.raises(LookupError, match="has no device sdz"):
        DeviceSampler("sdz", tmp_path).sample(0.0)


def test_how_busy_a_device_was_since_last_asked(tmp_path: Path) -> None:
    clock = iter([1.0, 2.0])
    (tmp_path / "diskstats").write_text(disk_line(0, 0, 0, 0, 0, 0, 0))
    ask = busy_ratio(lambda: device_busy_ms("vda", tmp_path), lambda: next(clock))
    assert ask() is None
    (tmp_path / "diskstats").write_text(disk_line(0, 0, 0, 0, 250, 0, 0))
    assert ask() == 0.25


def write_process(
    proc: Path, pid: int, utime: int, stime: int, *, rss: int = 10, children: str = "", state: str = "S"
) -> None:
    (proc / f"{pid}/task/{pid}").mkdir(parents=True, exist_ok=True)
    (proc / f"{pid}/task/{pid}/children").write_text(children)
    fields = [state, *["0"] * 10, str(utime), str(stime), *["0"] * 4, "5", "0", "777", "0", str(rss), *["0"] * 20]
    (proc / f"{pid}/stat").write_text(f"{pid} (a (strange) name) {' '.join(fields)}\n")


def test_process_and_its_children(tmp_path: Path) -> None:
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    (tmp_path / "stat").write_text("cpu  0\ncpu0 0\ncpu1 0\nctxt 1\n")
    write_process(tmp_path, 7, 100, 50, children="8 ")
    write_process(tmp_path, 8, 10, 10, rss=5)
    sampler = ProcessSampler("server", 7, tmp_path)
    assert named(sampler.sample(1.0)) == {"server_memory_bytes": 15.0 * page, "server_threads_count": 10.0}
    write_process(tmp_path, 7, 100 + ticks, 50, children="8 9 ")
    write_process(tmp_path, 8, 10, 10 + ticks)
    write_process(tmp_path, 9, 100_000, 0)
    seen = named(sampler.sample(3.0))
    assert seen["server_cpu_user_s_per_s"] == 0.5, "the child that is new has no rise yet"
    assert seen["server_cpu_system_s_per_s"] == 0.5
    assert seen["server_cpu_ratio"] == 0.5, "one of two CPUs"


@pytest.mark.parametrize("state", ["Z", "X", ""])
def test_a_process_that_has_ended(tmp_path: Path, state: str) -> None:
    (tmp_path / "stat").write_text("cpu  0\ncpu0 0\n")
    if state:
        write_process(tmp_path, 7, 1, 1, state=state)
    with pytest.raises(ProcessLookupError, match="the client process 7 has ended"):
        ProcessSampler("client", 7, tmp_path).sample(0.0)


class FakeControl(ControlConnection):
    """Answers with rows, or fails once they are used up."""

    def __init__(self, answers: list[list[Row]]) -> None:
        self.answers = answers
        self.closed = False

    def rows(self, statement: str, *arguments: object, columns: int = 1) -> list[Row]:
        if not self.answers:
            raise TargetError("gone", code=2013)
        return self.answers.pop(0)

    def close(self) -> None:
        self.closed = True


def test_server_status_keeps_numbers_and_comes_back() -> None:
    target = Target(user="u", database="d", host="h")
    history = ("Innodb_history_list_length", "4")
    first = FakeControl([[("Com_select", "7"), ("Innodb_have_x", "ON"), ("Innodb_row_lock_time_avg", "1.5"), history]])
    second = FakeControl([[("Com_select", "9"), ("Innodb_x", "inf"), ("Innodb_y", "nan"), history]])
    opened = iter([first, second])
    sampler = ServerStatusSampler(target, open_connection=lambda _: next(opened))
    assert named(sampler.sample(1.0)) == {
        "com_select": 7.0,
        "innodb_row_lock_time_avg": 1.5,
        "innodb_history_list_length": 4.0,
    }
    with pytest.raises(TargetError):
        sampler.sample(2.0)
    assert first.closed
    assert sampler.sample(2.5) == [], "not asked again at once"
    assert named(sampler.sample(3.1)) == {"com_select": 9.0, "innodb_history_list_length": 4.0}
    sampler.close()
    assert second.closed


def test_history_and_checkpoint_age_of_mysql() -> None:
    """It has no status variables for them."""
    lsn = [("Innodb_redo_log_current_lsn", "5000"), ("Innodb_redo_log_checkpoint_lsn", "1200")]
    control = FakeControl([lsn, [("trx_rseg_history_len", 17)], lsn, [("trx_rseg_history_len", 18)]])
    sampler = ServerStatusSampler(Target(user="u", database="d", host="h"), open_connection=lambda _: control)
    for history in (17.0, 18.0):
        seen = named(sampler.sample(history))
        assert (seen["innodb_history_list_length"], seen["innodb_checkpoint_age"]) == (history, 3800.0)


def test_a_history_that_may_not_be_read_is_asked_for_once() -> None:
    class Denying(FakeControl):
        def rows(self, statement: str, *arguments: object, columns: int = 1) -> list[Row]:
            if "innodb_metrics" in statement:
                self.answers.append([("asked", 1)])
                raise TargetError("denied", code=1227)
            return [("Innodb_log_waits", "1")]

    control = Denying([])
    sampler = ServerStatusSampler(Target(user="u", database="d", host="h"), open_connection=lambda _: control)
    assert [named(sampler.sample(float(at))) for at in range(3)] == [{"innodb_log_waits": 1.0}] * 3
    assert len(control.answers) == 1


def test_variables_beside_those_of_innodb_each_fifth_second() -> None:
    asked: list[str] = []

    class Noting(FakeControl):
        def rows(self, statement: str, *arguments: object, columns: int = 1) -> list[Row]:
            asked.append(statement)
            return [("Innodb_history_list_length", "1")]

    sampler = ServerStatusSampler(Target(user="u", database="d", host="h"), open_connection=lambda _: Noting([]))
    for at in range(11):
        sampler.sample(float(at))
    assert [place for place, one in enumerate(asked) if "com_" in one] == [0, 5, 10]


def test_server_status_asks_ever_less_often() -> None:
    tries: list[float] = []

    def refuse(_: Target) -> ControlConnection:
        raise TargetError("refused", code=2003)

    sampler = ServerStatusSampler(Target(user="u", database="d", host="h"), open_connection=refuse)
    for second in range(40):
        try:
            sampler.sample(float(second))
        except TargetError:
            tries.append(second)
    assert tries == [0, 1, 3, 8, 18, 28, 38]


def test_deltas() -> None:
    deltas = Deltas()
    assert deltas.rise(1.0, {"a": 5.0}) is None
    assert deltas.rise(3.0, {"a": 9.0, "b": 1.0}) == (2.0, {"a": 4.0})
    assert deltas.rise(4.0, {"a": 2.0, "b": 2.0}) == (1.0, {"a": 0.0, "b": 1.0})
    assert deltas.rise(4.0, {"a": 3.0}) is None
