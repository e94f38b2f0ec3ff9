"""A confirmation: the objective is judged as it was asked for, and only plain servers of a study are started."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.errors import NothingCompletedError, SpecError, TargetError
from plimsoll.record.capacity import CapacityObjective, CapacityRun, RunRole, RunVerdict
from plimsoll.record.model import TrialWarning, Verdict
from plimsoll.run import capacity_target
from plimsoll.run.capacity_target import confirm, system_of_study
from plimsoll.run.single import SingleRun
from plimsoll.spec.clients import steady
from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.study import parse_study
from plimsoll.spec.target import Target

RUN = SingleRun(
    workload=WorkloadSpec(name="w", kind="oltp_read_only"),
    target=Target(user="u", database="d", host="127.0.0.1", port=1),
    connections=8,
    warm_up_s=1.0,
    duration_s=60.0,
    seed=1,
    arrivals=steady(500.0),
)
NO_ERRORS = CapacityObjective(response_ms_p99=20.0, errors_ratio=0.0)
DOUBT = TrialWarning(code="client-on-server-host", evidence="e", advice="a")


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[CapacityObjective]:
    """The objectives that runs are judged by; the load itself is made up."""
    found: list[CapacityObjective] = []

    def judge(_recording: object, role: RunRole, objective: CapacityObjective, _machines: object) -> CapacityRun:
        found.append(objective)
        facts: dict[str, Any] = {"throughput_tps": 500.0, "over_ratio": 0.0, "duration_s": 60.0}
        return CapacityRun(role=role, connections=8, rate_tps=500.0, verdict=RunVerdict.UNDECIDED, **facts)

    summary = SimpleNamespace(
        outcome=SimpleNamespace(verdict=Verdict.COMPLETE, reason=None), trial=SimpleNamespace(trial_id="t")
    )
    monkeypatch.setattr(capacity_target, "judged_run", judge)
    monkeypatch.setattr(capacity_target, "read_recording", lambda path: path)
    monkeypatch.setattr(capacity_target, "is_sustained", lambda _summary: True)
    monkeypatch.setattr(capacity_target, "record_single", lambda *_: (summary, ()))
    return found


def test_the_objective_is_judged_as_it_is_and_what_is_open_stays_open(judged: list[CapacityObjective]) -> None:
    found = confirm(RUN, NO_ERRORS, system="a", doubts_of=lambda _recording: (DOUBT,))
    assert judged == [NO_ERRORS]
    assert (found.verdict, found.objective, found.system, found.warnings) == (
        RunVerdict.UNDECIDED,
        NO_ERRORS,
        "a",
        (DOUBT,),
    )


def test_a_load_of_which_nothing_completed_did_not_hold(
    judged: list[CapacityObjective], monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(*_: object) -> None:
        raise NothingCompletedError("no transaction completed")

    monkeypatch.setattr(capacity_target, "record_single", nothing)
    found = confirm(RUN, None, system="a")
    assert (found.verdict, found.throughput_tps, found.is_sustained) == (RunVerdict.DOES_NOT_HOLD, 0.0, False)
    assert not judged


def test_a_server_that_is_gone_at_the_end_is_no_verdict(
    judged: list[CapacityObjective], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = SimpleNamespace(outcome=SimpleNamespace(verdict=Verdict.FAILED, reason="the server is gone"))
    monkeypatch.setattr(capacity_target, "record_single", lambda *_: (gone, ()))
    with pytest.raises(TargetError, match="is gone"):
        confirm(RUN, NO_ERRORS, system="a")
    assert not judged


STUDY = """
[study]
name = "s"
levels = { connections = [4] }
[[workload]]
name = "w"
kind = "oltp_read_only"
tables = 2
[[system]]
name = "a"
"""


@pytest.mark.parametrize(
    ("server", "fault"),
    [
        ('server = { managed = "mariadb", instances = 2 }', "has 2 instances"),
        ('server = { managed = "mariadb", replicas = 1 }', "has replicas"),
        ('host = { ssh = "db2" }\nserver = { managed = "mariadb" }', "runs on another host"),
        ('target = "mysql://u@db1/d"\nhooks = { start = ["true"], stop = ["true"] }', "has hooks"),
    ],
)
def test_what_only_a_study_can_start_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: str, fault: str
) -> None:
    monkeypatch.setattr(capacity_target, "open_system", lambda *_, **__: pytest.fail("it was started"))
    spec = parse_study(STUDY + server)
    with pytest.raises(SpecError, match=f"a {fault}, which --confirm cannot start"):
        system_of_study(spec, "a", tmp_path, lambda _: None).__enter__()


def test_a_plain_server_is_started_and_always_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []
    system = SimpleNamespace(
        instances=["the instance"],
        start=lambda: happened.append("start"),
        stop=lambda: happened.append("stop"),
        close=lambda: happened.append("close"),
    )
    monkeypatch.setattr(capacity_target, "open_system", lambda *_, **__: system)
    spec = parse_study(STUDY + 'server = { managed = "mariadb" }')
    starting = system_of_study(spec, "a", tmp_path, lambda _: None)
    assert str(starting.__enter__()) == "the instance"
    assert not starting.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None), "what ended it goes on"
    assert happened == ["start", "stop", "close"]
