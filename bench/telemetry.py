"""What telemetry costs in throughput: sampling many times a second against none.

One load runs through; telemetry is switched on and off in blocks in the order on-off, off-on, on-off, … so that two
neighbours make a pair and whatever drifts hits both. The first second of each block does not count: switching is not
what is asked about. Processes that start anew differ from each other by more than telemetry costs.

The cost of one sampling a second is smaller than what pairs of seconds can tell. So a `DOSE` of samplings is taken in
each second, and the loss for one a second is that loss over the samplings that there really were. Assumption: their
costs add up.
"""

from __future__ import annotations

import math
import time
from threading import Thread

import polars as pl

from bench.clients import Load
from bench.ground import Ground
from bench.options import Options, say
from bench.rows import Goal, Row, Section
from plimsoll.drive.protocol import Interval
from plimsoll.run.instance import Instance
from plimsoll.run.watch import Watch, watching
from plimsoll.spec.oltp import OltpKind

CASES: tuple[tuple[OltpKind, int, float], ...] = (("oltp_read_write", 16, 0.99), ("oltp_point_select", 4096, 0.98))
"""Workload, connections, and throughput with telemetry over that without as it should be.

With thousands of connections on few processors, transactions of many statements take longer than a block.
"""

DOSE = 20
LEAD_S = 2.0
CONNECTS_PER_S = 400
"""From the start of the engine to the start of its load, and what opening many connections adds."""


def compare_telemetry(ground: Ground, options: Options) -> Section:
    """Throughput with all samplers against none."""
    return Section(title="Telemetry on against off", rows=tuple(_row(ground, options, *one) for one in CASES))


def _row(ground: Ground, options: Options, kind: OltpKind, connections: int, limit: float) -> Row:
    block_s, pair_count = max(3, math.ceil(options.seconds) + 1), 2 * options.pairs
    switched = [on for pair in range(pair_count) for on in ((True, False) if pair % 2 == 0 else (False, True))]
    say(f"telemetry on and off, {kind}, {connections} connections: {pair_count} pairs of {block_s} s blocks")
    rates, samplings_per_s = _block_rates(ground, switched, block_s, (kind, connections))
    pairs = [sorted(zip(switched[at : at + 2], rates[at : at + 2], strict=True)) for at in range(0, len(rates), 2)]
    return Row(
        name=f"throughput on / off, {kind}, {connections} connections",
        unit="tps",
        ours=[off - (off - on) / samplings_per_s for (_, off), (_, on) in pairs],
        peer=[off for (_, off), _ in pairs],
        goal=Goal(of="ratio", limit=limit, at_most=False),
        note=(
            f"the peer is the same load without telemetry; measured with {samplings_per_s:.1f} samplings a second, the"
            " loss divided by that"
        ),
    )


def _block_rates(
    ground: Ground, switched: list[bool], block_s: int, driven: tuple[OltpKind, int]
) -> tuple[list[float], float]:
    """Throughput of each block, and how often a second the server was really asked."""
    kind, connections = driven
    load = Load(
        workload=ground.workload(kind),
        connections=connections,
        duration_s=float(block_s * (len(switched) + 1)),
    )
    began_unix_s = time.time() + LEAD_S + connections / CONNECTS_PER_S
    switch = _Switch(ground, switched, block_s, began_unix_s + block_s)  # the first block warms the server up
    _, messages = ground.engine.intervals(load, at_unix_ns=round(began_unix_s * 1e9), beside=switch.begin)
    switch.thread.join()
    if switch.fault is not None:
        raise switch.fault
    completed = [message.completed for message in messages if isinstance(message, Interval)]
    starts = [block_s * (index + 1) for index in range(len(switched))]
    rates = [sum(completed[start + 1 : start + block_s]) / (block_s - 1) for start in starts]
    return rates, switch.samplings_count / (block_s * sum(switched))


class _Switch:
    """Turns telemetry on and off by the clock, as a trial would collect it."""

    def __init__(self, ground: Ground, switched: list[bool], block_s: int, began_unix_s: float) -> None:
        self._ground, self._switched, self._block_s, self._began_unix_s = ground, switched, block_s, began_unix_s
        self.thread = Thread(target=self._run, daemon=True)
        self.fault: BaseException | None = None
        self.samplings_count = 0
        self._engine_pid = 0

    def begin(self, engine_pid: int) -> None:
        """Starts the clock."""
        self._engine_pid = engine_pid
        self.thread.start()

    def _run(self) -> None:
        server = self._ground.server
        instance = Instance(name="bench", target=server.target, pid=server.pid, data_dir=server.directory.data)
        try:
            for index, on in enumerate(self._switched):
                self._wait_until(index)
                if on:
                    watch = Watch()
                    sampling = watching(
                        [instance], host="bench", engine_pid=self._engine_pid, watch=watch, interval_s=1 / DOSE
                    )
                    with sampling:
                        self._wait_until(index + 1, early_s=0.05)
                    asked = watch.take().filter(pl.col("metric") == "innodb_data_reads")
                    self.samplings_count += asked.height
        except BaseException as fault:  # told by the thread that waits for this one
            self.fault = fault

    def _wait_until(self, index: int, *, early_s: float = 0.0) -> None:
        time.sleep(max(0.0, self._began_unix_s + index * self._block_s - early_s - time.time()))
