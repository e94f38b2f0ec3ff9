"""One load that runs through while something beside it is switched on and off: what that costs in throughput.

The blocks come in the order on-off, off-on, on-off, … so that two neighbours make a pair and whatever drifts hits both.
The first second of each block does not count: switching is not what is asked about. Processes that start anew differ
from each other by more than what is measured so costs.

What happens once a second costs less than pairs of seconds can tell. So a `DOSE` of it is taken in each second, and the
loss for one a second is that loss over how many there really were. Assumption: their costs add up.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Thread

from bench.clients import Load
from bench.ground import Ground
from bench.options import Options, say
from bench.rows import Goal, Row
from plimsoll.drive.protocol import Interval
from plimsoll.spec.oltp import OltpKind

DOSE = 20
LEAD_S = 2.0
CONNECTS_PER_S = 400
"""From the start of the engine to the start of its load, and what opening many connections adds."""

SwitchOn = Callable[[int, list[int]], AbstractContextManager[None]]
"""Does it `DOSE` times a second while it is entered; gets the engine's pid, and notes at the end how often it did."""


def compared(
    ground: Ground, options: Options, driven: tuple[OltpKind, int, float], switch_on: SwitchOn, *, what: str, dose: str
) -> Row:
    """Throughput with it, once a second, over that without.

    Args:
        ground: The server.
        options: How long.
        driven: Workload, connections, and the ratio as it should be.
        switch_on: Switches it on.
        what: What is switched.
        dose: What happens `DOSE` times a second, in the plural.
    """
    kind, connections, limit = driven
    block_s, pair_count = max(3, math.ceil(options.seconds) + 1), 2 * options.pairs
    switched = [on for pair in range(pair_count) for on in ((True, False) if pair % 2 == 0 else (False, True))]
    say(f"{what} on and off, {kind}, {connections} connections: {pair_count} pairs of {block_s} s blocks")
    rates, doses_per_s = _block_rates(ground, switched, block_s, (kind, connections), switch_on)
    pairs = [sorted(zip(switched[at : at + 2], rates[at : at + 2], strict=True)) for at in range(0, len(rates), 2)]
    return Row(
        name=f"throughput on / off, {kind}, {connections} connections",
        unit="tps",
        ours=[off - (off - on) / doses_per_s for (_, off), (_, on) in pairs],
        peer=[off for (_, off), _ in pairs],
        goal=Goal(of="ratio", limit=limit, at_most=False),
        note=(
            f"the peer is the same load without {what}; measured with {doses_per_s:.1f} {dose} a second, the"
            " loss divided by that"
        ),
    )


def _block_rates(
    ground: Ground, switched: list[bool], block_s: int, driven: tuple[OltpKind, int], switch_on: SwitchOn
) -> tuple[list[float], float]:
    """Throughput of each block, and how many doses a second there really were."""
    kind, connections = driven
    load = Load(
        workload=ground.workload(kind),
        connections=connections,
        duration_s=float(block_s * (len(switched) + 1)),
    )
    began_unix_s = time.time() + LEAD_S + connections / CONNECTS_PER_S
    switch = _Switch(switch_on, switched, block_s, began_unix_s + block_s)  # the first block warms the server up
    _, messages = ground.engine.intervals(load, at_unix_ns=round(began_unix_s * 1e9), beside=switch.begin)
    switch.thread.join()
    if switch.fault is not None:
        raise switch.fault
    completed = [message.completed for message in messages if isinstance(message, Interval)]
    starts = [block_s * (index + 1) for index in range(len(switched))]
    rates = [sum(completed[start + 1 : start + block_s]) / (block_s - 1) for start in starts]
    return rates, sum(switch.doses) / (block_s * sum(switched))


class _Switch:
    """Turns it on and off by the clock."""

    def __init__(self, switch_on: SwitchOn, switched: list[bool], block_s: int, began_unix_s: float) -> None:
        self._switch_on, self._switched = switch_on, switched
        self._block_s, self._began_unix_s = block_s, began_unix_s
        self.thread = Thread(target=self._run, daemon=True)
        self.fault: BaseException | None = None
        self.doses: list[int] = []
        self._engine_pid = 0

    def begin(self, engine_pid: int) -> None:
        """Starts the clock."""
        self._engine_pid = engine_pid
        self.thread.start()

    def _run(self) -> None:
        try:
            for index, on in enumerate(self._switched):
                self._wait_until(index)
                if on:
                    with self._switch_on(self._engine_pid, self.doses):
                        self._wait_until(index + 1, early_s=0.05)
        except BaseException as fault:  # told by the thread that waits for this one
            self.fault = fault

    def _wait_until(self, index: int, *, early_s: float = 0.0) -> None:
        time.sleep(max(0.0, self._began_unix_s + index * self._block_s - early_s - time.time()))
