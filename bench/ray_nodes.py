"""Two engines started by a Ray cluster against two that are started directly: what Ray's processes beside them cost.

All is on one machine: two nodes of a cluster on the loopback address, the fake server that answers at once, and both
engines. So Ray's processes take processor time from the load, as they do on a driver's machine. Nodes that are
machines of their own have only their own share of Ray's processes beside one engine.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from bench.options import Options, say
from bench.rows import Row, Section
from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.executable import LocalLauncher
from plimsoll.drive.plans import sources, trial_line
from plimsoll.drive.protocol import Done, Interval
from plimsoll.drive.ray_cluster.cluster import RayCluster, RayLauncher
from plimsoll.drive.shared_run import DriverPlace, SharedDriver
from plimsoll.run.calibrate import fake_server, shapes_of
from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.target import Target, Tls

TITLE = "Two engines on nodes of a Ray cluster, against two that are started directly"
CONNECTIONS = 8
_TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
_WORKLOAD = WorkloadSpec(name="points", kind="oltp_point_select", table_size=1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """Of one load.

    Attributes:
        engines_us: Processor time of both engines for each transaction, microseconds.
        ray_ms: Processor time of all of Ray's processes for each second of the load, milliseconds.
        round_trip_ms: The longer of the shortest round trips to the two engines, milliseconds.
    """

    throughput_tps: float
    engines_us: float
    ray_ms: float
    round_trip_ms: float


def compare_ray(options: Options) -> Section:
    """Throughput and processor time with Ray, against those without."""
    if find_spec("ray") is None:
        return Section(title=TITLE, skipped="Ray is not installed")
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from support.ray_cluster import connected_to, ray_nodes

    say("drivers on nodes of a Ray cluster")
    with ray_nodes(2) as nodes, connected_to(nodes), _server() as server:
        cluster = RayCluster("auto", 2)
        direct = SharedDriver([DriverPlace(f"local#{k}", LocalLauncher()) for k in (1, 2)], LocalDriver())
        by_ray = SharedDriver(
            [DriverPlace(f"ray#{k + 1}", RayLauncher(cluster, k)) for k in (0, 1)], LocalDriver(), cluster
        )
        roots = {pid for pids in nodes.pids for pid in pids}
        with contextlib.closing(cluster):
            cluster.open()
            found: dict[bool, list[_Found]] = {True: [], False: []}
            for pair in range(options.pairs):
                for is_ray in (True, False) if pair % 2 == 0 else (False, True):
                    driver = by_ray if is_ray else direct
                    found[is_ray].append(_drive(driver, server, options.seconds, roots | {cluster.pid}))
    return Section(title=TITLE, rows=tuple(_rows(found[True], found[False])))


def _rows(ours: list[_Found], peer: list[_Found]) -> Iterator[Row]:
    where = f"{CONNECTIONS} connections"
    for name, unit, field in (
        ("throughput", "tps", "throughput_tps"),
        ("CPU of the engines per transaction", "us", "engines_us"),
        ("round trip of a message", "ms", "round_trip_ms"),
    ):
        values = [[getattr(one, field) for one in side] for side in (ours, peer)]
        note = "the idle cluster is there in both" if field == "throughput_tps" else ""
        yield Row(name=f"{name}, {where}", unit=unit, ours=values[0], peer=values[1], note=note)
    yield Row(
        name=f"CPU of all of Ray's processes in a second, {where}",
        unit="ms",
        ours=[one.ray_ms for one in ours],
        peer=[one.ray_ms for one in peer],
        note="two nodes with a head, and the process that is connected to them; the peer is the idle cluster",
    )


@contextlib.contextmanager
def _server() -> Iterator[Target]:
    with fake_server(LocalDriver(), shapes_of(_WORKLOAD), by_socket=False) as target:
        yield replace(target, tls=Tls(mode="disabled"))


def _drive(driver: SharedDriver, server: Target, seconds: float, roots: set[int]) -> _Found:
    """One load; the first second counts in no throughput."""
    servers = sources({"db": server})
    plan = trial_line(_WORKLOAD, servers, connections=CONNECTIONS, duration_s=seconds + 1, seed=1, look_first=False)
    completed, done, before, began_s = 0, None, dict[int, int](), 0.0
    with driver.launch_trial(plan) as run:
        run.ready(lambda _: None)
        run.start()
        for message in run.messages():
            if isinstance(message, Interval) and message.index == 0:
                before, began_s = _cpu_ns(roots), time.monotonic()
            elif isinstance(message, Interval) and message.index <= seconds:
                completed += message.completed
            elif isinstance(message, Done):
                done = message
        used_ns = sum(used - before.get(pid, 0) for pid, used in _cpu_ns(roots).items())
        ray_ms = used_ns / 1e6 / (time.monotonic() - began_s)
        round_trip_s = max(driver.round_trip_s or 0.0 for driver in run.drivers)
    assert done is not None, "the messages of a run end with done"
    engines_ns = done.client.user_ns + done.client.system_ns
    return _Found(
        throughput_tps=completed / seconds,
        engines_us=engines_ns / 1000 / done.offered_count,
        ray_ms=ray_ms,
        round_trip_ms=round_trip_s * 1000,
    )


def _cpu_ns(roots: set[int]) -> dict[int, int]:
    """Processor time so far of processes and of all that they started, engines left out, by process."""
    from support.drivers import ancestors, processes

    found: dict[int, int] = {}
    for pid in processes():
        with contextlib.suppress(OSError):
            is_engine = b"plimsoll-engine" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]
            if not is_engine and (pid in roots or roots & set(ancestors(pid))):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                found[pid] = (int(fields[11]) + int(fields[12])) * _TICK_NS
    return found
