"""`plimsoll.open_study`: tidy frames with the same keys, read when asked for; the notebook and the examples run."""

from __future__ import annotations

import contextlib
import io
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl
import pytest

import plimsoll
from plimsoll.analyse.model import Analysis
from plimsoll.api import COLUMNS, Study
from plimsoll.errors import RecordError
from plimsoll.guide.answer import render_json
from plimsoll.guide.build import analyse_folder
from plimsoll.record.store import Recording, write_recording
from support.made import measured, telemetry_table
from support.repository import ROOT, blocks

KEYS = ["trial_id", "system", "workload", "level_kind", "connections", "rate_tps", "repetition"]
TPS = {("a", 1): 100.0, ("a", 4): 300.0, ("b", 1): 120.0, ("b", 4): 360.0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems, two levels, three repetitions, each of ten measured seconds after two of warm-up."""
    path = tmp_path_factory.mktemp("STUDY")
    for (system, connections), tps in TPS.items():
        for repetition in range(3):
            made = measured(
                np.full(10, tps + repetition),
                response_ns=np.arange(1, 2001) * 10_000,
                telemetry=telemetry_table({"server_cpu_ratio": 0.5}, seconds=10),
                system=system,
                connections=connections,
                repetition=repetition,
            )
            write_recording(path, made.trial, made.environment, made.outcome, **made.tables)
    return path


@pytest.fixture(scope="module")
def study(folder: Path) -> Study:
    return plimsoll.open_study(folder)


def test_frames_have_the_documented_columns_and_share_keys(study: Study) -> None:
    for name, columns in COLUMNS.items():
        table = study.table(name)
        assert dict(table.schema) == columns, name
        if name in ("replication", "capacities"):  # the study has no replicas and no searches
            assert table.is_empty()
            continue
        assert not table.is_empty(), name
        if "trial_id" in columns:
            assert table.columns[: len(KEYS)] == KEYS
            assert set(table["trial_id"]) == set(study.trials["trial_id"]), name


def mean_tps(first: float) -> float:
    """The geometric mean of the three repetitions of a cell."""
    return math.prod((first, first + 1, first + 2)) ** (1 / 3)


def test_rows_are_what_was_measured(study: Study) -> None:
    per_trial = study.intervals.group_by(KEYS).agg(pl.col("completed").sum())
    joined = study.trials.join(per_trial, on=KEYS, nulls_equal=True, suffix="_summed")
    assert joined.height == 12
    assert (joined["completed"] == joined["completed_summed"]).all()
    p99 = study.percentiles.filter(quantile=0.99, measure="response", transaction="")
    assert p99["value_ms"].to_list() == pytest.approx([19.8] * 12, rel=0.002)
    longest = study.percentiles.filter(quantile=1.0, measure="response")["value_ms"]
    assert longest.to_list() == [20.0] * 12
    assert set(study.telemetry["value"]) == {0.5}, "0.77 was before the window"
    assert study.telemetry.height == 12 * 10
    cells = {(row["system"], row["connections"]): row for row in study.cells.to_dicts()}
    assert {place: row["throughput_tps"] for place, row in cells.items()} == {
        place: pytest.approx(mean_tps(tps)) for place, tps in TPS.items()
    }
    assert cells["b", 4]["is_peak"]
    assert not cells["b", 1]["is_peak"]


def test_the_analysis_is_that_of_the_guide(study: Study, folder: Path) -> None:
    assert study.analysis == Analysis.model_validate_json(render_json(analyse_folder(folder)))
    rows = study.comparisons.to_dicts()
    assert [row["ratio"] for row in rows] == [difference.ratio.value for difference in study.differences]
    assert {row["verdict"] for row in rows} == {"faster"}
    assert {(row["compared_at"], row["connections"]) for row in rows} == {("peak", None), ("level", 1), ("level", 4)}
    assert study.cell("b", "read-write", connections=4).throughput_tps.value == pytest.approx(mean_tps(360.0))
    with pytest.raises(KeyError):
        study.cell("b", "read-write", rate_tps=4)


def test_tables_are_read_only_when_they_are_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    for name in ("intervals", "histograms", "telemetry", "errors"):
        read = getattr(Recording, name)
        monkeypatch.setattr(Recording, name, lambda one, name=name, read=read: (asked.append(name), read(one))[1])
    opened = plimsoll.open_study(folder)
    assert not asked
    assert opened.telemetry is opened.telemetry
    assert (asked.count("telemetry"), asked.count("histograms")) == (12, 0)


def test_everything_else_comes_by_argument(folder: Path) -> None:
    whole = plimsoll.open_study(folder, whole=True)
    assert set(whole.intervals["state"]) == set(whole.telemetry["state"]) == {"warm", "measure"}


def test_what_is_no_study_is_a_record_error(tmp_path: Path) -> None:
    for path, part in ((tmp_path / "gone", "there is no study"), (tmp_path, "run the study first")):
        with pytest.raises(RecordError, match=part):
            plimsoll.open_study(path)


def test_nothing_is_imported_before_it_is_needed() -> None:
    code = "import plimsoll, sys; plimsoll.open_study; sys.exit(any(m in sys.modules for m in ('polars', 'pydantic')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def notebook_cells() -> list[str]:
    notebook = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    assert (notebook["nbformat"], not any(cell.get("outputs") for cell in notebook["cells"])) == (4, True)
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_the_notebook_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its code cells, one after the other, as Jupyter runs them; every chart is drawn."""
    monkeypatch.setenv("PLIMSOLL_STUDY", str(folder))
    names: dict[str, Any] = {}
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        for code in notebook_cells():
            exec(code, names)
    for name in ("throughput", "over_time", "quantiles"):
        assert isinstance(names[name], alt.TopLevelMixin)
        assert names[name].to_dict()["datasets"], name
    assert "b" in said.getvalue()


def test_the_examples_of_the_documentation_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {}
    examples = [block.text for block in blocks(ROOT / "docs" / "python.md") if block.language == "python"]
    assert len(examples) == 2
    monkeypatch.chdir(folder.parent)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        for text in examples:
            exec(text.replace('"STUDY"', f'"{folder.name}"'), names)
    assert "faster" in said.getvalue()
    assert names["joined"].height == 12


def test_every_table_is_described() -> None:
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8").split("## Tables")[1].split("\n## ")[0]
    assert [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")] == list(COLUMNS)
