"""Made-up recordings as large as measured ones: histograms of every second, all samplers, a server's variables.

Five systems, two workloads, ten levels, and as many repetitions as the number of recordings takes. Throughput rises to
a peak and falls a little; durations are lognormal. What the numbers say does not matter here, their size does.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.record import frames
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts, StorageFacts
from plimsoll.record.files import document_bytes, mark_of
from plimsoll.record.level import Level
from plimsoll.record.model import EngineAccount, Outcome, SystemRecord, TrialRecord, Verdict, Window, WorkloadRecord
from plimsoll.record.store import read_recording, write_recording

SECONDS = 60
SHORT_S = 5
SYSTEMS = ("a", "b", "c", "d", "e")
WORKLOADS = (("read-only", "oltp_read_only"), ("read-write", "oltp_read_write"))
LEVELS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
VARIANTS = 3
"""So many different measurements of the same level are made up, and used in turn."""
BEGAN_UNIX_S = 1_700_000_000.0
PLACE = {"driver": "bench", "host": "bench", "instance": "server"}
ROLE = {"role": "source"}
HOST_METRICS = (
    *("cpu_user_ratio", "cpu_system_ratio", "cpu_iowait_ratio", "cpu_idle_ratio", "cpu_steal_ratio"),
    *(f"cpu{index}_busy_ratio" for index in range(16)),
    *("context_switches_per_s", "interrupts_per_s", "memory_available_bytes", "page_cache_bytes", "dirty_bytes"),
)
PROCESS_METRICS = ("server_cpu_ratio", "server_memory_bytes", "client_cpu_ratio", "client_memory_bytes")
DEVICE_METRICS = ("read_bytes_per_s", "write_bytes_per_s", "write_per_s", "flush_per_s", "busy_ratio")
SERVER_METRICS = tuple(f"innodb_counter_{index}_per_s" for index in range(100))


@dataclass(frozen=True, slots=True)
class _Cell:
    """One trial's place in the study."""

    system: str
    workload: tuple[str, str]
    connections: int
    repetition: int


def write_study(folder: Path, count: int, systems: Sequence[str] = SYSTEMS) -> None:
    """Writes so many recordings, each of 60 s, below a folder."""
    for position, cell in enumerate(_cells(count, systems)):
        completed, tables = _measured(cell.workload[1], cell.connections, position // len(LEVELS) % VARIANTS)
        write_recording(folder, _trial(cell, position), _environment(cell), _outcome(completed), **tables)


def write_copies(folder: Path, count: int) -> None:
    """Writes one recording of `SHORT_S`, and as many more below a folder that say the same of other trials.

    Their tables are links to those of the first: 10,000 recordings are written in seconds and take the room of one.
    """
    cells = _cells(count, SYSTEMS)
    first = next(cells)
    completed, tables = _measured(first.workload[1], first.connections, 0)
    short = {name: _short(table) for name, table in tables.items()}
    outcome, environment = _outcome(completed[:SHORT_S], SHORT_S), _environment(first)
    made = write_recording(folder, _trial(first, 0, SHORT_S), environment, outcome, **short)
    files = read_recording(made).outcome.files
    for position, cell in enumerate(cells, start=1):
        trial = _trial(cell, position, SHORT_S)
        copy = made.with_name(trial.trial_id)
        copy.mkdir()
        for name in files.keys() - {"trial.json"}:
            os.link(made / name, copy / name)
        document = document_bytes(trial)
        marks = {**files, "trial.json": mark_of(document)}
        (copy / "trial.json").write_bytes(document)
        (copy / "outcome.json").write_bytes(document_bytes(outcome.model_copy(update={"files": marks})))


def _cells(count: int, systems: Sequence[str]) -> Iterator[_Cell]:
    per_repetition = len(systems) * len(WORKLOADS) * len(LEVELS)
    repetitions = range(-(-count // per_repetition))
    cells = (_Cell(s, w, c, r) for r, s, w, c in itertools.product(repetitions, systems, WORKLOADS, LEVELS))
    return itertools.islice(cells, count)


def _short(table: pl.DataFrame) -> pl.DataFrame:
    """What a table says of the first `SHORT_S` seconds."""
    if "unix_s" in table.columns:
        return table.filter(pl.col("unix_s") < BEGAN_UNIX_S + SHORT_S)
    return table.filter(pl.col("interval") < SHORT_S)


@functools.cache
def _measured(kind: str, connections: int, variant: int) -> tuple[NDArray[np.int64], dict[str, pl.DataFrame]]:
    """What a trial measured: transactions in each second, and the tables."""
    random = np.random.default_rng((connections, variant))
    rate_tps = 3000.0 * connections / (connections + 6) * (1 - connections / 4000)
    completed = np.maximum(random.normal(rate_tps, rate_tps * 0.03, SECONDS).astype(np.int64), 1)
    tables = {
        "intervals": _intervals(completed, kind),
        "errors": pl.DataFrame(schema=frames.ERRORS),
        "histograms": _histograms(completed, kind, connections, random),
        "telemetry": _telemetry(random),
    }
    return completed, tables


def _trial(cell: _Cell, position: int, seconds: int = SECONDS) -> TrialRecord:
    name, kind = cell.workload
    return TrialRecord(
        trial_id=f"{cell.system}-{name}-c{cell.connections}-r{cell.repetition}",
        study="bench",
        system=SystemRecord(name=cell.system, factors={"option": cell.system}),
        workload=WorkloadRecord(name=name, kind=kind, options={"tables": 1, "table_size": 1_000_000}),
        level=Level(connections=cell.connections),
        repetition=cell.repetition,
        position=position,
        duration_s=seconds,
    )


def _environment(cell: _Cell) -> Environment:
    variables = {f"a_server_variable_with_index_{index}": str(index * 37) for index in range(650)}
    instance = InstanceFacts(
        name="server",
        version="10.11.14-MariaDB",
        flavour="mariadb",
        variables={**variables, "innodb_buffer_pool_size": "2147483648", "option": cell.system},
        tables={"sbtest1": "CREATE TABLE `sbtest1` (\n  `id` int(11) NOT NULL\n)"},
        data_bytes=254_803_968,
        storage=StorageFacts(path="/data", file_system="ext4", flush_ms_median=0.1),
    )
    host = HostFacts(name="bench", cpu_cores=8, cpu_threads=16, memory_bytes=64 * 2**30)
    return Environment(host=host, instances=(instance,), client=ClientFacts(on_server_host=True))


def _outcome(completed: NDArray[np.int64], seconds: int = SECONDS) -> Outcome:
    account = EngineAccount(
        started_unix_s=BEGAN_UNIX_S,
        duration_s=seconds,
        offered_count=int(completed.sum()),
        unfinished_count=0,
        client_user_s=1.0,
        client_system_s=5.0,
        client_memory_bytes_max=10_000_000,
    )
    return Outcome(verdict=Verdict.COMPLETE, window=Window(first=0, last=seconds - 1), account=account)


def _intervals(completed: NDArray[np.int64], kind: str) -> pl.DataFrame:
    seconds = np.arange(SECONDS)
    zero = np.zeros(SECONDS, dtype=np.int64)
    columns: dict[str, Any] = {name: [value] * SECONDS for name, value in {**PLACE, **ROLE}.items()}
    columns |= {"interval": seconds, "from_s": seconds * 1.0, "to_s": seconds + 1.0}
    columns |= {"transaction": [kind] * SECONDS, "completed": completed}
    columns |= dict.fromkeys(("rolled_back", "failed", "dropped", "retries"), zero)
    columns |= {"reads": completed * 14, "writes": completed * 4, "others": completed * 2}
    columns |= {"rows_returned": completed * 410, "rows_affected": completed * 4}
    return pl.DataFrame(columns, schema=frames.INTERVALS)


def _histograms(completed: NDArray[np.int64], kind: str, connections: int, random: np.random.Generator) -> pl.DataFrame:
    mean_ns = connections / float(completed.mean()) * 1e9
    rows = []
    for second, count in enumerate(completed.tolist()):
        service = random.lognormal(np.log(mean_ns), 0.4, count).astype(np.int64)
        delay = random.lognormal(np.log(20_000), 0.8, count).astype(np.int64)
        for measure, durations in (
            ("response", service + delay),
            ("service", service),
            ("pool_wait", np.zeros(1, dtype=np.int64)),
            ("dispatch_delay", delay),
        ):
            rows.append({**_histogram(durations), "interval": second, "measure": measure})
    columns = {"transaction": kind, **PLACE, **ROLE}
    return pl.DataFrame([{**columns, **row} for row in rows], schema=frames.HISTOGRAMS)


def _histogram(durations_ns: NDArray[np.int64]) -> dict[str, Any]:
    """Sparse buckets of three significant digits, as `plimsoll.record.histograms` lays them out."""
    octave = np.maximum(np.frexp(durations_ns.astype(np.float64))[1] - 11, 0)
    buckets, counts = np.unique((durations_ns >> octave) + octave * 1024, return_counts=True)
    return {
        "buckets": buckets.tolist(),
        "counts": counts.tolist(),
        "sum_ns": int(durations_ns.sum()),
        "max_ns": int(durations_ns.max()),
    }


def _telemetry(random: np.random.Generator) -> pl.DataFrame:
    named = [("host", "", HOST_METRICS), ("process", "server", PROCESS_METRICS)]
    named += [("device", "server", DEVICE_METRICS), ("server", "server", SERVER_METRICS)]
    metrics = [(source, instance, metric) for source, instance, names in named for metric in names]
    columns = {
        "driver": ["bench"] * (len(metrics) * SECONDS),
        "host": ["bench"] * (len(metrics) * SECONDS),
        "instance": [instance for _, instance, _ in metrics] * SECONDS,
        "unix_s": np.repeat(BEGAN_UNIX_S + 0.5 + np.arange(SECONDS), len(metrics)),
        "source": [source for source, _, _ in metrics] * SECONDS,
        "metric": [metric for _, _, metric in metrics] * SECONDS,
        "value": random.random(len(metrics) * SECONDS) * 0.3,
    }
    return pl.DataFrame(columns, schema=frames.TELEMETRY)
