"""Damaged and hostile logs of sysbench: what cannot be read is told by its line and skipped, and bends nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.importers.log_places import LogOptions
from plimsoll.importers.sysbench import import_sysbench
from plimsoll.importers.trials import ImportResult, write_import
from plimsoll.record.store import read_study
from support.faults import faults_of
from support.sysbench_logs import JSON_LINES, LOG_1_0, NEWER_LINES, column, only, with_lines
from support.told import evidence_of


def read(folder: Path, text: str) -> ImportResult:
    (folder / "0.log").write_text(text)
    return import_sysbench([folder / "0.log"], study_name="s", options=LogOptions(system="db1", workload="mix"))


UNREAD = "0.log: line 14: cannot be read as an interval line: '[ 2s ] thds"
FIGURES = ["nan", "-1.00", "inf", "1e5", "99999999999999.00", "9.9.9"]
DAMAGE = ['"tps": NaN', '"tps": "1"', '"tps": -1', '"tps": [[', '"tps": true,,']


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *((LOG_1_0.replace("101.20", value), UNREAD) for value in FIGURES),
        (LOG_1_0.replace("101.20", "\x1b[2J\u202e1"), UNREAD),
        (LOG_1_0.replace("[ 2s ]", "[ 1s ]"), "its time does not rise"),
        *(
            (with_lines(JSON_LINES.replace('"tps": 101.20', damage)), "an object of the JSON report")
            for damage in DAMAGE
        ),
    ],
    ids=[
        *FIGURES,
        "hostile bytes",
        "time that does not rise",
        *(f"json, {damage}" for damage in DAMAGE),
    ],
)
def test_a_line_that_cannot_be_read_is_told_and_lengthens_no_other(tmp_path: Path, text: str, words: str) -> None:
    result = read(tmp_path, text)
    assert column(only(result), "from_s") == [0, 2]
    assert column(only(result), "to_s") == [1, 3]
    assert column(only(result), "completed") == [100, 98]
    assert words in result.skipped[0]
    assert result.skipped[0].isprintable()
    assert result.skipped[-1] == "1 line could not be read and was skipped"


@pytest.mark.parametrize(
    ("later_s", "from_s", "completed"),
    [((1, 2, 4), [0, 1, 2], [100, 101, 196]), ((51, 52, 53), [50, 51, 52], [100, 101, 98])],
    ids=["a gap is one long interval", "a log without its beginning has no long first interval"],
)
def test_times_are_as_the_log_has_them(
    tmp_path: Path, later_s: tuple[int, ...], from_s: list[int], completed: list[int]
) -> None:
    text = re.sub(r"\[ ([123])s \]", lambda found: f"[ {later_s[int(found[1]) - 1]}s ]", LOG_1_0)
    trial = only(read(tmp_path, text))
    assert column(trial, "from_s") == from_s
    assert column(trial, "completed") == completed


def test_a_huge_line_is_told_in_short(tmp_path: Path) -> None:
    result = read(tmp_path, LOG_1_0.replace(NEWER_LINES.splitlines()[2], "[ 2s ] thds: " + "9" * 1_000_000))
    assert "is longer than 2000 characters" in result.skipped[0]
    assert len(result.skipped[0]) < 400


@pytest.mark.parametrize("figure", ["max:                                  nan", "max:      -3.00", "max: 1e9"])
def test_a_figure_that_cannot_be_read_is_told_and_left_out(tmp_path: Path, figure: str) -> None:
    result = read(tmp_path, LOG_1_0.replace("max:                                  123.45", figure))
    reported = only(result).outcome.reported
    assert reported is not None
    assert "max" not in reported.response_ms
    assert "cannot be read as a figure of the final report: 'max:" in result.skipped[0]


def test_what_is_skipped_fills_no_screen(tmp_path: Path) -> None:
    result = read(tmp_path, LOG_1_0.replace("[ 2s ]", "[ 2s ] thds: x\n" * 5_000 + "[ 2s ]"))
    assert len(result.skipped) < 50
    assert result.skipped[-1] == "5000 lines could not be read and were skipped"


def test_files_that_cannot_be_read_are_said_at_once(tmp_path: Path) -> None:
    assert len(faults_of(import_sysbench, [tmp_path / "some.log", tmp_path / "none.log"], study_name="s")) == 2


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
