"""Searches of a study on real servers whose runs must not be believed: each stops, the next begins, and all say why."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import InvalidTrialError
from plimsoll.guide.build import analyse_folder
from plimsoll.guide.content import describe
from plimsoll.run.events import Event
from plimsoll.run.folder import resolve
from plimsoll.run.spool import Spool
from plimsoll.run.status import RunState, study_status
from plimsoll.run.study import run_study
from plimsoll.run.trial import TrialRunner
from plimsoll.run.trial_progress import TrialProgress, TrialTask
from support.waiting_load import write_waiting_load

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "searched"
levels = { capacity = { response_p99 = "2s" }, connections = [2] }
warm_up = "1s"
settle_limit = "1s"
duration = "3s"
repetitions = 1
[[workload]]
name = "w"
file = "waiting.toml"
[[system]]
name = "a"
server = { managed = "mariadb", profile = "bare", buffer_pool = "64M" }
[[system]]
name = "b"
server = { managed = "mariadb", profile = "bare", buffer_pool = "64M" }
"""


def test_a_study_goes_on_with_its_next_search_and_says_why_one_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def verify(_self: TrialRunner, task: TrialTask, _progressing: TrialProgress, _spool: Spool) -> None:
        if task.planned.rate_tps is not None:
            raise InvalidTrialError("after the load, W_YTD is not the sum of D_YTD")

    monkeypatch.setattr(TrialRunner, "_verify", verify)
    file, folder, seen = tmp_path / "s.toml", tmp_path / "study", list[Event]()
    file.write_text(STUDY)
    write_waiting_load(tmp_path, wait_ms=20)
    result = run_study(*resolve(file, folder), seen.append)
    assert (result.complete_count, result.failed_count, result.missing_count) == (2, 2, 2)
    assert [one.type for one in seen if one.type.startswith("search_")].count("search_stopped") == 2
    status = study_status(folder)
    assert status.state is RunState.STOPPED
    assert status.reason is not None
    assert status.reason.startswith("2 searches stopped: ")
    assert status.reason.count("W_YTD is not the sum of D_YTD") == 2
    said = " ".join(describe(analyse_folder(folder)).answer)
    assert said.count("1 search stopped:") == 2
    assert "is invalid: after the load, W_YTD is not the sum of D_YTD" in said
