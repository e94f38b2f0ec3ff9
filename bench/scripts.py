"""Scripts under our Lua host against sysbench: the same script, command line, tables and time."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from bench.clients import Load, Sysbench
from bench.ground import Ground
from bench.oltp import NO_SYSBENCH
from bench.options import Options, say
from bench.ratios import interleaved
from bench.rows import Goal, Row, Section

CONNECTIONS = (8, 64)
MANY = 1024
SCRIPT = Path("/usr/share/sysbench/oltp_read_write.lua")
"""sysbench's own script, where its package puts it."""


def compare_scripts(ground: Ground, options: Options) -> Section:
    """The script under both, and the workload of that name, which we run without Lua."""
    title = "sysbench's oltp_read_write.lua under plimsoll sysbench, against sysbench"
    if ground.sysbench is None:
        return Section(title=title, skipped=NO_SYSBENCH)
    if not SCRIPT.exists():
        return Section(title=title, skipped=f"{SCRIPT} is not there")
    rows = [row for connections in CONNECTIONS for row in _level(connections, ground, options)]
    return Section(title=title, rows=(*rows, _memory(ground, options)))


def _memory(ground: Ground, options: Options) -> Row:
    """The whole process' peak with a Lua state for each of many connections."""
    sysbench = ground.sysbench
    assert sysbench is not None, "skipped before"
    count = max(2, options.pairs // 2)
    load = Load(
        workload=ground.workload("oltp_read_write"), connections=MANY, duration_s=round(max(options.seconds, 1))
    )
    say(f"scripts, {MANY:,} connections: {count} pairs")

    def peak_kib(client: Sysbench) -> float:
        used = client.drive(load, watch_memory=True, script=str(SCRIPT)).used
        return used.memory_bytes_max / 1024 / MANY

    pairs = interleaved(count, partial(peak_kib, ground.front_door), partial(peak_kib, sysbench))
    return Row(
        name=f"script: peak memory per connection, {MANY:,} connections",
        unit="KiB",
        ours=[ours for ours, _ in pairs],
        peer=[peer for _, peer in pairs],
    )


def _level(connections: int, ground: Ground, options: Options) -> tuple[Row, ...]:
    sysbench = ground.sysbench
    assert sysbench is not None, "skipped before"
    load = Load(
        workload=ground.workload("oltp_read_write"), connections=connections, duration_s=round(max(options.seconds, 1))
    )
    say(f"scripts, {connections} connections: {options.pairs} pairs of {options.seconds:g} s, twice")
    peer = partial(sysbench.drive, load, script=str(SCRIPT))
    scripts = interleaved(options.pairs, partial(ground.front_door.drive, load, script=str(SCRIPT)), peer)
    native = interleaved(options.pairs, partial(ground.front_door.drive, load), peer)
    return (
        Row(
            name=f"script: CPU per statement, {connections} connections",
            unit="us",
            ours=[ours.cpu_us_per_statement for ours, _ in scripts],
            peer=[peer.cpu_us_per_statement for _, peer in scripts],
            goal=Goal(of="ratio", limit=1.0),
        ),
        Row(
            name=f"script: throughput, {connections} connections",
            unit="tps",
            ours=[ours.throughput_tps for ours, _ in scripts],
            peer=[peer.throughput_tps for _, peer in scripts],
            goal=Goal(of="ratio", limit=1.0, at_most=False),
        ),
        Row(
            name=f"by name: CPU per statement, {connections} connections",
            unit="us",
            ours=[ours.cpu_us_per_statement for ours, _ in native],
            peer=[peer.cpu_us_per_statement for _, peer in native],
            goal=Goal(of="ratio", limit={8: 0.90, 64: 0.72}[connections]),
        ),
        Row(
            name=f"by name: throughput, {connections} connections",
            unit="tps",
            ours=[ours.throughput_tps for ours, _ in native],
            peer=[peer.throughput_tps for _, peer in native],
        ),
    )
