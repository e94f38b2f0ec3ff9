"""A study that goes on until its answer is decided: when it stops, also after it was killed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from plimsoll.analyse.deciding import REPETITIONS_MIN
from plimsoll.run.answer_events import AnswerProgressed
from plimsoll.run.events import read_events
from plimsoll.run.folder import read_plan
from support.command import plimsoll, start
from support.recordings import finished_ids
from support.studies import wait_for_trials

pytestmark = pytest.mark.e2e

LIMIT = 9
STUDY = f"""
[study]
name = "until decided"
levels = {{ connections = [2] }}
warm_up = "1s"
settle_limit = "1s"
duration = "1s"
repetitions = "auto"
repetitions_limit = {LIMIT}
equal_within = "99%"
reset = "never"

[[workload]]
name = "ro"
kind = "oltp_read_only"
table_size = 2000

[[system]]
name = "a"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
options = {{ innodb_log_file_size = 16777216 }}
"""


def test_it_stops_when_its_answer_is_decided_and_stays_stopped(tmp_path: Path) -> None:
    file, study = tmp_path / "s.toml", tmp_path / "study"
    file.write_text(STUDY)
    env = {"PLIMSOLL_DATA_DIR": f"/var/tmp/plimsoll-test-decided-{os.getpid()}"}
    killed = start("study", "run", file, "--to", study, env=env)
    wait_for_trials(study, 1, killed)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()

    ran = plimsoll("study", "run", file, "--to", study, env=env)
    assert ran.returncode == 0, ran.stderr
    looks = [one.event for one in read_events(study / "events.jsonl") if isinstance(one.event, AnswerProgressed)]
    count = looks[-1].repetitions
    decided = looks[-1].is_decided
    assert [one.is_decided for one in looks] == [False] * (len(looks) - 1) + [decided]
    assert decided or count == LIMIT, ran.stderr
    if not decided:
        pytest.skip(f"throughput differs too much on this machine: not known within 99 % after {LIMIT} repetitions")
    assert count >= REPETITIONS_MIN
    assert f"after {count} repetitions:\n  ro, 2 connections: a sustains " in ran.stderr
    assert ran.stderr.count(", decided") == 1
    assert len(finished_ids(study)) == count

    plan = read_plan(study)
    assert plan is not None
    assert len(plan.trials) == count, "what was not needed is not missing"
    assert json.loads(plimsoll("guide", study, "--json").stdout)["missing"] == []
    assert plimsoll("study", "status", study).stdout.startswith(f"until decided: {count} of {count} trials complete")
    again = plimsoll("study", "run", file, "--to", study, env=env)
    assert (again.returncode, len(finished_ids(study))) == (0, count), "it decides the same"
