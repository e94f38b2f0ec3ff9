"""Which recordings of a folder a guide is made of: those of the study as it is now."""

from __future__ import annotations

import os
import time
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import command_line
from plimsoll.errors import SpecError
from plimsoll.guide.build import analyse_folder
from plimsoll.plan.build import build_plan
from plimsoll.record import frames
from plimsoll.record.environment import Environment
from plimsoll.record.level import Level
from plimsoll.record.model import Outcome, SystemRecord, TrialRecord, Verdict, Window, WorkloadRecord
from plimsoll.record.store import write_recording
from plimsoll.run.folder import PLAN_FILE, opened, resolve
from plimsoll.run.status import lines_of, study_status
from plimsoll.spec.study import STUDY_FILE, parse_study

TEXT = """
[study]
name = "s"
levels = { connections = [1] }
repetitions = 2
[[workload]]
name = "ro"
kind = "oltp_read_only"
[[system]]
name = "a"
cost_per_month = 10
server = { managed = "mariadb" }
"""


def state(folder: Path, text: str) -> None:
    """Writes what `study run` writes when it begins."""
    (folder / STUDY_FILE).write_text(text)
    (folder / PLAN_FILE).write_text(build_plan(parse_study(text)).model_dump_json())


def measure(folder: Path, text: str, *, completed: int) -> None:
    """Records every trial of a study's plan, one interval each."""
    for trial in build_plan(parse_study(text)).trials:
        row = dict.fromkeys(frames.INTERVALS, 0) | {
            "driver": "h", "host": "h", "instance": "a/0", "transaction": "t", "from_s": 0.0, "to_s": 1.0,
            "completed": completed,
        }  # fmt: skip
        write_recording(
            folder,
            TrialRecord(
                trial_id=trial.trial_id,
                study="s",
                system=SystemRecord(name=trial.system, cost_per_month=10),
                workload=WorkloadRecord(name=trial.workload),
                level=Level(connections=trial.connections),
                repetition=trial.repetition,
            ),
            Environment(),
            Outcome(verdict=Verdict.COMPLETE, window=Window(first=0, last=0)),
            intervals=pl.DataFrame([row], schema=frames.INTERVALS),
        )


def test_trials_from_before_a_change_do_not_pass_for_repetitions(tmp_path: Path) -> None:
    state(tmp_path, TEXT)
    measure(tmp_path, TEXT, completed=100)
    changed = TEXT.replace("repetitions", 'duration = "30s"\nrepetitions')
    state(tmp_path, changed)
    measure(tmp_path, changed, completed=300)
    (cell,) = analyse_folder(tmp_path).curves[0].cells
    assert len(cell.trials) == 2
    assert cell.throughput_tps.value == 300
    assert lines_of(study_status(tmp_path))[1].startswith("2 more recordings: made before the study was changed")


def test_a_level_more_leaves_out_nothing(tmp_path: Path) -> None:
    state(tmp_path, TEXT)
    measure(tmp_path, TEXT, completed=100)
    state(tmp_path, TEXT.replace("[1]", "[1, 2]"))
    analysis = analyse_folder(tmp_path)
    assert [len(cell.trials) for cell in analysis.curves[0].cells] == [2]
    assert [(one.level, one.repetition) for one in analysis.missing] == [
        (Level(connections=2), 0),
        (Level(connections=2), 1),
    ]
    assert lines_of(study_status(tmp_path)) == [
        "s: 2 of 4 trials complete, 0 failed or invalid, 2 not yet run",
        "  not yet run: a, ro, 2 connections, repetitions 1 and 2",
        "not begun",
        "  2 trials left, about 3 min 15 s",
    ]


def test_costs_are_those_that_the_study_states_now(tmp_path: Path) -> None:
    state(tmp_path, TEXT)
    measure(tmp_path, TEXT, completed=100)
    state(tmp_path, TEXT.replace("cost_per_month = 10", "cost_per_month = 25"))
    assert [system.cost_per_month for system in analyse_folder(tmp_path).systems] == [25]


def test_costs_and_objective_may_be_changed_in_the_file_that_the_study_came_from(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The one that was changed last counts: the user's file, or the copy in the folder."""
    folder = tmp_path / "out"
    mine = tmp_path / "mine.toml"
    mine.write_text(TEXT)
    _, spec, _ = resolve(mine, folder)
    with opened(folder, mine, spec) as study:
        study.keep(build_plan(spec))
    measure(folder, TEXT, completed=100)
    assert (costs(folder), caplog.messages) == ([10], [])

    edited = TEXT.replace("cost_per_month = 10", "cost_per_month = 25")
    later(mine, edited.replace("[study]", "[study]\nobjective = { response_p99 = '20ms' }"), 1)
    assert costs(folder) == [25]
    assert analyse_folder(folder).objective_ms_p99 == 20
    assert f"costs and objective are those of {mine.resolve()}" in caplog.messages[0]

    later(mine, edited + '[document]\ntitle = "For you"\n', 1)
    assert analyse_folder(folder).document.title == "For you"

    later(mine, edited.replace("25", "'25'"), 2)
    assert costs(folder) == [10]
    assert "mine.toml: system[0].cost_per_month" in caplog.messages[-1]

    later(mine, edited, 3)
    later(folder / "study.toml", TEXT.replace("= 10", "= 30"), 4)
    assert costs(folder) == [30]
    later(mine, edited, 5)
    assert costs(folder) == [25]
    mine.unlink()
    assert costs(folder) == [30]


def test_a_file_of_prices_reaches_the_guide_and_unknown_systems_are_refused(tmp_path: Path) -> None:
    """Through the command, as users pass it."""
    folder, prices = tmp_path / "out", tmp_path / "prices.toml"
    folder.mkdir()
    state(folder, TEXT)
    measure(folder, TEXT, completed=100)
    prices.write_text('[price."a"]\nper_month = 310\ncurrency = "EUR"\n')
    done = CliRunner().invoke(command_line(), ["guide", str(folder), "--price-file", str(prices)])
    assert done.exit_code == 0, done.output
    assert "| a | 310 EUR |" in (folder / "guide.md").read_text()

    prices.write_text('[price."aa"]\nper_month = 1\n[price."zzz"]\nper_month = 1\n')
    with pytest.raises(SpecError) as caught:
        analyse_folder(folder, prices)
    assert caught.value.exit_code == 2
    assert str(caught.value).splitlines() == [
        'prices.toml: price."aa": the study has no system of that name; did you mean a?',
        'prices.toml: price."zzz": the study has no system of that name; known are a',
    ]


def costs(folder: Path) -> list[float | None]:
    return [system.cost_per_month for system in analyse_folder(folder).systems]


def later(file: Path, text: str, seconds: int) -> None:
    """Writes a file at a time so many seconds ahead: clocks of file systems are coarse."""
    file.write_text(text)
    os.utime(file, (time.time() + seconds,) * 2)
