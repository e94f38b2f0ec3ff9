"""A duet on real servers: one system at a time, nothing fails after thawing, nothing is left behind frozen."""

from __future__ import annotations

import os
import signal
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.errors import InvalidTrialError
from plimsoll.record.model import Verdict
from plimsoll.record.store import Recording, read_study
from plimsoll.run.events import DuetProgressed, read_events
from support.command import engines_of, plimsoll, start
from support.recordings import finished_ids
from support.studies import wait_for_interval, wait_until_gone

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "two take turns"
design = "duet"
levels = { connections = [4] }
turn = "100ms"
duration = "2s"
rounds = 2
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


def test_two_systems_take_turns_and_a_killed_study_goes_on(tmp_path: Path) -> None:
    """Killed by SIGKILL in the second round, while servers are frozen: none is left, and only that round runs again."""
    systems = ("durable", 1, 1), ("relaxed", 0, 2)
    file, study = tmp_path / "s.toml", tmp_path / "out"
    file.write_text(STUDY + "".join(SYSTEM.format(name=name, sync=sync, flush=flush) for name, sync, flush in systems))
    env = {"PLIMSOLL_DATA_DIR": f"/var/tmp/plimsoll-test-duet-{os.getpid()}"}
    process = start("study", "run", file, "--to", study, env=env)
    wait_for_interval(study, process, 5, trial=2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    first = finished_ids(study)
    assert len(first) == 2
    wait_until_gone(env["PLIMSOLL_DATA_DIR"])

    ran = plimsoll("study", "run", file, "--to", study, env=env)
    assert ran.returncode == 0, ran.stderr
    assert "after 2 of 2 rounds" in ran.stderr
    recordings = read_study(study).recordings
    assert [recording.outcome.verdict for recording in recordings] == [Verdict.COMPLETE] * 4
    assert first.keys() < {recording.trial.trial_id for recording in recordings}
    assert set(first.values()) == {Verdict.COMPLETE}
    for round_ in (0, 1):
        _check_round([recording for recording in recordings if recording.trial.repetition == round_])
    last = [event.event for event in read_events(study / "events.jsonl") if isinstance(event.event, DuetProgressed)][-1]
    assert (last.base, last.system, last.rounds_count, last.pair_count) == ("durable", "relaxed", 2, None)
    compared = [difference for difference in analyse("duet", recordings).differences if difference.level is not None]
    assert [one.ratio.value for one in compared] == [pytest.approx(last.ratio)], "the guide says what was said"
    duet = compared[0].duet
    assert duet is not None
    assert duet.pair_count == 20


def test_an_engine_killed_alone_fails_its_round_and_leaves_no_server_frozen(tmp_path: Path) -> None:
    """Nobody says `handover` any more, while one of two servers is frozen. The next round runs as always."""
    file, study = tmp_path / "s.toml", tmp_path / "out"
    systems = "".join(SYSTEM.format(name=name, sync=0, flush=2) for name in ("one", "other"))
    file.write_text(STUDY.replace('duration = "2s"', 'duration = "4s"') + systems)
    env = {"PLIMSOLL_DATA_DIR": f"/var/tmp/plimsoll-test-duet-engine-{os.getpid()}"}
    process = start("study", "run", file, "--to", study, env=env)
    wait_for_interval(study, process, 5)
    (engine,) = engines_of(process)
    os.kill(engine, signal.SIGKILL)
    _, said = process.communicate(timeout=300)
    assert process.returncode == InvalidTrialError.exit_code, said
    assert "plimsoll-engine was ended by SIGKILL" in said
    wait_until_gone(env["PLIMSOLL_DATA_DIR"])
    verdicts = [(recording.trial.repetition, recording.outcome.verdict) for recording in read_study(study).recordings]
    assert verdicts == [(0, Verdict.FAILED)] * 2 + [(1, Verdict.COMPLETE)] * 2


def _check_round(recordings: list[Recording]) -> None:
    """Of one round: turns of all systems one after the other, and accounts that add up."""
    tables = []
    for recording in recordings:
        turns, intervals, account = recording.turns(), recording.intervals(), recording.outcome.account
        assert turns is not None
        assert intervals is not None
        assert account is not None
        assert recording.outcome.window is not None
        assert recording.outcome.window.last - recording.outcome.window.first + 1 == 10
        assert (turns["failed"].sum(), account.unfinished_count, recording.outcome.outages_count) == (0, 0, 0)
        assert account.offered_count == (turns["completed"] + turns["completed_besides"]).sum()
        assert intervals.group_by("interval").agg(pl.col("completed").sum()).height == turns.height
        assert {warning.code for warning in recording.outcome.warnings} == set()
        counted_tps = turns["completed"].sum() / (turns["to_s"] - turns["counted_from_s"]).sum()
        # Rates of the same turns, over other parts of them: a machine that slows down within turns tells them apart.
        assert 0.5 < turns["begun"].sum() / turns["running_s"].sum() / counted_tps < 2
        tables.append(turns)
    weathers = [recording.outcome.weather for recording in recordings]
    assert weathers[0] is not None
    assert weathers[0].after is not None
    assert weathers[0].after.at_unix_s > weathers[0].before.at_unix_s
    assert weathers == weathers[:1] * 2, "one reference load for both systems"
    spans = pl.concat(tables).sort("from_s").select("from_s", "drained_s").rows()
    assert all(ended_s <= begun_s for (_, ended_s), (begun_s, _) in pairwise(spans)), "one at a time"
