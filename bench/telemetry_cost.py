"""What each sampler costs: processor time of the collector and of the server for one sampling, on an idle server.

Counted, not timed: what else runs on the machine hardly changes it. Samplers that look each fifth second, or less
often, are asked as often as the others, so a figure is the mean cost of a second. The server has the performance schema
on, the dearest case.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from pathlib import Path

from bench.ground import BASE
from bench.options import Options, say
from bench.rows import Goal, Row, Section
from plimsoll.servers.control import connect
from plimsoll.servers.managed_server import ManagedServer, ManagedSpec
from plimsoll.telemetry.sampler import Sampler
from plimsoll.telemetry.standard import WatchedInstance, trial_samplers

CONNECTIONS = (16, 4096)
SAMPLINGS = 50
SMALLEST_MS = 0.005
"""What a sampler costs less than this is left out."""

GOAL_MS = {16: 10.0, 4096: 20.0}
"""Of a second of one CPU: 1 %, and 2 % with many connections."""


def measure_telemetry_cost(options: Options) -> Section:
    """A row for each sampler and number of connections, and one for all of them."""
    servers = {"MariaDB": "mariadb"}
    if command := os.environ.get("PLIMSOLL_TEST_MYSQLD"):
        servers["MySQL"] = command
    rows = [row for name, server in servers.items() for row in _of_server(name, server, options)]
    return Section(title="Telemetry: processor time for each second of a trial", rows=tuple(rows))


def _of_server(name: str, command: str, options: Options) -> list[Row]:
    spec = ManagedSpec(
        server=command,
        profile="bare",
        buffer_pool_bytes=2**28,
        options={"max_connections": max(CONNECTIONS) + 64, "performance_schema": "ON"},
    )
    rows = []
    with ManagedServer.create(name="bench", spec=spec, base_dir=BASE) as server, ExitStack() as held:
        server.start()
        opened = 0
        for connections in CONNECTIONS:
            say(f"telemetry, cost by sampler, {name} with {connections} connections")
            for _ in range(connections - opened):
                held.enter_context(connect(server.socket_target))
            opened = connections
            costs = [_costs(server) for _ in range(options.pairs)]
            where = f"{name}, {connections} connections"
            for sampler in costs[0]:
                for who, place in (("collector", 0), ("server", 1)):
                    rows.append(
                        Row(name=f"{sampler}, {who}, {where}", unit="ms", ours=[cost[sampler][place] for cost in costs])
                    )
            total = [sum(sum(both) for both in cost.values()) for cost in costs]
            goal = Goal(of="ours", limit=GOAL_MS[connections])
            rows.append(Row(name=f"all of them, {where}", unit="ms", ours=total, goal=goal))
    return [row for row in rows if min(row.ours) >= SMALLEST_MS]


def _costs(server: ManagedServer) -> dict[str, tuple[float, float]]:
    """Milliseconds of the collector and of the server for each sampling, by sampler."""
    watched = WatchedInstance(
        name="bench", target=server.socket_target, is_here=True, pid=server.pid, data_dir=server.directory.data
    )
    found: dict[str, tuple[float, float]] = {}
    for place in trial_samplers(host="bench", instances=[watched], client_pid=os.getpid()):
        name = type(place.sampler).__name__
        own, other = _cost(place.sampler, server.pid)
        before = found.get(name, (0.0, 0.0))  # the process sampler watches both sides
        found[name] = before[0] + own, before[1] + other
        place.sampler.close()
    return found


def _cost(sampler: Sampler, pid: int) -> tuple[float, float]:
    sampler.sample(0.0)
    began_server_ms = _server_ms(pid)
    began_s = time.thread_time()
    for at in range(SAMPLINGS):
        sampler.sample(1.0 + at)
    own_ms = (time.thread_time() - began_s) * 1000
    return own_ms / SAMPLINGS, (_server_ms(pid) - began_server_ms) / SAMPLINGS


def _server_ms(pid: int) -> float:
    """Processor time of the server's threads, in nanoseconds as the kernel keeps it, ticks are too coarse."""
    total_ns = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            total_ns += int((task / "schedstat").read_text().split()[0])
        except OSError:
            continue  # it has ended
    return total_ns / 1e6
