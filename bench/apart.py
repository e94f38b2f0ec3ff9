"""Throughput when client and server have processors of their own.

Then a better client leaves the server no more than a worse one does, and both must find the same server.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from bench.clients import Load
from bench.ground import Ground
from bench.oltp import NO_SYSBENCH
from bench.options import Options, say
from bench.ratios import interleaved
from bench.rows import Goal, Row, Section

CONNECTIONS = 8
TITLE = "Client and server with processors of their own, against sysbench"


def compare_apart(ground: Ground, options: Options) -> Section:
    """Throughput of oltp_read_only with half of the processors for the server, half for the client."""
    cpus = sorted(os.sched_getaffinity(0))
    sysbench = ground.sysbench
    if sysbench is None:
        return Section(title=TITLE, skipped=NO_SYSBENCH)
    if len(cpus) < 2:
        return Section(title=TITLE, skipped="there is only one processor")
    half = len(cpus) // 2
    load = Load(workload=ground.workload("oltp_read_only"), connections=CONNECTIONS, duration_s=options.seconds)
    say(f"oltp_read_only with processors apart: {options.pairs} pairs of {options.seconds:g} s")
    with _apart(ground.server.pid, server=set(cpus[:half]), client=set(cpus[half:])):
        pairs = interleaved(options.pairs, lambda: ground.engine.drive(load), lambda: sysbench.drive(load))
    row = Row(
        name=f"throughput, oltp_read_only, {CONNECTIONS} connections",
        unit="tps",
        ours=[ours.throughput_tps for ours, _ in pairs],
        peer=[peer.throughput_tps for _, peer in pairs],
        goal=Goal(of="ratio", limit=0.98, at_most=False),
        note="the goal is the same throughput; 2 % are left for noise",
    )
    return Section(title=TITLE, rows=(row,))


@contextlib.contextmanager
def _apart(server_pid: int, *, server: set[int], client: set[int]) -> Iterator[None]:
    """Keeps our server on some processors and our children on others."""
    before = os.sched_getaffinity(0)
    _bind(server_pid, server)
    os.sched_setaffinity(0, client)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
        _bind(server_pid, before)


def _bind(pid: int, cpus: set[int]) -> None:
    """All threads of a process that have not ended; those it starts later are where the one that starts them is."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread.name), cpus)
