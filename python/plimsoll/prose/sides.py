"""Systems beside each other while they are compared, in words: short names, and how they compare so far."""

from __future__ import annotations

from plimsoll.units import format_number


def ratio_so_far_words(base: str, system: str, ratio: float, interval: tuple[float, float] | None) -> str:
    """How the loads that two systems bear compare so far, with the 95 % confidence interval where there is one yet."""
    ends = "" if interval is None else f" (95 % confidence {' to '.join(map(format_number, interval))})"
    return f"{system} bears {format_number(ratio)} times the load of {shorter(base, system)}{ends}"


def shorter(name: str, beside: str) -> str:
    """How a side is called beside another one that has just been named.

    >>> shorter("sync_binlog=1", "sync_binlog=0"), shorter("new", "old"), shorter("a=1, b=1", "a=2, b=2")
    ('=1', 'new', 'a=1, b=1')
    """
    own, equals, value = name.partition("=")
    is_one_setting = equals and "=" not in value and beside.count("=") == 1 and beside.startswith(f"{own}=")
    return f"={value}" if is_one_setting else name
