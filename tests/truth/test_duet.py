"""What duets decide on made-up machines: how often the interval holds the truth, and how often equal systems differ.

The machine drifts (correlation time one minute, 10 %), each turn varies by 5 %, and bursts of about ten seconds take a
third of the throughput. Starts of servers differ by 0, 1 and 3 times what remains of a round's own mean.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from plimsoll.analyse.answers.compare_cells import Sample, Turns, samples_together
from plimsoll.analyse.answers.compare_sides import Design
from plimsoll.analyse.study.cell_model import SpreadKind
from plimsoll.analyse.study.comparison import LogRatio
from plimsoll.analyse.study.duets import estimate

ROUNDS, PAIRS, TURN_S, RESIDUAL, SLOW = 6, 40, 0.5, 0.05, 0.10
STUDIES = 3_000


def weather(random: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Logarithms of what the machine gives in each turn of so many rounds."""
    turns = 2 * PAIRS
    keeps = np.exp(-TURN_S / 60)
    slow = np.empty((count, turns))
    slow[:, 0] = random.normal(0, SLOW, count)
    steps = random.normal(0, SLOW * np.sqrt(1 - keeps**2), (count, turns))
    for turn in range(1, turns):
        slow[:, turn] = keeps * slow[:, turn - 1] + steps[:, turn]
    bursts = np.zeros((count, turns))
    for row in bursts:
        for begin in random.uniform(0, turns, random.poisson(turns * TURN_S / 40)):
            length = int(random.exponential(10 / TURN_S)) + 1
            row[int(begin) : int(begin) + length] -= random.exponential(0.3)
    noise: NDArray[np.float64] = slow + bursts + random.normal(0, RESIDUAL, (count, turns))
    return noise


def studies(restart: float, effect: float) -> list[list[NDArray[np.float64]]]:
    """Pairs of each round of many studies of two systems that differ by `effect`."""
    random = np.random.default_rng(int(10 * restart) + int(1000 * effect))
    machine = weather(random, STUDIES * ROUNDS)
    pairs = machine[:, 1::2] - machine[:, 0::2]
    pairs *= np.where(random.random(pairs.shape) < 0.5, 1, -1)  # the order is tossed
    starts = random.normal(0, restart * RESIDUAL * np.sqrt(2 / PAIRS), (len(pairs), 1))
    return [list(one) for one in (pairs + starts + effect).reshape(STUDIES, ROUNDS, PAIRS)]


def share_covered(restart: float, effect: float = 0.03) -> float:
    """Of intervals of systems that differ by `effect`."""
    covered = 0
    for rounds in studies(restart, effect):
        found = estimate(rounds)
        assert found is not None
        covered += abs(found.log_ratio - effect) <= found.variance.half_width()
    return covered / STUDIES


def share_different(restart: float) -> float:
    """Of studies of equal systems."""
    estimates = [estimate(rounds) for rounds in studies(restart, effect=0.0)]
    return sum(one is not None and abs(one.log_ratio) > one.variance.half_width() for one in estimates) / STUDIES


@pytest.mark.parametrize("restart", [0.0, 1.0, 3.0])
def test_an_interval_holds_the_truth_in_95_of_100_studies_and_in_more_where_starts_are_alike(restart: float) -> None:
    share = share_covered(restart)
    assert 0.93 <= share <= (0.97 if restart else 0.995), share


@pytest.mark.parametrize("restart", [0.0, 1.0, 3.0])
def test_equal_systems_differ_in_at_most_5_of_100_studies(restart: float) -> None:
    share = share_different(restart)
    assert share <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / STUDIES), share


def test_a_difference_of_5_percent_is_found_within_four_minutes_of_turns() -> None:
    estimates = [estimate(rounds) for rounds in studies(0.0, effect=0.05)]
    found = sum(one is not None and one.log_ratio > one.variance.half_width() for one in estimates)
    assert found / STUDIES > 0.95, found / STUDIES


@pytest.mark.parametrize("restart", [0.0, 1.0, 3.0])
def test_levels_together_hold_the_truth_though_a_start_of_a_server_is_in_all_levels_of_its_round(
    restart: float,
) -> None:
    levels, covered, studies_count = 3, 0, 500
    random = np.random.default_rng(int(10 * restart))
    machine = weather(random, studies_count * levels * ROUNDS)
    pairs = (
        (machine[:, 1::2] - machine[:, 0::2]) * np.where(random.random((len(machine), PAIRS)) < 0.5, 1, -1)
    ).reshape(studies_count, levels, ROUNDS, PAIRS)
    starts = random.normal(0, restart * RESIDUAL * np.sqrt(2 / PAIRS), (studies_count, 1, ROUNDS, 1))
    for study in pairs + starts + 0.03:
        samples = []
        for rounds in study:
            found = estimate(list(rounds))
            assert found is not None
            ratio = LogRatio(
                value=found.log_ratio,
                variance=found.variance,
                repetitions=ROUNDS,
                basis=SpreadKind.REPETITIONS,
                method="",
            )
            values = dict.fromkeys(range(ROUNDS), 1.0)
            samples.append(Sample(values, values, turns=Turns(ratio, dict(enumerate(found.rounds)))))
        together_ratio = samples_together(samples).ratio(Design(is_paired=True))
        assert isinstance(together_ratio, LogRatio)
        low, high = together_ratio.log_limits(0.95)
        covered += low <= 0.03 <= high
    assert 0.93 <= covered / studies_count <= (0.98 if restart else 0.998), covered / studies_count
