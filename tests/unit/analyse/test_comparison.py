"""Verdicts of single comparisons, checked against scipy.stats; how often they are right is tested in tests/truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from plimsoll.analyse.study.comparison import compare_repetitions
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.stats.significance import holm

BASE = [1000.0, 1100.0, 900.0]


def test_paired_repetitions_are_a_paired_t_test_of_logarithms() -> None:
    system = [1030.0, 1155.0, 922.0]
    found = compare_repetitions(BASE, system, paired=True)
    expected = stats.ttest_rel(np.log(system), np.log(BASE)).confidence_interval()
    assert found.ratio.bounds is not None
    assert (found.ratio.bounds.low, found.ratio.bounds.high) == pytest.approx(np.exp(expected), rel=1e-9)
    assert found.verdict is RatioVerdict.FASTER, "what the repetitions have in common cancels"


def test_repetitions_of_two_studies_are_welchs_t_test() -> None:
    system = [1030.0, 1155.0, 922.0, 1000.0]
    found = compare_repetitions(BASE, system, paired=False)
    expected = stats.ttest_ind(np.log(system), np.log(BASE), equal_var=False).confidence_interval()
    assert found.ratio.bounds is not None
    assert (found.ratio.bounds.low, found.ratio.bounds.high) == pytest.approx(np.exp(expected), rel=1e-9)
    assert found.verdict is RatioVerdict.UNRESOLVED


def test_equal_needs_both_one_sided_tests() -> None:
    near = compare_repetitions(BASE, [1001.0, 1098.0, 903.0], paired=True)
    assert (near.verdict, near.equal_within) == (RatioVerdict.EQUAL, 0.05)
    strict = compare_repetitions(BASE, [1001.0, 1098.0, 903.0], paired=True, equal_within=0.002)
    assert strict.verdict is RatioVerdict.UNRESOLVED


def test_an_open_comparison_says_how_many_more_repetitions_decide() -> None:
    found = compare_repetitions(BASE, [1060.0, 1110.0, 940.0], paired=True)
    assert found.verdict is RatioVerdict.UNRESOLVED
    assert found.repetitions_needed is not None
    assert 1 <= found.repetitions_needed <= 10
    hopeless = compare_repetitions(BASE, [300.0, 2000.0, 1600.0], paired=True)
    assert (hopeless.verdict, hopeless.repetitions_needed) == (RatioVerdict.UNRESOLVED, None)
    decided = compare_repetitions(BASE, [2000.0, 2210.0, 1790.0], paired=True)
    assert (decided.verdict, decided.repetitions_needed) == (RatioVerdict.FASTER, 0)


@pytest.mark.parametrize(
    ("base", "system", "paired"),
    [([1000.0], [2000.0], True), ([1000.0], [2000.0, 2100.0], False), ([1000.0, 900.0], [0.0, 950.0], True)],
)
def test_what_shows_no_spread_between_repetitions_is_untestable(
    base: list[float], system: list[float], paired: bool
) -> None:
    found = compare_repetitions(base, system, paired=paired)
    assert (found.verdict, found.smallest_effect, found.repetitions_needed, found.ratio.bounds) == (
        RatioVerdict.UNTESTABLE,
        None,
        None,
        None,
    )


def test_equal_figures_show_no_spread() -> None:
    assert compare_repetitions([100, 100], [101, 101], paired=True).verdict is RatioVerdict.UNTESTABLE


def test_unlike_counts_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="are 3 and 2"):
        compare_repetitions(BASE, BASE[:2], paired=True)
    with pytest.raises(ValueError, match="need repetitions"):
        compare_repetitions([0.0], [1.0], paired=True)


def test_holm_multiplies_by_what_is_left_and_never_falls() -> None:
    assert holm([0.02, 0.01, 0.03, 0.005]) == pytest.approx([0.04, 0.03, 0.04, 0.02])
    assert holm([]) == []
