"""A network delay in front of a server: the engine's relay, as long as a context lasts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.plans import relay_line
from plimsoll.drive.protocol import Listening
from plimsoll.spec.target import Target


@contextmanager
def delayed(target: Target, *, delay_s: float) -> Iterator[int]:
    """A port of 127.0.0.1 that leads to a server on this machine or another, each byte so much later.

    The relay ends with the context, and with this process, however it dies.

    Args:
        target: The server; only its place is used.
        delay_s: Of one way, seconds, from 0 to 60. A round trip takes twice as long.

    Raises:
        SpecError: The delay is too long.
        HostError, EngineBugError: The relay cannot be had.
    """
    with LocalDriver().launch("relay", relay_line(target, delay_s=delay_s)) as run:
        yield run.expect(Listening).port
