"""What is recorded of a trial is what its metrics add up to, under the names that its recording has."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from plimsoll.metrics import families
from plimsoll.metrics.totals import Totals
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, Verdict, Window
from plimsoll.run.live import observed_by
from support.recordings import a_trial
from unit.run.test_spool import interval, spool


def test_totals_are_the_sums_of_the_tables(tmp_path: Path) -> None:
    totals, spooled, trial = Totals(), spool(tmp_path), a_trial()
    spooled.partial.draft(trial, Environment(), Outcome(verdict=Verdict.INTERRUPTED))
    with observed_by(totals.observe):
        for index in range(12):
            spooled.add(interval(index, completed=900 + index), began_unix_s=0.0)
    spooled.flush()
    load = (trial.system.name, trial.workload.name)
    rows = spooled.partial.rows("intervals.parquet")
    assert totals.readings[families.TRANSACTIONS][*load, "t", "completed"] == rows["completed"].sum()
    errors = spooled.partial.rows("errors.parquet")
    assert totals.readings[families.ERRORS] == {(*load, "retryable", "1213"): errors["count"].sum()}
    histograms = spooled.partial.rows("histograms.parquet").filter(pl.col("measure") == "response")
    response = totals.readings[families.RESPONSE][*load, "t"]
    assert isinstance(response, families.Buckets)
    assert response.count == histograms["counts"].list.sum().sum()
    assert response.sum_ns == histograms["sum_ns"].sum()
    assert totals.readings[families.LEVEL_CONNECTIONS] == {load: trial.level.connections}


def test_a_trial_of_which_nothing_is_drafted_has_no_names(tmp_path: Path) -> None:
    totals, spooled = Totals(), spool(tmp_path)
    with observed_by(totals.observe):
        spooled.add(interval(0), began_unix_s=0.0, window=Window(first=0, last=0))
    assert totals.readings[families.INTERVALS] == {("", "", "measure"): 1}
    assert families.LEVEL_CONNECTIONS not in totals.readings
