"""What a trial asks of a system with replicas: all have applied everything, and hold the same rows as their source.

Deliberately not here: setting replication up (`replicas`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial

from plimsoll.errors import InvalidTrialError, TargetError
from plimsoll.run.instance import Instance, replicas_of, sources_of
from plimsoll.run.side_by_side import side_by_side
from plimsoll.servers.control import connect
from plimsoll.servers.replication.links import wait_until_applied
from plimsoll.spec.target import Target
from plimsoll.units import format_duration

APPLIED_LIMIT_S = 600.0
"""How long replicas may take to apply what is left when the load has ended, seconds."""

CHECKSUM_LIMIT_S = 3600.0
"""How long a server may take for the checksum of one table, seconds."""


def caught_up(instances: Sequence[Instance], limit_s: float = APPLIED_LIMIT_S) -> str:
    """Waits until every replica has applied what the source has committed; says so, for the note of a state.

    Nothing where there are no replicas.

    Raises:
        TargetError: One has not within the limit, or it stopped applying; with the server's code and message.
    """
    replicas = replicas_of(instances)
    if not replicas:
        return ""
    waited = side_by_side([partial(_wait, sources_of(instances)[0], replica, limit_s) for replica in replicas])
    return f"replicas had applied everything after {format_duration(max(waited))}"


def refuse_different_replicas(instances: Sequence[Instance], tables: Sequence[str]) -> str:
    """Makes sure that every replica holds the rows of its source, when the load has ended; says so as `caught_up`.

    CHECKSUM TABLE reads every row of the tables once on each server, at the same time on all of them.

    Raises:
        InvalidTrialError: A replica stopped, did not catch up, or holds other rows.
    """
    replicas = replicas_of(instances)
    if not replicas:
        return ""
    try:
        applied, began_s = caught_up(instances), time.monotonic()
        (of_source, *of_replicas) = checksums_of([one.target for one in (sources_of(instances)[0], *replicas)], tables)
    except TargetError as error:
        raise InvalidTrialError(f"replicas: {error}") from None
    for replica, found in zip(replicas, of_replicas, strict=True):
        if different := [name for name in tables if found[name] != of_source[name]]:
            raise InvalidTrialError(
                f"{replica.name}: the replica holds other rows than its source in {', '.join(different)} (CHECKSUM"
                " TABLE differs after everything was applied). It does not replicate the source; set it up again"
            )
    return f"; {applied}; equal rows by CHECKSUM TABLE, {format_duration(time.monotonic() - began_s)}"


def checksums_of(targets: Sequence[Target], tables: Sequence[str]) -> list[dict[str, str]]:
    """The checksum of each table on each server as text, `None` for a table that is not there; all at the same time.

    Raises:
        TargetError: A server does not answer.
    """
    return side_by_side([partial(_checksums, target, tables) for target in targets])


def _checksums(target: Target, tables: Sequence[str]) -> dict[str, str]:
    names = ", ".join(f"`{name.replace('`', '``')}`" for name in tables)
    with connect(target, read_limit_s=CHECKSUM_LIMIT_S) as control:
        rows = control.rows(f"CHECKSUM TABLE {names}".replace("%", "%%"), columns=2) if tables else []
    return {name: str(row[1]) for name, row in zip(tables, rows, strict=True)}


def _wait(source: Instance, replica: Instance, limit_s: float) -> float:
    with ExitStack() as stack:
        both = [stack.enter_context(connect(one.target)) for one in (source, replica)]
        try:
            return wait_until_applied(both[0], both[1], limit_s)
        except TargetError as error:
            raise TargetError(f"{replica.name}: {error}", code=error.code, sqlstate=error.sqlstate) from None
