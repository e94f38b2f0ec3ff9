"""Loading tables with their index and ANALYZE: against the server's own LOAD DATA, and against sysbench prepare.

100 GB is not loaded: its time is extrapolated from the rate that was measured.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bench.clients import LOADERS, Engine, Sysbench
from bench.ground import Ground
from bench.oltp import NO_SYSBENCH
from bench.options import Options, say
from bench.ratios import interleaved
from bench.rows import Goal, Row, Section
from bench.server_alone import ServerAlone
from plimsoll.servers.control import connect
from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.target import Target

DATABASE = "bench_load"
SOURCE = "bench_source"
"""Where the server's own files and copies come from."""

LIMIT_RATIO_MAX = 1.10
MANY_TABLES = 8
LARGE_BYTES = 100e9


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loads:
    """Seconds of pairs of loads.

    Attributes:
        size_bytes: Of the tables with their indexes, as the server states it.
    """

    ours_s: list[float]
    server_s: list[float]
    size_bytes: int


def compare_load(ground: Ground, options: Options) -> Section:
    """Seconds until tables can be used, in a database of its own."""
    for database in (DATABASE, SOURCE):
        ground.execute(ground.server.target, f"CREATE DATABASE IF NOT EXISTS {database}")
    rows = [*_against_server(ground, options), *_against_sysbench(ground, options)]
    for database in (DATABASE, SOURCE):
        ground.execute(ground.server.target, f"DROP DATABASE {database}")
    left_out = "" if ground.sysbench else f"; not against sysbench prepare: {NO_SYSBENCH}"
    return Section(title=f"Load of tables with index and ANALYZE, against the server alone{left_out}", rows=tuple(rows))


def _against_server(ground: Ground, options: Options) -> Iterator[Row]:
    """One table by as many loaders as users have by default, and several tables by a loader each."""
    peer = "the peer, which is the limit, is LOAD DATA INFILE of the same rows from files, with index and ANALYZE"
    each = options.table_size // 4
    for tables, size, loaders in ((1, options.table_size, LOADERS), (MANY_TABLES, each, MANY_TABLES)):
        workload = WorkloadSpec(name="load", kind="oltp_read_write", tables=tables, table_size=size)
        loads = _loads(ground, options, workload, loaders)
        what = f"{tables} table{'s' * (tables > 1)} with {size:,} rows"
        yield Row(
            name=f"wall time, {what}, {loaders} loaders",
            unit="s",
            ours=loads.ours_s,
            peer=loads.server_s,
            goal=Goal(of="ratio", limit=LIMIT_RATIO_MAX),
            note=peer,
        )
    minutes = LARGE_BYTES / loads.size_bytes / 60
    yield Row(
        name=f"100 GB, extrapolated from {what}",
        unit="min",
        ours=[seconds * minutes for seconds in loads.ours_s],
        peer=[seconds * minutes for seconds in loads.server_s],
        note=f"not measured: extrapolated from the rate at {loads.size_bytes / 1e6:,.0f} MB of InnoDB's pages. Tables"
        " that are larger than the buffer pool and the redo log load slower",
    )


def _loads(ground: Ground, options: Options, workload: WorkloadSpec, loaders: int) -> _Loads:
    say(f"load of {workload.rows_count:,} rows against the server alone: {options.pairs} pairs")
    target, source = (replace(ground.server.target, database=database) for database in (DATABASE, SOURCE))
    Engine(source).prepare(workload)
    with connect(source) as control:
        size_bytes = control.count(
            "SELECT SUM(data_length + index_length) FROM information_schema.tables WHERE table_schema = %s", SOURCE
        )
    assert size_bytes, "tables that were just made"
    alone = ServerAlone(
        replace(ground.server.socket_target, database=SOURCE),
        ground.server.directory.path,
        f"bench_alone_{workload.tables}",
        indexed=True,
        loaders=loaders,
        parts=max(loaders // workload.tables, 1),
    )
    _ours(target, workload, loaders)  # not counted: the server's redo log and files grow in the first load of this size
    pairs = interleaved(options.pairs, lambda: _ours(target, workload, loaders), alone.load)
    alone.drop()
    Engine(source).cleanup(workload)
    return _Loads(ours_s=[ours for ours, _ in pairs], server_s=[limit for _, limit in pairs], size_bytes=size_bytes)


def _against_sysbench(ground: Ground, options: Options) -> Iterator[Row]:
    if ground.sysbench is None:
        return
    target, workload = replace(ground.server.target, database=DATABASE), ground.workload("oltp_read_write")
    folder = ground.server.directory.path / "load"
    say(f"load of {options.table_size:,} rows against sysbench prepare: {options.pairs} pairs")
    pairs = interleaved(
        options.pairs,
        lambda: _ours(target, workload, LOADERS),
        lambda: _sysbench(ground, target, workload, folder),
    )
    yield Row(
        name=f"wall time against sysbench prepare, 1 table with {options.table_size:,} rows, {LOADERS} loaders",
        unit="s",
        ours=[ours for ours, _ in pairs],
        peer=[peer for _, peer in pairs],
        goal=Goal(of="ratio", limit=0.45),
        note="sysbench loads one table by one connection; the time of ANALYZE TABLE is added",
    )


def _ours(target: Target, workload: WorkloadSpec, loaders: int) -> float:
    engine = Engine(target)
    seconds = engine.prepare(workload, loaders=loaders).wall_s
    engine.cleanup(workload)
    return seconds


def _sysbench(ground: Ground, target: Target, workload: WorkloadSpec, folder: Path) -> float:
    folder.mkdir(mode=0o700, exist_ok=True)
    seconds = Sysbench(target, folder).prepare(workload)
    began_s = time.monotonic()
    ground.execute(target, "ANALYZE TABLE sbtest1")
    seconds += time.monotonic() - began_s
    Engine(target).cleanup(workload)
    return seconds
