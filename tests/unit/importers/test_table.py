"""Published tables: what becomes of them as recordings, and what is refused with line and cure."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.cli.importing import _pairs
from plimsoll.errors import SpecError
from plimsoll.importers.columns import TableOptions
from plimsoll.importers.table import import_table
from plimsoll.importers.trials import ImportResult, write_import
from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from support.faults import faults_of

PUBLISHED = Path(__file__).parents[3] / "examples" / "published"
Import = Callable[..., ImportResult]


@pytest.fixture
def table(tmp_path: Path) -> Import:
    """Imports a table from its text."""

    def run(text: str | bytes, name: str = "t.csv", **options: Any) -> ImportResult:
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return import_table(tmp_path / name, study_name="s", options=TableOptions(**options))

    return run


def published(name: str, **options: Any) -> ImportResult:
    return import_table(PUBLISHED / name, study_name="s", options=TableOptions(**options))


def throughputs(result: ImportResult) -> dict[tuple[str, int], float]:
    """Throughput by system and connections, per minute."""
    return {
        (trial.trial.system.name, trial.trial.level.connections): round(trial.outcome.reported.throughput_tps * 60, 2)
        for trial in result.trials
        if trial.outcome.reported
    }


def faults(table: Import, text: str | bytes, **options: Any) -> str:
    return "\n".join(faults_of(table, text, **options))


class TestPublishedTables:
    def test_hp_has_eight_systems_told_apart_by_storage(self) -> None:
        result = published("hp-proliant-2008.csv")
        names = list(dict.fromkeys(trial.trial.system.name for trial in result.trials))
        assert len(names) == 8
        assert names[0] == "BL460c, internal SAS, battery-backed write cache"
        assert len(result.trials) == 128
        assert {trial.trial.workload.name for trial in result.trials} == {
            "oltp complex read/write",
            "oltp complex read-only",
        }
        at_16 = [
            trial.outcome.reported.throughput_tps
            for trial in result.trials
            if trial.outcome.reported and trial.trial.level.connections == 16 and "write" in trial.trial.workload.name
        ]
        assert min(at_16) == 1245

    def test_hp_keeps_the_machine(self) -> None:
        first = published("hp-proliant-2008.csv").trials[0]
        assert first.environment.host.cpu_cores == 8
        assert first.environment.host.memory_bytes == 16 * 2**30
        assert first.environment.reported["cpu"] == "2 x quad-core Intel Xeon X5365 3.0 GHz"
        assert first.trial.system.factors["cores"] == "8"
        assert first.trial.origin.detail == "hp-proliant-2008.csv, line 2"
        assert first.outcome.verdict is Verdict.COMPLETE

    def test_sun_eight_instances_are_summed(self) -> None:
        result = published("sun-t5240-2009-zones.csv", workload="TPC-C-derived")
        peak = max(throughputs(result).items(), key=lambda item: item[1])
        assert peak == (("T5240 eight zones, ST6120 4 x 73 GB RAID 5", 512), 65_340.08)
        last = result.trials[-1]
        assert (last.trial.level.connections, last.trial.level.connections_per_instance) == (512, 64)
        assert last.trial.system.instances == 8
        assert last.trial.workload.rate_unit == "tpm"
        assert last.trial.origin.detail == "sun-t5240-2009-zones.csv, lines 90 to 97"
        assert last.outcome.reported
        assert last.outcome.reported.throughput_tps_by_instance["zone7"] * 60 == pytest.approx(8404)
        assert last.outcome.reported.host_cpu == {"user": 0.81, "system": 0.18, "idle": 0.02}
        assert last.trial.system.factors == {
            "storage": "ST6120 4 x 73 GB RAID 5",
            "flush_log_at_trx_commit": "1",
            "warehouses_per_instance": "4",
        }

    def test_sun_says_what_the_table_leaves_open(self) -> None:
        result = published("sun-t5240-2009-zones.csv")
        assert result.trials[0].trial.system.factors["flush_log_at_trx_commit"] == "unknown"
        report = "\n".join(result.report)
        assert "system T5240 eight zones, internal disks: its rows do not say flush_log_at_trx_commit" in report
        assert "column connections_per_instance, of each instance" in report
        assert "line 10: host CPU adds up to 108 %" in report
        assert "workload: called sun-t5240-2009-zones after the file" in report

    def test_sun_one_instance_keeps_its_curve(self) -> None:
        result = published("sun-t5240-2009-threads.csv")
        points = throughputs(result)
        assert points["T5240 one instance, TS", 32] == 22_215.11
        assert points["T5240 one instance, innodb_thread_concurrency=0, FX", 1024] == 8_373.72
        assert len({system for system, _ in points}) == 4

    def test_vmware_states_mean_response_times(self) -> None:
        result = published("vmware-esx-2009.csv")
        assert next(trial.outcome.reported.response_ms for trial in result.trials if trial.outcome.reported) == {
            "mean": 38.0
        }
        assert {trial.trial.system.name for trial in result.trials} == {
            "physical, 2 CPUs, 4 GB",
            "VMware ESX 3.5, 2 vCPUs, 4 GB",
        }


class TestColumns:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("response_ms_p95", {"p95": 7.0}),
            ("Response ms (mean)", {"mean": 7.0}),
            ("response_s_max", {"max": 7000.0}),
            ("response_us_p50", {"p50": 0.007}),
        ],
    )
    def test_response_times(self, table: Import, name: str, expected: dict[str, float]) -> None:
        reported = table(f"system,connections,throughput_tps,{name}\na,1,5,7\n").trials[0].outcome.reported
        assert reported
        assert reported.response_ms == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("name", "expected"),
        [("cpu_user_pct", {"user": 0.25}), ("CPU system %", {"system": 0.25}), ("cpu_idle_ratio", {"idle": 0.25})],
    )
    def test_processor_shares(self, table: Import, name: str, expected: dict[str, float]) -> None:
        value = "0.25" if name.endswith("ratio") else "25"
        reported = table(f"system,connections,throughput_tps,{name}\na,1,5,{value}\n").trials[0].outcome.reported
        assert reported
        assert reported.host_cpu == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("name", "rate_unit", "tps"), [("throughput_tps", "tps", 60), ("throughput_tpm", "tpm", 1)]
    )
    def test_units_of_throughput(self, table: Import, name: str, rate_unit: str, tps: float) -> None:
        for header, maps in ((name, ()), ("Score", (("Score", name),))):
            one = table(f"system,connections,{header}\na,1,60\n", maps=maps).trials[0]
            assert one.outcome.reported
            assert one.trial.workload.rate_unit == rate_unit
            assert one.outcome.reported.throughput_tps == pytest.approx(tps)

    def test_names_that_are_not_of_the_schema_are_not_guessed(self, table: Import) -> None:
        text = faults(table, "system,threads,tps\na,4,60\n")
        assert "no column is called connections or connections_per_instance. Say --map COLUMN=connections" in text
        assert "no column is called throughput_tps or throughput_tpm. Say --map tps=throughput_tps or" in text
        assert text.count("The columns are: system, threads, tps") == 2
        assert table(
            "system,threads,tps\na,4,60\n", maps=(("threads", "connections"), ("tps", "throughput_tps"))
        ).trials

    def test_a_column_whose_name_holds_an_equals_sign_can_be_mapped(self) -> None:
        assert _pairs(["a=b=factor"]) == (("a=b", "factor"),)

    def test_a_mapped_column_takes_no_other_columns_place(self, table: Import) -> None:
        text = "box,connections,workers,tpmC\na,99,4,60\n"
        maps = (("box", "system"), ("workers", "connections"), ("tpmC", "throughput_tpm"))
        assert "columns connections, workers: all mean connections" in faults(table, text, maps=maps)
        result = table(text, maps=(*maps, ("connections", "ignore")))
        assert result.trials[0].trial.level.connections == 4
        assert result.trials[0].trial.system.factors == {}
        assert "left out: connections" in result.report

    def test_missing_columns_name_those_found_and_the_cure(self, table: Import) -> None:
        text = faults(table, "box,workers,score\na,4,60\n")
        assert text.count("The columns are: box, workers, score") == 3
        for cure in (
            "--map COLUMN=connections",
            "--map COLUMN=throughput_tps",
            "--system NAME, or --map COLUMN=system",
        ):
            assert cure in text

    @pytest.mark.parametrize(
        ("header", "options", "words"),
        [
            ("system,connections,throughput_tps,throughput_tpm", {}, "all mean throughput"),
            ("system,connections,throughput_tps,Storage,storage", {}, "another one has the same name"),
            ("system,connections,throughput_tps", {"maps": (("none", "system"),)}, "there is no one column 'none'"),
            ("system,connections,x", {"maps": (("x", "colour"),)}, "'colour' is no name of the schema. There are: sys"),
            ("system,connections,throughput_tps", {"system": "b"}, "the column system says it"),
            ("system,system,throughput_tps", {}, "two columns are called 'system'"),
            ("system,connections,throughput_tps,", {}, "column 4 has no name"),
        ],
    )
    def test_contradictory_headers(self, table: Import, header: str, options: dict[str, Any], words: str) -> None:
        cells = ",".join("1" for _ in header.split(","))
        assert words in faults(table, f"{header}\n{cells}\n", **options)


class TestRows:
    def test_all_faults_at_once_with_their_lines(self, table: Import) -> None:
        text = faults(
            table,
            "system,connections,throughput_tps,response_ms_mean,cpu_user_pct\n"
            'a,1,"1,234",5,50\n'
            "\n"
            "a,0,10,5,50\n"
            "a,2.5,10,5,50\n"
            "a,2,-10,5,50\n"
            "a,4,,5,50\n"
            ",8,10,nan,101\n"
            "a,16,1e999,5,50\n"
            "a,32,10,5,50\n"
            "a,32,10,5,50\n",
        )
        for words in (
            "line 2: throughput_tps: must be a number such as 1234.5 (no thousands separator, decimal point), is '1,2",
            "line 4: connections: must be a whole number",
            "line 5: connections: must be a whole number",
            "line 6: throughput_tps: must not be negative, is '-10'",
            "line 7: throughput_tps: must be a number",
            "line 8: system: must not be empty",
            "line 8: response_ms_mean: must be a number",
            "line 8: cpu_user_pct: must be at most 100 percent",
            "line 9: throughput_tps: must be at most 1e+12",
            "line 11: is the same as line 10",
        ):
            assert words in text
        assert len(text.splitlines()) == 10

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ("", "is empty"),
            ("\n\n", "is empty"),
            ("system,connections,throughput_tps\n", "no rows below its header"),
            ("system,connections,throughput_tps\na,1\n", "line 2: has 2 cells, the header has 3"),
            ("system,connections,throughput_tps\na,1,2,3\n", "line 2: has 4 cells"),
            ('system,connections,throughput_tps\n"a"b,1,2\n', "line 2: is no CSV"),
            ('system,connections,throughput_tps\n"a,1,2\n', "line 2: is no CSV"),
            (b"system,connections,throughput_tps\n\xe9,1,2\n", "line 2: is not UTF-8"),
            ("system,connections,throughput_tps\n" + "a" * 2000 + ",1,2\n", "cell 1: more than 1000 characters"),
            ("system,connections,throughput_tps\n" + "a,1,2\n" * 10_001, "at most 10000 are read"),
            ("system" + ",x" * 300 + "\n1\n", "at most 200 are read"),
            (b"," * (8 * 2**20 + 1), "is larger than 8 MiB"),
        ],
        ids=range(12),
    )
    def test_no_table(self, table: Import, content: str | bytes, words: str) -> None:
        text = faults(table, content)
        assert words in text
        assert len(text.splitlines()) <= 41

    @pytest.mark.parametrize(
        ("header", "rows", "words"),
        [
            (
                "system,instances,cost_per_month,connections_per_instance,throughput_tps",
                ["a,4,310,8,100", "a,4,99,16,100"],
                "cost_per_month: is 99, 310 in an earlier row",
            ),
            (
                "system,instance,connections_per_instance,throughput_tps",
                ["a,x,4,1", "a,y,4,2", "a,x,8,3"],
                "line 4: no row for instance y at this level",
            ),
            (
                "system,instance,connections,connections_per_instance,throughput_tps",
                ["a,x,8,2,1", "a,y,8,2,2"],
                "8 connections in total are not 2",
            ),
            ("system,connections,throughput_tps", ["a,1,10", "a,1,10"], "add a column repetition"),
            ("system,connections,repetition,throughput_tps", ["a,1,1,10", "a,1,1,11"], "is in line 2 already"),
            (
                "system;connections;throughput_tps;response_ms_mean",
                ["a;1;12.000;0.125"],
                "line 2: throughput_tps: may be 12.0000 or 12000: write it so, is '12.000'",
            ),
        ],
        ids=[
            "two costs",
            "a missing instance",
            "another total than of the instances",
            "equal results",
            "a repetition twice",
            "a point that may part thousands",
        ],
    )
    def test_rows_that_contradict_each_other(self, table: Import, header: str, rows: list[str], words: str) -> None:
        assert words in faults(table, "\n".join((header, *rows, "")))

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(SpecError, match="cannot be read"):
            import_table(tmp_path / "none.csv", study_name="s")

    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    def test_delimiters_byte_order_mark_and_line_ends(self, table: Import, delimiter: str) -> None:
        text = "\ufeffsystem,connections,throughput_tps\r\nA,1,2.5\r\n".replace(",", delimiter)
        assert throughputs(table(text)) == {("A", 1): 150.0}

    def test_a_point_between_commas_parts_no_thousands(self, table: Import) -> None:
        assert throughputs(table("system,connections,throughput_tps\na,1,12.000\n")) == {("a", 1): 720.0}

    @settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.binary(max_size=80)
        | st.text(max_size=80).map(
            lambda text: ("system,connections,throughput_tps,x\n" + text).encode("utf-8", "replace")
        )
        | st.text(',;\t"\n\r\0a1.-eE', max_size=80).map(
            lambda text: ("system,connections,throughput_tps,x\n" + text).encode()
        )
    )
    def test_any_bytes_are_a_table_or_a_fault(self, table: Import, content: bytes) -> None:
        with contextlib.suppress(SpecError):
            assert table(content).trials


class TestSystems:
    def test_a_name_has_only_the_factors_that_are_needed(self, table: Import) -> None:
        result = table(
            "system,storage,pool,flush,connections,throughput_tps\n"
            "a,SAN,2G,1,1,10\na,SAS,2G,2,1,20\nb,SAN,4G,1,1,30\nc,,2G,1,1,40\nc,,2G,0,1,50\n"
        )
        assert list(throughputs(result)) == [
            ("a, SAN", 1),
            ("a, SAS", 1),
            ("b", 1),
            ("c, flush=1", 1),
            ("c, flush=0", 1),
        ]

    def test_two_systems_never_share_a_name(self, table: Import) -> None:
        header = "system,data,log,connections,throughput_tps\n"
        result = table(header + "a,SSD,,1,10\na,,SSD,1,20\na,SSD,SSD,1,30\n")
        assert [name for name, _ in throughputs(result)] == ["a, data=SSD", "a, log=SSD", "a, data=SSD, log=SSD"]
        result = table(header + 'a,SSD,,1,10\na,SAS,,1,20\n"a, SSD",,,1,30\n')
        assert [name for name, _ in throughputs(result)] == ["a, SSD", "a, SAS", "a, SSD (2)"]

    def test_the_machine_tells_systems_apart_too(self, table: Import) -> None:
        result = table("system,cores,connections,throughput_tps\na,4,1,10\na,8,1,20\n")
        assert [name for name, _ in throughputs(result)] == ["a, cores=4", "a, cores=8"]

    def test_a_measurement_is_not_taken_for_a_factor(self, table: Import) -> None:
        text = "system,storage,connections,throughput_tps,iops\na,SAN,1,10,901\na,SAN,2,20,902\na,SAN,4,30,903\n"
        assert "column iops: changes from level to level" in faults(table, text)
        assert "--map iops=ignore" in faults(table, text)
        assert "--map storage=ignore" not in faults(table, text)
        assert len({name for name, _ in throughputs(table(text, maps=(("iops", "ignore"),)))}) == 1
        assert len({name for name, _ in throughputs(table(text, maps=(("iops", "factor"),)))}) == 3

    def test_costs_and_instances(self, table: Import) -> None:
        text = "system,instances,cost_per_month,connections_per_instance,throughput_tps\na,4,310,8,100\n"
        trial = table(text).trials[0].trial
        assert (trial.system.instances, trial.system.cost_per_month, trial.level.connections) == (4, 310.0, 32)


class TestInstances:
    HEADER = (
        "system,instance,connections_per_instance,throughput_tps,"
        "response_ms_mean,response_ms_p95,response_ms_max,cpu_user_pct\n"
    )

    def test_what_can_be_merged_is_and_the_rest_is_left_out(self, table: Import) -> None:
        result = table(self.HEADER + "a,x,4,100,10,20,50,30\na,y,4,300,20,25,90,40\n")
        reported = result.trials[0].outcome.reported
        assert reported
        assert reported.throughput_tps == 400
        assert reported.response_ms == {"mean": 17.5, "max": 90.0}
        assert reported.host_cpu == {}
        assert any(line.startswith("p95, user: left out") for line in result.report)

    def test_a_level_that_says_nothing_of_instances_is_the_total(self, table: Import) -> None:
        result = table("system,instance,connections,throughput_tps\na,x,8,100\na,y,8,200\n")
        assert result.trials[0].trial.level.connections == 8
        assert any("read as the total of all instances" in line for line in result.report)

    def test_total_and_per_instance_may_both_be_stated(self, table: Import) -> None:
        header = "system,instance,connections,connections_per_instance,throughput_tps\n"
        assert table(header + "a,x,8,4,1\na,y,8,4,2\n").trials[0].trial.level.connections_per_instance == 4

    def test_sizes_of_an_instance_do_not_split_the_system(self, table: Import) -> None:
        result = table("system,instance,rows_per_instance,connections,throughput_tps\na,x,5,8,100\na,y,6,8,200\n")
        assert len(result.trials) == 1
        assert result.trials[0].trial.system.factors == {"rows_per_instance": "5, 6"}


class TestRepetitions:
    def test_rows_of_one_cell_are_numbered_by_occurrence(self, table: Import) -> None:
        result = table("system,connections,throughput_tps\na,1,10\na,2,20\na,1,11\n")
        assert [(trial.trial.level.connections, trial.trial.repetition) for trial in result.trials] == [
            (1, 0),
            (1, 1),
            (2, 0),
        ]

    def test_a_column_tells_equal_results_apart(self, table: Import) -> None:
        result = table("system,connections,repetition,throughput_tps\na,1,1,10\na,1,2,10\n")
        assert len({trial.trial.trial_id for trial in result.trials}) == 2


class TestStudy:
    def test_importing_twice_adds_nothing(self, table: Import, tmp_path: Path) -> None:
        text = "system,connections,throughput_tps\na,1,10\na,2,20\n"
        first = write_import(tmp_path / "study", table(text))
        again = write_import(tmp_path / "study", table(text, "copy.csv", workload="t"))
        assert (len(first.paths), first.present_count) == (2, 0)
        assert (len(again.paths), again.present_count, again.report) == (0, 2, ())
        assert len(read_study(tmp_path / "study").recordings) == 2

    def test_a_system_of_the_same_name_with_other_factors_is_another(self, table: Import, tmp_path: Path) -> None:
        texts = [
            "system,connections,throughput_tps\na,1,10\n",
            "system,storage,connections,throughput_tps\na,SAN,1,20\n",
            "system,storage,connections,throughput_tps\na,SAS,1,30\n",
        ]
        for text in (*texts, *texts, texts[1].replace("20", "21")):
            write_import(tmp_path / "study", table(text, workload="w"))
        trials = [recording.trial for recording in read_study(tmp_path / "study").recordings]
        assert [(trial.system.name, trial.repetition) for trial in trials] == [
            ("a", 0),
            ("a, SAN", 0),
            ("a, SAS", 0),
            ("a, SAN", 1),
        ]

    def test_without_the_factor_a_system_is_not_the_one_that_has_it(self, table: Import, tmp_path: Path) -> None:
        write_import(tmp_path / "study", table("system,storage,connections,throughput_tps\na,SAN,1,20\n", workload="w"))
        written = write_import(tmp_path / "study", table("system,connections,throughput_tps\na,1,10\n", workload="w"))
        assert written.report == ("system a, storage unknown: the study has another system called a",)

    def test_other_results_for_a_cell_are_repetitions_and_said(self, table: Import, tmp_path: Path) -> None:
        for throughput in ("10", "12"):
            text = f"system,connections,throughput_tps\na,1,{throughput}\na,1,{throughput}.5\n"
            written = write_import(tmp_path / "study", table(text))
        trials = [recording.trial for recording in read_study(tmp_path / "study").recordings]
        assert [(trial.position, trial.repetition) for trial in trials] == [(0, 0), (1, 1), (2, 2), (3, 3)]
        assert len(written.report) == 1
        assert "system a, 1 connections: the study has other results" in written.report[0]

    def test_all_tables_fit_one_study(self, tmp_path: Path) -> None:
        for path in sorted(PUBLISHED.glob("*.csv")):
            write_import(tmp_path / "study", import_table(path, study_name="s"))
        found = read_study(tmp_path / "study")
        assert len(found.recordings) == 128 + 15 + 12 + 8 + 10
        assert not found.damaged
        assert sorted(recording.trial.position for recording in found.recordings) == list(range(173))
