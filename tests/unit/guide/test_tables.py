"""The one model of tables."""

from __future__ import annotations

from plimsoll.analyse.answers.size import size
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.study.cell_model import Durations
from plimsoll.guide.headline import glance_table
from plimsoll.guide.level_tables import system_tables, workload_tables
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.size import size_table
from plimsoll.guide.tables import Entry, Table, figures_note
from support.analyses import measured_analysis
from support.published import imported_analysis, per_minute_analysis
from support.stalled import stalled_analysis


def system_table(analysis: Analysis, system: SystemSummary) -> Table:
    table, _ = system_tables(analysis, [system])
    assert table is not None
    return table


def workload_table(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> Table:
    (table,) = workload_tables(analysis, system, workload)
    return table


def test_a_system_has_a_row_for_each_level_and_columns_for_each_workload() -> None:
    analysis = measured_analysis()
    table = system_table(analysis, analysis.systems[0])
    assert [row[0].text for row in table.rows] == ["1", "4", "16", "32"]
    assert [column.label for column in table.columns[:3]] == ["connections", "read-only: tps", "read-only: scale"]
    assert {column.group for column in table.columns[1:]} == {"read-only", "read-write"}
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_the_peak_and_levels_tied_with_it_are_marked() -> None:
    analysis = measured_analysis()
    table = workload_table(analysis, analysis.systems[0], analysis.workloads[1])
    assert [row[1].mark for row in table.rows] == [None, None, "peak", "≈ peak"]
    assert table.rows[2][1] == Entry("1,245", "1,208 to 1,286", "peak", ("160f1245", "161f1245", "162f1245"))


def test_wide_and_narrow_tables_state_the_same_figures() -> None:
    analysis = measured_analysis()
    for system in analysis.systems:
        wide = system_table(analysis, system)
        narrow = [workload_table(analysis, system, workload) for workload in analysis.workloads]
        joined = [row + other[1:] for row, other in zip(narrow[0].rows, narrow[1].rows, strict=True)]
        assert list(wide.rows) == joined


def test_figures_that_no_cell_has_get_no_column() -> None:
    analysis = imported_analysis()
    table = system_table(analysis, analysis.systems[0])
    assert [column.heading for column in table.columns] == ["connections", "tps", "scale", "tps", "scale"]


def test_throughput_per_minute_is_headed_and_shown_so() -> None:
    analysis = per_minute_analysis()
    table = system_table(analysis, analysis.systems[0])
    assert [column.heading for column in table.columns] == ["connections", "tpm", "scale", "CPU %"]
    assert [entry.text for entry in table.rows[2]] == ["32", "22,215", "10.5", "23"]


def test_a_mean_is_shown_where_there_are_no_percentiles() -> None:
    analysis = imported_analysis()
    curve = analysis.curves[0]
    cells = tuple(cell.model_copy(update={"response_ms": Durations(mean=38.0)}) for cell in curve.cells)
    changed = analysis.model_copy(update={"curves": (curve.model_copy(update={"cells": cells}), *analysis.curves[1:])})
    headings = [column.heading for column in system_table(changed, changed.systems[0]).columns]
    assert headings == ["connections", "tps", "scale", "mean ms", "tps", "scale"]


def test_levels_that_only_one_workload_has_leave_a_gap_in_the_other() -> None:
    analysis = measured_analysis()
    curves = [
        curve.model_copy(update={"cells": curve.cells[:2]}) if curve.workload == "read-only" else curve
        for curve in analysis.curves
    ]
    table = system_table(analysis.model_copy(update={"curves": tuple(curves)}), analysis.systems[0])
    assert [entry.text for entry in table.rows[3][1:4]] == ["–", "–", "–"]
    assert table.rows[3][7].text == "1,228"


def test_a_peak_that_is_not_inside_the_range_is_said() -> None:
    analysis = measured_analysis()
    curve = analysis.curves[0]
    open_peak = curve.model_copy(update={"peak": curve.peak.model_copy(update={"is_inside_range": False})})
    changed = analysis.model_copy(update={"curves": (open_peak, *analysis.curves[1:])})
    (note,) = system_table(changed, changed.systems[0]).notes
    assert note == "read-only: the peak may lie beyond 4 connections, the last level measured."


def test_at_a_glance_each_system_has_its_peaks_and_pools() -> None:
    table = glance_table(measured_analysis())
    assert [entry.text for entry in table.rows[0]] == ["durable", "2", "310", "3,390", "4", "1,245", "16"]
    assert [column.heading for column in table.columns[3:5]] == ["peak, tps", "pool"]


def test_a_sizing_answer_names_every_system() -> None:
    answer = size(imported_analysis(), tps=1200.0, connections=16, workload="oltp complex read/write")
    table = size_table(answer)
    assert len(table.rows) == 8
    assert {row[1].text for row in table.rows} == {"fits", "does not fit"}
    assert {row[2].text for row in table.rows} == {"indicated"}, "published figures are of one run"
    assert {row[3].text for row in table.rows} == {"saturation"}


def test_stalls_and_lower_bounds_are_marked_and_have_a_column_only_where_there_are_any() -> None:
    analysis = stalled_analysis()
    stalled, steady = (workload_table(analysis, analysis.systems[0], workload) for workload in analysis.workloads)
    headings = [column.heading for column in stalled.columns]
    assert headings[1:4] == ["tps", "scale", "stalled %"], "beside the throughput"
    assert [row[3].text for row in stalled.rows] == ["–", "–", "–", "50.0"]
    last = dict(zip(headings, (entry.text for entry in stalled.rows[-1]), strict=True))
    assert last["p99 ms"].startswith("≥ ")
    assert not last["p50 ms"].startswith("≥")
    assert "stalled %" not in [column.heading for column in steady.columns]
    note = figures_note([stalled])
    assert "Stalled is the share of the measured time" in note
    assert "Times marked “≥” are at least so long" in note
    assert "≥" not in figures_note([steady])
    assert "| [≥ " in render_markdown(analysis)
