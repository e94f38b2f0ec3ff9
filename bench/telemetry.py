"""What telemetry costs: throughput with it on against off.

One load runs through; telemetry is switched on and off in blocks in the order on-off, off-on, on-off, … so that two
neighbours make a pair and whatever drifts hits both. The first second of each block does not count: switching is not
what is asked about. Processes that start anew differ from each other by more than telemetry costs.
"""

from __future__ import annotations

import math
import time
from threading import Thread

from bench.clients import Load
from bench.ground import Ground
from bench.options import Options, say
from bench.rows import Goal, Row, Section
from plimsoll.drive.protocol import Interval
from plimsoll.run.systems import Instance
from plimsoll.run.watch import Watch, watching

CONNECTIONS = 16
LEAD_S = 2.0
"""From the start of the engine to the start of its load."""


def compare_telemetry(ground: Ground, options: Options) -> Section:
    """Throughput of oltp_read_write with all samplers against none."""
    block_s, pair_count = max(3, math.ceil(options.seconds) + 1), 2 * options.pairs
    switched = [on for pair in range(pair_count) for on in ((True, False) if pair % 2 == 0 else (False, True))]
    say(f"telemetry on and off: {pair_count} pairs of {block_s} s blocks")
    rates = _block_rates(ground, switched, block_s)
    pairs = [sorted(zip(switched[at : at + 2], rates[at : at + 2], strict=True)) for at in range(0, len(rates), 2)]
    row = Row(
        name=f"throughput on / off, oltp_read_write, {CONNECTIONS} connections",
        unit="tps",
        ours=[on for _, (_, on) in pairs],
        peer=[off for (_, off), _ in pairs],
        goal=Goal(of="ratio", limit=0.99, at_most=False),
        note="the peer is the same load without telemetry",
    )
    return Section(title="Telemetry on against off", rows=(row,))


def _block_rates(ground: Ground, switched: list[bool], block_s: int) -> list[float]:
    """Throughput of each block."""
    load = Load(
        workload=ground.workload("oltp_read_write"),
        connections=CONNECTIONS,
        duration_s=float(block_s * (len(switched) + 1)),
    )
    began_unix_s = time.time() + LEAD_S
    switch = _Switch(ground, switched, block_s, began_unix_s + block_s)  # the first block warms the server up
    _, messages = ground.engine.intervals(load, at_unix_ns=round(began_unix_s * 1e9), beside=switch.begin)
    switch.thread.join()
    if switch.fault is not None:
        raise switch.fault
    completed = [message.completed for message in messages if isinstance(message, Interval)]
    starts = [block_s * (index + 1) for index in range(len(switched))]
    return [sum(completed[start + 1 : start + block_s]) / (block_s - 1) for start in starts]


class _Switch:
    """Turns telemetry on and off by the clock, as a trial would collect it."""

    def __init__(self, ground: Ground, switched: list[bool], block_s: int, began_unix_s: float) -> None:
        self._ground, self._switched, self._block_s, self._began_unix_s = ground, switched, block_s, began_unix_s
        self.thread = Thread(target=self._run, daemon=True)
        self.fault: BaseException | None = None
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
                    with watching([instance], host="bench", engine_pid=self._engine_pid, watch=watch):
                        self._wait_until(index + 1, early_s=0.05)
                    assert not watch.faults, watch.faults
        except BaseException as fault:  # told by the thread that waits for this one
            self.fault = fault

    def _wait_until(self, index: int, *, early_s: float = 0.0) -> None:
        time.sleep(max(0.0, self._began_unix_s + index * self._block_s - early_s - time.time()))
