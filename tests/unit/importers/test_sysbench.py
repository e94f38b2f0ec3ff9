"""Logs of sysbench: what becomes of each version's output as recordings, and what is skipped or refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.importers.log_places import LogOptions
from plimsoll.importers.sysbench import import_sysbench
from plimsoll.importers.trials import ImportResult, write_import
from plimsoll.record.model import Verdict, Window
from plimsoll.record.store import read_study
from support.faults import faults_of
from support.sysbench_logs import (
    CSV_LINES,
    JSON_LINES,
    LOG_0_4,
    LOG_0_5,
    LOG_1_0,
    LOG_1_1,
    column,
    only,
    with_histogram,
    with_lines,
)

Import = Callable[..., ImportResult]


@pytest.fixture
def logs(tmp_path: Path) -> Import:
    """Imports logs from their texts."""

    def run(*texts: str | bytes, **options: Any) -> ImportResult:
        paths = [tmp_path / f"{number}.log" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        told = {"system": "db1", "workload": "mix", **options}
        return import_sysbench(paths, study_name="s", options=LogOptions(**told))

    return run


def with_checkpoint() -> str:
    report = LOG_1_0[LOG_1_0.index("SQL statistics") :]
    return LOG_1_0.replace("[ 3s ]", f"[ 2s ] Checkpoint report:\n{report}\n[ 3s ]")


class TestVersions:
    @pytest.mark.parametrize(
        "text", [LOG_1_0, with_lines(CSV_LINES), with_lines(JSON_LINES)], ids=["1.0", "csv", "json"]
    )
    def test_interval_lines_become_counts_by_second(self, logs: Import, text: str) -> None:
        trial = only(logs(text))
        assert column(trial, "from_s") == [0, 1, 2]
        assert column(trial, "to_s") == [1, 2, 3]
        assert column(trial, "completed") == [100, 101, 98]
        assert [column(trial, name)[0] for name in ("reads", "writes", "others")] == [1400, 400, 200]
        assert column(trial, "retries") == [1, 0, 0]
        assert trial.errors is not None
        assert trial.errors.select("interval", "class", "code", "count").rows() == [
            (0, "retryable", 0, 1),
            (1, "connection", 0, 2),
        ]
        assert trial.trial.level.connections == 4
        assert trial.outcome.window == Window(first=0, last=2)

    def test_err_per_s_without_a_colon_is_the_same(self, logs: Import) -> None:
        assert column(only(logs(LOG_1_0.replace("err/s:", "err/s"))), "retries") == [1, 0, 0]

    @pytest.mark.parametrize(
        ("text", "percentile", "duration_s", "times"),
        [
            (LOG_1_0, "p95", 3.003, 1),
            (LOG_1_1, "p95", 3.003, 1),
            (LOG_0_5, "p95", 30.03, 10),
            (LOG_0_4, "p99", 30.03, 10),
        ],
        ids=["1.0", "1.1", "0.5", "0.4"],
    )
    def test_the_final_report_of_each_version(
        self, logs: Import, text: str, percentile: str, duration_s: float, times: int
    ) -> None:
        trial = only(logs(text))
        reported = trial.outcome.reported
        assert reported is not None
        assert reported.throughput_tps == 99.9
        assert reported.response_ms == {"min": 8.01, "mean": 40.02, "max": 123.45, percentile: 41.85}
        expected = {"transactions": 300 * times, "reads": 4200 * times, "writes": 1200 * times, "others": 600 * times}
        expected |= {"ignored_errors": 1, "reconnects": 2}
        if text == LOG_0_4:
            del expected["reconnects"]
        assert reported.counts == expected
        assert trial.trial.duration_s == duration_s
        assert trial.outcome.warnings == ()

    @pytest.mark.parametrize("text", [LOG_0_5, LOG_0_4], ids=["0.5", "0.4"])
    def test_interval_lines_of_older_versions(self, logs: Import, text: str) -> None:
        trial = only(logs(text))
        assert trial.trial.interval_s == 10
        assert column(trial, "to_s") == [10, 20]
        assert column(trial, "completed") == [995, 1012]
        assert column(trial, "reads") == [14000, 14000]
        assert column(trial, "retries") == ([1, 0] if text == LOG_0_5 else [0, 0])

    def test_the_first_line_after_a_warm_up_does_not_count(self, logs: Import) -> None:
        result = logs(LOG_1_1)
        assert only(result).outcome.window == Window(first=1, last=2)
        assert any("warm-up" in line for line in result.report)

    def test_a_percentile_that_is_off_is_not_there(self, logs: Import) -> None:
        off = LOG_1_0.replace(
            "95th percentile:                       41.85", "percentile stats:               disabled"
        )
        reported = only(logs(off)).outcome.reported
        assert reported is not None
        assert list(reported.response_ms) == ["min", "mean", "max"]


class TestHistogram:
    def test_percentiles_of_repetitions_come_from_merged_histograms(self, logs: Import, tmp_path: Path) -> None:
        again = LOG_1_0.replace("99.50", "97.00")
        result = logs(with_histogram(LOG_1_0), with_histogram(again))
        assert any("histograms of 2 runs" in line for line in result.report)
        write_import(tmp_path / "study", result)
        (curve,) = analyse("s", read_study(tmp_path / "study").recordings).curves
        found = curve.cells[0].response_ms
        assert found.p50 == pytest.approx(39.997, rel=0.001)
        assert found.p95 == pytest.approx(41.851, rel=0.001)
        assert found.p99 == pytest.approx(123.276, rel=0.001)
        assert (found.mean, found.max) == (pytest.approx(40.02), 123.45)

    def test_without_interval_lines_too(self, logs: Import, tmp_path: Path) -> None:
        write_import(tmp_path / "study", logs(with_histogram(with_lines(""))))
        (curve,) = analyse("s", read_study(tmp_path / "study").recordings).curves
        assert curve.cells[0].response_ms.p99 == pytest.approx(123.276, rel=0.001)

    def test_a_histogram_of_other_transactions_is_left_out_and_said(self, logs: Import) -> None:
        result = logs(with_histogram(LOG_1_0).replace("* 200", "* 201"))
        assert only(result).histograms is None
        assert any("its histogram counts other transactions" in line for line in result.report)

    def test_a_histogram_of_the_rest_after_a_checkpoint_is_left_out(self, logs: Import) -> None:
        text = with_histogram(LOG_1_0).replace("[ 3s ]", "[ 2s ] Checkpoint report:\nSQL statistics:\n[ 3s ]")
        assert only(logs(text)).histograms is None


class TestRuns:
    def test_no_interval_lines_leave_reported_figures_only(self, logs: Import) -> None:
        result = logs(with_lines(""))
        trial = only(result)
        assert (trial.intervals, trial.errors, trial.outcome.window) == (None, None, None)
        assert trial.outcome.reported is not None
        assert any("has no interval lines" in line for line in result.report)

    def test_a_log_cut_short_keeps_its_intervals_and_says_so(self, logs: Import) -> None:
        result = logs(LOG_1_0[: LOG_1_0.index("General statistics")])
        trial = only(result)
        assert trial.outcome.reported is None
        assert trial.outcome.verdict is Verdict.COMPLETE
        assert [warning.code for warning in trial.outcome.warnings] == ["log-cut-short"]
        assert column(trial, "completed") == [100, 101, 98]
        assert any("cut short" in line for line in result.report)

    def test_fatal_lines_make_a_failed_trial(self, logs: Import) -> None:
        text = HEADER_OF_1_0 + "FATAL: error 1045: Access denied\nFATAL: `thread_init' function failed\n"
        outcome = only(logs(text)).outcome
        assert outcome.verdict is Verdict.FAILED
        assert outcome.reason == "sysbench said: error 1045: Access denied; `thread_init' function failed"

    def test_runs_that_follow_each_other_in_a_log_are_apart(self, logs: Import) -> None:
        prepare = "sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)\n\nCreating table 'sbtest1'...\n"
        other = LOG_1_0.replace("Number of threads: 4", "Number of threads: 8")
        result = logs(prepare + LOG_1_0 + other)
        assert [trial.trial.level.connections for trial in result.trials] == [4, 8]
        assert [len(column(trial, "to_s")) for trial in result.trials] == [3, 3]
        assert result.skipped == ()

    def test_the_report_of_a_checkpoint_is_not_the_final_one(self, logs: Import) -> None:
        trial = only(logs(with_checkpoint()))
        assert trial.outcome.reported is None
        assert column(trial, "completed") == [100, 101, 98]

    def test_a_log_that_ends_after_a_checkpoint_is_cut_short(self, logs: Import) -> None:
        text = with_checkpoint()
        trial = only(logs(text[: text.rindex("SQL statistics")]))
        assert [warning.code for warning in trial.outcome.warnings] == ["log-cut-short"]
        assert trial.trial.duration_s == 3

    def test_what_fails_after_a_run_is_not_of_it(self, logs: Import) -> None:
        prepare = "sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)\n\nFATAL: no such thing\n"
        assert only(logs(LOG_1_0 + prepare)).outcome.verdict is Verdict.COMPLETE

    def test_what_holds_no_run_is_skipped_beside_others(self, logs: Import) -> None:
        result = logs("Creating table 'sbtest1'...\n", LOG_1_0)
        only(result)
        assert result.skipped[0].endswith("0.log: holds no run of sysbench")
        assert result.skipped[-1] == "1 log or run skipped"

    def test_several_runs_of_a_cell_are_repetitions_in_a_study(self, logs: Import, tmp_path: Path) -> None:
        again = LOG_1_0.replace("99.50", "97.00")
        write_import(tmp_path / "study", logs(LOG_1_0, again))
        written = write_import(tmp_path / "study", logs(LOG_1_0.replace("99.50", "96.00"), LOG_1_0))
        assert (len(written.paths), written.present_count) == (1, 1)
        recordings = read_study(tmp_path / "study").recordings
        assert [recording.trial.repetition for recording in recordings] == [0, 1, 2]
        assert recordings[0].intervals() is not None
        assert recordings[0].trial.origin.kind == "imported-sysbench"


HEADER_OF_1_0 = LOG_1_0[: LOG_1_0.index("Threads started")]


class TestPlace:
    def test_connections_without_a_header_are_those_at_work(self, logs: Import) -> None:
        assert only(logs(CSV_LINES)).trial.level.connections == 4

    def test_a_command_line_in_the_log_names_workload_and_connections(self, logs: Import) -> None:
        text = "+ sysbench /x/oltp_read_write.lua --mysql-password=secret --threads=4 run\n" + LOG_1_0
        trial = only(logs(text, workload=None))
        assert trial.trial.workload.name == "oltp_read_write"
        assert "secret" not in repr(trial)

    def test_the_file_name_says_what_the_log_does_not(self, tmp_path: Path) -> None:
        path = tmp_path / "db-1-oltp_read_write-4-2.log"
        path.write_text(LOG_1_0)
        pattern = "db-{system}-{workload}-{connections}-{any}.log"
        trial = only(import_sysbench([path], study_name="s", options=LogOptions(pattern=pattern))).trial
        assert (trial.system.name, trial.workload.name, trial.level.connections) == ("1", "oltp_read_write", 4)

    def test_folders_may_say_it(self, tmp_path: Path) -> None:
        path = tmp_path / "db1" / "mix" / "4.log"
        path.parent.mkdir(parents=True)
        path.write_text(LOG_1_0)
        options = LogOptions(pattern="{system}/{workload}/{connections}.log")
        assert only(import_sysbench([path], study_name="s", options=options)).trial.system.name == "db1"

    @pytest.mark.parametrize(
        ("name", "pattern", "fault"),
        [
            (
                "db-1-mix-4.log",
                "{system}-{workload}-{connections}.log",
                "in several ways: system 'db', workload '1-mix'",
            ),
            ("db\udcff-mix.log", "{system}-{workload}.log", "system must be printable text"),
        ],
        ids=["read in two ways", "cannot be shown"],
    )
    def test_a_name_that_says_nothing_for_sure_is_refused(
        self, tmp_path: Path, name: str, pattern: str, fault: str
    ) -> None:
        (tmp_path / name).write_text(LOG_1_0)
        options = LogOptions(pattern=pattern)
        assert fault in "\n".join(faults_of(import_sysbench, [tmp_path / name], study_name="s", options=options))

    def test_everything_unknown_and_contradictory_is_said_at_once(self, logs: Import) -> None:
        other = LOG_1_0.replace("Number of threads: 4", "Number of threads: 8")
        told = "\n".join(faults_of(logs, LOG_1_0, other, system=None, workload=None, connections=4))
        assert "0.log: line 1: system is unknown: the log does not say it. Say --system NAME" in told
        assert "1.log: line 1: workload is unknown" in told
        assert "1.log: line 1: connections is contradictory: the log says '8', --connections says '4'" in told

    @pytest.mark.parametrize(
        ("texts", "options", "words"),
        [
            ([LOG_1_0], {"pattern": "{system"}, "bracket"),
            ([LOG_1_0], {"pattern": "{host}.log"}, "unknown"),
            ([LOG_1_0], {"pattern": "{connections}{connections}"}, "twice"),
            ([LOG_1_0], {"pattern": "{factor:}x"}, "bracket"),
            ([LOG_1_0], {"pattern": "x.log"}, "names nothing"),
            ([LOG_1_0], {"connections": 0}, "--connections: must be"),
            ([LOG_1_0], {"connections": -1}, "--connections: must be"),
            ([LOG_1_0], {"connections": 10_000_000}, "--connections: must be"),
            ([LOG_1_0, LOG_1_0], {}, "is the same run as 0.log"),
            ([LOG_1_0.replace("Report", "Target transaction rate: 50/sec\nReport", 1)], {}, "at a rate"),
            ([re.sub(r"\[ 1s \]|\[ 3s \]|\[ 2s \] thds", "", with_checkpoint())], {}, "checkpoints"),
        ],
        ids=[
            "half a bracket",
            "an unknown part",
            "a part twice",
            "a factor without a name",
            "a pattern of nothing",
            "no connections",
            "negative connections",
            "too many connections",
            "the same run twice",
            "a run at a rate",
            "checkpoints without interval lines",
        ],
    )
    def test_wrong_options_and_other_runs_are_refused(
        self, logs: Import, texts: list[str], options: dict[str, Any], words: str
    ) -> None:
        assert words in "\n".join(faults_of(logs, *texts, **options))
