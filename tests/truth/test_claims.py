"""Verdicts on earlier findings where the truth is planted: no more wrong ones than the docs allow."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.study.curve_model import ClaimVerdict
from plimsoll.spec.claims import ClaimSpec
from support.endure import draws
from support.made import measured

FLAT = {1: 996.0, 2: 1000.0, 4: 998.0, 8: 997.0, 16: 990.0}
"""Noise chooses the highest of these; the truth is 2."""
STEEP = {1: 300.0, 2: 560.0, 4: 1000.0, 8: 800.0, 16: 500.0}
"""The truth is 4."""

TRUE = [
    {"peak_connections": [2, 2]},
    {"system": "b", "base": "a", "ratio": [1.0, 1.25], "connections": 4},
    {"connections": 16, "scale_factor": [0.9, 0.995]},
]
FALSE = [
    {"peak_connections": [4, 16]},
    {"system": "b", "base": "a", "ratio": [1.201, 1.4], "connections": 4},
    {"connections": 16, "scale_factor": [0.995, 1.1]},
]


def verdicts(
    curve: dict[int, float],
    claims: list[dict[str, object]],
    *,
    repetitions: int,
    noise: float = 0.03,
    studies: int,
) -> list[Counter[ClaimVerdict]]:
    """Of each claim over all studies; system b has 1.2 times as much as a."""
    chance = np.random.default_rng(5)
    named = {"says": "so", "workload": "read-write", "system": "a"}
    written = [ClaimSpec.model_validate(named | claim) for claim in claims]
    found: list[Counter[ClaimVerdict]] = [Counter() for _ in claims]
    for _ in range(studies):
        recordings = [
            measured(
                tps * factor * np.exp(chance.normal(0, noise)) * chance.normal(1, 0.01, 6),
                system=system,
                connections=connections,
                repetition=repetition,
            )
            for system, factor in (("a", 1.0), ("b", 1.2))
            for connections, tps in curve.items()
            for repetition in range(repetitions)
        ]
        for counter, claim in zip(found, analyse("made", recordings, claims=written).claims, strict=True):
            counter[claim.verdict] += 1
    return found


@pytest.mark.parametrize("curve", [FLAT, STEEP])
def test_one_repetition_confirms_and_contradicts_nothing(curve: dict[int, float]) -> None:
    for counter in verdicts(curve, TRUE + FALSE, repetitions=1, studies=draws(5, 10)):
        assert set(counter) == {ClaimVerdict.NOT_RESOLVED}


def test_repetitions_give_few_wrong_verdicts() -> None:
    studies = draws(20, 40)
    wrong = [ClaimVerdict.DOES_NOT_SHOW] * len(TRUE) + [ClaimVerdict.SHOWS] * len(FALSE)
    found = verdicts(FLAT, TRUE + FALSE, repetitions=3, studies=studies)
    for claim, verdict, counter in zip(TRUE + FALSE, wrong, found, strict=True):
        assert counter[verdict] <= 0.05 * studies + 2 * (0.05 * 0.95 * studies) ** 0.5, (claim, counter)


def test_repetitions_decide_what_is_plain() -> None:
    claims: list[dict[str, object]] = [{"peak_connections": [4, 4]}, {"peak_connections": [1, 2]}]
    true, false = verdicts(STEEP, claims, repetitions=3, noise=0.01, studies=10)
    assert (true, false) == ({ClaimVerdict.SHOWS: 10}, {ClaimVerdict.DOES_NOT_SHOW: 10})
