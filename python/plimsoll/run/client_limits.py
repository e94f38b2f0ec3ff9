"""What this machine's client was found to drive at most, kept between runs.

`plimsoll doctor --client` writes it, trials compare themselves with it.
It holds for one machine, one engine and one workload with all its options; anything else has no limit that is known.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from plimsoll.errors import HostError
from plimsoll.record.document import Document
from plimsoll.record.environment import HostFacts
from plimsoll.regular_file import read_regular
from plimsoll.spec.statements import Workload
from plimsoll.spec.target import Target

_FILE_BYTES_MAX = 4_000_000
_ENTRIES_MAX = 200


class ClientLimit(Document):
    """What a client reached where the server was hardly the limit.

    Attributes:
        by_socket: Through a unix socket; otherwise over TCP on the loopback address.
        throughput_tps: Transactions per second.
        cpu_us_per_statement: Processor time of the client for each statement, microseconds.
        response_ms_p99: The fastest that responses can be with so many connections; None with too few transactions.
    """

    connections: int
    by_socket: bool
    throughput_tps: float
    statements_per_s: float
    cpu_us_per_statement: float
    response_ms_p99: float | None


class CalibratedWorkload(Document):
    """The limits of one workload on one machine.

    Attributes:
        machine: Name, processor model and number of hardware threads.
        options: All options of the workload that are in force.
    """

    machine: str
    engine_version: str
    kind: str
    options: dict[str, Any]
    limits: tuple[ClientLimit, ...]

    def is_of(self, machine: str, engine_version: str, workload: Workload) -> bool:
        """Whether these limits are those of a workload here."""
        written = json.loads(json.dumps(workload.options()))
        return (machine, engine_version, workload.kind, written) == (
            self.machine,
            self.engine_version,
            self.kind,
            self.options,
        )


def machine_of(host: HostFacts) -> str:
    """A machine in one line, as limits name it."""
    return f"{host.name}, {host.cpu_model}, {host.cpu_threads} hardware threads"


def limits_file() -> Path:
    """Where limits are kept: `client-limits.json` in the user's state directory (XDG base directories)."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local/state")
    return Path(base) / "plimsoll" / "client-limits.json"


def read_limits(path: Path) -> tuple[CalibratedWorkload, ...]:
    """Everything that is kept. A file that is missing, damaged or of another version holds nothing."""
    try:
        entries = json.loads(read_regular(path, _FILE_BYTES_MAX))
        return tuple(CalibratedWorkload.model_validate(entry) for entry in entries)
    except (OSError, ValueError, TypeError, RecursionError, ValidationError):
        return ()


def keep_limits(path: Path, found: CalibratedWorkload) -> None:
    """Keeps the limits of a workload in place of older ones.

    Raises:
        HostError: The file cannot be written.
    """
    others = [
        one
        for one in read_limits(path)
        if (one.machine, one.kind, one.options) != (found.machine, found.kind, found.options)
    ]
    text = json.dumps([one.model_dump(mode="json") for one in [*others[1 - _ENTRIES_MAX :], found]], indent=1)
    written = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(text, encoding="utf-8")
        written.replace(path)
    except OSError as error:
        raise HostError(f"{path}: cannot be written: {error.strerror}; set XDG_STATE_HOME to another folder") from None


def known_limit_tps(
    host: HostFacts, engine_version: str, workload: Workload, connections: int, targets: Iterable[Target]
) -> float | None:
    """What this client is known to reach with a workload and so many connections, tps; None when unknown."""
    machine = machine_of(host)
    entries = [one for one in read_limits(limits_file()) if one.is_of(machine, engine_version, workload)]
    by_socket = all(target.socket is not None for target in targets)
    return limit_tps(entries[-1].limits, connections, by_socket=by_socket) if entries else None


def limit_tps(limits: Iterable[ClientLimit], connections: int, *, by_socket: bool) -> float | None:
    """What a client is known to reach with so many connections, transactions per second; None when unknown.

    Between two numbers of connections the lower figure counts; beyond those that were measured nothing is known.
    """
    known: Sequence[ClientLimit] = sorted(
        (one for one in limits if one.by_socket == by_socket), key=lambda one: one.connections
    )
    below = [one.throughput_tps for one in known if one.connections <= connections]
    above = [one.throughput_tps for one in known if one.connections >= connections]
    return min(below[-1], above[0]) if below and above else None
