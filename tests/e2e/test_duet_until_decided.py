"""A duet that goes on until its answer is decided, on real servers: killed, it stops where it would have stopped."""

from __future__ import annotations

import json
import math
import os
import signal
from pathlib import Path

import pytest

from plimsoll.record.level import REPETITIONS_MIN
from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from plimsoll.run.events import AnswerProgressed, read_events
from plimsoll.run.folder import read_plan
from plimsoll.run.planning import Budget
from plimsoll.run.stopping_rule import Answering
from plimsoll.spec.study import parse_study
from support.command import plimsoll, start_forked
from support.recordings import finished_ids
from support.studies import wait_for_interval

pytestmark = [pytest.mark.e2e, pytest.mark.endure]

LIMIT = 4
STUDY = f"""
[study]
name = "turns until decided"
design = "duet"
levels = {{ connections = [1] }}
turn = "100ms"
duration = "2s"
rounds = "auto"
repetitions_limit = {LIMIT}
equal_within = "5%"
warm_up = "500ms"
settle_limit = "1s"
reset = "never"

[[workload]]
name = "write"
kind = "oltp_write_only"
table_size = 2000
"""

SYSTEM = """
[[system]]
name = "{name}"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
options = {{ log_bin = "binlog", sync_binlog = {sync}, innodb_flush_log_at_trx_commit = {flush} }}
"""
SYSTEMS = "".join(
    SYSTEM.format(name=name, sync=sync, flush=flush) for name, sync, flush in (("durable", 1, 1), ("relaxed", 0, 2))
)


def test_it_decides_by_its_rounds_and_the_same_after_it_was_killed_in_the_second(tmp_path: Path) -> None:
    file, study = tmp_path / "s.toml", tmp_path / "study"
    file.write_text(STUDY + SYSTEMS)
    env = {"PLIMSOLL_DATA_DIR": f"/var/tmp/plimsoll-test-turns-decided-{os.getpid()}"}
    killed = start_forked("study", "run", file, "--to", study, env=env)
    wait_for_interval(study, killed, 3, trial=2)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert len(finished_ids(study)) == 2, "one round"

    status = plimsoll("study", "status", study).stdout
    assert "after 1 round:\n  write, 1 connection: relaxed is " in status
    ran = plimsoll("study", "run", file, "--to", study, env=env)
    assert ran.returncode == 0, ran.stderr
    looks = [event.event for event in read_events(study / "events.jsonl") if isinstance(event.event, AnswerProgressed)]
    assert [one.repetitions for one in looks] == list(range(1, looks[-1].repetitions + 1)), "each round looks once"
    assert [one.is_decided for one in looks[:-1]] == [False] * (len(looks) - 1)
    count = looks[-1].repetitions
    assert looks[-1].is_decided or count == LIMIT, looks[-1].text
    assert count >= REPETITIONS_MIN

    spec, plan = parse_study(STUDY + SYSTEMS), read_plan(study)
    assert plan is not None
    assert len(plan.trials) == 2 * count
    recordings = read_study(study).recordings
    assert [recording.outcome.verdict for recording in recordings] == [Verdict.COMPLETE] * 2 * count
    for rounds in range(1, count + 1):
        answering = Answering(spec, study, plan)
        answering.read(recording.trial.trial_id for recording in recordings if recording.trial.repetition < rounds)
        assert answering.progress(Budget.of(None)).text == looks[rounds - 1].text, "it follows from the recordings"
    compared = json.loads(plimsoll("guide", study, "--json").stdout)["differences"]
    (found,) = [one for one in compared if one["level"] is not None]
    assert found["duet"]["basis"] == "rounds"
    logs = [math.log(one["ratio"]) for one in found["duet"]["rounds"]]
    assert math.log(found["ratio"]["value"]) == pytest.approx(sum(logs) / count)
    assert (found["verdict"] == "unresolved") == (not looks[-1].is_decided)
    assert found["ratio"]["bounds"]["high"] > 1, "flushing twice at each commit gains nothing"

    status = json.loads(plimsoll("study", "status", study, "--json").stdout)
    assert status["answer"]["text"] == list(looks[-1].text)
    assert (status["left"], status["trials"]["complete"]) == (0, 2 * count)
    again = plimsoll("study", "run", file, "--to", study, env=env)
    assert (again.returncode, len(finished_ids(study))) == (0, 2 * count), "it decides the same"
