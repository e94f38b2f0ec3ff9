"""A study that goes on until its answer is decided: when it stops, also after it was killed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from plimsoll.record.level import REPETITIONS_MIN
from plimsoll.run.events import AnswerProgressed, read_events
from plimsoll.run.folder import read_plan, resolve
from plimsoll.run.stopping_rule import Answering
from support.command import plimsoll, start_forked
from support.recordings import finished_ids
from support.studies import wait_for_trials
from support.waiting_load import write_waiting_load

pytestmark = pytest.mark.e2e

LIMIT = 4
STUDY = f"""
[study]
name = "until decided"
levels = {{ connections = [2] }}
warm_up = "1s"
settle_limit = "1s"
duration = "2s"
repetitions = "auto"
repetitions_limit = {LIMIT}
equal_within = "99%"
reset = "never"

[[workload]]
name = "w"
file = "waiting.toml"

"""
SYSTEM = """
[[system]]
name = "{name}"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
options = {{ innodb_log_file_size = 16777216 }}
"""
TEXT = STUDY + "".join(SYSTEM.format(name=name) for name in ("a", "b"))


def test_it_stops_when_its_answer_is_decided_and_stays_stopped(tmp_path: Path) -> None:
    """Killed in its second repetition. Noise may keep it open up to its limit; either way the recordings say so."""
    file, study = tmp_path / "s.toml", tmp_path / "study"
    file.write_text(TEXT)
    write_waiting_load(tmp_path, wait_ms=20)
    env = {"PLIMSOLL_DATA_DIR": f"/var/tmp/plimsoll-test-decided-{os.getpid()}"}
    killed = start_forked("study", "run", file, "--to", study, env=env)
    wait_for_trials(study, 3, killed)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()

    ran = plimsoll("study", "run", file, "--to", study, env=env)
    assert ran.returncode == 0, ran.stderr
    looks = [event.event for event in read_events(study / "events.jsonl") if isinstance(event.event, AnswerProgressed)]
    count, is_decided = looks[-1].repetitions, looks[-1].is_decided
    assert [one.repetitions for one in looks] == list(range(1, count + 1))
    assert [one.is_decided for one in looks] == [False] * (count - 1) + [is_decided]
    assert is_decided or count == LIMIT, ran.stderr
    assert count >= REPETITIONS_MIN
    disturbed = [": disturbed: while " in one.text[0] for one in looks]  # what the machine was like
    assert disturbed[0] or looks[0].text[0].endswith(" than a so far"), "one repetition names no number of further ones"
    beginning = "disturbed: while " if disturbed[-1] else "b "
    assert f"after {count} repetitions:\n  w, 2 connections: {beginning}" in ran.stderr
    assert ran.stderr.count(", decided") == (is_decided and not disturbed[-1])
    assert len(finished_ids(study)) == 2 * count

    plan = read_plan(study)
    assert plan is not None
    assert len(plan.trials) == 2 * count, "what was not needed is not missing"
    answering = Answering(resolve(file, study)[1], study, plan)
    answering.read(finished_ids(study))
    assert answering.decided_after == (count if is_decided else None)
    guide = json.loads(plimsoll("guide", study, "--json").stdout)
    assert guide["missing"] == []
    (found,) = [one for one in guide["differences"] if one["level"] is not None]
    assert (found["verdict"] == "disturbed") == disturbed[-1]
    if not disturbed[-1]:
        assert (found["verdict"] == "unresolved") == (not is_decided), "the guide says what the study stopped for"
    complete = f"until decided: {2 * count} of {2 * count} trials complete"
    status = plimsoll("study", "status", study).stdout
    assert status.startswith(complete)
    assert f"after {count} repetitions:\n  {looks[-1].text[0]}" in status
    again = plimsoll("study", "run", file, "--to", study, env=env)
    assert (again.returncode, len(finished_ids(study))) == (0, 2 * count), "it decides the same"
