"""Pre-flight checks of a study: once for the machine, once for each system; refused only where that is wanted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.analyse.findings.machine import Demand, Readiness, SharedCpus
from plimsoll.errors import HostError
from plimsoll.record.environment import HostFacts, InstanceFacts
from plimsoll.run import preflight as study_preflight
from plimsoll.run.environments import Hosts
from plimsoll.run.events import EventLog, ReadinessJudged, read_events
from plimsoll.run.instance import Instance
from plimsoll.run.preflight import StudyPreflight
from plimsoll.run.readiness import machine_readiness, shared_cpus_of
from plimsoll.spec.study import parse_study
from plimsoll.spec.target import Target

STUDY = """
[study]
name = "s"
levels = { connections = [4, 64] }

[[workload]]
name = "w"
kind = "oltp_read_write"
tables = 2

[[system]]
name = "a"
server = { managed = "mariadb" }
"""

SWAPPING = Readiness(host=HostFacts(swap_bytes=2**30, swappiness=60, cpu_turbo=True))
TURBO = Readiness(host=HostFacts(cpu_turbo=True))


class Running:
    """A system that runs."""

    instances = (None,)
    located = 0

    def locate(self) -> None:
        self.located += 1


def preflight(folder: Path, monkeypatch: pytest.MonkeyPatch, facts: Readiness, *, strict: bool) -> StudyPreflight:
    monkeypatch.setattr(study_preflight, "machine_readiness", lambda *_: facts)
    monkeypatch.setattr(study_preflight, "servers_readiness", lambda *_, **__: facts)
    monkeypatch.setattr(study_preflight, "foreseen_readiness", lambda *_: Readiness())
    return StudyPreflight(parse_study(STUDY), folder, EventLog(folder / "events.jsonl"), Hosts(), strict=strict)


def told(folder: Path) -> list[tuple[str | None, list[str]]]:
    events = (event.event for event in read_events(folder / "events.jsonl"))
    return [
        (event.system, [finding.code for finding in event.findings])
        for event in events
        if isinstance(event, ReadinessJudged)
    ]


def test_findings_are_events_and_end_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = preflight(tmp_path, monkeypatch, SWAPPING, strict=False)
    one.judge_before(parse_study(STUDY).system)
    assert told(tmp_path) == [(None, ["swap-likely", "turbo-on"])]


def test_strictness_refuses_with_every_finding_and_its_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HostError) as raised:
        preflight(tmp_path, monkeypatch, SWAPPING, strict=True).judge_before(parse_study(STUDY).system)
    assert "--strict refuses to measure:\nswap-likely: there are 1.00 GiB of swap" in str(raised.value)
    assert "turbo-on" not in str(raised.value), "what is only to be known is no reason"
    assert told(tmp_path), "it is told all the same"
    preflight(tmp_path, monkeypatch, TURBO, strict=True).judge_before(parse_study(STUDY).system)


def test_machine_and_options_that_are_not_fit_are_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = preflight(tmp_path, monkeypatch, SWAPPING, strict=True)
    few = InstanceFacts(name="a", variables={"max_connections": "10"})
    foreseen = Readiness(servers=(few,), demand=Demand(connections=64))
    monkeypatch.setattr(study_preflight, "foreseen_readiness", lambda *_: foreseen)
    with pytest.raises(HostError, match=r"swap-likely: (?s:.*)limit-too-low: max_connections of a: 10 are allowed"):
        one.judge_before(parse_study(STUDY).system)
    assert told(tmp_path) == [(None, ["swap-likely", "turbo-on"]), ("a", ["limit-too-low"])]


def test_a_system_is_judged_when_it_first_runs_and_when_its_data_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, running = preflight(tmp_path, monkeypatch, TURBO, strict=True), Running()
    for is_loaded in (False, False, True, True):
        one.judge_system(parse_study(STUDY).system[0], running, is_loaded=is_loaded)  # type: ignore[arg-type]
    assert told(tmp_path) == [("a", ["turbo-on"])], "the same is told once"
    assert running.located == 2


def test_cpus_that_a_client_is_bound_to_are_shared_only_where_the_server_may_run_too() -> None:
    own = os.sched_getaffinity(0)
    here = Instance(name="one", target=Target(user="u", database="d"), pid=os.getpid())
    shared = shared_cpus_of(here, {min(own), max(own) + 1000})
    assert shared == SharedCpus(instance="one", shared_cpus=(min(own),))
    assert shared_cpus_of(here, {max(own) + 1000}) == SharedCpus(instance="one", shared_cpus=())
    assert shared_cpus_of(Instance(name="one", target=here.target), own) is None, "its process is not known"


def test_this_machine_is_described(tmp_path: Path) -> None:
    facts = machine_readiness([tmp_path / "not/yet/there"])
    assert facts.storage[0].free_bytes
    assert facts.moment is not None
    assert 0 <= facts.moment.busy_ratio <= 1
