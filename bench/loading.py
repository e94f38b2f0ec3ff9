"""Loading one table with its index and ANALYZE: against sysbench prepare with ANALYZE TABLE, and against the limit."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from bench.clients import LOADERS, Engine, Sysbench
from bench.ground import Ground
from bench.oltp import NO_SYSBENCH
from bench.options import Options, say
from bench.ratios import interleaved
from bench.rows import Goal, Row, Section
from bench.server_alone import ServerAlone
from plimsoll.spec.target import Target

DATABASE = "bench_load"


def compare_load(ground: Ground, options: Options) -> Section:
    """Seconds until the table can be used, in a database of its own."""
    title = f"Load of 1 table with {options.table_size:,} rows, index and ANALYZE, against sysbench prepare"
    if ground.sysbench is None:
        return Section(title=title, skipped=NO_SYSBENCH)
    target = replace(ground.server.target, database=DATABASE)
    ground.execute(ground.server.target, f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    say(f"load of {options.table_size:,} rows: {options.pairs} pairs")
    pairs = interleaved(
        options.pairs,
        lambda: _ours(ground, target),
        lambda: _sysbench(ground, target, ground.server.directory.path / "load"),
    )
    alone = ServerAlone(ground.server.socket_target, ground.server.directory.path, "bench_alone", indexed=True)
    say(f"load of {options.table_size:,} rows against the server alone: {options.pairs} pairs")
    limits = interleaved(options.pairs, lambda: _ours(ground, target), alone.load)
    alone.drop()
    ground.execute(ground.server.target, f"DROP DATABASE {DATABASE}")
    against_sysbench = Row(
        name=f"wall time, {LOADERS} loaders",
        unit="s",
        ours=[ours for ours, _ in pairs],
        peer=[peer for _, peer in pairs],
        goal=Goal(of="ratio", limit=0.45),
        note="sysbench loads one table by one connection",
    )
    against_limit = Row(
        name="wall time against the server alone",
        unit="s",
        ours=[ours for ours, _ in limits],
        peer=[limit for _, limit in limits],
        note="the peer, which is the limit, is LOAD DATA INFILE of the same rows from files, with index and ANALYZE",
    )
    return Section(title=title, rows=(against_sysbench, against_limit))


def _ours(ground: Ground, target: Target) -> float:
    engine, workload = Engine(target), ground.workload("oltp_read_write")
    seconds = engine.prepare(workload).wall_s
    engine.cleanup(workload)
    return seconds


def _sysbench(ground: Ground, target: Target, folder: Path) -> float:
    folder.mkdir(mode=0o700, exist_ok=True)
    workload = ground.workload("oltp_read_write")
    seconds = Sysbench(target, folder).prepare(workload)
    began_s = time.monotonic()
    ground.execute(target, "ANALYZE TABLE sbtest1")
    seconds += time.monotonic() - began_s
    Engine(target).cleanup(workload)
    return seconds
