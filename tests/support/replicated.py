"""Made-up recordings of systems with replicas, whose servers cost what is stated."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from plimsoll.record import frames
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts, PlacementFacts
from plimsoll.record.model import OutageRecord
from support.made import STARTED_UNIX_S, Made, bucket_of, measured

SECONDS, WARM = 20, 2


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """A source and its replicas.

    Attributes:
        replicas: How many.
        tps: Transactions per second of all together.
        write_ratio: Share of them that write.
        read_ms: Processor time of one that reads, milliseconds; the same of writes on the source and of applying them.
        lag_s: Of each replica, second by second of the whole load; None for a small steady one.
        write_response_ms: Mean response time of writes.
        is_placed: Each server has a CPU of its own.
        stated: What the study says of the system.
    """

    system: str = "a"
    replicas: int = 1
    tps: float = 1000.0
    write_ratio: float = 0.2
    read_ms: float = 0.5
    write_ms: float = 2.0
    apply_ms: float = 1.0
    lag_s: tuple[float, ...] | None = None
    write_response_ms: float = 4.0
    is_placed: bool = True
    stated: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> list[str]:
        """Of its servers, the source first."""
        return [f"{self.system}/{number}" for number in range(self.replicas + 1)]


def recording(fleet: Fleet, *, repetition: int = 0, **trial: object) -> Made:
    """One trial of a fleet, with all its tables."""
    writes = round(fleet.tps * fleet.write_ratio)
    reads = round(fleet.tps) - writes
    share = reads // max(fleet.replicas, 1)
    stated = dict(fleet.stated) or {"replicas": str(fleet.replicas)}
    outages = trial.pop("outages", ())
    made = measured(
        [fleet.tps] * SECONDS,
        warm_count=WARM,
        system=fleet.system,
        repetition=repetition,
        environment=_environment(fleet),
        factors=stated,
        outages=outages,
        **trial,
    )
    rows = [(fleet.names[0], "source", "write", writes, writes)]
    rows += [(name, "replica", "read", share, 0) for name in fleet.names[1:]] or [
        (fleet.names[0], "source", "read", reads, 0)
    ]
    tables = {
        "intervals": _intervals(rows),
        "histograms": _histograms(rows, fleet),
        "telemetry": _telemetry(fleet, writes, share if fleet.replicas else reads),
    }
    if fleet.replicas:
        tables["replication"] = _replication(fleet, share)
    return replace(made, tables=tables)


def _environment(fleet: Fleet) -> Environment:
    def placed(number: int) -> PlacementFacts | None:
        return PlacementFacts(cpus=(number,)) if fleet.is_placed else None

    return Environment(
        host=HostFacts(name="made", cpu_cores=8, cpu_threads=8),
        instances=tuple(InstanceFacts(name=name, placement=placed(number)) for number, name in enumerate(fleet.names)),
        client=ClientFacts(on_server_host=True),
    )


def _place(name: str) -> dict[str, object]:
    return {"driver": "here", "host": "here", "instance": name}


def _intervals(servers: list[tuple[str, str, str, int, int]]) -> pl.DataFrame:
    zeros = dict.fromkeys(frames.INTERVALS, 0)
    rows = [
        {
            **zeros,
            **_place(name),
            "role": role,
            "interval": second,
            "from_s": float(second),
            "to_s": second + 1.0,
            "transaction": transaction,
            "completed": completed,
            "reads": completed,
            "writes": writes,
        }
        for second in range(WARM + SECONDS)
        for name, role, transaction, completed, writes in servers
    ]
    return pl.DataFrame(rows, schema=frames.INTERVALS)


def _histograms(servers: list[tuple[str, str, str, int, int]], fleet: Fleet) -> pl.DataFrame:
    rows = []
    for name, role, transaction, completed, writes in servers:
        times = np.full(max(completed, 1), int((fleet.write_response_ms if writes else 1.0) * 1e6))
        times = times + np.arange(times.size) % 1000 * 100
        buckets, counts = np.unique(bucket_of(times), return_counts=True)
        rows += [
            {
                **_place(name),
                "role": role,
                "interval": second,
                "transaction": transaction,
                "measure": "response",
                "buckets": buckets.tolist(),
                "counts": counts.tolist(),
                "sum_ns": int(times.sum()),
                "max_ns": int(times.max()),
            }
            for second in range(WARM, WARM + SECONDS)
        ]
    return pl.DataFrame(rows, schema=frames.HISTOGRAMS)


def _telemetry(fleet: Fleet, writes: int, reads: int) -> pl.DataFrame:
    rows = []
    for number, name in enumerate(fleet.names):
        is_replica = number > 0
        served_ms = reads * fleet.read_ms if is_replica or not fleet.replicas else 0.0
        own_ms = writes * (fleet.apply_ms if is_replica else fleet.write_ms)
        for second in range(WARM + SECONDS):
            at = {**_place(name), "unix_s": STARTED_UNIX_S + second + 1.01}
            cpu = [("server_cpu_user_s_per_s", (served_ms + own_ms) / 1000), ("server_cpu_system_s_per_s", 0.0)]
            rows += [{**at, "source": "process", "metric": metric, "value": value} for metric, value in cpu]
            if is_replica:
                counted = [
                    ("replica_apply_cpu_s", writes * fleet.apply_ms / 1000 * second),
                    ("replica_applied_transactions_count", float(writes * second)),
                ]
                rows += [{**at, "source": "replication", "metric": metric, "value": value} for metric, value in counted]
    return pl.DataFrame(rows, schema=frames.TELEMETRY)


def _replication(fleet: Fleet, reads: int) -> pl.DataFrame:
    lag_s = fleet.lag_s or (0.05,) * (WARM + SECONDS)
    rows = [
        {
            **_place(name),
            "role": "replica",
            "interval": second,
            "lag_s": lag_s[second] + 0.01,
            "lag_end_s": lag_s[second],
            "reads": reads,
            "stale_reads": reads // 100,
            "waits": reads // 10,
            "wait_s": reads / 10 * 0.002,
            "wait_timeouts": 1,
        }
        for second in range(WARM + SECONDS)
        for name in fleet.names[1:]
    ]
    return pl.DataFrame(rows, schema=frames.REPLICATION)


GROWING_S = tuple(0.1 + 0.1 * second for second in range(WARM + SECONDS))
"""The lag of a replica that is 10 % too slow."""

LOST = OutageRecord(instance="a/1", role="replica", from_s=5.0, to_s=7.5, connections_count=3, lost_count=2)
"""Connections to the first replica were lost for 2.5 s."""
