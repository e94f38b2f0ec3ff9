"""The promotion of a replica: who chooses it, and what is done with it.

A hook is told of the replicas by its environment, and names one in the last line that it writes. Deliberately not here:
noticing that the source is gone, and clients.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from plimsoll.analyse.failover import Promotion
from plimsoll.errors import HookError
from plimsoll.run.hooks import HookPlace, run_hook
from plimsoll.run.replica_set import LIMIT_S, Links
from plimsoll.servers.replication.links import promote
from plimsoll.servers.replication.model import ReplicaStatus
from plimsoll.spec.hooks import HookSpec
from plimsoll.units import printable

_NAME_MAX = 80
"""Characters of a wrong name that are repeated."""


def chosen(links: Links, hook: HookSpec | None, source: str) -> tuple[str, tuple[str, ...]]:
    """The replica that is to be the source, and those that have received more.

    Args:
        links: Of the servers; the source is gone.
        hook: Chooses; None for the replica that has received most.
        source: Name of the old source.

    Raises:
        HookError: The hook failed, took too long, or named no replica.
        TargetError: A replica does not answer.
    """
    statuses = links.statuses()
    name = max(statuses, key=lambda one: statuses[one].received)  # of equals the first
    if hook is not None:
        name = _chosen_by_hook(links, hook, source, statuses)
    return name, tuple(one for one in statuses if statuses[one].received > statuses[name].received)


def promoted(links: Links, name: str) -> int:
    """Makes a replica the source; returns since when it takes writes, monotonic nanoseconds.

    Raises:
        TargetError: It has not applied what it received within the limit.
    """
    promote(links.control(name), LIMIT_S)
    return time.monotonic_ns()


def turned_round(links: Links, name: str, ahead: tuple[str, ...]) -> Promotion:
    """Lets the other replicas follow. Raises TargetError where semi-synchronous replication cannot be had again."""
    return Promotion(name=name, is_behind=bool(ahead), not_following=links.turn_round(name, ahead))


def _chosen_by_hook(links: Links, hook: HookSpec, source: str, statuses: Mapping[str, ReplicaStatus]) -> str:
    told = {"PLIMSOLL_SOURCE": source, "PLIMSOLL_REPLICAS": " ".join(statuses)}
    told["PLIMSOLL_REPLICA_STATUS"] = json.dumps({name: _told(links, name, one) for name, one in statuses.items()})
    kept, fault = run_hook(HookPlace(study="failover", folder=Path.cwd()), "promote", hook, told)
    if fault is not None:
        raise HookError(f"{fault}. No replica was promoted")
    lines = [line.strip() for line in kept.text.splitlines() if line.strip()]
    if not lines:
        raise HookError(f"hook promote: wrote nothing; its last line must be one of {', '.join(statuses)}")
    if lines[-1] not in statuses:
        raise HookError(
            f"hook promote: its last line must be one of {', '.join(statuses)}, is"
            f" {printable(lines[-1])[:_NAME_MAX]!r}. No replica was promoted"
        )
    return lines[-1]


def _told(links: Links, name: str, status: ReplicaStatus) -> dict[str, object]:
    """What a hook may know of a replica: no password is among it."""
    target = links.server(name).target
    return {
        "host": target.host,
        "port": target.port,
        **{key: value for key, value in asdict(status).items() if key in _TOLD},
    }


_TOLD = ("executed", "received", "waits_for_more", "behind_s", "applier", "error_code", "error")
