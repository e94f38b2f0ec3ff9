"""All pre-flight checks, those of servers included, and those that recordings are held to as well.

Of servers: debug builds, a query cache, a small redo log, less than full durability.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from plimsoll.analyse.explain.durability import durability_of
from plimsoll.analyse.explain.equivalence_model import DurabilityKind
from plimsoll.analyse.explain.variable_names import redo_bytes
from plimsoll.analyse.findings import readiness
from plimsoll.analyse.findings.doubts import Code, Doubt, place_of
from plimsoll.analyse.findings.readiness import Demand, Readiness, ReadinessCheck
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.spec.oltp import reads_only
from plimsoll.units import parse_whole


def debug_build(facts: Readiness) -> Iterator[Doubt]:
    """A build for finding faults is several times slower, and not by the same factor everywhere."""
    for server in facts.servers:
        marked = _SLOW_BUILD.search(server.version or "")
        named = next((name for name in _OF_DEBUG_BUILDS if name in server.variables), None)
        if marked is not None or named is not None:
            sign = f"version {server.version}" if marked else f"it has the variable {named}"
            yield facts.place.doubt(Code.DEBUG_BUILD, "debug-build", instance=server.name, sign=sign)


def query_cache(facts: Readiness) -> Iterator[Doubt]:
    """A query cache answers repeated statements without running them, and is one lock for all connections."""
    for server in facts.servers:
        kind = server.variables.get("query_cache_type", "OFF").upper()
        size = server.variables.get("query_cache_size", "0")
        if kind not in ("OFF", "0") and size not in ("", "0"):
            yield facts.place.doubt(Code.QUERY_CACHE_ON, "query-cache", query_cache_type=kind, query_cache_size=size)


def writable_replica(facts: Readiness) -> Iterator[Doubt]:
    """A replica that lets clients write can come to hold other rows than its source, or stop applying."""
    for server in facts.servers:
        if server.role == "replica" and server.variables.get("read_only", "ON").upper() in {"OFF", "0"}:
            yield facts.place.doubt(Code.REPLICA_WRITABLE, "writable-replica", instance=server.name)


def small_redo_log(facts: Readiness) -> Iterator[Doubt]:
    """Pages must be written before the redo log that describes their changes is reused (InnoDB's checkpoint age)."""
    if facts.demand is not None and not facts.demand.writes:
        return
    for server in facts.servers:
        redo = redo_bytes(server.variables)
        pool = parse_whole(server.variables.get("innodb_buffer_pool_size", ""))
        if redo is not None and pool and redo < min(_REDO_RATIO * pool, _REDO_BYTES_ENOUGH):
            yield facts.place.doubt(
                Code.REDO_LOG_SMALL, "redo-and-pool", pool / max(redo, 1), redo_bytes=redo, buffer_pool_bytes=pool
            )


def durability(facts: Readiness) -> Iterator[Doubt]:
    """A server that may lose or damage what was committed."""
    for server in facts.servers:
        found = durability_of(server.variables)
        if found is not None and found.kind is not DurabilityKind.DURABLE:
            yield facts.place.doubt(
                Code.NOT_DURABLE, "durability", instance=server.name, durability=found.name, causes=found.causes
            )


_OF_CONDITIONS: tuple[ReadinessCheck, ...] = (
    readiness.burstable,
    debug_build,
    readiness.data_and_memory,
    query_cache,
    writable_replica,
    readiness.pools_and_memory,
    readiness.governor,
    readiness.huge_pages,
    readiness.swap,
    readiness.clock,
    small_redo_log,
    durability,
    readiness.turbo,
    readiness.smt,
)
"""Of what stays as it is during a trial, so that a recording holds it."""

CHECKS: tuple[ReadinessCheck, ...] = (
    *_OF_CONDITIONS,
    readiness.other_load,
    readiness.steal,
    readiness.shared_cpus,
    readiness.open_files,
    readiness.of_servers,
    readiness.free_space,
)


def readiness_doubts(facts: Readiness) -> Iterator[Doubt]:
    """Everything that pre-flight checks doubt."""
    for check in CHECKS:
        yield from check(facts)


def recorded_conditions(one: TrialSummary) -> Iterator[Doubt]:
    """What a trial was measured on, held to the same checks.

    Whether it wrote follows from its workload; limits and other load have evidence of their own by now.
    """
    trial, environment = one.trial, one.environment
    facts = Readiness(
        place=place_of(trial),
        host=environment.host,
        servers=environment.instances,
        demand=Demand(connections=0, writes=not _reads_only(one)),
    )
    for check in _OF_CONDITIONS:
        yield from check(facts)


def _reads_only(one: TrialSummary) -> bool:
    kind, options = one.trial.workload.kind, one.trial.workload.options
    nontrx = str(options.get("nontrx_mode", "select"))
    return kind is not None and reads_only(kind, read_only=bool(options.get("read_only")), nontrx_mode=nontrx)


_SLOW_BUILD = re.compile(r"-(debug|asan|ubsan|msan|tsan|valgrind|gcov)\b", re.IGNORECASE)
_OF_DEBUG_BUILDS = ("debug", "debug_dbug", "debug_sync")
"""Variables that only a build with DBUG has, in MySQL and in MariaDB."""

_REDO_RATIO = 1 / 8
_REDO_BYTES_ENOUGH = 2 * 2**30
"""A redo log of this size takes long enough to fill that its share of the buffer pool no longer matters."""
