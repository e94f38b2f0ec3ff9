"""The engine against the limit: a bare loop over blocking sockets that sends the same prepared statement.

The loop reads no reply, records nothing and knows no errors (see bench/bare_loop). What the engine takes beyond it is
the price of measuring.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.children import ChildError, run_child
from bench.clients import Driven, Load
from bench.ground import Ground
from bench.oltp import Level, rows_of
from bench.options import Options, say
from bench.ratios import interleaved
from bench.rows import Row, Section
from plimsoll.servers.control import connect

ROOT = Path(__file__).parents[1]
CONNECTIONS = (64, 256)
USER = "bench_bare"
"""Its account; it has no password, since the loop knows no authentication."""


def compare_bare(ground: Ground, options: Options) -> Section:
    """Client processor time per statement of point selects, against the loop."""
    loop = _build()
    _let_in(ground)
    rows = [row for connections in CONNECTIONS for row in _rows(ground, options, loop, connections)]
    return Section(title="oltp_point_select: against a bare loop over sockets", rows=tuple(rows))


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
        control.rows(f"GRANT SELECT ON {ground.server.target.database}.* TO {USER}@'127.0.0.1'")


def _rows(ground: Ground, options: Options, loop: Path, connections: int) -> tuple[Row, ...]:
    say(f"bare loop, {connections} connections: {options.pairs} pairs of {options.seconds:g} s")
    load = Load(workload=ground.workload("oltp_point_select"), connections=connections, duration_s=options.seconds)
    pairs = interleaved(options.pairs, lambda: ground.engine.drive(load), lambda: _drive(ground, loop, load))
    level = Level(connections=connections, cpu_ratio_max=1.1, user_us_max=None)
    return rows_of(level, [ours for ours, _ in pairs], [bare for _, bare in pairs])


def _drive(ground: Ground, loop: Path, load: Load) -> Driven:
    target = ground.server.target
    words = [str(target.port), USER, target.database, str(ground.table_size)]
    used = run_child([loop, *words, str(load.connections), f"{load.duration_s:g}"])
    statements = int(used.output)
    return Driven(transactions=statements, statements=statements, duration_s=load.duration_s, used=used)
