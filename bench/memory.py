"""Peak memory for each connection at 1,024 connections, against sysbench."""

from __future__ import annotations

from bench.clients import Load
from bench.ground import Ground
from bench.oltp import NO_SYSBENCH
from bench.options import Options, say
from bench.ratios import interleaved
from bench.rows import Goal, Row, Section

CONNECTIONS = 1024


def compare_memory(ground: Ground, options: Options) -> Section:
    """The whole process' peak over its connections."""
    title = f"Memory at {CONNECTIONS:,} connections, oltp_point_select, against sysbench"
    sysbench = ground.sysbench
    if sysbench is None:
        return Section(title=title, skipped=NO_SYSBENCH)
    count = max(2, options.pairs // 2)
    workload = ground.workload("oltp_point_select")
    load = Load(workload=workload, connections=CONNECTIONS, duration_s=min(options.seconds, 3.0))
    say(f"memory at {CONNECTIONS:,} connections: {count} pairs")
    pairs = interleaved(
        count,
        lambda: ground.engine.drive(load, watch_memory=True).used.memory_bytes_max,
        lambda: sysbench.drive(load, watch_memory=True).used.memory_bytes_max,
    )
    row = Row(
        name="peak memory per connection",
        unit="KiB",
        ours=[ours / 1024 / CONNECTIONS for ours, _ in pairs],
        peer=[peer / 1024 / CONNECTIONS for _, peer in pairs],
        goal=Goal(of="ratio", limit=0.25),
    )
    return Section(title=title, rows=(row,))
