"""How often `plimsoll compare` is wrong about two studies of a machine that moves between sessions, with known truth.

Worlds: a machine whose sessions differ by a standard deviation of 10 % or 30 %, with noise of 2 % for each trial; each
study is one session of five repetitions at two levels. Seeded; bounds of rates leave room for three standard errors of
100 pairs of studies, or of 400 in `make endure`: where 1 of 5 is wrong in truth, that is seen in 98 of 100.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from plimsoll.analyse.answers.compare import compare_sides
from plimsoll.analyse.answers.compare_model import CompareAnswer, ComparedSide, GateOutcome, Metric, Sessions
from plimsoll.analyse.answers.compare_sides import Side, design_of_two_studies
from plimsoll.analyse.answers.compare_verdicts import GateRule
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, State, StateMark, Verdict
from support.endure import draws, in_endure, slack
from support.made import trial_record

PAIRS, REPETITIONS, LEVELS, NOISE = 400, 5, (1, 4), 0.02
MADE = draws(100, PAIRS)
AT_MOST = 0.05 + slack(0.05, MADE)
SLOWER = GateRule(Metric.THROUGHPUT, 0.05)
ENVIRONMENT, OUTCOME = Environment(), Outcome(verdict=Verdict.COMPLETE)
RECORDS = {
    (level, number): trial_record(system="a", connections=level, repetition=number)
    for level in LEVELS
    for number in range(REPETITIONS)
}
DAYS = [
    {
        key: record.model_copy(
            update={"states": (StateMark(state=State.MEASURE, began_unix_s=86_400.0 * (day + 1) + number),)}
        )
        for number, (key, record) in enumerate(RECORDS.items())
    }
    for day in range(12)
]
"""The same trials, as they began on each of some days."""


def session(random: np.random.Generator, moves: float, day: int, *, ratio: float = 1.0) -> Side:
    """A study of a day: what the session changes is common to all that it measures."""
    moved = random.normal(np.log(1000 * ratio), moves)
    logs = dict(zip(RECORDS, random.normal(moved, NOISE, len(RECORDS)), strict=True))
    trials = [
        TrialSummary(trial=record, environment=ENVIRONMENT, outcome=OUTCOME, throughput_tps=float(np.exp(logs[key])))
        for key, record in DAYS[day].items()
    ]
    return Side(ComparedSide(name="a", study="s", system="a", trials_count=len(trials)), trials)


@cache
def answers(
    moves: float, baselines_count: int, *, ratio: float = 1.0, at_any_look: bool = False, count: int = PAIRS
) -> list[CompareAnswer]:
    random = np.random.default_rng(round(1000 * moves) + 10 * baselines_count + round(100 * ratio))
    found = []
    for _ in range(count):
        base, *baselines = (session(random, moves, day) for day in range(1 + baselines_count))
        system = session(random, moves, 1 + baselines_count, ratio=ratio)
        design = design_of_two_studies(base, system, baselines, at_any_look=at_any_look)
        found.append(compare_sides(base, system, design=design, rules=[SLOWER]))
    return found


def winners(found: list[CompareAnswer]) -> float:
    """The share of answers that name one, at a level or over all."""
    names = {RatioVerdict.FASTER, RatioVerdict.SLOWER}
    return sum(bool(names & {one.verdict, *(cell.verdict for cell in one.comparisons)}) for one in found) / len(found)


def share(found: list[CompareAnswer], outcome: GateOutcome) -> float:
    return sum(one.gates[0].outcome is outcome for one in found) / len(found)


@pytest.mark.parametrize(
    ("moves", "baselines"),
    [(0.1, 3), in_endure(0.1, 5), (0.1, 10), (0.3, 3), in_endure(0.3, 5), in_endure(0.3, 10)],
)
def test_equal_studies_have_a_winner_in_at_most_one_of_twenty(moves: float, baselines: int) -> None:
    found = answers(moves, baselines, count=MADE)
    assert winners(found) <= AT_MOST
    assert share(found, GateOutcome.FAILED) <= AT_MOST


def test_nor_where_repetitions_went_on_until_an_answer_was_decided() -> None:
    assert winners(answers(0.1, 3, at_any_look=True, count=MADE)) <= AT_MOST


@pytest.mark.parametrize("baselines", [2, in_endure(3), 10])
def test_nor_where_sessions_do_not_differ(baselines: int) -> None:
    assert winners(answers(0.0, baselines, count=MADE)) <= AT_MOST


def test_without_baselines_nothing_is_named_and_repetitions_would_have_named_one() -> None:
    found = answers(0.1, 0, count=MADE)
    assert {one.verdict for one in found} == {RatioVerdict.UNTESTABLE}
    assert share(found, GateOutcome.UNDECIDED) == 1.0
    wrong = sum(one.low is not None and one.high is not None and not one.low <= 1 <= one.high for one in found)
    assert wrong / MADE > 0.5, "the intervals within the studies exclude the truth"


def test_what_is_found_of_a_planted_difference_depends_on_sessions() -> None:
    """A machine that hardly moves shows 1.30; one that moves by 30 % cannot."""
    still, moving = answers(0.02, 3, ratio=1.3, count=MADE), answers(0.3, 3, count=MADE)
    many, few = (answers(0.1, baselines, ratio=1.3, count=MADE) for baselines in (10, 3))
    assert winners(still) > 0.95
    assert winners(many) > winners(few) > winners(moving)


def alternating(moves: float, sessions_count: int, *, ratio: float = 1.0, count: int = PAIRS) -> list[CompareAnswer]:
    """Pairs of studies whose sessions alternate: A, B, A, B and so on."""
    random = np.random.default_rng(round(1000 * moves) + sessions_count + round(100 * ratio))
    found = []
    for _ in range(count):
        sides = []
        for number in range(2):
            days = [
                session(random, moves, 2 * one + number, ratio=(1.0, ratio)[number]) for one in range(sessions_count)
            ]
            trials = [trial for one, side in enumerate(days) for trial in _numbered(side, one)]
            sides.append(replace(days[0], trials=trials))
        design = design_of_two_studies(*sides, (), at_any_look=False)
        assert design.sessions is Sessions.ALTERNATING
        found.append(compare_sides(*sides, design=design, rules=[SLOWER]))
    return found


def _numbered(side: Side, session_number: int) -> list[TrialSummary]:
    """Trials of one session with ids and repetitions of their own, as those of one study have."""
    return [
        replace(
            trial,
            trial=trial.trial.model_copy(
                update={
                    "trial_id": f"{session_number}-{trial.trial.trial_id}",
                    "repetition": trial.trial.repetition + REPETITIONS * session_number,
                }
            ),
        )
        for trial in side.trials
    ]


@pytest.mark.parametrize(("moves", "sessions"), [(0.1, 2), in_endure(0.1, 4), in_endure(0.3, 2), (0.3, 4)])
def test_nor_where_sessions_alternate(moves: float, sessions: int) -> None:
    """Five repetitions of a session are one value: as repetitions of their own they would name a winner in most."""
    assert winners(alternating(moves, sessions, count=MADE)) <= AT_MOST


def test_sessions_that_alternate_find_what_is_larger_than_they_move() -> None:
    assert winners(alternating(0.02, 3, ratio=1.3, count=MADE)) > 0.95


@pytest.mark.parametrize("baselines", [3, 10])
def test_the_effect_that_could_have_been_seen_is_seen(baselines: int) -> None:
    """The median of what is stated is found in about four of five."""
    stated = [answer.comparisons[0].smallest_effect for answer in answers(0.1, baselines, count=MADE)]
    planted = float(np.median([one for one in stated if one is not None]))
    seen = answers(0.1, baselines, ratio=planted, count=MADE)
    names = sum(one.comparisons[0].verdict is RatioVerdict.FASTER for one in seen) / MADE
    assert 0.65 < names < 0.97
