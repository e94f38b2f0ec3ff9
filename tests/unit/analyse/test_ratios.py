"""Verdicts on two means whose spread is known."""

from __future__ import annotations

import math

import pytest

from plimsoll.analyse.cell_model import SpreadKind
from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.analyse.ratios import compare
from plimsoll.analyse.throughput import MeanThroughput, Spread
from plimsoll.analyse.within_run import MeanVariance


def mean(
    tps: float, error: float = 0.01, *, kind: SpreadKind = SpreadKind.POOLED, degrees: float = 20
) -> MeanThroughput:
    return MeanThroughput(tps, 3, Spread(MeanVariance(error**2, degrees), kind, "made up"))


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [
        (1.05, DifferenceVerdict.FASTER),
        (1 / 1.05, DifferenceVerdict.SLOWER),
        (1.035, DifferenceVerdict.UNDECIDED),  # its bounds exclude 1, but it is below the smallest effect
        (1.02, DifferenceVerdict.UNDECIDED),
        (1 / 1.035, DifferenceVerdict.UNDECIDED),
    ],
)
def test_no_winner_below_the_smallest_effect(ratio: float, verdict: DifferenceVerdict) -> None:
    found = compare(mean(1000 * ratio), mean(1000))
    assert found is not None
    assert found.verdict is verdict
    error = 0.01 * math.sqrt(2)
    assert found.smallest_effect == pytest.approx(math.exp((2.086 + 0.860) * error), rel=1e-3)
    assert found.ratio.bounds is not None
    assert found.ratio.bounds.low == pytest.approx(ratio * math.exp(-2.086 * error), rel=1e-4)


def test_a_difference_that_is_significant_but_small_has_bounds_without_1() -> None:
    found = compare(mean(1035), mean(1000))
    assert found is not None
    assert found.differs
    assert found.verdict is DifferenceVerdict.UNDECIDED


def test_what_only_one_run_says_decides_nothing() -> None:
    found = compare(mean(3000, kind=SpreadKind.WITHIN_RUN), mean(1000))
    assert found is not None
    assert (found.verdict, found.smallest_effect) == (DifferenceVerdict.UNTESTABLE, None)
    assert found.ratio.bounds is not None
    assert "repetitions may differ more" in found.ratio.bounds.method


def test_without_spread_nothing_can_be_tested() -> None:
    found = compare(MeanThroughput(2.0, 1, None), MeanThroughput(1.0, 1, None))
    assert found is not None
    assert (found.ratio.value, found.ratio.bounds, found.verdict) == (2.0, None, DifferenceVerdict.UNTESTABLE)


def test_separate_spreads_have_satterthwaites_degrees_of_freedom() -> None:
    a = mean(1100, 0.03, kind=SpreadKind.REPETITIONS, degrees=2)
    b = mean(1000, 0.01, kind=SpreadKind.REPETITIONS, degrees=2)
    found = compare(a, b)
    assert found is not None
    assert found.ratio.bounds is not None
    degrees = (9e-4 + 1e-4) ** 2 / (9e-4**2 / 2 + 1e-4**2 / 2)
    assert degrees == pytest.approx(2.439, rel=1e-3)
    half = math.log(found.ratio.bounds.high / 1.1) / math.sqrt(1e-3)
    assert half == pytest.approx(3.65, abs=0.03)  # t(0.975) lies between that of 2 and of 3 degrees: 4.30 and 3.18


def test_nothing_is_compared_with_a_standstill() -> None:
    assert compare(mean(0.0), mean(1.0)) is None
