"""A study's tables for other tools: which recordings they are made of, and the files.

Deliberately not here: what stands in the tables (`plimsoll.analyse.tidy`).
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from plimsoll.analyse.tidy import interval_table, trial_table
from plimsoll.errors import RecordError
from plimsoll.guide.build import of_plan
from plimsoll.guide.files import write_files
from plimsoll.record.store import Recording, read_study
from plimsoll.run.folder import read_plan

Format = Literal["csv", "parquet"]


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Attributes:
        paths: The table of trials, then that of intervals.
        trials_count: Rows of the first.
        intervals_count: Rows of the second.
        left_out: Recordings that are damaged, one line each.
    """

    paths: tuple[Path, ...]
    trials_count: int
    intervals_count: int
    left_out: tuple[str, ...]


def chosen_recordings(study: Path, *, unplanned: bool) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
    """The recordings that a guide is made of, and a line for each that is damaged.

    Args:
        study: Its folder.
        unplanned: Those that its plan does not hold as well.

    Raises:
        RecordError: There is no study.
    """
    found = read_study(study)
    chosen = found if unplanned else of_plan(read_plan(study), found)
    return chosen.recordings, tuple(f"{one.trial_id}: {one.reason}" for one in chosen.damaged)


def export_tables(study: Path, to: Path, kind: Format, *, whole: bool, unplanned: bool) -> Exported:
    """Writes `trials` and `intervals` in one format.

    Args:
        study: Its folder.
        to: Where the files go.
        kind: The format.
        whole: With intervals outside of the measured windows.
        unplanned: With recordings that the study's plan does not hold.

    Raises:
        RecordError: There is no study.
        HostError: The files cannot be written.
    """
    recordings, left_out = chosen_recordings(study, unplanned=unplanned)
    plan = read_plan(study)
    planned = None if plan is None else {trial.trial_id for trial in plan.trials}
    tables: list[tuple[pl.DataFrame, pl.DataFrame]] = []
    damaged = list(left_out)
    for one in recordings:
        try:
            tables.append((trial_table([one], planned), interval_table([one], planned, whole=whole)))
        except RecordError as error:
            damaged.append(f"{one.trial.trial_id}: {error}")
    trials = pl.concat([trial_table([], planned), *(one for one, _ in tables)])
    intervals = pl.concat([interval_table([], planned), *(one for _, one in tables)])
    contents = {f"{name}.{kind}": _bytes(table, kind) for name, table in (("trials", trials), ("intervals", intervals))}
    return Exported(write_files(to, contents, "the tables"), trials.height, intervals.height, tuple(damaged))


def _bytes(table: pl.DataFrame, kind: Format) -> bytes:
    buffer = io.BytesIO()
    if kind == "csv":
        table.write_csv(buffer)
    else:
        table.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()
