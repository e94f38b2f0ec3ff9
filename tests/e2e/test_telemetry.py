"""Telemetry of real servers: what it sees of a known load, and what it does when the server stops answering."""

from __future__ import annotations

import os
import signal
import threading
import time

import polars as pl
import pytest

from plimsoll.hosts.local import telemetry_frame
from plimsoll.record.frames import TELEMETRY
from plimsoll.servers.control import connect
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.telemetry.sampler import Collector, matches
from plimsoll.telemetry.server_status import READ_LIMIT_S, ServerStatusSampler
from plimsoll.telemetry.server_waits import SummariesSampler, WaitsSampler
from plimsoll.telemetry.standard import SAMPLERS, WatchedInstance, trial_samplers
from support.servers import FLAVOURS, MYSQL_IN_ENDURE, StartServer, server_base, start_server
from support.waiting import until
from support.warned import faults_of

__all__ = ["server_base", "start_server"]
pytestmark = pytest.mark.e2e


def collector(server: ManagedServer) -> Collector:
    watched = WatchedInstance(name="one", target=server.socket_target, pid=server.pid, data_dir=server.directory.data)
    return Collector(trial_samplers(host="here", instances=[watched], client_pid=os.getpid()))


def values(frame: pl.DataFrame, metric: str) -> list[float]:
    return frame.filter(pl.col("metric") == metric)["value"].to_list()


class Taken:
    """All that a collector has sampled so far."""

    def __init__(self, watcher: Collector) -> None:
        self._watcher, self._frames = watcher, list[pl.DataFrame]()

    def frame(self) -> pl.DataFrame:
        self._frames.append(telemetry_frame(self._watcher.take(), driver="driver"))
        return pl.concat(self._frames)

    def values(self, metric: str) -> list[float]:
        return values(self.frame(), metric)

    def wait_for(self, metric: str, count: int) -> None:
        assert until(lambda: len(self.values(metric)) >= count, step_s=0.1), self._watcher.faults


def load(server: ManagedServer, stop: threading.Event) -> int:
    done = 0
    with connect(server.target) as control:
        control.rows("CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT, b CHAR(100)) ENGINE=InnoDB")
        while not stop.is_set():
            control.rows("INSERT INTO t (b) VALUES ('x')")
            control.rows("SELECT BENCHMARK(20000, SHA2('x', 256)), SLEEP(0.03)")
            done += 1
    return done


@pytest.mark.parametrize("flavour", MYSQL_IN_ENDURE)
def test_a_known_load_is_seen(flavour: str, start_server: StartServer) -> None:
    server = start_server(flavour)
    watcher, stop, done = collector(server), threading.Event(), [0]
    taken = Taken(watcher)
    watcher.start()
    taken.wait_for("server_cpu_ratio", 1)
    worker = threading.Thread(target=lambda: done.append(load(server, stop)))
    worker.start()

    def are_seen() -> bool:
        """Each fifth second it is asked how many there were."""
        inserts = taken.values("com_insert")
        return len(inserts) > 1 and inserts[-1] - inserts[0] > 10

    try:
        assert until(are_seen, step_s=0.1)
        taken.wait_for("cpu_user_ratio", 5)
    finally:
        stop.set()
        worker.join()
    watcher.stop()
    frame = taken.frame()

    assert faults_of(watcher.faults) == []
    assert frame.schema == pl.Schema(TELEMETRY)
    assert set(frame["source"]) == {"host", "process", "server", "device"}, "the performance schema is off"
    assert set(frame.filter(pl.col("source") == "host")["instance"]) == {""}
    assert set(frame.filter(pl.col("source") == "server")["instance"]) == {"one"}
    known = {pattern for sampler in SAMPLERS for pattern in sampler.metrics}
    unknown = {name for name in set(frame["metric"]) if not any(matches(name, pattern) for pattern in known)}
    assert unknown == set()

    inserts = values(frame, "com_insert")
    assert done[-1] >= inserts[-1] - inserts[0]
    before, *loaded = values(frame, "server_cpu_ratio")
    assert max(loaded) > before
    assert all(0 <= ratio <= 1.05 for ratio in values(frame, "server_cpu_ratio"))
    assert min(values(frame, "server_memory_bytes")) > 2**24
    shares = [values(frame, f"cpu_{mode}_ratio") for mode in ("user", "system", "iowait", "idle", "steal")]
    assert [sum(second) for second in zip(*shares, strict=True)] == pytest.approx([1.0] * len(shares[0]))
    steps = frame.filter(pl.col("metric") == "cpu_user_ratio")["unix_s"].diff().drop_nulls()
    assert steps.min() >= 0.5  # type: ignore[operator]


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_what_the_performance_schema_counts(flavour: str, start_server: StartServer) -> None:
    """Every commit flushes, and a row is waited for: both servers, with the performance schema on."""
    options = {"performance_schema": "ON", "innodb_flush_log_at_trx_commit": 1, "log_bin": "ON", "sync_binlog": 1}
    server = start_server(flavour, options=options)
    target = server.socket_target
    waits, summaries, status = WaitsSampler(target), SummariesSampler(target), ServerStatusSampler(target)
    with connect(server.target) as one, connect(server.target) as two:
        one.rows("CREATE TABLE t (a INT PRIMARY KEY, b INT) ENGINE=InnoDB")
        one.rows("INSERT INTO t VALUES (1, 1)")
        before = {sample.metric: sample.value for sampler in (waits, summaries) for sample in sampler.sample(0)}
        for _ in range(50):
            one.rows("UPDATE t SET b = b + 1")
        one.rows("BEGIN")
        one.rows("UPDATE t SET b = b + 1")
        waiting = threading.Thread(target=two.rows, args=("UPDATE t SET b = b + 1",))
        waiting.start()
        assert until(lambda: one.status()["innodb_row_lock_current_waits"] == "1")
        samples = []

        def a_waiter_is_seen() -> bool:
            """MariaDB renews what it answers once nobody has asked for 100 ms. Every 20th look is a slow one."""
            time.sleep(0.15)
            samples.extend(sampler.sample(float(at)) for sampler in (waits, summaries) for at in range(1, 21))
            return any("row_lock_waiters_sbtest.t" in {sample.metric for sample in some} for some in samples)

        assert until(a_waiter_is_seen)
        one.rows("COMMIT")
        waiting.join()
        state = {sample.metric: sample.value for sample in status.sample(0)}
    for sampler in (waits, summaries, status):
        sampler.close()
    after = {sample.metric: sample.value for some in samples for sample in some}
    risen = {metric: value - before.get(metric, 0.0) for metric, value in after.items()}

    assert risen["statement_sql.update_count"] == 51
    assert risen["wait_binlog_file_ms"] == pytest.approx(risen["wait_io.file.sql.binlog_ms"], rel=0.01)
    assert risen["wait_binlog_file_ms"] > 0.5
    assert risen["file_sql.binlog_other_count"] >= 50, "flushes"
    assert after["row_lock_waiters_sbtest.t"] == 1
    assert ("wait_redo_file_ms" in after) is (flavour == "mysql"), "MariaDB does not count its redo log"
    assert {"innodb_history_list_length", "innodb_checkpoint_age"} <= state.keys()


def test_a_server_that_stops_answering_or_ends_costs_only_its_own_rows(start_server: StartServer) -> None:
    """The connection of telemetry ends with it."""
    server = start_server("mariadb")
    told: list[str] = []
    watcher = collector(server)
    watcher._on_fault = told.append
    taken, of_server = Taken(watcher), "innodb_buffer_pool_pages_total"
    mine = "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'plimsoll'"
    with connect(server.socket_target) as control:
        assert until(lambda: control.value(mine) == 1)
        watcher.start()
        taken.wait_for(of_server, 1)
        os.kill(server.pid, signal.SIGSTOP)
        try:
            assert until(lambda: bool(told))
        finally:
            os.kill(server.pid, signal.SIGCONT)
        taken.wait_for(of_server, len(taken.values(of_server)) + 1)  # it comes back
        assert int(str(control.value(mine))) > 1, "telemetry has a connection of its own"
        watcher.stop()
        assert until(lambda: control.value(mine) == 1), "it ends with telemetry"
    frame = taken.frame()
    assert len([fault for fault in watcher.faults if fault.startswith("server: ")]) == 1
    assert tuple(told) == watcher.faults
    host = frame.filter(pl.col("metric") == "cpu_user_ratio")["unix_s"]
    answered = frame.filter(pl.col("metric") == of_server)["unix_s"]
    assert host.diff().drop_nulls().max() < READ_LIMIT_S  # type: ignore[operator]
    assert answered.diff().drop_nulls().max() > READ_LIMIT_S  # type: ignore[operator]
    check_that_the_end_of_a_server_is_no_end_of_telemetry(server)


def check_that_the_end_of_a_server_is_no_end_of_telemetry(server: ManagedServer) -> None:
    watcher = collector(server)
    taken = Taken(watcher)
    watcher.start()
    taken.wait_for("cpu_user_ratio", 1)
    server.stop()
    assert until(lambda: bool(watcher.faults))
    taken.wait_for("cpu_user_ratio", len(taken.values("cpu_user_ratio")) + 1)
    watcher.stop()
    assert {fault.split(":")[0] for fault in watcher.faults} == {"server"}
