"""Two figures and the change between them never contradict each other, whatever was measured."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.analyse.answers.compare import compare_sides
from plimsoll.analyse.answers.compare_cells import Sample, Turns
from plimsoll.analyse.answers.compare_model import CompareAnswer, ComparedSide
from plimsoll.analyse.answers.compare_sides import Design, Side
from plimsoll.analyse.answers.compare_verdicts import judged
from plimsoll.analyse.study.comparison import LogRatio
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.guide.compare import compare_table
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, Verdict
from plimsoll.stats.variance import MeanVariance
from support.made import trial_record

FIGURES = st.floats(min_value=0.01, max_value=1e6)
REPETITIONS = st.dictionaries(st.integers(0, 6), FIGURES, min_size=1, max_size=6)
DESIGNS = st.builds(Design, is_paired=st.booleans(), at_any_look=st.booleans())


def side(name: str, tps: dict[int, float]) -> Side:
    trials = [
        TrialSummary(
            trial=trial_record(system=name, repetition=repetition),
            environment=Environment(),
            outcome=Outcome(verdict=Verdict.COMPLETE),
            throughput_tps=one,
        )
        for repetition, one in tps.items()
    ]
    return Side(ComparedSide(name=name, study="made", system=name, trials_count=len(trials)), trials)


def compare(base: dict[int, float], system: dict[int, float], design: Design) -> CompareAnswer:
    return compare_sides(side("a", base), side("b", system), design=design)


def sign_of(text: str) -> int:
    number = float(re.sub(r"[,%\s]", "", text.replace("−", "-")))
    return (number > 0) - (number < 0)


@given(base=REPETITIONS, system=REPETITIONS, design=DESIGNS)
def test_printed_figures_and_the_printed_change_have_one_sign(
    base: dict[int, float], system: dict[int, float], design: Design
) -> None:
    answer = compare(base, system, design)
    (one,) = answer.comparisons
    assert one.base_value is not None
    assert one.system_value is not None
    assert one.ratio == pytest.approx(one.system_value / one.base_value, rel=1e-9)
    ((_, _, figures, change, *_),) = compare_table(answer).rows
    first, second = (float(text.replace(",", "")) for text in figures.text.split(" → "))
    assert sign_of(change.text) * ((second > first) - (second < first)) >= 0, (figures.text, change.text)


@given(
    base=REPETITIONS, system=REPETITIONS, rounds=st.lists(st.floats(-0.5, 0.5), min_size=2, max_size=4), design=DESIGNS
)
def test_in_a_duet_the_ratio_of_the_turns_parts_the_figures(
    base: dict[int, float], system: dict[int, float], rounds: list[float], design: Design
) -> None:
    ratio = LogRatio(value=sum(rounds), variance=MeanVariance(0.01, 5), repetitions=3, basis=None, method="made")
    sample = Sample(base, system, turns=Turns(ratio, dict(enumerate(rounds))))
    (one,) = judged([sample], design, 0.05, [None])
    assert one.ratio is not None
    assert one.base_value is not None
    assert one.system_value is not None
    assert one.system_value / one.base_value == pytest.approx(one.ratio, rel=1e-9)


def test_two_means_that_would_contradict_their_ratio() -> None:
    """Arithmetic means of 25.1 and 23.2 stood beside +8.3 %."""
    base, system = {0: 45.3, 1: 15.0, 2: 15.0}, {0: 26.4, 1: 21.0, 2: 22.2}
    assert sum(system.values()) < sum(base.values())
    answer = compare(base, system, Design(is_paired=True))
    (one,) = answer.comparisons
    assert one.ratio is not None
    assert one.ratio > 1.05
    assert (one.base_value, one.system_value) == (
        pytest.approx(math.prod(base.values()) ** (1 / 3)),
        pytest.approx(math.prod(system.values()) ** (1 / 3)),
    )
