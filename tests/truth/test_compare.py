"""How often `plimsoll compare` and its gate decide wrongly, and what they find, on made-up studies with known truth.

Worlds: independent noise of 2 % for each trial, and beside it what a server start (one for each system and repetition)
and a minute (one for each repetition, the same for both systems) add: 0, 1 and 3 times as much. Seeded; the allowed
shares leave room for three standard errors of the simulation.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from plimsoll.analyse.answers.compare import compare_sides
from plimsoll.analyse.answers.compare_model import CompareAnswer, ComparedSide, GateOutcome, Metric
from plimsoll.analyse.answers.compare_sides import Design, Side
from plimsoll.analyse.answers.compare_verdicts import GateRule
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, Verdict
from support.endure import draws, slack
from support.made import trial_record

STUDIES = draws(120, 300)
LEVELS = (1, 4, 16, 64)
NOISE = 0.02
SLOWER = GateRule(Metric.THROUGHPUT, 0.05)
ENVIRONMENT, OUTCOME = Environment(), Outcome(verdict=Verdict.COMPLETE)
RECORDS = {
    (name, level, number): trial_record(system=name, connections=level, repetition=number)
    for name in "ab"
    for level in LEVELS
    for number in range(8)
}


def side(name: str, logs: np.ndarray) -> Side:
    """Logarithms of throughput by repetition and level."""
    trials = [
        TrialSummary(
            trial=RECORDS[name, level, number],
            environment=ENVIRONMENT,
            outcome=OUTCOME,
            throughput_tps=float(np.exp(logs[number, index])) * 1000,
        )
        for number in range(logs.shape[0])
        for index, level in enumerate(LEVELS)
    ]
    return Side(ComparedSide(name=name, study="s", system=name, trials_count=len(trials)), trials)


@cache
def answers(
    *, ratio: float, block: float, paired: bool, repetitions: int = 5, noise: float = NOISE, count: int = STUDIES
) -> list[CompareAnswer]:
    """Studies whose second system has `ratio` of the first one's throughput; `block` times the noise for each block."""
    random = np.random.default_rng(round(ratio * 1000) + round(block * 10) + paired)
    found = []
    for _ in range(count):
        shape = (repetitions, len(LEVELS))
        minutes = random.normal(0, noise * block, (2, repetitions, 1))
        logs = [
            random.normal(0, noise, shape)
            + random.normal(0, noise * block, (repetitions, 1))
            + minutes[0 if paired else index]
            for index in range(2)
        ]
        sides = side("a", logs[0]), side("b", logs[1] + np.log(ratio))
        found.append(compare_sides(*sides, design=Design(is_paired=paired), rules=[SLOWER]))
    return found


def share(found: list[CompareAnswer], outcome: GateOutcome) -> float:
    return sum(one.gates[0].outcome is outcome for one in found) / len(found)


def names_a_winner(one: CompareAnswer) -> bool:
    verdicts = {one.verdict, *(cell.verdict for cell in one.comparisons)}
    return bool(verdicts & {RatioVerdict.FASTER, RatioVerdict.SLOWER})


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("block", [0.0, 1.0, 3.0])
def test_equal_systems_are_hardly_ever_told_apart(block: float, paired: bool) -> None:
    found = answers(ratio=1.0, block=block, paired=paired)
    assert sum(map(names_a_winner, found)) / STUDIES <= 0.05 + slack(0.05, STUDIES)
    assert share(found, GateOutcome.FAILED) <= 0.05


@pytest.mark.parametrize("block", [0.0, 1.0, 3.0])
def test_a_version_at_the_limit_fails_or_passes_in_one_of_twenty(block: float) -> None:
    found = answers(ratio=0.95, block=block, paired=True)
    assert share(found, GateOutcome.FAILED) <= 0.05 + slack(0.05, STUDIES)
    assert share(found, GateOutcome.PASSED) <= 0.05 + slack(0.05, STUDIES)


def test_a_regression_of_a_tenth_is_found() -> None:
    found = answers(ratio=0.9, block=0.0, paired=True)
    assert share(found, GateOutcome.FAILED) >= 0.9
    assert share(found, GateOutcome.PASSED) == 0.0
    assert share(answers(ratio=1.0, block=0.0, paired=True), GateOutcome.PASSED) >= 0.5


def test_one_run_of_each_names_no_winner() -> None:
    found = answers(ratio=0.7, block=0.0, paired=True, repetitions=1)
    assert {one.verdict for one in found} == {RatioVerdict.UNTESTABLE}
    assert share(found, GateOutcome.UNDECIDED) == 1.0, "without intervals nothing is established"
