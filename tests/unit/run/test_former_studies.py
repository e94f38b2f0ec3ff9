"""A study that an earlier Plimsoll recorded (format 1) is read, and goes on without measuring anything twice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from plimsoll.errors import NewerFormatError
from plimsoll.guide.build import analyse_folder
from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from plimsoll.run.folder import opened, read_plan, resolve
from plimsoll.run.planning import plan_study
from plimsoll.run.status import RunState, study_status
from support.recordings import finished_ids

GOLDEN = Path(__file__).parents[2] / "golden" / "study_format_1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN, tmp_path / "old"))


def go_on(folder: Path, **changes: str) -> None:
    """What `study run` does before anything starts, with another study file."""
    text = (GOLDEN / "study.toml").read_text()
    for before, after in changes.items():
        assert before in text
        text = text.replace(f'{before} = "5s"', f'{before} = "{after}"')
    file = folder.parent / "study.toml"
    file.write_text(text)
    _, spec, _ = resolve(file, folder)
    with opened(folder, file, spec) as study:
        study.keep(plan_study(spec, folder).plan)


def test_it_is_read_as_it_is(folder: Path) -> None:
    found = read_study(folder)
    assert found.damaged == ()
    assert [recording.outcome.verdict for recording in found.recordings] == [
        Verdict.COMPLETE,
        Verdict.COMPLETE,
        Verdict.FAILED,
    ]
    for recording in found.recordings:
        tables = (recording.intervals(), recording.errors(), recording.histograms(), recording.telemetry())
        assert all(table is not None for table in tables)
        assert (recording.trial.session_id, recording.trial.server_start_id) == (None, None)
    (curve,) = analyse_folder(folder).curves
    assert sum(len(cell.trials) for cell in curve.cells) == 2
    status = study_status(folder)
    assert (status.state, status.trials.complete, status.trials.left) == (RunState.STOPPED, 2, 2)


@pytest.mark.parametrize("limits", [("5s",), ("9s",), ("9s", "2s", "60s")])
def test_what_it_finished_is_finished_whatever_settle_limit_becomes(folder: Path, limits: tuple[str, ...]) -> None:
    before = {recording.trial.trial_id for recording in read_study(folder).recordings}
    for limit in limits:
        go_on(folder, settle_limit=limit)
        plan = read_plan(folder)
        assert plan is not None
        planned = {trial.trial_id for trial in plan.trials}
        assert before < planned
        assert len(planned) == 4
        assert f'settle_limit = "{limit}"' in (folder / "study.toml").read_text()
        assert study_status(folder).unplanned_count == 0


def test_a_plan_of_a_newer_plimsoll_is_left_alone(folder: Path) -> None:
    plan = json.loads((folder / "plan.json").read_text())
    text = json.dumps({**plan, "plan_format": 99, "surprise": []})
    (folder / "plan.json").write_text(text)
    with pytest.raises(NewerFormatError, match="newer Plimsoll"):
        go_on(folder)
    assert (folder / "plan.json").read_text() == text
    with pytest.raises(NewerFormatError):
        study_status(folder)
    assert len(finished_ids(folder)) == 3
