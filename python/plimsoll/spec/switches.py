"""The spellings of on and off in options and variables of servers: options take `1` and `TRUE`, variables show `YES`.

Deliberately not here: the switches of sysbench's command line (`sysbench_line`), which knows no `YES`.
"""

from __future__ import annotations

ON = frozenset({"ON", "1", "TRUE", "YES"})
OFF = frozenset({"OFF", "0", "FALSE", "NO"})


def is_on(value: str) -> bool:
    """Whether a value means on, in letters of either case."""
    return value.strip().upper() in ON


def switch_spelling(value: str) -> str:
    """`1` for each spelling of on, `0` for each of off, any other value as it is.

    >>> switch_spelling("ON"), switch_spelling("off"), switch_spelling("2")
    ('1', '0', '2')
    """
    upper = value.upper()
    return "1" if upper in ON else "0" if upper in OFF else value
