"""Load at a rate: how late the client sends what was due, and whether it offers exactly what was asked for."""

from __future__ import annotations

from bench.clients import Load
from bench.ground import Ground
from bench.options import Options, say
from bench.rows import Goal, Row, Section
from plimsoll.analyse.trial.histograms import merge_rows, percentile_ms
from plimsoll.drive.protocol import Done, Interval
from plimsoll.run.rows import IntervalRows
from plimsoll.spec.clients import OpenArrivals, RateStep

RATE_TPS = 5_000
CONNECTIONS = 32
DISPATCH_DELAY_MS_MAX = 0.2


def measure_open_loop(ground: Ground, options: Options) -> Section:
    """Point selects at a rate far below what the server can do."""
    say(f"open loop, {RATE_TPS} arrivals/s, {CONNECTIONS} connections: {options.pairs} runs of {options.seconds:g} s")
    runs = [_run(ground, options.seconds, seed) for seed in range(options.pairs)]
    wanted = RATE_TPS * options.seconds
    rows = (
        Row(
            name=f"dispatch delay p99, {RATE_TPS:,} arrivals/s, {CONNECTIONS} connections",
            unit="ms",
            ours=[delay_ms for delay_ms, _ in runs],
            goal=Goal(of="ours", limit=DISPATCH_DELAY_MS_MAX),
        ),
        Row(
            name="transactions offered over those that were wanted",
            unit="",
            ours=[offered / wanted for _, offered in runs],
            goal=Goal(of="ours", limit=1.0, at_most=False),
            note="exactly 1 in every run",
        ),
    )
    return Section(title="Open loop: point selects at a rate", rows=rows)


def _run(ground: Ground, duration_s: float, seed: int) -> tuple[float, int]:
    """The 99th percentile of dispatch delay, milliseconds, and how many transactions were offered."""
    load = Load(
        workload=ground.workload("oltp_point_select"),
        connections=CONNECTIONS,
        duration_s=duration_s,
        seed=seed,
        arrivals=OpenArrivals(steps=(RateStep(None, RATE_TPS, RATE_TPS),), process="uniform"),
    )
    _, messages = ground.engine.intervals(load)
    rows = IntervalRows(driver="", host="")
    for message in messages:
        if isinstance(message, Interval):
            rows.add(message, began_unix_s=0.0)
    done = messages[-1]
    assert isinstance(done, Done), "an engine that ends well says so last"
    delay_ms = percentile_ms(merge_rows(rows.take()["histograms.parquet"])["dispatch_delay"], 0.99)
    assert delay_ms is not None, "there were more than a hundred transactions"
    return delay_ms, done.offered_count
