"""Two systems that were searched once each, by what is said of them: on equal servers, and on planted differences.

Searches vary by more than their runs show where runs of a server differ, or its starts: both are in the worlds.
All pairs of a few searches of each world are compared; pairs that share a search are worth less than others, so bounds
are those of as many pairs as there are without a search in common.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from tests.truth.test_capacity import FIRST_SEED, WORLDS, never_quiet, searched

from plimsoll.analyse.study.capacities import capacities, capacity_ratios
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.record.capacity import SearchRecord
from support.endure import draws, in_endure, slack

SEARCHES = draws(20, 80)
CHOSEN = ("steady", "autocorrelated", "runs-differ-3", "stalls-100")
ONE_SIDED = (RatioVerdict.FASTER, RatioVerdict.SLOWER)


@cache
def search(world_name: str, system: str, speed: float, seed: int, start_noise: float) -> SearchRecord:
    """One search of a server that is so many times as fast as its world's; each start of it has a speed of its own."""
    world = WORLDS[world_name]
    start = float(np.exp(np.random.default_rng(seed).normal(0.0, start_noise)))
    server = replace(world.server, speed_tps=world.server.speed_tps * speed * start)
    capacity = searched(replace(world, server=server), seed)
    return SearchRecord(search_id=f"{system}{seed}", system=system, workload="w", is_finished=True, capacity=capacity)


def verdicts(found: list[SearchRecord]) -> list[str]:
    return [capacity_ratio.verdict for capacity_ratio in capacity_ratios(capacities(found))]


def is_named(pair: tuple[SearchRecord, SearchRecord]) -> bool:
    """Whether one of them is called faster."""
    return any(verdict in ONE_SIDED for verdict in verdicts(list(pair)))


def share_named(name: str, start_noise: float, count: int) -> float:
    """Of pairs of equal servers."""
    records = [search(name, f"s{number}", 1.0, 70_000 + number, start_noise) for number in range(2 * count)]
    return float(np.mean([is_named((records[2 * number], records[2 * number + 1])) for number in range(count)]))


def equal_servers(name: str, start_noise: float) -> list[SearchRecord]:
    """Searches of servers that are equally fast but for what their starts differ by."""
    return [search(name, f"s{number}", 1.0, 70_000 + number, start_noise) for number in range(SEARCHES)]


@pytest.mark.parametrize("start_noise", [in_endure(0.0), 0.03])
@pytest.mark.parametrize("name", ["autocorrelated", "runs-differ-3", in_endure("steady"), in_endure("stalls-100")])
def test_of_equal_servers_hardly_ever_one_is_named(name: str, start_noise: float) -> None:
    named = [is_named(pair) for pair in combinations(equal_servers(name, start_noise), 2)]
    assert np.mean(named) <= 0.05 + slack(0.05, SEARCHES // 2)


def test_of_eight_equal_servers_hardly_ever_one_is_named() -> None:
    """All pairs of the same records are used again in other studies: fewer searches, the same expectation."""
    records = equal_servers("runs-differ-3", 0.03)
    chance = np.random.default_rng(3)
    named = []
    for _ in range(100):
        chosen = chance.choice(len(records), 8, replace=False)
        named.append(any(verdict in ONE_SIDED for verdict in verdicts([records[index] for index in chosen])))
    assert np.mean(named) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)


def unlike_servers(name: str) -> list[tuple[SearchRecord, SearchRecord]]:
    """All pairs of searches of a server and of another that is faster by a quarter."""
    base, faster = (
        [search(name, system, speed, first_seed + number, 0.01) for number in range(SEARCHES // 4)]
        for system, speed, first_seed in (("a", 1.0, 90_000), ("b", 1.25, 95_000))
    )
    return list(product(base, faster))


@pytest.mark.parametrize(("name", "least"), [in_endure("steady", 0.9), ("autocorrelated", 0.8), ("stalls-100", 0.5)])
def test_a_quarter_more_is_mostly_found(name: str, least: float) -> None:
    found = [verdicts(list(pair)) for pair in unlike_servers(name)]
    assert np.mean([one == [RatioVerdict.FASTER] for one in found]) >= least


def test_a_search_on_a_machine_that_is_never_quiet_loses_to_none() -> None:
    """Busy beside one of two equal servers all the time: it has no capacity, so that nothing is compared."""
    world, system = WORLDS["autocorrelated"], {"system": "b", "workload": "w", "is_finished": True}
    for seed in range(FIRST_SEED, FIRST_SEED + SEARCHES // 8):
        disturbed = searched(world, seed, never_quiet(seed), sees=True)
        record = SearchRecord(search_id=f"b{seed}", capacity=disturbed, **system)
        assert verdicts([search("autocorrelated", "a", 1.0, seed, 0.0), record]) == []


def test_the_interval_of_the_ratio_holds_it() -> None:
    bounds = [capacity_ratios(capacities(list(pair)))[0].ratio.bounds for pair in unlike_servers("autocorrelated")]
    assert np.mean([known is not None and known.low <= 1.25 <= known.high for known in bounds]) >= 0.95
