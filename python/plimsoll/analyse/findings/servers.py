"""Warnings about servers before load, all pre-flight checks, and those that recordings are held to as well.

Of servers: debug builds, a query cache, a small redo log, less than full durability.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from plimsoll.analyse.explain.durability import durability_of
from plimsoll.analyse.explain.equivalence_model import DurabilityKind
from plimsoll.analyse.explain.variables import redo_bytes
from plimsoll.analyse.findings import machine
from plimsoll.analyse.findings.doubts import Doubt, Observation, Voids, WarningKind, place_of
from plimsoll.analyse.findings.machine import Demand, Readiness, ReadinessCheck
from plimsoll.spec.oltp import reads_only
from plimsoll.units import format_bytes, parse_whole

if TYPE_CHECKING:
    from plimsoll.analyse.trial.trial_summary import TrialSummary

DEBUG_BUILD = WarningKind(
    "debug-build",
    Voids.ABSOLUTE,
    "Measure a release build of the same version.",
    "The server is several times slower than a release build, and not everywhere by the same factor.",
)


class DebugBuild(Observation, kind=DEBUG_BUILD, seen="debug-build"):
    """A server is a build for finding faults.

    Attributes:
        sign: What shows it.
    """

    instance: str
    sign: str

    def __str__(self) -> str:
        return f"{self.instance} is a debug build: {self.sign}"


def debug_build(facts: Readiness) -> Iterator[Doubt]:
    """A build for finding faults is several times slower, and not by the same factor everywhere."""
    for server in facts.servers:
        marked = _SLOW_BUILD.search(server.version or "")
        named = next((name for name in _OF_DEBUG_BUILDS if name in server.variables), None)
        if marked is not None or named is not None:
            sign = f"version {server.version}" if marked else f"it has the variable {named}"
            yield facts.place.doubt(DebugBuild(instance=server.name, sign=sign))


QUERY_CACHE_ON = WarningKind(
    "query-cache-on",
    Voids.NOTHING,
    "Set query_cache_type = OFF and query_cache_size = 0, unless production runs with the query cache.",
    "Repeated statements are answered from the cache and say nothing about the engine.",
)


class QueryCache(Observation, kind=QUERY_CACHE_ON, seen="query-cache"):
    """A server has a query cache."""

    query_cache_type: str
    query_cache_size: str

    def __str__(self) -> str:
        return f"query_cache_type = {self.query_cache_type}, query_cache_size = {self.query_cache_size}"


def query_cache(facts: Readiness) -> Iterator[Doubt]:
    """A query cache answers repeated statements without running them, and is one lock for all connections."""
    for server in facts.servers:
        cached = server.variables.get("query_cache_type", "OFF").upper()
        size = server.variables.get("query_cache_size", "0")
        if cached not in ("OFF", "0") and size not in ("", "0"):
            yield facts.place.doubt(QueryCache(query_cache_type=cached, query_cache_size=size))


REPLICA_WRITABLE = WarningKind(
    "replica-writable",
    Voids.NOTHING,
    "Set read_only = ON on the replica (MySQL: super_read_only = ON).",
    "A write that went to it by mistake would make it another server than its source.",
)


class WritableReplica(Observation, kind=REPLICA_WRITABLE, seen="writable-replica"):
    """A replica lets clients write."""

    instance: str

    def __str__(self) -> str:
        return f"{self.instance} is a replica with read_only = OFF"


def writable_replica(facts: Readiness) -> Iterator[Doubt]:
    """A replica that lets clients write can come to hold other rows than its source, or stop applying."""
    for server in facts.servers:
        if server.role == "replica" and server.variables.get("read_only", "ON").upper() in {"OFF", "0"}:
            yield facts.place.doubt(WritableReplica(instance=server.name))


REDO_LOG_SMALL = WarningKind(
    "redo-log-small",
    Voids.CERTAINTY,
    "Raise innodb_redo_log_capacity (MySQL) or innodb_log_file_size (MariaDB) to half the buffer pool, or to what"
    " production has.",
    "Writes wait for the flushing of pages (checkpoint age) before storage is the limit.",
)


class RedoAndPool(Observation, kind=REDO_LOG_SMALL, seen="redo-and-pool"):
    """The redo log is small for the buffer pool."""

    redo_bytes: int
    buffer_pool_bytes: int

    def __str__(self) -> str:
        redo, pool = format_bytes(self.redo_bytes), format_bytes(self.buffer_pool_bytes)
        return f"the redo log has {redo}, the buffer pool {pool}"


def small_redo_log(facts: Readiness) -> Iterator[Doubt]:
    """Pages must be written before the redo log that describes their changes is reused (InnoDB's checkpoint age)."""
    if facts.demand is not None and not facts.demand.writes:
        return
    for server in facts.servers:
        redo = redo_bytes(server.variables)
        pool = parse_whole(server.variables.get("innodb_buffer_pool_size", ""))
        if redo is not None and pool and redo < min(_REDO_RATIO * pool, _REDO_BYTES_ENOUGH):
            yield facts.place.doubt(RedoAndPool(redo_bytes=redo, buffer_pool_bytes=pool), pool / max(redo, 1))


NOT_DURABLE = WarningKind(
    "not-durable",
    Voids.NOTHING,
    "Use the settings that production has, and state them wherever you quote the figures.",
    "Writes are faster than those of a server that keeps what it has committed.",
)


class NotDurable(Observation, kind=NOT_DURABLE, seen="durability"):
    """A server may lose or damage what was committed.

    Attributes:
        durability: What may happen, as a predicate.
        causes: Variables and their values.
    """

    instance: str
    durability: str
    causes: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        causes = ", ".join(f"{name} = {value}" for name, value in self.causes)
        return f"{self.instance} {self.durability} ({causes})"


def durability(facts: Readiness) -> Iterator[Doubt]:
    """A server that may lose or damage what was committed."""
    for server in facts.servers:
        server_durability = durability_of(server.variables)
        if server_durability is not None and server_durability.kind is not DurabilityKind.DURABLE:
            yield facts.place.doubt(
                NotDurable(instance=server.name, durability=server_durability.name, causes=server_durability.causes)
            )


_OF_CONDITIONS: tuple[ReadinessCheck, ...] = (
    machine.burstable,
    debug_build,
    machine.data_and_memory,
    query_cache,
    writable_replica,
    machine.pools_and_memory,
    machine.governor,
    machine.huge_pages,
    machine.swap,
    machine.clock,
    small_redo_log,
    durability,
    machine.turbo,
    machine.smt,
)
"""Of what stays as it is during a trial, so that a recording holds it."""

CHECKS: tuple[ReadinessCheck, ...] = (
    *_OF_CONDITIONS,
    machine.other_load,
    machine.steal,
    machine.shared_cpus,
    machine.open_files,
    machine.of_servers,
    machine.free_space,
)


def readiness_doubts(facts: Readiness) -> Iterator[Doubt]:
    """Everything that pre-flight checks doubt."""
    for check in CHECKS:
        yield from check(facts)


def recorded_conditions(trial_summary: TrialSummary) -> Iterator[Doubt]:
    """What a trial was measured on, held to the same checks.

    Whether it wrote follows from its workload; limits and other load have evidence of their own by now.
    """
    trial, environment = trial_summary.trial, trial_summary.environment
    facts = Readiness(
        place=place_of(trial),
        host=environment.host,
        servers=environment.instances,
        demand=Demand(connections=0, writes=not _reads_only(trial_summary)),
    )
    for check in _OF_CONDITIONS:
        yield from check(facts)


def _reads_only(trial_summary: TrialSummary) -> bool:
    kind, options = trial_summary.trial.workload.kind, trial_summary.trial.workload.options
    nontrx = str(options.get("nontrx_mode", "select"))
    return kind is not None and reads_only(kind, read_only=bool(options.get("read_only")), nontrx_mode=nontrx)


_SLOW_BUILD = re.compile(r"-(debug|asan|ubsan|msan|tsan|valgrind|gcov)\b", re.IGNORECASE)
_OF_DEBUG_BUILDS = ("debug", "debug_dbug", "debug_sync")
"""Variables that only a build with DBUG has, in MySQL and in MariaDB."""

_REDO_RATIO = 1 / 8
_REDO_BYTES_ENOUGH = 2 * 2**30
"""A redo log of this size takes long enough to fill that its share of the buffer pool no longer matters."""
