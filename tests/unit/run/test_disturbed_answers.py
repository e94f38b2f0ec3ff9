"""What a study that goes on until its answer is decided says of a disturbed machine while it runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plimsoll.plan.build import build_plan
from plimsoll.record.store import write_recording
from plimsoll.run.planning import Budget
from plimsoll.run.stopping_rule import Answering
from plimsoll.spec.study import parse_study
from support.courses import STUDY
from support.disturbed import DISTURBED, QUIET, SHARED, machine_table
from support.made import measured


@pytest.mark.parametrize(("beside_b", "is_disturbed"), [(QUIET, False), (DISTURBED, True)])
def test_the_live_answer_names_no_winner_on_a_disturbed_machine(
    tmp_path: Path, beside_b: dict[str, float], is_disturbed: bool
) -> None:
    spec = parse_study(STUDY)
    plan = build_plan(spec)
    random, shown = np.random.default_rng(1), [trial for trial in plan.trials if trial.repetition < 4]
    for one in shown:
        seconds = [beside_b if one.system == "b" else QUIET] * 20
        tps = (500.0 if one.system == "b" else 1000.0) * random.normal(1, 0.01, 20)
        made = measured(tps, environment=SHARED, telemetry=machine_table(seconds), system=one.system, workload="w")
        trial = made.trial.model_copy(update={"trial_id": one.trial_id, "repetition": one.repetition})
        write_recording(tmp_path, trial, made.environment, made.outcome, **made.tables)
    answering = Answering(spec, tmp_path, plan)
    answering.read(one.trial_id for one in shown)
    (line,) = answering.progress(Budget.of(None)).text
    assert line.startswith("w, 4 connections: disturbed: while b was measured the machine was") is is_disturbed
    assert ("slower than a" in line) is not is_disturbed
