"""What the engine says of a ledger's workers while servers come and go; their progress is as of other commands.

Deliberately not here: what they are told (`plans`, `engine_run`).
"""

from __future__ import annotations

from typing import Literal

from plimsoll.drive.engine_message import EngineMessage, ErrorCode, Nanoseconds


class Lost(EngineMessage):
    """The first error of a ledger's workers since transactions were acknowledged.

    Attributes:
        monotonic_ns: When, on the machine's monotonic clock.
        code: MySQL's error number; where no server answered, that of MySQL's client library for it (2002, 2003, 2013).
    """

    type: Literal["lost"]
    monotonic_ns: Nanoseconds
    code: ErrorCode
    message: str


class Resumed(EngineMessage):
    """A ledger's workers write again: when the first transaction was acknowledged, on the machine's monotonic clock."""

    type: Literal["resumed"]
    monotonic_ns: Nanoseconds
