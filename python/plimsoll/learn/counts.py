"""How often each number was seen, in few enough numbers to be read."""

from __future__ import annotations

from collections import Counter

COUNTS_MAX = 64
"""Different numbers of rounds, items or rows that are told; rarer ones go to their neighbours."""


def counts_of(seen: Counter[int]) -> int | dict[str, list[int]]:
    """Numbers and how often each was seen, as a workload file has them."""
    kept = dict(sorted(seen.most_common(COUNTS_MAX)))
    for number, count in seen.items():
        if number not in kept:
            kept[min(kept, key=lambda one: abs(one - number))] += count
    if len(kept) == 1:
        return next(iter(kept))
    return {"counts": list(kept), "weights": list(kept.values())}
