"""Counts that the source of an import states for the whole run."""

from __future__ import annotations

from pathlib import Path

from plimsoll.analyse.analysis import analyse
from plimsoll.importers.log_places import LogOptions
from plimsoll.importers.sysbench import import_sysbench
from plimsoll.importers.trials import write_import
from plimsoll.record.store import read_study
from support.sysbench_logs import LOG_1_0


def test_totals_of_the_final_report_beat_sums_of_rounded_rates(tmp_path: Path) -> None:
    """A rate of 0.00 may be a few errors, and the last part of a run has no line."""
    log = LOG_1_0.replace("ignored errors:                      1 ", "ignored errors:                      7 ")
    assert log != LOG_1_0
    (tmp_path / "1.log").write_text(log)
    imported = import_sysbench([tmp_path / "1.log"], study_name="s", options=LogOptions(system="a", workload="w"))
    write_import(tmp_path / "study", imported)
    (cell,) = analyse("s", read_study(tmp_path / "study").recordings).curves[0].cells
    assert (cell.completed_count, cell.retries_count) == (300, 7)
    assert {error.error_class: error.count for error in cell.errors} == {"retryable": 7, "connection": 2}
