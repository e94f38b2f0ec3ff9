"""The TPC-C-derived workload: how long its tables take, what its transactions cost the client, and the same of kits.

Loading is timed as users have it: on a server with the options of the production profile, its durability untouched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

from bench.clients import Engine, Load
from bench.ground import BASE, GIB
from bench.kits import Kit, installed
from bench.options import Options, say
from bench.ratios import interleaved
from bench.rows import Goal, Row, Section
from bench.server_alone import ServerAlone
from plimsoll.servers.control import connect
from plimsoll.servers.directory import sweep
from plimsoll.servers.managed_server import ManagedServer, ManagedSpec
from plimsoll.spec.target import Target
from plimsoll.spec.tpcc import TpccSpec

CONNECTIONS = 8
DATABASE = "bench_tpcc"
PEER = "bench_kit"
"""Database and account of a kit."""

TITLE = "TPC-C-derived workload"


def measure_tpcc(options: Options) -> Section:
    """Our own figures, and those of each kit beside them."""
    sweep(BASE)
    spec = ManagedSpec(server="mariadb", buffer_pool_bytes=2 * GIB)
    with ManagedServer.create(name="tpcc", spec=spec, base_dir=BASE) as server:
        server.start()
        bench = _Bench(server, options)
        kits = installed()
        rows = [*bench.loading(), *bench.transactions(), *(row for kit in kits for row in bench.beside(kit))]
    if not kits:
        say("neither go-tpc nor tpcc.lua is on the PATH: our own figures only")
    return Section(title=TITLE if kits else f"{TITLE} (no kit on the PATH to compare with)", rows=tuple(rows))


class _Bench:
    """Measures on one server."""

    def __init__(self, server: ManagedServer, options: Options) -> None:
        self._managed, self._server, self._options = server, server.target, options
        self._target = replace(self._server, database=DATABASE)
        self._engine = Engine(self._target)
        self._tables = TpccSpec(warehouses=options.warehouses)

    def loading(self) -> list[Row]:
        """Loading and checking, each as often as there are pairs; the tables of the last time stay."""
        count, rounds = self._options.warehouses, self._options.pairs
        say(f"tpcc: {count} warehouses by inserts, {rounds} times")
        inserts = [self._load("inserts")[0] / count for _ in range(rounds)]
        say(f"tpcc: {count} warehouses by LOAD DATA against the server alone, {rounds} pairs")
        admin = replace(self._managed.socket_target, database=DATABASE)
        alone = ServerAlone(admin, self._managed.directory.path, "bench_alone", indexed=False)
        pairs = interleaved(rounds, lambda: self._load("auto"), alone.load)
        alone.drop()
        loads = [ours for ours, _ in pairs]
        say(f"tpcc: check of {count} warehouses, {rounds} times")
        checks = [self._engine.verify(self._tables).wall_s / count for _ in range(rounds)]
        return [
            Row(
                name="load, seconds for each warehouse, 2 loaders",
                unit="s",
                ours=[seconds / count for seconds, _ in loads],
                goal=Goal(of="ours", limit=1.0),
                note=f"{count} warehouses with indexes, ANALYZE and the consistency conditions, on a server of the"
                " production profile",
            ),
            Row(
                name="load against the server alone",
                unit="s",
                ours=[seconds / count for seconds, _ in loads],
                peer=[limit / count for _, limit in pairs],
                note="the peer is LOAD DATA INFILE of the same rows from files, without secondary indexes, foreign"
                " keys, ANALYZE and the conditions",
            ),
            Row(name="load by inserts", unit="s", ours=inserts, goal=Goal(of="ours", limit=2.0)),
            Row(
                name="load, memory of the client",
                unit="MB",
                ours=[memory / 1e6 for _, memory in loads],
                goal=Goal(of="ours", limit=200),
            ),
            Row(
                name="check of all conditions, seconds for each warehouse",
                unit="s",
                ours=checks,
                goal=Goal(of="ours", limit=0.9),
            ),
        ]

    def transactions(self) -> list[Row]:
        """What a transaction costs the client, as statements and as procedures."""
        rounds = self._options.pairs
        procedures = TpccSpec(warehouses=self._options.warehouses, mode="procedures")
        self._engine.prepare(procedures)
        say(f"tpcc: {CONNECTIONS} connections, {rounds} pairs of {self._options.seconds:g} s")
        pairs = interleaved(rounds, partial(self._drive, self._tables), partial(self._drive, procedures))
        statements, calls = [one for one, _ in pairs], [other for _, other in pairs]
        return [
            Row(
                name=f"CPU per transaction, {CONNECTIONS} connections",
                unit="us",
                ours=statements,
            ),
            Row(
                name=f"CPU per transaction by procedures, {CONNECTIONS} connections",
                unit="us",
                ours=calls,
                peer=statements,
                note="the peer is our own transactions, as statements",
            ),
        ]

    def beside(self, kind: Callable[[Target], Kit]) -> list[Row]:
        """Loading and client processor time against a kit, with tables of its own."""
        count, rounds, seconds = self._options.warehouses, self._options.pairs, self._options.seconds
        kit = kind(replace(self._server, database=PEER, user=PEER))
        with connect(self._server) as control:
            control.rows(f"CREATE USER IF NOT EXISTS {PEER}@'127.0.0.1'")
            control.rows(f"GRANT ALL ON {PEER}.* TO {PEER}@'127.0.0.1'")
        say(f"tpcc: load against {kit.name}, {rounds} pairs")
        loads = interleaved(rounds, lambda: self._load("auto")[0], lambda: self._load_kit(kit))
        say(f"tpcc: {CONNECTIONS} connections against {kit.name}, {rounds} pairs of {seconds:g} s")
        drives = interleaved(
            rounds, partial(self._drive, self._tables), partial(kit.drive, count, CONNECTIONS, seconds)
        )
        return [
            Row(
                name=f"load against {kit.name}",
                unit="s",
                ours=[ours for ours, _ in loads],
                peer=[peer for _, peer in loads],
                note=f"{count} warehouses; ours with ANALYZE and the consistency conditions",
            ),
            Row(
                name=f"CPU per transaction against {kit.name}, {CONNECTIONS} connections",
                unit="us",
                ours=[ours for ours, _ in drives],
                peer=[peer for _, peer in drives],
                note="transactions of different kits are not the same work",
            ),
        ]

    def _load(self, method: Literal["auto", "inserts"]) -> tuple[float, int]:
        """Loads into an empty database; gives the seconds and the client's memory, bytes."""
        self._empty(DATABASE)
        used = self._engine.prepare(self._tables, method=method, watch_memory=True)
        return used.wall_s, used.memory_bytes_max

    def _load_kit(self, kit: Kit) -> float:
        self._empty(PEER)
        return kit.prepare(self._options.warehouses).wall_s

    def _empty(self, database: str) -> None:
        with connect(self._server) as control:
            control.rows(f"DROP DATABASE IF EXISTS {database}")
            control.rows(f"CREATE DATABASE {database}")

    def _drive(self, workload: TpccSpec) -> float:
        load = Load(workload=workload, connections=CONNECTIONS, duration_s=self._options.seconds)
        return self._engine.drive(load).cpu_us_per_transaction
