"""The table by whose row the engine measures how far replicas are behind.

Deliberately not here: writing and reading that row (the engine does it).
"""

from __future__ import annotations

from plimsoll.servers.control import connect
from plimsoll.spec.target import Target

TABLE = "plimsoll_heartbeat"
COMMENT = "plimsoll heartbeat"
"""What the comment of the engine's own table begins with."""


def drop_heartbeat(target: Target) -> None:
    """Drops the table in the target's database if the engine made it; nothing if there is none.

    Raises:
        TargetError: The server cannot be reached, or does not allow it.
    """
    with connect(target) as control:
        comment = control.value(
            "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = %s",
            TABLE,
        )
        if str(comment or "").startswith(COMMENT):
            control.rows(f"DROP TABLE {TABLE}")
