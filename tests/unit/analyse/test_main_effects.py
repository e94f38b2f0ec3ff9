"""From recordings and searches of a matrix to effects of its factors."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.study.capacities import capacities
from plimsoll.analyse.study.curve_model import EffectMeasure, Effects
from plimsoll.analyse.study.effects import EffectTable, main_effects
from plimsoll.record.capacity import Capacity, CapacityObjective, SearchRecord
from plimsoll.stats.contrasts import cross_contrasts, main_contrasts, matrix_of
from support.matrices import FACTORS, matrix_analysis, matrix_trials


def values_of(rows: list[str]) -> dict[str, dict[str, str]]:
    """Systems by rows such as `a0 b1`."""
    return {row: {part[0]: part[1] for part in row.split()} for row in rows}


def test_recordings_of_a_matrix_give_effects_and_interactions() -> None:
    analysis = matrix_analysis()
    effects = {factor.factor: factor for factor in analysis.effects.factors}
    threads = effects["threads"]
    assert (threads.base, threads.value, threads.over, threads.contexts_count) == ("0", "64", ("scheduling",), 2)
    assert threads.ratio.value == pytest.approx(1.2**0.5 * 1.5**0.25, rel=0.02)
    assert [at.ratio.value for at in threads.levels] == pytest.approx([1.0, 1.2 * 1.5**0.5], rel=0.02)
    assert threads.verdict == "faster"
    (of_factors,) = [interaction for interaction in analysis.effects.interactions if interaction.other is not None]
    assert (of_factors.factor, of_factors.other, of_factors.other_value) == ("threads", "scheduling", "fifo:10")
    assert of_factors.ratio.value == pytest.approx(1.5**0.5, rel=0.02)
    assert of_factors.verdict == "faster"
    assert [
        interaction.level.connections for interaction in analysis.effects.interactions if interaction.level is not None
    ] == [64, 64]


def test_one_factor_at_one_level_is_the_comparison_of_two_systems() -> None:
    """The same figures stand in two places of the guide: they must agree to the last digit."""
    trials = [
        trial
        for trial in matrix_trials()
        if trial.trial.system.factor_values["scheduling"] == "other" and trial.trial.level.connections == 64
    ]
    analysis = analyse("one factor", trials)
    (effect,) = analysis.effects.factors
    (difference,) = [difference for difference in analysis.differences if difference.level is not None]
    assert effect.ratio.value == pytest.approx(difference.ratio.value, rel=1e-12)
    assert effect.ratio.bounds is not None
    assert difference.ratio.bounds is not None
    assert effect.ratio.bounds.low == pytest.approx(difference.ratio.bounds.low, rel=1e-12)
    assert effect.smallest_effect == pytest.approx(difference.smallest_effect, rel=1e-12)
    assert effect.levels == ()


def test_single_trials_give_ratios_without_intervals() -> None:
    analysis = matrix_analysis(repetitions=1)
    assert {factor.verdict for factor in (*analysis.effects.factors, *analysis.effects.interactions)} == {"untestable"}
    assert all(factor.ratio.bounds is None for factor in analysis.effects.factors)
    assert analysis.effects.factors[0].ratio.value == pytest.approx(1.2**0.5 * 1.5**0.25, rel=0.02)


def test_a_study_that_stops_when_decided_has_intervals_that_allow_looking() -> None:
    fixed, looking = matrix_analysis(), matrix_analysis(at_any_look=True)
    for factor, other in zip(fixed.effects.factors, looking.effects.factors, strict=True):
        assert factor.ratio.value == pytest.approx(other.ratio.value, rel=1e-9)
        assert factor.ratio.bounds is not None
        assert other.ratio.bounds is not None
        assert other.ratio.bounds.high > factor.ratio.bounds.high
        assert "confidence sequence" in other.ratio.bounds.method


def test_systems_that_were_written_out_have_no_effects() -> None:
    trials = [
        trial
        for trial in matrix_trials()
        if trial.trial.system.factor_values == {"threads": "0", "scheduling": "other"}
    ]
    assert analyse("one system", trials).effects == Effects()


@pytest.mark.parametrize(
    ("rows", "mains", "crosses"),
    [
        (["a0 b0", "a0 b1", "a1 b0", "a1 b1"], [[-0.5, -0.5, 0.5, 0.5], [-0.5, 0.5, -0.5, 0.5]], [[1, -1, -1, 1]]),
        (["a0 b0", "a1 b0", "a0 b1"], [[-1, 1, 0], [-1, 0, 1]], []),
        (["a0 b0", "a1 b0", "a2 b0"], [[-1, 1, 0], [-1, 0, 1]], []),
        (["a0 b0", "a1 b1"], [], []),
    ],
)
def test_effects_compare_what_differs_in_one_factor_alone(
    rows: list[str], mains: list[list[float]], crosses: list[list[float]]
) -> None:
    matrix = matrix_of(values_of(rows))
    found = list(main_contrasts(matrix))
    assert [list(one.weights) for one in found] == mains
    assert not any(one.is_additive for one in found)
    assert [list(cross_contrast.weights) for cross_contrast in cross_contrasts(matrix)] == crosses


def test_half_a_matrix_gives_effects_that_assume_no_interactions() -> None:
    """Four of eight combinations, such that no two differ in one factor alone."""
    matrix = matrix_of(values_of(["a0 b0 c1", "a0 b1 c0", "a1 b0 c0", "a1 b1 c1"]))
    found = list(main_contrasts(matrix))
    assert all(one.is_additive for one in found)
    assert found[0].weights == pytest.approx([-0.5, -0.5, 0.5, 0.5])
    assert not list(cross_contrasts(matrix))


def test_missing_trials_leave_what_the_others_tell() -> None:
    random = np.random.default_rng(43)
    truth, repetitions = np.array([0.0, 0.3, 0.1]), random.normal(size=5)
    logs = truth[:, None] + repetitions + random.normal(scale=1e-3, size=(3, 5))
    logs[0, :3] = logs[2, 4] = np.nan
    table, weights = EffectTable(logs), np.array([-1.0, 1.0, 0.0])
    found = table.contrast(weights)
    assert found is not None
    assert found.value == pytest.approx(0.3, abs=0.005)
    assert found.variance.degrees == 15 - 4 - (3 + 5 - 1)
    assert table.mean(weights) == found.value


def test_systems_that_were_not_measured_alike_have_a_paired_test_of_their_own() -> None:
    """One system on another disk is ten times as noisy: what compares the others knows nothing of that."""
    random = np.random.default_rng(47)
    logs = random.normal(size=4) + random.normal(size=(3, 4)) * np.array([[0.01], [0.01], [0.1]])
    weights = np.array([-1.0, 1.0, 0.0])
    alike, own = EffectTable(logs).contrast(weights), EffectTable(logs, is_alike=False).contrast(weights)
    assert alike is not None
    assert own is not None
    differences = logs[1] - logs[0]
    assert own.value == pytest.approx(differences.mean())
    assert own.variance.variance == pytest.approx(differences.var(ddof=1) / 4)
    assert own.variance.degrees == 3
    assert alike.variance.variance > 3 * own.variance.variance


def test_systems_that_share_no_repetition_are_not_compared() -> None:
    logs = np.array([[0.0, 0.1, np.nan, np.nan], [np.nan, np.nan, 0.2, 0.3]])
    table, weights = EffectTable(logs), np.array([-1.0, 1.0])
    assert table.contrast(weights) is None
    assert table.mean(weights) is None


def test_capacities_have_effects_where_a_study_searched_for_them() -> None:
    names = {f"{a} {b}": {"threads": a, "scheduling": b} for a, b in product(*FACTORS.values())}
    searches = [
        SearchRecord(
            search_id=f"{name} {repetition}",
            system=name,
            workload="rw",
            repetition=repetition,
            is_finished=True,
            capacity=Capacity(
                capacity_tps=1000.0 * (1.3 if own["threads"] == "64" else 1.0) * (1 + 0.02 * repetition),
                objective=CapacityObjective(response_ms_p99=20),
            ),
        )
        for name, own in names.items()
        for repetition in range(3)
    ]
    systems = [SystemSummary(name=name, factor_values=own) for name, own in names.items()]
    found = main_effects([], capacities(searches), systems)
    effects, interactions = found.factors, found.interactions
    assert [effect.measure for effect in effects] == [EffectMeasure.CAPACITY] * 2
    assert effects[0].ratio.value == pytest.approx(1.3)
    assert effects[0].verdict == "faster"
    assert effects[1].ratio.bounds is not None, "repetitions agree, and still no search is surer than its last step"
    assert math.log(effects[1].ratio.bounds.high) > 0.003
    assert [interaction.verdict for interaction in interactions] == ["equal"]
