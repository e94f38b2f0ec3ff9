"""Systems beside each other while they are compared, in words: short names, and how they compare so far."""

from __future__ import annotations

from plimsoll.analyse.capacity_model import CapacityRatio
from plimsoll.prose.phrases import confidence, vague_words
from plimsoll.units import format_number


def ratio_so_far_words(one: CapacityRatio) -> str:
    """How two systems compare so far: the ratio, with its interval where there is one yet."""
    ratio, bounds = one.ratio, one.ratio.bounds
    inside = ""
    if bounds is not None:
        ends = f"{format_number(bounds.low)} to {format_number(bounds.high)}"
        inside = f" ({vague_words(bounds) if bounds.is_vague else f'{confidence(bounds)} confidence {ends}'})"
    told = f"{one.system} bears {format_number(ratio.value)} times the load of {shorter(one.base, one.system)}{inside}"
    return f"disturbed: {told}" if one.verdict == "disturbed" else told


def shorter(name: str, beside: str) -> str:
    """How a side is called beside another one that has just been named.

    >>> shorter("sync_binlog=1", "sync_binlog=0"), shorter("new", "old"), shorter("a=1, b=1", "a=2, b=2")
    ('=1', 'new', 'a=1, b=1')
    """
    own, equals, value = name.partition("=")
    is_one_setting = equals and "=" not in value and beside.count("=") == 1 and beside.startswith(f"{own}=")
    return f"={value}" if is_one_setting else name
