"""The tables of docs/evidence.md on trends: what is called a step in histories with a planted truth.

Deliberately not here: the simulations themselves (`tests/truth/test_trend.py`).
"""

from __future__ import annotations

import math

import numpy as np
from evidence_tables import basis, percent, results, share, table, whole
from tests.truth import test_trend as trend

from plimsoll.analyse.answers.compare_model import GateOutcome
from plimsoll.stats.level_shifts import ShiftKind

PEERS = 100
"""Histories that other methods are tried on."""


def trend_steps() -> str:
    """Histories with and without a step: what is called a step, beside other methods."""
    worlds = {f"no step, {words}": world for words, world in {**trend.STILL, **trend.REMEMBERING}.items()}
    worlds |= {
        "4 % slower in the newest 20": trend.STEPPED,
        "4 % slower in the newest 5": trend.stepped(trend._even, age=5),
        "8 % slower in the newest 5": trend.stepped(trend._even, 0.08, 5),
        "8 % slower in 10 in the middle": trend.spell(10),
        **{
            f"newest third: {share:.0%} slowed by 5 to 15 %".replace("%", " %", 1): trend.slowed_since(share)
            for share in (0.3, 0.5, 0.7)
        },
        **{f"drift of {100 * change:.0f} %": trend.drifting(change) for change in (0.04, 0.08, 0.16)},
    }
    rows = []
    for words, world in worlds.items():
        peers = np.random.default_rng(5)
        e_divisive = [trend.e_divisive_finds(values, peers) for values in trend.logs(world, count=PEERS)]
        pelt = [trend.pelt_finds(values) for values in trend.logs(world, count=PEERS)]
        any_step, lasting = trend.share_with(world), trend.share_with(world, ShiftKind.LASTING)
        rows.append((words, percent(any_step), percent(lasting), whole(share(e_divisive)), whole(share(pelt))))
    header = [f"{trend.STUDIES} studies", "any step", "a lasting step", "E-divisive: any", "PELT, AR(1): any"]
    return table(header, rows) + basis(
        f"{trend.HISTORIES} histories for each row, {PEERS} of them for the other methods",
        "seed 91",
        "truth/test_trend",
    )


def trend_answers() -> str:
    """What is said of steps, and what rules come to."""
    sizes, begins = trend.shares_covered()
    figures = {
        "step of 4 % in the newest 20 of 60 studies: its 95 % CI covers": percent(sizes),
        "the same: its set of studies has the one that began it": percent(begins),
        **{
            f"detectable step of {size} studies, where it is planted: found": percent(
                trend.share_of_detectable_found(size)
            )
            for size in (30, 60)
        },
        "the same after a step of 20 % 30 studies ago: found": percent(trend.share_of_detectable_found_after_a_step()),
    }
    gates = {
        "no step": trend._even,
        "no step, one study of five slowed": trend.STILL["one study of five slowed by 5 to 20 %"],
        **{
            f"newest {age}: {100 * change:.0f} % slower": trend.stepped(trend._even, -math.log1p(-change), age)
            for change in (0.05, 0.1, 0.2)
            for age in (1, 3, 4, 5)
        },
    }
    rows = [
        (words, *(whole(trend.gate_shares(world)[outcome]) for outcome in GateOutcome))
        for words, world in gates.items()
    ]
    header = ["`--fail-if slower:5%`, 60 studies", *(outcome.value for outcome in GateOutcome)]
    return (
        results(figures)
        + "\n"
        + table(header, rows)
        + basis(f"{trend.HISTORIES} histories for each figure", "seed 91", "truth/test_trend")
    )
