"""A load that was sized and then offered to a real server: one that holds, and one that cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.analyse.answers.size_model import Confirmed
from plimsoll.record.capacity import RunVerdict
from support.command import plimsoll
from support.endure import in_endure
from support.waiting_load import write_waiting_load

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "sized"
levels = { connections = [4] }
warm_up = "1s"
settle_limit = "1s"
duration = "2s"
repetitions = 1
reset = "never"
[[workload]]
name = "waiting"
file = "waiting.toml"
[[system]]
name = "a"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sized")
    write_waiting_load(folder)
    (folder / "s.toml").write_text(STUDY)
    ran = plimsoll("study", "run", folder / "s.toml", "--to", folder / "study")
    assert ran.returncode == 0, ran.stderr
    return folder / "study"


@pytest.mark.parametrize(
    ("tps", "duration", "warm_up", "verdict"),
    [
        ("35", "30s", "10", RunVerdict.HOLDS),  # what a busy machine sustains too
        in_endure("35", "4s", "4", RunVerdict.UNDECIDED),  # too short to see how often slow stretches come
        ("1400", "4s", "4", RunVerdict.DOES_NOT_HOLD),  # four connections that wait for 10 ms get 400 a second
    ],
)
def test_a_load_is_offered_with_its_headroom_and_judged(
    study: Path, tps: str, duration: str, warm_up: str, verdict: RunVerdict
) -> None:
    ran = plimsoll("size", study, "--tps", tps, "--response-p99", "2s", "--confirm", "--duration", duration, "--json")
    assert ran.returncode == (0 if verdict is RunVerdict.HOLDS else 1), ran.stderr
    said = json.loads(ran.stdout)
    assert [one["system"] for one in said["systems"]] == ["a"]
    found = Confirmed.model_validate(said["confirmation"])
    assert (found.system, found.connections, found.verdict) == ("a", 4, verdict)
    assert found.rate_tps == pytest.approx(float(tps) / 0.7)
    assert found.objective is not None
    assert found.objective.response_ms_p99 == 2000
    assert duration != "4s" or "short-window" in {warning.code for warning in found.warnings}
    assert ran.stderr.index("starting a with its data") < ran.stderr.index(f"a warm-up of {warm_up}")
