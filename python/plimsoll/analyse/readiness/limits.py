"""Limits that a demand would reach: open files, connections, prepared statements, space on file systems."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analyse.doubts import Code, Doubt
from plimsoll.analyse.readiness.model import Demand, Readiness
from plimsoll.units import parse_whole

OWN_CONNECTIONS = 8
"""Those that look and watch beside the load, with room to spare."""

_FILES_BESIDE_CONNECTIONS = 256
_FREE_BYTES_WANTED = 5 * 2**30


def open_files(facts: Readiness) -> Iterator[Doubt]:
    """Each connection is an open file of the client."""
    if facts.demand is None or facts.open_files_max is None:
        return
    wanted = facts.demand.connections + _FILES_BESIDE_CONNECTIONS
    if facts.open_files_max < wanted:
        yield facts.place.doubt(
            Code.LIMIT_TOO_LOW, "limit", name="open files of this user", limit=facts.open_files_max, wanted=wanted
        )


def of_servers(facts: Readiness) -> Iterator[Doubt]:
    """Connections and prepared statements that a server would refuse."""
    if facts.demand is None:
        return
    for server in facts.servers:
        for name, wanted in _wanted(facts.demand).items():
            limit = parse_whole(server.variables.get(name, ""))
            if limit is not None and wanted > limit:
                told = f"{name} of {server.name}"
                yield facts.place.doubt(Code.LIMIT_TOO_LOW, "limit", name=told, limit=limit, wanted=wanted)


def _wanted(demand: Demand) -> dict[str, int]:
    wanted = {"max_connections": demand.connections + OWN_CONNECTIONS}
    return wanted | ({"max_prepared_stmt_count": demand.prepared_statements} if demand.prepared_statements else {})


def free_space(facts: Readiness) -> Iterator[Doubt]:
    """Little space on a file system that data, copies or recordings will lie on; each device is told once."""
    told = set()
    for one in facts.storage:
        key = one.device or one.path
        if one.free_bytes is not None and one.free_bytes < _FREE_BYTES_WANTED and key not in told:
            told.add(key)
            yield facts.place.doubt(
                Code.LITTLE_SPACE, "free-space", path=one.path or "", free_bytes=one.free_bytes, device=key or ""
            )
