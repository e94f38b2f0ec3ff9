"""A duet on real servers: one system at a time, nothing fails after thawing, nothing is left behind frozen."""

from __future__ import annotations

import os
import signal
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from plimsoll.analyse.analysis import analyse
from plimsoll.record.model import Verdict
from plimsoll.record.store import Recording, read_study
from plimsoll.run.events import DuetProgressed, read_events
from support.command import engines_of, plimsoll, start_forked
from support.otlp import attributes, http_collector, metrics_of
from support.recordings import finished_ids
from support.studies import wait_for_interval, wait_until_gone
from support.warned import codes_of

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "two take turns"
design = "duet"
levels = { connections = [2] }
turn = "100ms"
duration = "2s"
rounds = 4
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


def test_two_systems_take_turns_and_what_was_killed_runs_again(tmp_path: Path) -> None:
    """Of four rounds, the engine is killed in the first, and Plimsoll in the third, while a server is frozen.

    After the first nobody says `handover` any more, and the second runs as always. None is left, and only the first
    and those from the third on run again. A busy machine may kill Plimsoll a round later.
    """
    systems = ("durable", 1, 1), ("relaxed", 0, 2)
    file, study = tmp_path / "s.toml", tmp_path / "out"
    file.write_text(STUDY + "".join(SYSTEM.format(name=name, sync=sync, flush=flush) for name, sync, flush in systems))
    env = {"PLIMSOLL_DATA_DIR": f"/var/tmp/plimsoll-test-duet-{os.getpid()}"}
    process = start_forked("study", "run", file, "--to", study, env=env)
    wait_for_interval(study, process, 1)
    (engine,) = engines_of(process)
    os.kill(engine, signal.SIGKILL)
    wait_for_interval(study, process, 1, trial=3)
    process.send_signal(signal.SIGKILL)
    _, said = process.communicate(timeout=300)
    assert "plimsoll-engine was ended by SIGKILL" in said
    wait_until_gone(env["PLIMSOLL_DATA_DIR"])
    verdicts = [(recording.trial.repetition, recording.outcome.verdict) for recording in read_study(study).recordings]
    second = {trial for trial, verdict in finished_ids(study).items() if verdict is Verdict.COMPLETE}
    assert len(second) in (2, 4)
    complete = [(1 + number // 2, Verdict.COMPLETE) for number in range(len(second))]
    assert verdicts == [(0, Verdict.FAILED)] * 2 + complete
    written = {trial: (study / "recordings" / trial / "outcome.json").stat().st_mtime_ns for trial in second}

    with http_collector() as (url, requests):
        ran = plimsoll("study", "run", file, "--to", study, env={**env, "OTEL_EXPORTER_OTLP_ENDPOINT": url})
    assert ran.returncode == 0, ran.stderr
    assert "after 4 of 4 rounds" in ran.stderr
    _check_metrics(requests[-1], [r for r in read_study(study).recordings if r.trial.trial_id not in second])
    again = {trial: (study / "recordings" / trial / "outcome.json").stat().st_mtime_ns for trial in second}
    assert written == again, "a complete round ran again"
    recordings = read_study(study).recordings
    assert [recording.outcome.verdict for recording in recordings] == [Verdict.COMPLETE] * 8
    for round_ in range(4):
        _check_round([recording for recording in recordings if recording.trial.repetition == round_])
    last = [event.event for event in read_events(study / "events.jsonl") if isinstance(event.event, DuetProgressed)][-1]
    assert (last.base, last.system, last.rounds_count, last.pair_count) == ("durable", "relaxed", 4, None)
    compared = [difference for difference in analyse("duet", recordings).differences if difference.level is not None]
    assert [one.ratio.value for one in compared] == [pytest.approx(last.ratio)], "the guide says what was said"
    duet = compared[0].duet
    assert duet is not None
    assert duet.pair_count == 40


def _check_metrics(request: ExportMetricsServiceRequest, recordings: list[Recording]) -> None:
    """The last metrics of a study are the sums of what it measured, whichever system had a turn."""
    metrics = metrics_of(request)
    counted = {
        (attributes(point)["system"], attributes(point)["outcome"]): point.as_int
        for point in metrics["plimsoll.transactions"].sum.data_points
    }
    for name in ("durable", "relaxed"):
        tables = [recording.intervals() for recording in recordings if recording.trial.system.name == name]
        assert len(tables) == len(recordings) / 2
        for outcome in ("completed", "failed", "dropped"):
            expected = sum(table[outcome].sum() for table in tables if table is not None)
            assert counted[name, outcome] == expected, (name, outcome)
    progress = {attributes(point)["progress"]: point for point in metrics["plimsoll.study.trials"].gauge.data_points}
    assert (progress["planned"].as_int, progress["complete"].as_int) == (8, 8)
    (ended,) = metrics["plimsoll.trials"].sum.data_points
    assert (attributes(ended), ended.as_int) == ({"verdict": "complete"}, len(recordings))
    assert {point.as_double for point in metrics["plimsoll.trial.state"].gauge.data_points} == {0.0}


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
        assert codes_of(recording.outcome.warnings) == []
        # Rates of the same turns, over other parts of them: what the machine did meanwhile tells them apart. What began
        # is what completed from then on, but for those that each of two connections ran already.
        assert (turns["running_s"] > 0).all()
        assert (turns["begun"] + 2 >= turns["completed"]).all()
        assert (turns["begun"] <= turns["completed"] + turns["completed_besides"]).all()
        tables.append(turns)
    weathers = [recording.outcome.weather for recording in recordings]
    assert weathers[0] is not None
    assert weathers[0].after is not None
    assert weathers[0].after.at_unix_s > weathers[0].before.at_unix_s
    assert weathers == weathers[:1] * 2, "one reference load for both systems"
    spans = pl.concat(tables).sort("from_s").select("from_s", "drained_s").rows()
    assert all(ended_s <= begun_s for (_, ended_s), (begun_s, _) in pairwise(spans)), "one at a time"
