"""One system of a duet while a round runs, what of the engine's words is about it alone, and what concerns all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from plimsoll.drive.protocol import Done, Ready
from plimsoll.errors import HostError
from plimsoll.run.freezer import Freezer
from plimsoll.run.measuring import weather_after, weather_before
from plimsoll.run.progressing import Progressing, TrialTask
from plimsoll.run.spool import Spool
from plimsoll.run.turns import TurnTaken


@dataclass(slots=True)
class Side:
    """One system of a duet.

    Attributes:
        taken: Its turns so far, warm-up included.
        ended_count: Transactions that ended in them.
        client_ns: Processor time of the engine in their counted parts, in user space and in the kernel.
    """

    task: TrialTask
    progressing: Progressing
    spool: Spool
    freezer: Freezer
    taken: list[TurnTaken] = field(default_factory=list)
    ended_count: int = 0
    client_ns: list[int] = field(default_factory=lambda: [0, 0])

    @property
    def name(self) -> str:
        """Of the system."""
        return self.task.planned.system

    @property
    def instances(self) -> list[str]:
        """Names of its servers."""
        return [instance.name for instance in self.task.system.instances]


def own_ready(ready: Ready, side: Side) -> Ready:
    """What of the opening of connections is of one side."""
    names = side.instances
    failures = [one for one in ready.failures if one.instance in names]
    wanted = side.task.planned.connections
    return ready.model_copy(
        update={
            "failures": failures,
            "encryptions": [one for one in ready.encryptions if one.instance in names],
            "wanted_count": wanted,
            "connections": wanted - sum(one.count for one in failures),
        }
    )


def own_done(done: Done, side: Side) -> Done:
    """What of the account is of one side: the length and the cost of its own turns, and what ended in them."""
    outages = [one for one in done.outages if one.instance in side.instances]
    user_ns, system_ns = side.client_ns
    load_s = sum(taken.row["to_s"] - taken.row["from_s"] for taken in side.taken)
    return done.model_copy(
        update={
            "duration_ns": round(load_s * 1e9),
            "offered_count": side.ended_count + done.unfinished_count,
            "client": done.client.model_copy(update={"user_ns": user_ns, "system_ns": system_ns}),
            "outages": outages,
            "outages_count": len(outages),
        }
    )


def note_weather(sides: Sequence[Side]) -> None:
    """Notes how fast the machine is, before the load and after it: one reference load for all, with servers frozen.

    So nothing that a server still flushes or purges competes with it, and each round is measured alike.

    Raises:
        HostError: The data directory of the first server cannot be written to.
    """
    system, before = sides[0].task.system, sides[0].progressing.weather
    weather = weather_before(system) if before is None else weather_after(system, before)
    for side in sides:
        side.progressing.weather = weather


@contextmanager
def thawed_at_the_end(sides: Sequence[Side]) -> Iterator[None]:
    """Thaws all servers, whatever happened; one that has ended needs no thaw, and its end is told elsewhere."""
    try:
        yield
    finally:
        for side in sides:
            with contextlib.suppress(HostError):
                side.freezer.thaw()
