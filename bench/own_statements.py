"""What a workload file costs the client: oltp_point_select written as a file against the built-in one, same table."""

from __future__ import annotations

from bench.clients import Load
from bench.ground import Ground
from bench.options import Options, say
from bench.ratios import interleaved
from bench.rows import Goal, Row, Section
from plimsoll.spec.workloads import StatementsSpec

CONNECTIONS = (8, 64)

POINT_SELECT = """
[[transaction]]
name = "point select"

[[transaction.statement]]
sql = "SELECT c FROM sbtest1 WHERE id = :id"
values.id = { generate = "integer", from = 1, to = %d }
"""


def compare_own_statements(ground: Ground, options: Options) -> Section:
    """Processor time and throughput of both, in interleaved pairs."""
    rows = [row for connections in CONNECTIONS for row in _level(connections, ground, options)]
    return Section(title="A workload file against the built-in workload: oltp_point_select", rows=tuple(rows))


def _level(connections: int, ground: Ground, options: Options) -> tuple[Row, ...]:
    file = StatementsSpec(name="point select", file="bench", text=POINT_SELECT % ground.table_size)
    written = Load(workload=file, connections=connections, duration_s=options.seconds)
    built_in = Load(workload=ground.workload("oltp_point_select"), connections=connections, duration_s=options.seconds)
    say(f"own statements, {connections} connections: {options.pairs} pairs of {options.seconds:g} s")
    pairs = interleaved(options.pairs, lambda: ground.engine.drive(written), lambda: ground.engine.drive(built_in))
    return (
        Row(
            name=f"CPU per statement, {connections} connections",
            unit="us",
            ours=[ours.cpu_us_per_statement for ours, _ in pairs],
            peer=[peer.cpu_us_per_statement for _, peer in pairs],
            goal=Goal(of="ratio", limit=1.10),
            note="the peer is the built-in workload",
        ),
        Row(
            name=f"of it in user space, {connections} connections",
            unit="us",
            ours=[ours.user_us_per_statement for ours, _ in pairs],
            peer=[peer.user_us_per_statement for _, peer in pairs],
        ),
    )
