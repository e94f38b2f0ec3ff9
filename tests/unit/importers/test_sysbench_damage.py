"""Damaged and hostile logs of sysbench: what cannot be read is told by its line and skipped, and bends nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.errors import SpecError
from plimsoll.importers.log_places import LogOptions
from plimsoll.importers.sysbench import import_sysbench
from plimsoll.importers.trials import ImportResult, write_import
from plimsoll.record.store import read_study
from support.sysbench_logs import JSON_LINES, LOG_1_0, NEWER_LINES, column, only, with_lines
from support.told import evidence_of


def read(folder: Path, text: str) -> ImportResult:
    (folder / "0.log").write_text(text)
    return import_sysbench([folder / "0.log"], study_name="s", options=LogOptions(system="db1", workload="mix"))


@pytest.mark.parametrize("value", ["nan", "-1.00", "inf", "1e5", "99999999999999.00", "9.9.9"])
def test_a_line_that_cannot_be_read_is_told_and_lengthens_no_other(tmp_path: Path, value: str) -> None:
    result = read(tmp_path, LOG_1_0.replace("101.20", value))
    assert column(only(result), "from_s") == [0, 2]
    assert column(only(result), "completed") == [100, 98]
    assert "0.log: line 14: cannot be read as an interval line: '[ 2s ] thds" in result.skipped[0]
    assert result.skipped[-1] == "1 line could not be read and was skipped"


def test_time_that_does_not_rise_is_told(tmp_path: Path) -> None:
    result = read(tmp_path, LOG_1_0.replace("[ 2s ]", "[ 1s ]"))
    assert column(only(result), "to_s") == [1, 3]
    assert "its time does not rise" in result.skipped[0]


def test_a_gap_is_one_long_interval(tmp_path: Path) -> None:
    trial = only(read(tmp_path, LOG_1_0.replace("[ 3s ]", "[ 4s ]")))
    assert column(trial, "completed") == [100, 101, 196]


def test_a_log_without_its_beginning_has_no_long_first_interval(tmp_path: Path) -> None:
    late = LOG_1_0.replace("[ 1s ]", "[ 51s ]").replace("[ 2s ]", "[ 52s ]").replace("[ 3s ]", "[ 53s ]")
    assert column(only(read(tmp_path, late)), "from_s") == [50, 51, 52]


@pytest.mark.parametrize("figure", ["max:                                  nan", "max:      -3.00", "max: 1e9"])
def test_a_figure_that_cannot_be_read_is_told_and_left_out(tmp_path: Path, figure: str) -> None:
    result = read(tmp_path, LOG_1_0.replace("max:                                  123.45", figure))
    reported = only(result).outcome.reported
    assert reported is not None
    assert "max" not in reported.response_ms
    assert "cannot be read as a figure of the final report: 'max:" in result.skipped[0]


def test_hostile_bytes_cannot_steer_a_terminal(tmp_path: Path) -> None:
    result = read(tmp_path, LOG_1_0.replace("101.20", "\x1b[2J\u202e1"))
    assert result.skipped[0].isprintable()


def test_a_huge_line_is_told_in_short(tmp_path: Path) -> None:
    result = read(tmp_path, LOG_1_0.replace(NEWER_LINES.splitlines()[2], "[ 2s ] thds: " + "9" * 1_000_000))
    assert "is longer than 2000 characters" in result.skipped[0]
    assert len(result.skipped[0]) < 400


@pytest.mark.parametrize("damage", ['"tps": NaN', '"tps": "1"', '"tps": -1', '"tps": [[', '"tps": true,,'])
def test_a_damaged_object_of_json_is_told(tmp_path: Path, damage: str) -> None:
    result = read(tmp_path, with_lines(JSON_LINES.replace('"tps": 101.20', damage)))
    assert column(only(result), "to_s") == [1, 3]
    assert "an object of the JSON report" in result.skipped[0]


def test_what_is_skipped_fills_no_screen(tmp_path: Path) -> None:
    result = read(tmp_path, LOG_1_0.replace("[ 2s ]", "[ 2s ] thds: x\n" * 5_000 + "[ 2s ]"))
    assert len(result.skipped) < 50
    assert result.skipped[-1] == "5000 lines could not be read and were skipped"


def test_files_that_cannot_be_read_are_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        import_sysbench([tmp_path / "some.log", tmp_path / "none.log"], study_name="s")
    assert len(caught.value.faults) == 2


@pytest.mark.parametrize("other", ["{", "{\n  settings", '{"host": "db1"}', '[{"a": [{'])
def test_brackets_of_others_swallow_nothing(tmp_path: Path, other: str) -> None:
    result = read(tmp_path, LOG_1_0.replace("[ 2s ]", f"{other}\n[ 2s ]"))
    assert column(only(result), "to_s") == [1, 2, 3]
    assert result.skipped == ()


def test_what_a_forced_shutdown_cut_off_is_kept_and_warned_about(tmp_path: Path) -> None:
    line = "Number of unfinished transactions on forced shutdown: 4\n\n"
    result = read(tmp_path, LOG_1_0.replace("General statistics:", f"{line}General statistics:"))
    reported = only(result).outcome.reported
    assert reported is not None
    assert reported.counts["unfinished"] == 4
    write_import(tmp_path / "study", result)
    warnings = analyse("s", read_study(tmp_path / "study").recordings).warnings
    found = {warning.code: evidence_of(warning) for warning in warnings}
    assert found["transactions-unfinished"].startswith("4 transactions had not ended when the load did")
