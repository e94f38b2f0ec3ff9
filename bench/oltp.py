"""Client processor time and throughput: the engine against sysbench, same tables, same distribution, same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.clients import Driven, Load
from bench.ground import Ground
from bench.options import Options, say
from bench.ratios import interleaved
from bench.rows import Goal, Row, Section
from plimsoll.spec.oltp import OltpKind

NO_SYSBENCH = "sysbench is not installed: make bench installs it, or apt-get install sysbench"
USER_GOAL = Goal(of="ours", limit=0.8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """What is wanted at a number of connections.

    Attributes:
        cpu_ratio_max: Client processor time per statement over the peer's.
        user_goal: What is wanted of processor time in user space per statement; None for nothing.
        throughput_ratio_min: Throughput over the peer's; None where nothing is wanted.
        note: Where a goal comes from, if it has to be derived.
    """

    connections: int
    cpu_ratio_max: float
    user_goal: Goal | None = USER_GOAL
    throughput_ratio_min: float | None = None
    note: str = ""


_PROTOTYPE = "the goal is 1.1 times a bare prototype, whose ratio to sysbench was {ratio:.2f}"

LEVELS: dict[OltpKind, tuple[Level, ...]] = {
    "oltp_read_only": (
        Level(connections=8, cpu_ratio_max=0.90, throughput_ratio_min=1.0),
        Level(connections=64, cpu_ratio_max=0.75, throughput_ratio_min=1.10),
        Level(connections=256, cpu_ratio_max=0.58, throughput_ratio_min=1.22),
    ),
    "oltp_read_write": (
        Level(connections=8, cpu_ratio_max=0.90),
        Level(connections=64, cpu_ratio_max=0.72),
        Level(connections=256, cpu_ratio_max=0.55),
    ),
    "oltp_point_select": (
        Level(connections=64, cpu_ratio_max=0.93, user_goal=None, note=_PROTOTYPE.format(ratio=8.7 / 10.3)),
        Level(connections=256, cpu_ratio_max=0.74, user_goal=None, note=_PROTOTYPE.format(ratio=9.3 / 13.8)),
    ),
}


def compare_oltp(kind: OltpKind, ground: Ground, options: Options) -> Section:
    """All levels of one workload."""
    title = f"{kind}: client beside the server, against sysbench"
    if ground.sysbench is None:
        return Section(title=title, skipped=NO_SYSBENCH)
    rows = [row for level in LEVELS[kind] for row in _level(kind, level, ground, options)]
    return Section(title=title, rows=tuple(rows))


def _level(kind: OltpKind, level: Level, ground: Ground, options: Options) -> tuple[Row, ...]:
    sysbench = ground.sysbench
    assert sysbench is not None, "skipped before"
    load = Load(workload=ground.workload(kind), connections=level.connections, duration_s=options.seconds)
    say(f"{kind}, {level.connections} connections: {options.pairs} pairs of {options.seconds:g} s")
    pairs = interleaved(options.pairs, lambda: ground.engine.drive(load), lambda: sysbench.drive(load))
    return rows_of(level, [ours for ours, _ in pairs], [peer for _, peer in pairs])


def rows_of(level: Level, ours: Sequence[Driven], peer: Sequence[Driven]) -> tuple[Row, ...]:
    """Processor time, of it in user space, and throughput at a level, ours beside a peer's of the same pairs."""
    least = level.throughput_ratio_min
    return (
        Row(
            name=f"CPU per statement, {level.connections} connections",
            unit="us",
            ours=[one.cpu_us_per_statement for one in ours],
            peer=[one.cpu_us_per_statement for one in peer],
            goal=Goal(of="ratio", limit=level.cpu_ratio_max),
            note=level.note,
        ),
        Row(
            name=f"of it in user space, {level.connections} connections",
            unit="us",
            ours=[one.user_us_per_statement for one in ours],
            peer=[one.user_us_per_statement for one in peer],
            goal=level.user_goal,
        ),
        Row(
            name=f"throughput, {level.connections} connections",
            unit="tps",
            ours=[one.throughput_tps for one in ours],
            peer=[one.throughput_tps for one in peer],
            goal=None if least is None else Goal(of="ratio", limit=least, at_most=False),
        ),
    )
