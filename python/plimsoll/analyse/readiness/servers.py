"""Servers that are not as one measures: debug builds, a query cache, a small redo log, less than full durability."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plimsoll.analyse.doubts import Code, Doubt
from plimsoll.analyse.durability import durability_of
from plimsoll.analyse.durability_model import DurabilityKind
from plimsoll.analyse.readiness.model import Readiness
from plimsoll.analyse.redo import redo_bytes
from plimsoll.units import parse_whole

_SLOW_BUILD = re.compile(r"-(debug|asan|ubsan|msan|tsan|valgrind|gcov)\b", re.IGNORECASE)
_OF_DEBUG_BUILDS = ("debug", "debug_dbug", "debug_sync")
"""Variables that only a build with DBUG has, in MySQL and in MariaDB."""

_REDO_RATIO = 1 / 8
_REDO_BYTES_ENOUGH = 2 * 2**30
"""A redo log of this size takes long enough to fill that its share of the buffer pool no longer matters."""


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
