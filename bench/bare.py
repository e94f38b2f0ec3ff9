"""The engine against the limit: a bare loop over blocking sockets that sends the same prepared statements.

The loop looks for the ends of replies only, records nothing and retries nothing (see bench/bare_loop). What the engine
takes beyond it is the price of measuring. Both agree on the same protocol with the server. The server counts for both:
statements, those of transactions that were cut off at the end included, and the bytes that it sent for them. A loop
that is sent more would be no limit.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bench.children import ChildError, run_child
from bench.clients import Driven, Load
from bench.ground import Ground
from bench.oltp import Level, rows_of
from bench.options import Options, say
from bench.ratios import interleaved
from bench.release import ROOT
from bench.rows import Goal, Row, Section
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.spec.oltp import OltpKind

KINDS: tuple[OltpKind, ...] = ("oltp_point_select", "oltp_read_only", "oltp_read_write")
CONNECTIONS = (8, 64, 256, 1024)
CPU_RATIO_MAX = 1.05
USER_GOAL = Goal(of="ratio", limit=1.5)
SAME_BYTES = Goal(of="ratio", limit=0.99, at_most=False)
USER = "bench_bare"
"""Its account; it has no password, since the loop knows no authentication."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a client did by the server's count, and what it was sent for it.

    Attributes:
        bytes_per_statement: What belongs to connecting and preparing included.
    """

    driven: Driven
    bytes_per_statement: float


def compare_bare(kind: OltpKind, ground: Ground, options: Options) -> Section:
    """Client processor time per statement of one workload, against the loop."""
    loop = _build()
    _let_in(ground)
    rows = [row for connections in CONNECTIONS for row in _rows(ground, options, (loop, kind), connections)]
    return Section(title=f"{kind}: against a bare loop over sockets", rows=tuple(rows))


def _build() -> Path:
    words = ["--manifest-path", str(ROOT / "bench/bare_loop/Cargo.toml"), "--target-dir", str(ROOT / "target")]
    built = subprocess.run(
        ["cargo", "build", "--release", "--quiet", "--locked", *words], capture_output=True, text=True, check=False
    )
    if built.returncode != 0:
        raise ChildError(f"the bare loop cannot be built: {built.stderr[-1000:]}")
    return ROOT / "target" / "release" / "plimsoll-bare-loop"


def _let_in(ground: Ground) -> None:
    with connect(ground.server.target) as control:
        control.rows(f"CREATE USER IF NOT EXISTS {USER}@'127.0.0.1' IDENTIFIED BY ''")
        privileges = "SELECT, INSERT, UPDATE, DELETE"
        control.rows(f"GRANT {privileges} ON {ground.server.target.database}.* TO {USER}@'127.0.0.1'")


def _rows(ground: Ground, options: Options, peer: tuple[Path, OltpKind], connections: int) -> tuple[Row, ...]:
    loop, kind = peer
    say(f"bare loop, {kind}, {connections} connections: {options.pairs} pairs of {options.seconds:g} s")
    load = Load(workload=ground.workload(kind), connections=connections, duration_s=options.seconds)
    pairs = interleaved(
        options.pairs,
        lambda: _answered(ground, lambda: ground.engine.drive(load)),
        lambda: _answered(ground, lambda: _drive(ground, loop, load)),
    )
    level = Level(connections=connections, cpu_ratio_max=CPU_RATIO_MAX, user_goal=USER_GOAL)
    sent = Row(
        name=f"bytes from the server per statement, {connections} connections",
        unit="bytes",
        ours=[ours.bytes_per_statement for ours, _ in pairs],
        peer=[bare.bytes_per_statement for _, bare in pairs],
        goal=SAME_BYTES,
    )
    return (*rows_of(level, [ours.driven for ours, _ in pairs], [bare.driven for _, bare in pairs]), sent)


def _answered(ground: Ground, drive: Callable[[], Driven]) -> Answered:
    with connect(ground.server.socket_target) as control:
        executed, sent = (_counter(control, name) for name in ("Com_stmt_execute", "Bytes_sent"))
        driven = drive()
        statements = _counter(control, "Com_stmt_execute") - executed
        sent_bytes = _counter(control, "Bytes_sent") - sent
    return Answered(driven=replace(driven, statements=statements), bytes_per_statement=sent_bytes / statements)


def _counter(control: ControlConnection, name: str) -> int:
    ((_, value),) = control.rows("SHOW GLOBAL STATUS LIKE %s", name, columns=2)
    return int(value)


def _drive(ground: Ground, loop: Path, load: Load) -> Driven:
    target = ground.server.target
    words = [str(target.port), USER, target.database, str(ground.table_size)]
    used = run_child([loop, *words, str(load.connections), f"{load.duration_s:g}", load.workload.kind])
    return Driven(transactions=int(used.output), statements=0, duration_s=load.duration_s, used=used)
