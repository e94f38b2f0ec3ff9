"""Intervals of a kit's run as the tables of a recording, a row for each type of transaction.

Deliberately not here: histograms, which only mix logs of DBT-2 have (`dbt2_mix`).
"""

from __future__ import annotations

import polars as pl

from plimsoll.importers.kit_run import KitRun
from plimsoll.record.frames import ERRORS, INTERVALS

_NOWHERE = {"driver": "", "host": "", "instance": ""}
_NOT_STATED = ("dropped", "retries", "reads", "writes", "others", "rows_returned", "rows_affected")


def interval_rows(run: KitRun) -> pl.DataFrame | None:
    """`frames.INTERVALS`; None without intervals. What kits do not state is 0, or null where a reader can tell."""
    if not run.intervals:
        return None
    rows = [
        {
            **_NOWHERE,
            "interval": index,
            "from_s": one.from_s,
            "to_s": one.to_s,
            "transaction": name,
            "completed": completed,
            "failed": one.failed.get(name, 0),
            **dict.fromkeys(_NOT_STATED, 0),
            "rolled_back": None,
        }
        for index, one in enumerate(run.intervals)
        for name, completed in one.completed.items()
    ]
    return pl.DataFrame(rows, schema=INTERVALS)


def error_rows(run: KitRun) -> pl.DataFrame | None:
    """`frames.ERRORS`, without codes, which kits do not print; None without intervals."""
    if not run.intervals:
        return None
    rows = [
        {**_NOWHERE, "interval": index, "class": "statement", "code": 0, "count": count}
        for index, one in enumerate(run.intervals)
        if (count := sum(one.failed.values()))
    ]
    return pl.DataFrame(rows, schema=ERRORS)
