"""How long and how often is measured, and saying what is being done."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

_BEGAN_S = time.monotonic()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Of one run of the bench.

    Attributes:
        pairs: Interleaved pairs of each comparison.
        seconds: Length of each driven load.
        table_size: Rows of the table that is loaded and driven.
        recordings: How many the guide is made from.
        many_recordings: How many small ones another guide is made from.
        compared: How many each of two compared studies has.
        warehouses: Scale of the TPC-C-derived workload.
        log_megabytes: Size of the slow log that is read.
    """

    pairs: int = 5
    seconds: float = 5.0
    table_size: int = 1_000_000
    recordings: int = 500
    many_recordings: int = 10_000
    compared: int = 100
    warehouses: int = 8
    log_megabytes: int = 500


QUICK = Options(
    pairs=2,
    seconds=1.0,
    table_size=100_000,
    recordings=50,
    many_recordings=500,
    compared=20,
    warehouses=2,
    log_megabytes=50,
)
"""Shows that everything works; its figures mean little."""


def say(what: str) -> None:
    """Progress, on standard error."""
    print(f"{time.monotonic() - _BEGAN_S:6.0f} s  {what}", file=sys.stderr, flush=True)
