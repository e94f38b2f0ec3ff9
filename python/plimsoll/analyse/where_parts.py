"""The parts of response time: what sources measured, cut so that with the unexplained rest it adds up to the whole.

Sources measure processes, not transactions. The server's processor time includes its background threads, the client's
what the load engine does between transactions and while the server works. So what they measured may come to more than
the response time. Then each part takes what is left of it, waits of the server's threads first, then the server's
processor time, then the client's. Waits come first because they are the best known to be of transactions. Where client
and server were busy at once, that time is therefore the server's. What found no room is kept beside the parts.

Source: none; this is bookkeeping. Deliberately not here: what the parts are read from (`where_level`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from plimsoll.analyse.where_model import WherePart

_TAKES_ROOM = (
    WherePart.ROW_LOCKS,
    WherePart.RUN_QUEUE,
    WherePart.STORAGE_READS,
    WherePart.REDO,
    WherePart.SERVER_CPU,
    WherePart.CLIENT_CPU,
)
"""Whose time is taken to be of the response time first."""


class Parts(NamedTuple):
    """Milliseconds per transaction, by part.

    Attributes:
        within: Of the response time; they add up to it. Without a response time as they were measured.
        outside: What was measured beyond the response time; only parts that were cut.
    """

    within: dict[WherePart, float]
    outside: dict[WherePart, float]


def parts_of(response_ms: float | None, measured: Mapping[WherePart, float | None]) -> Parts:
    """Divides a mean response time.

    Args:
        response_ms: Milliseconds; None when unknown.
        measured: Milliseconds per transaction that each part took; None where no source says.
    """
    known = {part: ms for part in WherePart if (ms := measured.get(part)) is not None}
    if response_ms is None or not known:
        return Parts(known, {})
    left_ms, taken = response_ms, {}
    for part in _TAKES_ROOM:
        if part in known:
            taken[part] = min(known[part], left_ms)
            left_ms -= taken[part]
    within = {part: taken[part] for part in known} | {WherePart.UNEXPLAINED: max(left_ms, 0.0)}
    return Parts(within, {part: ms - taken[part] for part, ms in known.items() if ms > taken[part]})
