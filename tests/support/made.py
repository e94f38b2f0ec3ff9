"""Made-up recordings in memory, with known answers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from plimsoll.record import frames
from plimsoll.record.environment import ClientFacts, Environment, HostFacts
from plimsoll.record.level import Level
from plimsoll.record.model import (
    ConnectionsRecord,
    EngineAccount,
    Origin,
    OutageRecord,
    Outcome,
    ReportedResult,
    SystemRecord,
    TrialRecord,
    TrialWarning,
    Verdict,
    Window,
    WorkloadRecord,
)

PLACE = {"driver": "here", "host": "here", "instance": "one"}
STARTED_UNIX_S = 1_000_000.0


@dataclass(frozen=True)
class Made:
    """A recording whose tables were never written."""

    trial: TrialRecord
    environment: Environment
    outcome: Outcome
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)

    def intervals(self) -> pl.DataFrame | None:
        return self.tables.get("intervals")

    def errors(self) -> pl.DataFrame | None:
        return self.tables.get("errors")

    def histograms(self, measures: Collection[str] | None = None) -> pl.DataFrame | None:
        table = self.tables.get("histograms")
        return table if table is None or measures is None else table.filter(pl.col("measure").is_in(list(measures)))

    def telemetry(self) -> pl.DataFrame | None:
        return self.tables.get("telemetry")

    def turns(self) -> pl.DataFrame | None:
        return self.tables.get("turns")

    def replication(self) -> pl.DataFrame | None:
        return self.tables.get("replication")


def trial_record(
    *,
    system: str = "a",
    workload: str = "read-write",
    connections: int = 4,
    repetition: int = 0,
    **changes: object,
) -> TrialRecord:
    """A trial; `changes` replace fields of its record, or of its system and workload by their own names."""
    of_systems = ("factors", "instances", "cost_per_month", "factor_values")
    system_changes = {name: changes.pop(name) for name in of_systems if name in changes}
    workload_changes = {name: changes.pop(name) for name in ("kind", "options", "rate_unit") if name in changes}
    per_instance = changes.pop("connections_per_instance", None)
    return TrialRecord(
        trial_id=f"{system}-{workload}-{connections}-{repetition}",
        study="made",
        system=SystemRecord(name=system, **system_changes),
        workload=WorkloadRecord(name=workload, **workload_changes),
        level=Level(connections=connections, connections_per_instance=per_instance),
        repetition=repetition,
        **changes,
    )


def published(
    throughput_tps: float,
    *,
    cores: int | None = None,
    reported: dict[str, str] | None = None,
    response_ms: dict[str, float] | None = None,
    host_cpu: dict[str, float] | None = None,
    **trial: object,
) -> Made:
    """A figure of a published table."""
    return Made(
        trial_record(origin=Origin(kind="imported-table"), **trial),
        Environment(host=HostFacts(cpu_cores=cores), reported=reported or {}),
        Outcome(
            verdict=Verdict.COMPLETE,
            reported=ReportedResult(
                throughput_tps=throughput_tps, response_ms=response_ms or {}, host_cpu=host_cpu or {}
            ),
        ),
    )


def measured(
    rates_tps: np.ndarray | list[float],
    *,
    warm_count: int = 2,
    environment: Environment | None = None,
    warnings: tuple[TrialWarning, ...] = (),
    response_ns: np.ndarray | None = None,
    rows_returned: int = 0,
    failed: int = 0,
    errors: list[dict[str, object]] | None = None,
    telemetry: pl.DataFrame | None = None,
    outages: tuple[OutageRecord, ...] = (),
    connections_made: ConnectionsRecord | None = None,
    in_flight: dict[int, np.ndarray] | None = None,
    after_tps: list[float] | None = None,
    unfinished: int = 0,
    **trial: object,
) -> Made:
    """A measured trial with the given throughput in each second; before it, `warm_count` seconds of warm-up.

    `in_flight` has, by second of the window (-1 is the last of the warm-up), the ages of what was in flight at its end,
    nanoseconds; without it the recording does not say. `after_tps` is throughput in the seconds after the window.
    """
    window = np.asarray(rates_tps)
    rates = np.round(np.concatenate([np.full(warm_count, 7.0), window, after_tps or []])).astype(int)
    tables = {"intervals": interval_table(rates, rows_returned=rows_returned, failed=failed)}
    if response_ns is not None:
        tables["histograms"] = histogram_table(response_ns, interval=warm_count)
    ages = [
        histogram_table(ns, interval=warm_count + second, measure=f"in_flight_{measure}")
        for second, ns in (in_flight or {}).items()
        for measure in ("response", "service")
    ]
    if ages:
        tables["histograms"] = pl.concat([*([tables["histograms"]] if "histograms" in tables else []), *ages])
    if errors:
        rows = [{**PLACE, "interval": warm_count, **error} for error in errors]
        tables["errors"] = pl.DataFrame(rows, schema=frames.ERRORS)
    if telemetry is not None:
        tables["telemetry"] = telemetry
    account = EngineAccount(
        started_unix_s=STARTED_UNIX_S,
        duration_s=float(rates.size),
        offered_count=int(rates.sum()),
        unfinished_count=unfinished,
        client_user_s=1.0,
        client_system_s=1.0,
        client_memory_bytes_max=1,
    )
    outcome = Outcome(
        verdict=Verdict.COMPLETE,
        window=Window(first=warm_count, last=warm_count + window.size - 1),
        account=account,
        warnings=warnings,
        outages=outages,
        outages_count=len(outages),
        connections=connections_made,
    )
    default = Environment(
        host=HostFacts(name="made", cpu_cores=4, cpu_threads=4), client=ClientFacts(on_server_host=False)
    )
    return Made(trial_record(**trial), environment or default, outcome, tables)


def source_of(metric: str) -> str:
    """Whose sampler gives a metric."""
    if metric.startswith("run_delay"):
        return "engine"
    return "process" if metric.startswith(("server", "client")) else "host"


def telemetry_table(shares: dict[str, float], *, seconds: int, host: str = "here") -> pl.DataFrame:
    """Each metric once a second with one value; before the window (2 s of warm-up) with another one."""
    rows = [
        {
            **PLACE,
            "host": host,
            "unix_s": STARTED_UNIX_S + second + 1.01,
            "source": source_of(metric),
            "metric": metric,
            "value": value if second >= 2 else 0.77,
        }
        for second in range(seconds + 2)
        for metric, value in shares.items()
    ]
    return pl.DataFrame(rows, schema=frames.TELEMETRY)


def interval_table(rates: np.ndarray, *, rows_returned: int = 0, failed: int = 0) -> pl.DataFrame:
    """One row for each second."""
    size = rates.size
    columns: dict[str, object] = {name: ["x"] * size for name in frames.INTERVALS}
    columns |= {name: [value] * size for name, value in PLACE.items()}
    zeros = ("dropped", "retries", "rolled_back", "writes", "others", "rows_affected")
    columns |= dict.fromkeys(zeros, np.zeros(size, dtype=int))
    columns |= {"interval": np.arange(size), "from_s": np.arange(size) * 1.0, "to_s": np.arange(size) + 1.0}
    columns |= {"transaction": ["t"] * size, "completed": rates, "failed": np.full(size, failed), "reads": rates * 10}
    columns["rows_returned"] = rates * rows_returned
    return pl.DataFrame(columns, schema=frames.INTERVALS)


def histogram_table(response_ns: np.ndarray, *, interval: int, measure: str = "response") -> pl.DataFrame:
    """All durations in one interval, in buckets of the recording's layout."""
    buckets, counts = np.unique(bucket_of(response_ns), return_counts=True)
    row = {
        **PLACE,
        "interval": interval,
        "transaction": "" if measure.startswith("in_flight") else "t",
        "measure": measure,
        "buckets": buckets.tolist(),
        "counts": counts.tolist(),
        "sum_ns": int(response_ns.sum()),
        "max_ns": int(response_ns.max()),
    }
    return pl.DataFrame([row], schema=frames.HISTOGRAMS)


def bucket_of(duration_ns: np.ndarray) -> np.ndarray:
    """Bucket indexes, straight from the definition of the layout."""
    octave = np.maximum(np.floor(np.log2(np.maximum(duration_ns, 1))).astype(np.int64) - 10, 0)
    return (duration_ns >> octave) + octave * 1024
