"""`plimsoll compare` and `plimsoll size` of a study whose systems were compared by paired ramps."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import command_line
from plimsoll.record.capacity import (
    Capacity,
    CapacityDocument,
    CapacityObjective,
    CapacityRun,
    RunRole,
    RunVerdict,
    SearchRecord,
)
from plimsoll.record.level import Level, Ramp
from plimsoll.record.store import write_recording
from support.disturbed import DISTURBED, QUIET, SHARED, machine_table
from support.made import measured

OBJECTIVE = CapacityObjective(response_ms_p99=50.0)
RAMP = Ramp(from_tps=100.0, longest_s=16.0)
RATIO = 1.6


def run(folder: Path, system: str, role: RunRole, tps: float, pair: int, second: dict[str, float]) -> CapacityRun:
    ramp = RAMP if role is RunRole.RAMP else None
    rate_tps = tps if role is RunRole.CONFIRM else None
    made = measured(
        np.full(10, tps),
        response_ns=np.arange(1, 2001) * 10_000,
        duration_s=10.0,
        system=system,
        search_id=system,
        search_role=role,
        environment=SHARED,
        telemetry=machine_table([second] * 10),
    )
    trial_id = f"{system}-{role.value}-{pair}"
    facts = {"trial_id": trial_id, "level": Level(connections=8, rate_tps=rate_tps), "ramp": ramp}
    write_recording(folder, made.trial.model_copy(update=facts), made.environment, made.outcome, **made.tables)
    return CapacityRun(
        trial_id=trial_id,
        role=role,
        connections=8,
        rate_tps=rate_tps,
        throughput_tps=tps,
        over_ratio=0.0,
        duration_s=10.0,
        verdict=RunVerdict.HOLDS if rate_tps else RunVerdict.NOT_JUDGED,
        knee_tps=tps if ramp else None,
        pair=pair if ramp else None,
    )


def study(folder: Path, *, pairs: int = 8, busy: str | None = None) -> Path:
    """A study of `a` and `b`, which is `RATIO` times as fast; the machine is busy beside the ramps of one of them."""
    chance, searches = np.random.default_rng(1), []
    for system, tps in (("a", 1000.0), ("b", 1000.0 * RATIO)):
        second = DISTURBED if system == busy else QUIET
        knees = [tps * math.exp(each) for each in chance.normal(0.0, 0.03, pairs)]
        runs = [run(folder, system, RunRole.RAMP, knee, pair, second) for pair, knee in enumerate(knees)]
        runs.append(run(folder, system, RunRole.CONFIRM, tps * 0.6, 0, QUIET))
        capacity = Capacity(low=tps * 0.6, objective=OBJECTIVE, runs=tuple(runs))
        place = {"search_id": system, "system": system, "workload": "read-write"}
        searches.append(SearchRecord(**place, is_finished=True, capacity=capacity))
    (folder / "capacity.json").write_text(CapacityDocument(searches=tuple(searches)).model_dump_json())
    return folder


def command(*arguments: object, expected: int) -> dict[str, Any]:
    ran = CliRunner().invoke(command_line(), [*map(str, arguments), "--json"])
    assert ran.exit_code == expected, ran.output
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_compare_names_the_winner_that_the_guide_names_with_the_same_interval(tmp_path: Path) -> None:
    folder = study(tmp_path)
    found = command("compare", f"{folder}:a", f"{folder}:b", "--fail-if", "slower:5%", expected=0)
    guide = command("guide", folder, expected=0)
    (ratio,) = guide["capacity_ratios"]
    bounds = ratio["ratio"]["bounds"]
    assert (found["ratio"], found["low"], found["high"]) == (ratio["ratio"]["value"], bounds["low"], bounds["high"])
    assert found["ratio"] == pytest.approx(RATIO, rel=0.03)
    assert (found["verdict"], found["grade"], found["base_repetitions"]) == ("faster", "measured", 8)
    other = command("compare", f"{folder}:b", f"{folder}:a", "--fail-if", "slower:5%", expected=1)
    assert [one["outcome"] for one in other["gates"]] == ["failed"]


def test_ramps_beside_a_busy_machine_have_no_verdict_and_decide_no_rule(tmp_path: Path) -> None:
    folder = study(tmp_path, busy="a")
    found = command("compare", f"{folder}:a", f"{folder}:b", "--fail-if", "slower:5%", expected=7)
    assert (found["verdict"], found["low"]) == ("disturbed", None)


def test_few_pairs_have_no_verdict(tmp_path: Path) -> None:
    folder = study(tmp_path, pairs=4)
    found = command("compare", f"{folder}:a", f"{folder}:b", expected=0)
    assert (found["verdict"], found["low"]) == ("untestable", None)
    assert found["ratio"] == pytest.approx(RATIO, rel=0.1)
    assert "with 4 pairs of ramps" in str(found["text"])


def test_pairs_of_two_studies_are_no_pairs(tmp_path: Path) -> None:
    one, two = study(tmp_path / "one"), study(tmp_path / "two")
    found = command("compare", f"{one}:a", f"{two}:b", expected=0)
    assert (found["verdict"], found["ratio"]) == ("untestable", None)


@pytest.mark.parametrize(
    ("tps", "fit", "words"),
    [
        (500, "fits", "It held 600 tps with p99 response time within 50.0 ms in one steady run"),
        (800, "undecided", "It held 600 tps"),
        (1500, "does_not_fit", "Too slow: most answers were late from about 1,0"),
    ],
)
def test_size_rests_on_the_rate_that_was_held_and_on_the_knee(tmp_path: Path, tps: int, fit: str, words: str) -> None:
    load = ("--tps", tps, "--response-p99", "50ms", "--headroom", 0)
    found = command("size", study(tmp_path), *load, expected=int(tps == 1500))
    (slow,) = [one for one in found["systems"] if one["system"] == "a"]
    assert (slow["verdict"], slow["grade"]) == (fit, "indicated")
    assert words in slow["reason"]["text"]
