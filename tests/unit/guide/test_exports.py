"""A study as tables for other tools: what a person sums up over them is what the trials did."""

from __future__ import annotations

import contextlib
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from plimsoll.analyse.tidy import INTERVAL_COLUMNS, TRIAL_COLUMNS
from plimsoll.api import COLUMNS, LeftOutWarning, open_study
from plimsoll.cli.main import command_line
from plimsoll.plan.build import build_plan
from plimsoll.plan.model import PlannedTrial
from plimsoll.record.model import Outcome, TrialWarning, Verdict
from plimsoll.record.store import read_study, write_recording
from plimsoll.run.folder import PLAN_FILE
from plimsoll.spec.study import STUDY_FILE, parse_study
from support.made import Made, measured
from support.repository import ROOT

TEXT = """
[study]
name = "s"
levels = { connections = [1, 4] }
repetitions = 2
[[workload]]
name = "rw"
kind = "oltp_read_write"
[[system]]
name = "a"
server = { managed = "mariadb" }
"""
PER_SECOND = {1: 100.0, 4: 300.0}
WARM_S, MEASURED_S = 3, 10


def recorded(trial: PlannedTrial, **changes: object) -> Made:
    """Ten measured seconds of 100 or 300 transactions after three of warm-up with 7, each of 5 ms."""
    made = measured(
        [PER_SECOND[trial.connections]] * MEASURED_S,
        warm_count=WARM_S,
        response_ns=np.full(200, 5_000_000),
        system="a",
        workload="rw",
        connections=trial.connections,
        repetition=trial.repetition,
        warnings=(TrialWarning(code="outage", evidence="e", advice="a"),),
        **changes,
    )
    return replace(made, trial=made.trial.model_copy(update={"trial_id": trial.trial_id}))


def write(folder: Path, made: Made) -> None:
    write_recording(folder, made.trial, made.environment, made.outcome, **made.tables)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study whose plan holds four trials; one failed, and its folder holds two orphans from before a change."""
    folder = tmp_path / "STUDY"
    folder.mkdir()
    plan = build_plan(parse_study(TEXT))
    (folder / STUDY_FILE).write_text(TEXT)
    (folder / PLAN_FILE).write_text(plan.model_dump_json())
    *complete, failed = sorted(plan.trials, key=lambda trial: (trial.connections, trial.repetition))
    for trial in complete:
        write(folder, recorded(trial))
    made = recorded(failed)
    died = Outcome(verdict=Verdict.FAILED, reason="server died", window=made.outcome.window)
    write(folder, replace(made, outcome=died))
    for trial in build_plan(parse_study(TEXT.replace('name = "rw"', 'name = "rw"\ntable_size = 5'))).trials[:2]:
        write(folder, recorded(trial))
    return folder


def read(study: Path, *options: str, kind: str = "parquet") -> tuple[pl.DataFrame, pl.DataFrame]:
    """Trials and intervals as the command writes them."""
    to = study.parent / "tables"
    ran = CliRunner().invoke(
        command_line(), ["export", kind, str(study), "--to", str(to), *options], catch_exceptions=False
    )
    assert ran.exit_code == 0, ran.output
    reader = pl.read_parquet if kind == "parquet" else pl.read_csv
    return reader(to / f"trials.{kind}"), reader(to / f"intervals.{kind}")


def test_sums_are_those_of_the_measured_windows_of_the_plan(study: Path) -> None:
    trials, intervals = read(study)
    assert (trials.height, intervals.height) == (4, 3 * MEASURED_S)
    assert intervals["completed"].sum() == MEASURED_S * (2 * 100 + 300)
    assert set(intervals["state"]) == {"measure"}
    assert intervals["in_plan"].all()
    by_level = dict(intervals.group_by("connections").agg(pl.col("completed").mean()).iter_rows())
    assert by_level == {1: 100.0, 4: 300.0}
    assert (intervals["to_s"] - intervals["from_s"]).sum() == pytest.approx(3 * MEASURED_S)


def test_one_row_for_each_trial_with_its_figures(study: Path) -> None:
    trials, _ = read(study)
    assert dict(trials.schema) == TRIAL_COLUMNS
    complete, failed = (trials.filter(verdict=verdict) for verdict in ("complete", "failed"))
    assert sorted(complete["throughput_tps"]) == [100.0, 100.0, 300.0]
    assert set(complete["window_s"]) == {10.0}
    assert complete["response_ms_p99"].to_list() == pytest.approx([5.0] * 3, rel=0.001)
    assert set(complete["warnings"]) == {"outage"}
    (row,) = failed.to_dicts()
    assert (row["reason"], row["throughput_tps"], row["completed"]) == ("server died", None, None)


def test_everything_else_comes_by_option_and_is_told_apart(study: Path) -> None:
    trials, intervals = read(study, "--all-intervals", "--unplanned")
    assert (trials.height, trials["in_plan"].sum()) == (6, 4)
    states = dict(intervals.group_by("state").agg(pl.col("completed").sum()).iter_rows())
    assert states["warm"] == 5 * WARM_S * 7
    assert intervals.filter(pl.col("in_plan"), state="measure")["completed"].sum() == MEASURED_S * 500


def test_csv_and_parquet_hold_the_same(study: Path) -> None:
    for of_csv, of_parquet in zip(read(study, kind="csv"), read(study), strict=True):
        assert of_csv.columns == of_parquet.columns
        assert of_csv.height == of_parquet.height
        for name in of_csv.columns:
            assert of_csv[name].cast(of_parquet[name].dtype).to_list() == of_parquet[name].to_list(), name


def test_an_interval_in_which_nothing_ended_is_a_row_of_zeros(tmp_path: Path) -> None:
    made = measured([100.0, 100.0, 0.0, 100.0, 100.0], warm_count=1, repetition=0)
    rows = made.tables["intervals"].filter(~pl.col("interval").is_in([0, 3]))
    rows = rows.filter(pl.col("interval") < 5)  # the last second has no row either
    write(tmp_path, replace(made, tables={"intervals": rows}))
    table = open_study(tmp_path).intervals
    assert dict(table.schema) == INTERVAL_COLUMNS
    assert table["interval"].to_list() == [1, 2, 3, 4, 5]
    assert table["completed"].to_list() == [100, 100, 0, 100, 0]
    assert table["from_s"].to_list() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert table["response_ms_p99"].null_count() == 5


def test_types_and_instances_have_rows_of_their_own_and_are_not_mixed(tmp_path: Path) -> None:
    """Two instances and two types, one of which completes only in one second of one instance."""
    made = measured([10.0] * 4, warm_count=0)
    base = made.tables["intervals"].with_columns(rolled_back=pl.lit(None, dtype=pl.UInt64))
    one = pl.lit(1, dtype=pl.UInt64)
    rare = base.head(1).with_columns(transaction=pl.lit("rare"), completed=one, rolled_back=one)
    other = base.with_columns(instance=pl.lit("two"), completed=pl.lit(5, dtype=pl.UInt64))
    write(tmp_path, replace(made, tables={"intervals": pl.concat([base, rare, other])}))
    table = open_study(tmp_path).intervals
    sums = table.group_by("instance", "transaction").agg(pl.col("completed").sum(), pl.len())
    assert sorted(sums.iter_rows()) == [("one", "rare", 1, 4), ("one", "t", 40, 4), ("two", "t", 20, 4)]
    assert table.filter(transaction="rare").sort("interval")["rolled_back"].to_list() == [1, 0, 0, 0]
    assert table.filter(transaction="t")["rolled_back"].null_count() == 8, "nobody counted them"


def test_damaged_recordings_are_named_and_left_out(study: Path) -> None:
    victim = next(
        recording for recording in read_study(study).recordings if recording.outcome.verdict is Verdict.COMPLETE
    )
    content = (victim.path / "intervals.parquet").read_bytes()
    (victim.path / "intervals.parquet").write_bytes(content[:-1] + b"x")
    opened = open_study(study, unplanned=True)
    with pytest.warns(LeftOutWarning, match=victim.trial.trial_id):
        assert opened.trials.height == 5
    assert victim.trial.trial_id not in set(opened.intervals["trial_id"])
    (line,) = opened.left_out
    assert victim.trial.trial_id in line
    ran = CliRunner().invoke(
        command_line(), ["export", "csv", str(study), "--table", "intervals"], catch_exceptions=False
    )
    assert victim.trial.trial_id in ran.stderr
    assert (study / "tables" / "intervals.csv").exists()
    assert not (study / "tables" / "trials.csv").exists()


def test_the_examples_of_the_documentation_give_the_truth(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one-liner that stood there before summed up warm-ups and orphans too."""
    read(study)
    monkeypatch.chdir(study.parent)
    expected = {"recordings.md": {1: 2000, 4: 3000}, "export.md": {1: 100.0, 4: 300.0}}
    for page, truth in expected.items():
        code = (ROOT / "docs" / page).read_text().split("```python\n")[1].split("```")[0]
        shown: list[pl.DataFrame] = []
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, {"print": shown.append})
        (table,) = shown
        assert {row["connections"]: row[table.columns[-1]] for row in table.to_dicts()} == truth, page


@pytest.mark.parametrize(("title", "columns"), COLUMNS.items())
def test_every_column_is_described(title: str, columns: dict[str, pl.DataType]) -> None:
    section = (ROOT / "docs" / "export.md").read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    described = [(cells[0].strip(" `"), cells[1].strip()) for cells in lines]
    assert described == [(name, str(kind)) for name, kind in columns.items()]
