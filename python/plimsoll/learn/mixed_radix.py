"""Keys of several numbers as mixed radix: which value each column has in each row, so that no two rows have the same.

The value of column k in row i is `start + step * ((i / each_k) mod cycle_k)`. With sizes s_1, s_2, … of the columns,
each_k is the product of the sizes behind k. No two rows are the same if each cycle is at least its size, and the first
one at least rows / each_1: where all columns before k are equal, i / each_k takes at most s_k consecutive values.
A cycle may be larger than the size: with 5 orders for each customer and 1,000 items, (customer, item) has sizes 1 and 5
in its last column, and the items still come from all 1,000.

Deliberately not here: where sizes come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True, slots=True)
class Digit:
    """One column of such a key.

    Attributes:
        each: So many rows after each other have the same value.
        cycle: After so many values it begins again.
    """

    each: int
    cycle: int

    def distinct(self, rows: int) -> int:
        """Different values in so many rows."""
        return min(self.cycle, -(-rows // self.each))


def digits(rows: int, sizes: Sequence[int], spans: Sequence[int], limits: Sequence[int]) -> tuple[int, list[Digit]]:
    """A key for a table.

    Args:
        rows: Of the table.
        sizes: For each column, how many of its values one value of the column before has, at least 1.
        spans: For each column, how many values it has in all.
        limits: For each column, how many values it may have, at least 1.

    Returns:
        How many rows there can be, `rows` or fewer, and the columns.
    """
    rows = min(rows, prod(limits))
    fitted = [max(1, min(size, limit)) for size, limit in zip(sizes, limits, strict=True)]
    for at in (0, *sorted(range(1, len(fitted)), key=lambda at: -limits[at])):
        if (missing := -(-rows // prod(fitted))) > 1:
            fitted[at] = min(limits[at], fitted[at] * missing)
    found = []
    for at, size in enumerate(fitted):
        each = prod(fitted[at + 1 :])
        needed = -(-rows // each) if at == 0 else size
        found.append(Digit(each, max(needed, min(spans[at], limits[at]))))
    return rows, found
