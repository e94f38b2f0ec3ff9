"""Which server takes the transactions that only read: `reads` of a system with replicas."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from plimsoll.spec.fields import DurationS, Written

WAIT_TIMEOUT_MAX_S = 3600.0
"""As long as a read may wait for its connection's last write, seconds."""

ON_SOURCE = "source"
"""What `reads` says where replicas only apply."""


class Reads(Written):
    """Reads are spread over the replicas.

    Attributes:
        policy: Which replica is chosen: each in turn, or the one on which the fewest reads run.
        per: One is chosen for each transaction, or once for each connection.
        read_your_writes: `off`: a read goes to a replica at once, and may miss what its connection wrote. `wait`: it
            waits until the replica has the connection's last write (by its GTID). `pin`: after a write the connection
            reads from the source until the replica has the write.
        wait_timeout: A read waits at most so long, seconds; then it runs on the source.
    """

    policy: Literal["round_robin", "least_outstanding"] = "round_robin"
    per: Literal["transaction", "connection"] = "transaction"
    read_your_writes: Literal["off", "wait", "pin"] = "off"
    wait_timeout: Annotated[DurationS, Field(gt=0, le=WAIT_TIMEOUT_MAX_S)] = 1.0

    def line(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {
            "policy": self.policy,
            "per": self.per,
            "read_your_writes": self.read_your_writes,
            "wait_timeout_ms": max(round(self.wait_timeout * 1000), 1),
        }

    def __str__(self) -> str:
        """In words."""
        own = {
            "off": "own writes may be missed",
            "wait": "a read waits for the connection's last write",
            "pin": "after a write the connection reads from the source",
        }
        return f"{self.policy.replace('_', ' ')} per {self.per}; {own[self.read_your_writes]}"


def _read(value: object) -> object:
    """None for "source"."""
    if value == ON_SOURCE:
        return None
    if isinstance(value, str) or value is None:
        raise ValueError(f'must be "{ON_SOURCE}" or a table such as {{ policy = "round_robin" }}, is {value!r}')
    return value


ReadsOrSource = Annotated[Reads | None, BeforeValidator(_read)]
"""Written as a table, or as "source" (kept as None: all reads stay on the source, replicas only apply)."""


def reads_words(reads: Reads | None) -> str:
    """Where reads go, in words; None for the source."""
    return "on the source" if reads is None else str(reads)
