"""What the engine is told: the first line of each of its commands.

The schema is the engine's (`plan` of its core crate, docs/engine-protocol.schema.json); a test holds these lines to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from plimsoll.drive.protocol import PROTOCOL
from plimsoll.spec.arrivals import OpenArrivals
from plimsoll.spec.clients import CLIENTS, Clients
from plimsoll.spec.shares import shares, spread
from plimsoll.spec.statements import Workload
from plimsoll.spec.target import Target
from plimsoll.spec.tls import Tls
from plimsoll.spec.tpcc import DATA_SEED


@dataclass(frozen=True, slots=True)
class SimColumn:
    """A column of a result set.

    Attributes:
        name: Its name.
        text_bytes: Bytes of its text in each row; None for a whole number.
    """

    name: str
    text_bytes: int | None


@dataclass(frozen=True, slots=True)
class SimShape:
    """The result set of statements with a certain text in them.

    Attributes:
        contains: The text; `?` stands for any value.
        rows: How many there are.
        columns: At least one.
    """

    contains: str
    rows: int
    columns: tuple[SimColumn, ...]


def target_line(target: Target) -> dict[str, Any]:
    """A target as the engine reads it. It holds the password: it goes to the engine's stdin and nowhere else."""
    endpoint: dict[str, Any] = (
        {"socket": {"path": str(target.socket)}}
        if target.socket
        else {"tcp": {"host": target.host, "port": target.port}}
    )
    return {
        "endpoint": endpoint,
        "user": target.user,
        "password": target.password.get_secret_value(),
        "database": target.database,
        "tls": _tls_line(target.tls),
        "server_key": _server_key_line(target.tls),
    }


def _tls_line(tls: Tls) -> str | dict[str, Any]:
    """Each mode has the files that it uses and no others."""
    if not tls.is_demanded:
        return tls.mode
    client = None if tls.cert is None else {"cert": str(tls.cert), "key": str(tls.key)}
    if not tls.verifies:
        return {"required": {"client": client}}
    return {tls.mode.replace("-", "_"): {"ca": str(tls.ca), "client": client}}


def _server_key_line(tls: Tls) -> str | dict[str, Any]:
    if tls.server_public_key_path is not None:
        return {"file": {"path": str(tls.server_public_key_path)}}
    return "asked" if tls.get_server_public_key else "none"


def trial_line(
    workload: Workload,
    targets: dict[str, Target],
    *,
    connections: int,
    duration_s: float,
    seed: int,
    arrivals: OpenArrivals | None = None,
    clients: Clients = CLIENTS,
    look_first: bool = True,
) -> dict[str, Any]:
    """A `plan` for `plimsoll-engine trial`: one group for each instance.

    Args:
        workload: What the connections do; of several instances each has its share of it.
        targets: By the name of the instance.
        connections: Of all instances together; they are spread as evenly as possible.
        duration_s: The load ends after so long unless it is stopped before.
        seed: All randomness follows from it.
        arrivals: The rate that all instances together are asked for; None for a closed loop, in which each connection
            starts its next transaction when its last one is done.
        clients: How they connect, how long they think, and what they do about errors.
        look_first: Whether the engine looks at tables and limits of the servers before it connects.
    """
    groups = [
        {
            "instance": name,
            "targets": [{"role": "source", "target": target_line(target)}],
            "workload": part.line(),
            "arrivals": _arrivals_line(arrivals, len(targets), duration_s, clients),
            "connections": own,
            **clients.line(),
        }
        for (name, target), part, own in zip(
            targets.items(), shares(workload, len(targets)), spread(connections, len(targets)), strict=True
        )
    ]
    return {
        "type": "plan",
        "protocol": PROTOCOL,
        "seed": seed,
        "interval_ms": 1000,
        "duration_ms": round(duration_s * 1000),
        "stop_at_stdin_end": True,
        "look_first": look_first,
        "groups": groups,
    }


def _arrivals_line(
    arrivals: OpenArrivals | None, group_count: int, duration_s: float, clients: Clients
) -> dict[str, Any]:
    """What one of the groups is asked for: an equal share of the rate."""
    if arrivals is None:
        think_time = None if clients.think_time is None else clients.think_time.line()
        return {"closed": {"transactions_max": None, "think_time": think_time}}
    steps = [
        {
            "duration_ms": max(round((duration_s if step.duration_s is None else step.duration_s) * 1000), 1),
            "from_tps": step.from_tps / group_count,
            "to_tps": step.to_tps / group_count,
        }
        for step in arrivals.steps
    ]
    return {"open": {"process": arrivals.process, "steps": steps, "backlog_max": arrivals.backlog_max}}


def sim_line(socket: Path | None, shapes: Sequence[SimShape]) -> dict[str, Any]:
    """A `plan` for `plimsoll-engine sim`, the fake server that answers at once.

    Args:
        socket: A unix socket to be made; None for a free port of the loopback address.
        shapes: Result sets; the first whose text is in the statement counts.
    """
    return {
        "type": "plan",
        "protocol": PROTOCOL,
        "socket": None if socket is None else str(socket),
        "shapes": [asdict(shape) for shape in shapes],
    }


def data_line(
    workload: Workload,
    target: Target,
    *,
    loaders: int,
    method: Literal["auto", "inserts"] = "auto",
    drop_foreign: bool = False,
    changing: bool = False,
) -> dict[str, Any]:
    """A `plan` for `plimsoll-engine prepare`, `check`, `verify` or `cleanup`.

    Args:
        workload: Whose tables they are.
        target: Where.
        loaders: Connections that load at the same time.
        method: How rows are sent.
        drop_foreign: Also drops tables that Plimsoll did not make.
        changing: A check takes any number of rows, since workloads insert or delete.
    """
    return {
        "type": "plan",
        "protocol": PROTOCOL,
        "target": target_line(target),
        "data_set": {**workload.data_line(), "seed": DATA_SEED, "changing": changing},
        "loaders": loaders,
        "method": method,
        "drop_foreign": drop_foreign,
    }
