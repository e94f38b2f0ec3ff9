"""How data between trials reads."""

from __future__ import annotations

from plimsoll.record.data import DataReset
from plimsoll.units import format_bytes, format_duration


def reset_words(reset: DataReset | None) -> str:
    """How data came to be as a trial met it, as part of a sentence.

    >>> reset_words(DataReset(way="copy", duration_s=2.0, size_bytes=1048576, other_s=30.0))
    'data as prepared: 1.00 MiB copied in 2 s (loading took 30 s)'
    """
    if reset is None or reset.way == "left":
        return "data as the last trial left it"
    kind = "aged data as it was kept" if reset.is_aged else "data as prepared"
    if reset.way == "fresh" or reset.duration_s is None:
        return kind
    took = format_duration(reset.duration_s)
    if reset.way == "hook":
        return f"{kind}: put back by the hook reset in {took}"
    if reset.way == "prepare":
        other = "" if reset.other_s is None else f" (copying took {format_duration(reset.other_s)})"
        return f"{kind}: loaded again in {took}{other}"
    cloned = f", {format_bytes(reset.cloned_bytes)} of it as shared blocks" if reset.cloned_bytes else ""
    other = "" if reset.other_s is None else f" (loading took {format_duration(reset.other_s)})"
    return f"{kind}: {format_bytes(reset.size_bytes or 0)} copied in {took}{cloned}{other}"
