"""A study whose server crashes in the middle of a trial, and comes back to no call; and the run that mends it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from support.command import plimsoll, start_forked
from support.recordings import finished_ids
from support.studies import server_below, wait_for_interval
from support.waiting_load import write_waiting_load

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "crash"
levels = { connections = [4] }
warm_up = "1s"
settle_limit = "1s"
duration = "12s"
repetitions = 2
[study.clients.reconnect]
give_up = "1s"
[[workload]]
name = "w"
file = "waiting.toml"
[[system]]
name = "a"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
"""


def test_the_trial_is_kept_as_failed_with_its_outage_and_running_again_mends_it(tmp_path: Path) -> None:
    folder, study = f"/var/tmp/plimsoll-test-outage-{os.getpid()}", tmp_path / "out"
    env = {"PLIMSOLL_DATA_DIR": folder}
    write_waiting_load(tmp_path, wait_ms=50)
    (tmp_path / "s.toml").write_text(STUDY)
    process = start_forked("study", "run", tmp_path / "s.toml", "--to", study, env=env)
    wait_for_interval(study, process, 2)
    os.kill(server_below(folder), signal.SIGKILL)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 4, errors
    Path(folder).rmdir()
    first, second = sorted(read_study(study).recordings, key=lambda recording: recording.trial.position)
    assert (first.outcome.verdict, second.outcome.verdict) == (Verdict.FAILED, Verdict.COMPLETE), (output, errors)
    assert "no connection to the server could be opened again" in (first.outcome.reason or "")
    (outage,) = first.outcome.outages
    assert (outage.connections_count, outage.lost_count, outage.to_s) == (4, 4, None)
    assert first.outcome.account is not None
    assert 2.0 < outage.from_s < first.outcome.account.duration_s < 13.0, "it ended before its time"
    kinds = first.errors()
    assert kinds is not None
    assert {"connection", "connect"} <= set(kinds["class"])
    assert second.outcome.outages == (), "the study went on with a server that has started again"
    again = plimsoll("study", "run", study, env=env)
    assert again.returncode == 0, again.stderr
    assert "1 of them already finished" in again.stderr
    assert set(finished_ids(study).values()) == {Verdict.COMPLETE}
    Path(folder).rmdir()
