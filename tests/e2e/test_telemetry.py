"""Telemetry of real servers: what it sees of a known load, and what it does when the server stops answering."""

from __future__ import annotations

import os
import signal
import threading
import time

import polars as pl
import pytest

from plimsoll.record.frames import TELEMETRY
from plimsoll.servers.control import connect
from plimsoll.servers.managed import ManagedServer
from plimsoll.telemetry.collector import Collector
from plimsoll.telemetry.sampler import matches
from plimsoll.telemetry.standard import SAMPLERS, WatchedInstance, trial_samplers
from support.servers import FLAVOURS, StartServer, server_base, start_server
from support.waiting import until

__all__ = ["server_base", "start_server"]
pytestmark = pytest.mark.e2e


def collector(server: ManagedServer) -> Collector:
    watched = WatchedInstance(name="one", target=server.socket_target, pid=server.pid, data_dir=server.directory.data)
    return Collector(trial_samplers(host="here", instances=[watched], client_pid=os.getpid()), driver="driver")


def values(frame: pl.DataFrame, metric: str) -> list[float]:
    return frame.filter(pl.col("metric") == metric)["value"].to_list()


def load(server: ManagedServer, stop: threading.Event) -> int:
    done = 0
    with connect(server.target) as control:
        control.rows("CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT, b CHAR(100)) ENGINE=InnoDB")
        while not stop.is_set():
            control.rows("INSERT INTO t (b) VALUES ('x')")
            control.rows("SELECT BENCHMARK(100000, SHA2('x', 256))")
            done += 1
    return done


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_known_load_is_seen(flavour: str, start_server: StartServer) -> None:
    server = start_server(flavour)
    watcher, stop, done = collector(server), threading.Event(), [0]
    watcher.start()
    time.sleep(1.2)
    worker = threading.Thread(target=lambda: done.append(load(server, stop)))
    worker.start()
    time.sleep(4)
    stop.set()
    worker.join()
    time.sleep(2.2)
    watcher.stop()
    frame = watcher.take()

    assert watcher.faults == ()
    assert frame.schema == pl.Schema(TELEMETRY)
    assert set(frame["source"]) == {"host", "process", "server", "device"}
    assert set(frame.filter(pl.col("source") == "host")["instance"]) == {""}
    assert set(frame.filter(pl.col("source") == "server")["instance"]) == {"one"}
    known = {pattern for sampler in SAMPLERS for pattern in sampler.metrics}
    unknown = {name for name in set(frame["metric"]) if not any(matches(name, pattern) for pattern in known)}
    assert unknown == set()

    inserts = values(frame, "com_insert")
    assert inserts[-1] - inserts[0] == done[-1] > 10
    assert max(values(frame, "server_cpu_ratio")) > 0.1
    assert all(0 <= ratio <= 1.05 for ratio in values(frame, "server_cpu_ratio"))
    assert min(values(frame, "server_memory_bytes")) > 2**24
    shares = [values(frame, f"cpu_{mode}_ratio") for mode in ("user", "system", "iowait", "idle", "steal")]
    assert [sum(second) for second in zip(*shares, strict=True)] == pytest.approx([1.0] * len(shares[0]))
    assert len(shares[0]) >= 5
    steps = frame.filter(pl.col("metric") == "cpu_user_ratio")["unix_s"].diff().drop_nulls()
    assert steps.min() >= 0.5  # type: ignore[operator]


def test_a_server_that_stops_answering_costs_only_its_own_rows(start_server: StartServer) -> None:
    server = start_server("mariadb")
    told: list[str] = []
    watcher = collector(server)
    watcher._on_fault = told.append
    watcher.start()
    time.sleep(1.5)
    os.kill(server.pid, signal.SIGSTOP)
    time.sleep(4)
    os.kill(server.pid, signal.SIGCONT)
    time.sleep(4)
    watcher.stop()
    frame = watcher.take()
    assert len([fault for fault in watcher.faults if fault.startswith("server: ")]) == 1
    assert tuple(told) == watcher.faults
    host = frame.filter(pl.col("metric") == "cpu_user_ratio")["unix_s"]
    answered = frame.filter(pl.col("metric") == "threads_connected")["unix_s"]
    assert host.diff().drop_nulls().max() < 3.5  # type: ignore[operator]
    assert answered.diff().drop_nulls().max() > 3.5  # type: ignore[operator]
    assert answered.max() > host.max() - 3  # type: ignore[operator]  # it came back


def test_a_server_that_ends_does_not_end_telemetry(start_server: StartServer) -> None:
    server = start_server("mariadb")
    watcher = collector(server)
    watcher.start()
    time.sleep(1.2)
    server.stop()
    time.sleep(2.5)
    watcher.stop()
    frame = watcher.take()
    assert {fault.split(":")[0] for fault in watcher.faults} == {"server"}
    assert len(values(frame, "cpu_user_ratio")) >= 2


def test_the_collectors_connection_ends_with_it(start_server: StartServer) -> None:
    server = start_server("mariadb")
    watcher = collector(server)
    watcher.start()
    time.sleep(1.0)
    watcher.stop()
    mine = "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'plimsoll'"
    with connect(server.socket_target) as control:
        assert until(lambda: control.value(mine) == 1)
