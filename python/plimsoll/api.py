"""Plimsoll from Python: a study's recordings as tidy tables, and its analysis (`plimsoll.open_study`).

Deliberately not here: what stands in the tables (`plimsoll.analyse.tidy` and its neighbours) and any calculation.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import polars as pl

from plimsoll.analyse.findings.doubts import PlacedWarning
from plimsoll.analyse.model import Analysis, Difference
from plimsoll.analyse.study.cell_model import Cell
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.tidy import (
    CAPACITY_COLUMNS,
    CELL_COLUMNS,
    COMPARISON_COLUMNS,
    INTERVAL_COLUMNS,
    PERCENTILE_COLUMNS,
    REPLICATION_COLUMNS,
    TELEMETRY_COLUMNS,
    TRIAL_COLUMNS,
    capacity_table,
    cell_table,
    comparison_table,
    interval_table,
    percentile_table,
    replication_table,
    telemetry_table,
    trial_table,
)
from plimsoll.analyse.trial.trial_summary import TrialSummary, summarise
from plimsoll.errors import RecordError
from plimsoll.guide.answer import worded
from plimsoll.guide.build import analyse_folder
from plimsoll.guide.sources import of_plan
from plimsoll.record.level import Level
from plimsoll.record.model import Verdict
from plimsoll.record.store import Recording, read_study
from plimsoll.run.folder import read_plan

COLUMNS: dict[str, dict[str, pl.DataType]] = {
    "trials": TRIAL_COLUMNS,
    "intervals": INTERVAL_COLUMNS,
    "percentiles": PERCENTILE_COLUMNS,
    "telemetry": TELEMETRY_COLUMNS,
    "replication": REPLICATION_COLUMNS,
    "cells": CELL_COLUMNS,
    "comparisons": COMPARISON_COLUMNS,
    "capacities": CAPACITY_COLUMNS,
}
"""Columns and types of each table of a study, by the name of its attribute."""

_Row = TypeVar("_Row")


class LeftOutWarning(UserWarning):
    """A recording is damaged and is part of no table."""


class Study:
    """A study: its recordings as tidy tables (polars frames), and its analysis.

    Recordings are listed at once. A table is built when it is first asked for, and kept: `intervals` and `telemetry` of
    a large study take time and memory only if they are used. docs/export.md describes every column. A recording whose
    files turn out to be damaged is left out of the tables, with a `LeftOutWarning`, and listed in `left_out`.

    Attributes:
        path: Its folder.
        recordings: All that the tables are made of, in the order in which they ran.
    """

    def __init__(self, path: Path, *, whole: bool = False, unplanned: bool = False) -> None:
        plan, study_recordings = read_plan(path), read_study(path)
        self.path = path
        self._planned = None if plan is None else {trial.trial_id for trial in plan.trials}
        chosen = study_recordings if unplanned else of_plan(plan, study_recordings)
        self.recordings: tuple[Recording, ...] = chosen.recordings
        self._whole = whole
        self._left_out = {recording.trial_id: recording.reason for recording in chosen.damaged}
        for trial_id, reason in self._left_out.items():
            _warn(trial_id, reason)

    def __repr__(self) -> str:
        return f"Study({str(self.path)!r}, {len(self.recordings)} recordings)"

    @property
    def left_out(self) -> tuple[str, ...]:
        """Damaged recordings that were found so far, one line each with the reason."""
        return tuple(f"{trial_id}: {reason}" for trial_id, reason in self._left_out.items())

    @cached_property
    def trials(self) -> pl.DataFrame:
        """One row for each trial; figures of the measured window, null for trials that are not complete."""
        return trial_table(self._summaries, self._planned)

    @cached_property
    def intervals(self) -> pl.DataFrame:
        """One row for each complete trial, instance, interval (second) and transaction type."""
        return self._stacked(
            INTERVAL_COLUMNS, lambda recording: interval_table([recording], self._planned, whole=self._whole)
        )

    @cached_property
    def percentiles(self) -> pl.DataFrame:
        """One row for each complete trial, transaction type, measure and quantile of its measured window."""
        return percentile_table(self._summaries, self._planned)

    @cached_property
    def telemetry(self) -> pl.DataFrame:
        """One row for each complete trial, sample and metric."""
        return self._stacked(
            TELEMETRY_COLUMNS, lambda recording: telemetry_table(recording, self._planned, whole=self._whole)
        )

    @cached_property
    def replication(self) -> pl.DataFrame:
        """One row for each complete trial, replica and interval: lag, stale reads, waits."""
        return self._stacked(
            REPLICATION_COLUMNS, lambda recording: replication_table(recording, self._planned, whole=self._whole)
        )

    @cached_property
    def cells(self) -> pl.DataFrame:
        """One row for each system, workload and level: all repetitions together, with confidence intervals."""
        return cell_table(self.analysis)

    @cached_property
    def comparisons(self) -> pl.DataFrame:
        """One row for each pair of systems that was compared: at their peaks, and at each level that both have."""
        return comparison_table(self.analysis)

    @cached_property
    def capacities(self) -> pl.DataFrame:
        """One row for each search for a capacity: system, workload and repetition; empty without searches."""
        return capacity_table(self.analysis)

    def table(self, name: str) -> pl.DataFrame:
        """The table of a name, one of `COLUMNS`."""
        frame: pl.DataFrame = getattr(self, name)
        return frame

    @cached_property
    def analysis(self) -> Analysis:
        """Everything that the guide shows, as one immutable value; its JSON is guide.json.

        It is of the study's plan, whatever the tables hold.

        Raises:
            RecordError: Nothing was recorded yet, or nothing can be read.
            SpecError: The folder's study file is wrong.
        """
        return worded(analyse_folder(self.path))

    @property
    def curves(self) -> tuple[Curve, ...]:
        """Each system under each workload, over rising levels."""
        return self.analysis.curves

    @property
    def differences(self) -> tuple[Difference, ...]:
        """How systems compare, with verdicts."""
        return self.analysis.differences

    @property
    def warnings(self) -> tuple[PlacedWarning, ...]:
        """Doubts about numbers, the gravest first."""
        return self.analysis.warnings

    def cell(
        self, system: str, workload: str, *, connections: int | None = None, rate_tps: float | None = None
    ) -> Cell:
        """All repetitions of one system, workload and level.

        Args:
            system: Its name.
            workload: Its name.
            connections: Level of clients at their own pace.
            rate_tps: Level of load at a rate; give this or `connections`.

        Raises:
            KeyError: There is none.
        """
        level = Level(connections=connections or 0, rate_tps=rate_tps)
        for curve in self.curves:
            cell = curve.cell_at(level) if (curve.system, curve.workload) == (system, workload) else None
            if cell is not None:
                return cell
        raise KeyError((system, workload, connections if rate_tps is None else rate_tps))

    @cached_property
    def _summaries(self) -> list[tuple[Recording, TrialSummary | None]]:
        def summary(recording: Recording) -> tuple[Recording, TrialSummary | None]:
            return recording, summarise(recording) if recording.outcome.verdict is Verdict.COMPLETE else None

        return list(self._each(summary))

    def _stacked(self, columns: dict[str, pl.DataType], build: Callable[[Recording], pl.DataFrame]) -> pl.DataFrame:
        return pl.concat([pl.DataFrame(schema=columns), *self._each(build)])

    def _each(self, build: Callable[[Recording], _Row]) -> Iterator[_Row]:
        """What is built from each recording, side by side; recordings that turn out to be damaged are left out."""

        def attempt(recording: Recording) -> _Row | RecordError:
            try:
                return build(recording)
            except RecordError as error:
                return error

        sound = [recording for recording in self.recordings if recording.trial.trial_id not in self._left_out]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results: Sequence[_Row | RecordError] = list(pool.map(attempt, sound))
        for sound_recording, result in zip(sound, results, strict=True):
            if isinstance(result, RecordError):
                self._left_out[sound_recording.trial.trial_id] = str(result)
                _warn(sound_recording.trial.trial_id, str(result))
            else:
                yield result


def open_study(path: str | os.PathLike[str], *, whole: bool = False, unplanned: bool = False) -> Study:
    """Opens a study's folder; `plimsoll.open_study` says more.

    Raises:
        RecordError: There is no study, nothing was recorded, or its plan is damaged or from a newer version.
    """
    study = Study(Path(path), whole=whole, unplanned=unplanned)
    if not study.recordings:
        reason = study.left_out[0] if study.left_out else "no trial has been recorded yet; run the study first"
        raise RecordError(f"{path}: {reason}")
    return study


def _warn(trial_id: str, reason: str) -> None:
    warnings.warn(f"left out: {trial_id}: {reason}", LeftOutWarning, stacklevel=3)
