"""`plimsoll size --confirm`: one document with the answer and the confirmation, and an exit code for scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.analyse.answers.size import size
from plimsoll.analyse.answers.size_model import Confirmed, SizeAnswer, confirmed
from plimsoll.cli.options import NO_LOGIN
from plimsoll.cli.size import Confirming, confirm_and_show
from plimsoll.errors import SpecError
from plimsoll.record.capacity import CapacityObjective, CapacityRun, RunRole, RunVerdict
from plimsoll.run import capacity_target as run_confirming
from plimsoll.run import folder
from plimsoll.run.single import SingleRun
from plimsoll.spec.study import parse_study
from plimsoll.spec.target import Target
from support.searched import searched

OBJECTIVE = CapacityObjective(response_ms_p99=20.0, errors_ratio=0.0)
SPEC = parse_study("""
[study]
name = "s"
levels = { capacity = { response_p99 = "20ms", errors = "0%" } }
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "small"
server = { managed = "mariadb" }
[[system]]
name = "large"
server = { managed = "mariadb" }
""")


class Servers:
    """Which systems were started, and which loads ran on them."""

    def __init__(self, patch: pytest.MonkeyPatch, verdict: RunVerdict) -> None:
        self.started: list[str] = []
        self.ran: list[SingleRun] = []
        self.objectives: list[CapacityObjective | None] = []
        self._verdict = verdict
        patch.setattr(folder, "current_spec", lambda _folder: (SPEC, None))
        patch.setattr(run_confirming, "system_of_study", self.system_of_study)
        patch.setattr(run_confirming, "confirm", self.confirm)

    @contextmanager
    def system_of_study(self, _spec: object, name: str, *_: object) -> Iterator[Any]:
        self.started.append(name)
        yield SimpleNamespace(target=Target(user="u", database="d", host="127.0.0.1", port=1), is_managed=True)

    def confirm(self, run: SingleRun, objective: CapacityObjective | None, *, system: str, **_: object) -> Confirmed:
        self.ran.append(run)
        self.objectives.append(objective)
        assert run.arrivals is not None
        found = CapacityRun(
            role=RunRole.CONFIRM,
            connections=run.connections,
            rate_tps=run.arrivals.steady_tps,
            throughput_tps=700.0,
            over_ratio=0.008,
            duration_s=run.duration_s,
            verdict=self._verdict,
        )
        return confirmed(found, objective, system=system, is_sustained=True)


def answer() -> SizeAnswer:
    """Of which the large system fits, and so comes first."""
    found = searched(small=(500.0, 505.0), large=(2000.0, 2010.0))
    return size(found, tps=700.0, response_p99_ms=20.0, headroom=0.3)


def run(asked: Confirming, *, as_json: bool = True) -> int:
    return confirm_and_show(Path("study"), answer(), OBJECTIVE, asked, as_json=as_json)


@pytest.mark.parametrize(
    ("verdict", "code"), [(RunVerdict.HOLDS, 0), (RunVerdict.UNDECIDED, 1), (RunVerdict.DOES_NOT_HOLD, 1)]
)
def test_json_is_one_document_with_the_answer_and_the_confirmation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], verdict: RunVerdict, code: int
) -> None:
    servers = Servers(monkeypatch, verdict)
    assert run(Confirming(60.0, None, None, NO_LOGIN)) == code
    printed = capsys.readouterr()
    said = json.loads(printed.out)
    assert (said["fits"], [one["system"] for one in said["systems"]]) == (True, ["large", "small"])
    found = Confirmed.model_validate(said["confirmation"])
    assert (found.system, found.rate_tps, found.duration_s, found.objective, found.verdict) == (
        "large",
        pytest.approx(1000.0),
        60.0,
        OBJECTIVE,
        verdict,
    )
    assert servers.started == ["large"]
    assert servers.objectives == [OBJECTIVE]
    assert "--confirm: large: 1,000 tps at" in printed.err, "what runs is said before it runs"


def test_text_has_the_answer_first_and_then_whether_it_held(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    servers = Servers(monkeypatch, RunVerdict.UNDECIDED)
    assert run(Confirming(60.0, None, "small", NO_LOGIN), as_json=False) == 1
    said = capsys.readouterr().out
    assert servers.started == ["small"]
    assert 0 <= said.index("1 of 2 systems") < said.index("small: 1,000 tps with p99 response time within 20.0 ms")
    assert "not confirmed. Run it again for longer." in said


def test_a_system_that_the_study_lacks_is_refused_even_beside_a_target(monkeypatch: pytest.MonkeyPatch) -> None:
    servers = Servers(monkeypatch, RunVerdict.HOLDS)
    for target in (None, "mysql://u@127.0.0.1/d"):
        with pytest.raises(SpecError, match=r"no 'huge' in the study; it has small, large"):
            run(Confirming(60.0, target, "huge", NO_LOGIN))
    assert servers.started == []
    assert servers.ran == []


def test_on_a_target_the_result_has_its_address(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    servers = Servers(monkeypatch, RunVerdict.HOLDS)
    assert run(Confirming(60.0, "mysql://u@127.0.0.1:3399/d", None, NO_LOGIN)) == 0
    assert json.loads(capsys.readouterr().out)["confirmation"]["system"] == "127.0.0.1:3399"
    assert servers.started == []
    assert servers.ran[0].managed is None
