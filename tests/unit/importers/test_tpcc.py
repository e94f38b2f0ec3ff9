"""Logs of kits with a TPC-C-derived workload: what becomes of each as recordings, and what is skipped or refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.importers.log_places import LogOptions
from plimsoll.importers.sysbench import import_sysbench
from plimsoll.importers.tpcc import import_tpcc
from plimsoll.importers.trials import ImportedTrial, ImportResult, write_import
from plimsoll.record.store import read_study
from support import kit_logs
from support.faults import faults_of
from support.markdown import unlinked_markdown
from support.sysbench_logs import LOG_1_0

Import = Callable[..., ImportResult]


@pytest.fixture
def logs(tmp_path: Path) -> Import:
    """Imports logs from their texts."""

    def run(*texts: str | bytes, kit: str | None = None, **options: Any) -> ImportResult:
        paths = [tmp_path / f"{number}.log" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        told = {"system": "db1", **options}
        return import_tpcc(paths, study_name="s", options=LogOptions(**told), kit=kit)

    return run


def only(result: ImportResult) -> ImportedTrial:
    assert len(result.trials) == 1
    return result.trials[0]


def counted(trial: ImportedTrial, name: str, column: str = "completed") -> list[int]:
    assert trial.intervals is not None
    return trial.intervals.filter(pl.col("transaction") == name)[column].to_list()


def told_for(name: str) -> dict[str, Any]:
    """What the user has to say where a log does not."""
    return {} if name in ("go-tpc", "go-tpc-json", "tpcc-mysql", "tpcc-mysql-older") else {"connections": 16}


@pytest.mark.parametrize("name", kit_logs.ALL)
def test_every_format_says_counts_of_types_and_notpm(logs: Import, name: str) -> None:
    result = logs(kit_logs.ALL[name], **told_for(name))
    trial = only(result)
    reported = trial.outcome.reported
    assert reported is not None
    assert {key: one.counts["transactions"] for key, one in reported.types.items()} == kit_logs.COUNTS
    assert reported.throughput_tps == pytest.approx(10_000 / 30)
    assert reported.counts == {"transactions": 10_000, "failed": 3}
    assert trial.trial.level.connections == 16
    assert (trial.trial.workload.name, trial.trial.workload.kind) == (trial.trial.workload.options["kit"], "tpcc")
    assert name.startswith(trial.trial.workload.name)
    assert (result.skipped, trial.outcome.warnings) == ((), ())
    assert any("9,000.0 NOTPM, 16 connections" in line for line in result.report)


@pytest.mark.parametrize("name", ["go-tpc", "go-tpc-json", "tpcc-mysql", "tpcc-mysql-older"])
def test_interval_lines_become_intervals(logs: Import, name: str) -> None:
    trial = only(logs(kit_logs.ALL[name]))
    assert counted(trial, "new_order") == [1490, 1500, 1510]
    assert counted(trial, "payment") == [1433, 1433, 1434]
    assert counted(trial, "payment", "from_s") == [0, 10, 20]
    assert trial.trial.interval_s == 10
    if name.startswith("go-tpc"):
        assert counted(trial, "new_order", "failed") == [0, 3, 0]
        assert trial.errors is not None
        assert trial.errors["count"].to_list() == [3]


def response(trial: ImportedTrial, name: str = "new_order") -> dict[str, float]:
    assert trial.outcome.reported is not None
    return trial.outcome.reported.types[name].response_ms


class TestGoTpc:
    @pytest.mark.parametrize("text", [kit_logs.GO_TPC, kit_logs.GO_TPC_JSON], ids=["plain", "json"])
    def test_percentiles_by_type(self, logs: Import, text: str) -> None:
        found = {"p50": 18.9, "p90": 28.3, "p95": 31.5, "p99": 41.9, "p999": 67.1, "max": 83.9}
        trial = only(logs(text, connections=16))
        assert response(trial) == {"mean": 20.0, **found}
        assert trial.outcome.reported is not None
        assert trial.outcome.reported.response_ms == {"mean": pytest.approx(20.0), "max": 83.9}

    def test_warehouses_follow_from_the_efficiency(self, logs: Import) -> None:
        assert only(logs(kit_logs.GO_TPC, connections=16)).trial.workload.options["warehouses"] == 20
        coarse = kit_logs.GO_TPC.replace("3499.2%", "0.1%")
        assert "warehouses" not in only(logs(coarse, connections=16)).trial.workload.options

    def test_no_password_of_the_command_line_is_kept(self, logs: Import) -> None:
        result = logs(kit_logs.ALL["go-tpc"], kit_logs.TPCC_MYSQL)
        assert "secret" not in repr(result)

    def test_keying_and_think_times_make_another_workload(self, logs: Import) -> None:
        waited = kit_logs.GO_TPC + "[Summary] KEYINGTIME-NEW_ORDER - 18.0s\n"
        assert only(logs(waited, connections=16)).trial.workload.options["waits"] is True

    def test_intervals_of_unknown_place_are_left_out(self, logs: Import) -> None:
        lines = kit_logs.GO_TPC.splitlines(keepends=True)
        gone = "".join(lines[11:])
        result = logs(gone, connections=16)
        assert only(result).intervals is None
        assert only(result).outcome.reported is not None
        assert any("there are 1 of 10 s in 30.0 s" in line for line in result.report)

    def test_a_line_that_cannot_be_read_takes_its_interval_with_it(self, logs: Import) -> None:
        result = logs(kit_logs.GO_TPC.replace("Count: 1500,", "Count: nan,"), connections=16)
        assert counted(only(result), "new_order") == [1490, 1510]
        assert counted(only(result), "new_order", "from_s") == [0, 20]
        assert "0.log: line 7: cannot be read as a line of go-tpc's report" in result.skipped[0]

    def test_a_damaged_summary_is_no_summary(self, logs: Import) -> None:
        result = logs(kit_logs.GO_TPC.replace("Count: 4500,", "Count: 4.5e3,"), connections=16)
        assert only(result).outcome.reported is None
        assert [warning.code for warning in only(result).outcome.warnings] == ["log-cut-short"]

    def test_a_log_cut_short_keeps_only_whole_intervals(self, logs: Import) -> None:
        text = kit_logs.GO_TPC[: kit_logs.GO_TPC.index("Finished")]
        result = logs(text[: text.rindex("[Current] PAYMENT")], connections=16)
        assert counted(only(result), "new_order") == [1490, 1500]
        assert any("cut short" in line for line in result.report)

    def test_runs_that_follow_each_other_are_apart(self, logs: Import) -> None:
        again = kit_logs.GO_TPC.replace("1490", "1491")
        result = logs(kit_logs.GO_TPC + again, connections=16)
        assert [counted(trial, "new_order")[0] for trial in result.trials] == [1490, 1491]


class TestTpccMysql:
    def test_means_and_the_longest(self, logs: Import) -> None:
        trial = only(logs(kit_logs.TPCC_MYSQL))
        assert response(trial) == {"mean": 20.0, "max": 77.443}
        assert response(trial, "delivery") == {"mean": 40.0, "max": 83.696}
        assert trial.outcome.reported is not None
        assert trial.outcome.reported.types["new_order"].counts["retries"] == 2
        assert trial.trial.workload.options == {"kit": "tpcc-mysql", "warehouses": 20}

    def test_the_longest_is_unknown_when_a_line_is(self, logs: Import) -> None:
        result = logs(kit_logs.TPCC_MYSQL.replace("max_rt: 73.516", "max_rt: x"))
        assert response(only(result)) == {"mean": 20.0}
        assert counted(only(result), "new_order", "from_s") == [0, 20]
        assert "line 22: cannot be read as an interval line" in result.skipped[0]

    def test_zero_transactions_have_no_mean(self, logs: Import) -> None:
        text = re.sub(r"sc:400 (.*)avg_rt: 5\.0", r"sc:0 \1avg_rt: -nan", kit_logs.TPCC_MYSQL)
        reported = only(logs(text)).outcome.reported
        assert reported is not None
        assert reported.types["order_status"].counts["transactions"] == 0
        assert "mean" in reported.response_ms


class TestDbt2:
    @pytest.mark.parametrize("text", [kit_logs.DBT2_REPORT, kit_logs.DBT2_OLDER_REPORT], ids=["rst", "text"])
    def test_a_report_has_rollbacks_and_response_times(self, logs: Import, text: str) -> None:
        trial = only(logs(text, connections=16))
        assert trial.outcome.reported is not None
        assert trial.outcome.reported.types["new_order"].counts["rolled_back"] == 45
        assert response(trial) == {"mean": 20.0, "p90": 28.0}
        assert trial.intervals is None

    def test_a_mix_log_has_seconds_and_histograms(self, logs: Import, tmp_path: Path) -> None:
        result = logs(kit_logs.dbt2_mix(), connections=16, warehouses=20)
        trial = only(result)
        assert counted(trial, "new_order") == [150] * 30
        assert sum(counted(trial, "new_order", "failed")) == 3
        write_import(tmp_path / "study", result)
        (curve,) = analyse("s", read_study(tmp_path / "study").recordings).curves
        (cell,) = curve.cells
        assert cell.response_ms.p99 == pytest.approx(99, rel=0.001)
        (new_order,) = (one for one in cell.types if one.name == "new_order")
        assert (new_order.completed_count, new_order.failed_count, new_order.rolled_back_count) == (4500, 3, 45)
        assert new_order.throughput_tps == pytest.approx(150)
        assert new_order.response_ms.p50 == pytest.approx(50, rel=0.001)

    def test_mix_logs_of_one_folder_are_one_run(self, tmp_path: Path) -> None:
        paths = [tmp_path / f"mix-{part}.log" for part in range(3)]
        for part, path in enumerate(paths):
            path.write_text(kit_logs.dbt2_mix(part, 3))
        result = import_tpcc(paths, study_name="s", options=LogOptions(system="a", connections=16))
        reported = only(result).outcome.reported
        assert reported is not None
        assert reported.counts == {"transactions": 10_000, "failed": 3}
        assert result.report[0] == "3 logs, 1 run of dbt2"

    def test_what_cannot_be_read_in_a_mix_log_is_told(self, logs: Import) -> None:
        result = logs(kit_logs.dbt2_mix().replace(",0.050000,", ",nan,", 1), connections=16)
        assert "cannot be read as a line of a mix log: '17000" in result.skipped[0]

    def test_a_mix_log_without_its_end_is_cut_short(self, logs: Import) -> None:
        text = kit_logs.dbt2_mix()
        trial = only(logs(text[: text.index("TERMINATED") - 18], connections=16))
        assert trial.outcome.reported is None
        assert [warning.code for warning in trial.outcome.warnings] == ["log-cut-short"]


class TestSysbenchTpcc:
    def test_it_is_read_as_sysbench_with_what_is_known_of_the_kit(self, logs: Import, tmp_path: Path) -> None:
        text = "$ ./tpcc.lua --mysql-user=me --threads=4 --tables=2 --scale=10 run\n" + LOG_1_0
        result = logs(text)
        trial = only(result)
        assert (trial.trial.workload.name, trial.trial.workload.kind) == ("tpcc", "tpcc")
        assert trial.trial.workload.options == {"kit": "sysbench-tpcc", "warehouses": 20}
        assert counted(trial, "transaction") == [100, 101, 98]
        assert any("ignored errors are 0.33% of transactions; about 0.43%" in line for line in result.report)
        as_sysbench = import_sysbench([tmp_path / "0.log"], study_name="s", options=LogOptions(system="db1"))
        assert only(as_sysbench).trial.trial_id == trial.trial.trial_id

    def test_without_a_command_line_the_kit_names_the_workload(self, logs: Import) -> None:
        assert only(logs(LOG_1_0)).trial.workload.name == "sysbench-tpcc"


@pytest.mark.parametrize(
    ("texts", "options", "why"),
    [
        (
            [kit_logs.GO_TPC.replace("Finished", "[Current] Q12    - Count: 1, Sum(ms): 9945.8, Avg(ms): 9944.7")],
            {"connections": 16},
            "analytical queries",
        ),
        (
            [kit_logs.DBT2_REPORT.replace("Stock Level", "Stock Level x")],
            {"connections": 16},
            "not all five types",
        ),
        ([kit_logs.dbt2_mix().replace("START", "1,n,x\n")], {"connections": 16}, "no START"),
        ([re.sub(r"\d+\.\d+,[dnops],.*\n", "1,n,x\n", kit_logs.dbt2_mix())], {"connections": 16}, "cannot be read"),
        (["$ sysbench oltp_read_only --threads=4 run\n" + LOG_1_0], {}, "oltp_read_only: not imported"),
        ([kit_logs.TPCC_MYSQL], {"kit": "dbt2"}, "holds no run of dbt2"),
        ([kit_logs.TPCC_MYSQL, kit_logs.TPCC_MYSQL], {}, "is the same run as 0.log"),
    ],
    ids=[
        "analytical queries",
        "a report without all types",
        "a mix log without a start",
        "a mix log of nothing",
        "another script of sysbench",
        "another kit than was said",
        "the same run twice",
    ],
)
def test_what_is_no_run_of_a_kit_is_refused(logs: Import, texts: list[str], options: dict[str, Any], why: str) -> None:
    assert why in "\n".join(faults_of(logs, *texts, **options))


def test_guides_show_notpm_and_what_else_is_stated_by_type(logs: Import, tmp_path: Path) -> None:
    for text, row in (
        (kit_logs.GO_TPC, "| new_order | 16 | 45.0 | 9,000 | 4,500 | 3 |"),
        (kit_logs.DBT2_REPORT, "| new_order | 16 | 45.0 | 9,000 | 4,500 | 45 | 0 |"),
    ):
        study = tmp_path / str(len(row))
        write_import(study, logs(text, connections=16))
        markdown = unlinked_markdown(analyse("s", read_study(study).recordings))
        assert row in markdown
        assert "new orders per minute (NOTPM)" in markdown


class TestPlace:
    def test_the_file_name_says_what_the_log_does_not(self, tmp_path: Path) -> None:
        path = tmp_path / "db1-16-20.log"
        path.write_text(kit_logs.DBT2_OLDER_REPORT)
        options = LogOptions(pattern="{system}-{connections}-{warehouses}.log")
        trial = only(import_tpcc([path], study_name="s", options=options)).trial
        assert (trial.system.name, trial.level.connections) == ("db1", 16)
        assert trial.workload.options == {"kit": "dbt2", "warehouses": 20}

    def test_contradictions_and_unknowns_are_said_at_once(self, logs: Import) -> None:
        told = "\n".join(faults_of(logs, kit_logs.TPCC_MYSQL, kit_logs.DBT2_REPORT, system=None, warehouses=21))
        assert "warehouses is contradictory: the log says '20', --warehouses says '21'" in told
        assert "1.log: line 1: connections is unknown" in told
        assert "system is unknown" in told

    def test_kits_are_recognised_each_and_others_skipped(self, logs: Import) -> None:
        result = logs(kit_logs.ALL["go-tpc"], kit_logs.TPCC_MYSQL, "nothing of a kit\n")
        assert [trial.trial.workload.name for trial in result.trials] == ["go-tpc", "tpcc-mysql"]
        assert "2.log: holds no run of a kit that is known" in result.skipped[0]

    def test_kits_of_one_name_are_two_workloads(self, logs: Import, tmp_path: Path) -> None:
        result = logs(kit_logs.ALL["go-tpc"], kit_logs.TPCC_MYSQL, workload="orders")
        write_import(tmp_path / "study", result)
        names = {recording.trial.workload.name for recording in read_study(tmp_path / "study").recordings}
        assert names == {"orders", "orders, tpcc-mysql"}
