"""What the engine is told: the first line of each of its commands.

The schema is the engine's (`plan` of its core crate, docs/engine-protocol.schema.json); a test holds these lines to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from plimsoll.drive.protocol import PROTOCOL
from plimsoll.spec.clients import BURST_S, CLIENTS, Clients, OpenArrivals
from plimsoll.spec.paths import AS_USUAL, TableOptions
from plimsoll.spec.replicas import Reads
from plimsoll.spec.system import shares, spread
from plimsoll.spec.target import Target, Tls
from plimsoll.spec.tpcc import DATA_SEED
from plimsoll.spec.workloads import StatementsSpec, Workload


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


@dataclass(frozen=True, slots=True)
class GroupServers:
    """The servers that one group of connections uses.

    Attributes:
        instance: Name of the source, and of the group.
        source: Takes writes, and all reads where no replica does.
        replicas: By the name of the instance.
        reads: How reads are spread over the replicas; None keeps them on the source.
    """

    instance: str
    source: Target
    replicas: Mapping[str, Target] = field(default_factory=dict)
    reads: Reads | None = None

    def line(self) -> dict[str, Any]:
        """The part of a group's plan that says which servers there are."""
        source = {"role": "source", "target": target_line(self.source)}
        if not self.replicas:
            return {"instance": self.instance, "targets": [source]}
        replicas = [
            {"role": "replica", "instance": name, "target": target_line(target)}
            for name, target in self.replicas.items()
        ]
        reads = None if self.reads is None else self.reads.line()
        return {"instance": self.instance, "targets": [source, *replicas], "reads": reads}


def sources(targets: Mapping[str, Target]) -> list[GroupServers]:
    """Servers without replicas, by the name of the instance."""
    return [GroupServers(instance=name, source=target) for name, target in targets.items()]


def target_line(target: Target) -> dict[str, Any]:
    """A target as the engine reads it. It holds the password: it goes to the engine's stdin and nowhere else."""
    return {
        "endpoint": _endpoint_line(target),
        "user": target.user,
        "password": target.password.get_secret_value(),
        "database": target.database,
        "tls": _tls_line(target.tls),
        "server_key": _server_key_line(target.tls),
    }


def _endpoint_line(target: Target) -> dict[str, Any]:
    if target.socket:
        return {"socket": {"path": str(target.socket)}}
    return {"tcp": {"host": target.host, "port": target.port}}


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
    servers: Sequence[GroupServers],
    *,
    connections: int,
    duration_s: float,
    seed: int,
    arrivals: OpenArrivals | None = None,
    clients: Clients = CLIENTS,
    look_first: bool = True,
    interval_s: float = 1.0,
) -> dict[str, Any]:
    """A `plan` for `plimsoll-engine trial`: one group for each source, with its replicas.

    Args:
        workload: What the connections do; of several sources each has its share of it.
        servers: Of each group.
        connections: Of all groups together; they are spread as evenly as possible.
        duration_s: The load ends after so long unless it is stopped before.
        seed: All randomness follows from it.
        arrivals: The rate that all groups together are asked for; None for a closed loop, in which each connection
            starts its next transaction when its last one is done.
        clients: How they connect, how long they think, and what they do about errors.
        look_first: Whether the engine looks at tables and limits of the servers before it connects.
        interval_s: Length of an interval.
    """
    groups = [
        {
            **group.line(),
            "workload": part.line(),
            "arrivals": _arrivals_line(arrivals, len(servers), duration_s, clients),
            "connections": group_connections,
            **clients.line(),
        }
        for group, part, group_connections in zip(
            servers, shares(workload, len(servers)), spread(connections, len(servers)), strict=True
        )
    ]
    return {
        "type": "plan",
        "protocol": PROTOCOL,
        "seed": seed,
        "interval_ms": round(interval_s * 1000),
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
    process: Any = arrivals.process
    if clients.burstiness > 1 and process == "poisson":
        process = {"bursty": {"dispersion": clients.burstiness, "stay_ms": round(BURST_S * 1000)}}
    return {"open": {"process": process, "steps": steps, "backlog_max": arrivals.backlog_max}}


def sim_line(socket: Path | None, shapes: Sequence[SimShape], *, delay_s: float = 0.0) -> dict[str, Any]:
    """A `plan` for `plimsoll-engine sim`, the fake server.

    Args:
        socket: A unix socket to be made; None for a free port of the loopback address.
        shapes: Result sets; the first whose text is in the statement counts.
        delay_s: Each statement is answered so long after it arrived, seconds; 0 for at once.
    """
    return {
        "type": "plan",
        "protocol": PROTOCOL,
        "socket": None if socket is None else str(socket),
        "shapes": [asdict(shape) for shape in shapes],
        "delay_ns": round(delay_s * 1e9),
    }


def relay_line(target: Target, *, delay_s: float) -> dict[str, Any]:
    """A `plan` for `plimsoll-engine relay`, the network delay.

    Args:
        target: The server that connections lead to; only its place is used.
        delay_s: Of one way, seconds.
    """
    return {
        "type": "plan",
        "protocol": PROTOCOL,
        "to": _endpoint_line(target),
        "delay_ns": round(delay_s * 1e9),
    }


def ledger_line(target: Target, ledger: Path, *, connections: int, seed: int) -> dict[str, Any]:
    """A `plan` for `plimsoll-engine ledger`.

    Args:
        target: The server; it must have no tables of the ledger's names.
        ledger: File to be made, outside of the server's directory.
        connections: Of workers.
        seed: What transactions write follows from it.
    """
    return {
        "type": "plan",
        "protocol": PROTOCOL,
        "seed": seed,
        "target": target_line(target),
        "connections": connections,
        "ledger": str(ledger),
    }


def read_logs_line(
    to: Path, inputs: Sequence[tuple[Path, str]], *, form: str | dict[str, Any] = "auto", time_zone_offset_s: int = 0
) -> dict[str, Any]:
    """A `plan` for `plimsoll-engine read-logs`.

    Args:
        to: Folder for the tables; it must exist.
        inputs: Each log with what people call it, oldest first.
        form: `auto`, `slow`, `general`, `binlog`, or where the columns of an audit log stand.
        time_zone_offset_s: What local times are ahead of UTC, seconds.
    """
    return {
        "type": "plan",
        "protocol": PROTOCOL,
        "to": str(to),
        "format": form,
        "inputs": [{"path": str(path), "name": name} for path, name in inputs],
        "time_zone_offset_s": time_zone_offset_s,
    }


def data_line(
    workload: Workload,
    target: Target,
    *,
    loaders: int,
    method: Literal["auto", "inserts"] = "auto",
    drop_foreign: bool = False,
    changing: bool = False,
    table_options: TableOptions = AS_USUAL,
) -> dict[str, Any]:
    """A `plan` for `plimsoll-engine prepare`, `check`, `verify` or `cleanup`.

    Args:
        workload: Whose tables they are.
        target: Where.
        loaders: Connections that load at the same time.
        method: How rows are sent.
        drop_foreign: Also drops tables that Plimsoll did not make.
        changing: A check takes any number of rows, since workloads insert or delete.
        table_options: Of the system's server; they come after those of the workload.
    """
    data_set = {**workload.data_line(), "seed": DATA_SEED, "changing": changing}
    of_file = isinstance(workload, StatementsSpec)
    added = f"{table_options.every} {table_options.of_files if of_file else ''}".strip()
    if added:
        for table in data_set["tables"] if of_file else [data_set]:
            table["table_options"] = f"{table.get('table_options', '')} {added}".strip()
    return {
        "type": "plan",
        "protocol": PROTOCOL,
        "target": target_line(target),
        "data_set": data_set,
        "loaders": loaders,
        "method": method,
        "drop_foreign": drop_foreign,
    }
