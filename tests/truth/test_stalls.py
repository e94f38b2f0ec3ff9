"""How often a healthy run is called stalled, and whether a planted stall is found: made-up runs with known answers.

A run is made of connections that each run one transaction after the other, or of independent arrivals. The rule
promises less than one false call in a thousand runs for independent completions; other healthy runs have bounds here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from plimsoll.analyse.trial.histograms import SparseHistogram
from plimsoll.analyse.trial.stalls import SeenInterval, Stall, find_stalls
from support.made import bucket_of

Draw = Callable[[np.random.Generator], float]


def calls(counts: np.ndarray, service_s: list[float] | None = None, connections: int = 4) -> tuple[Stall, ...]:
    """What the rule finds in so many completed transactions per second."""
    seen = [SeenInterval(from_s=float(at), to_s=at + 1.0, completed=int(count)) for at, count in enumerate(counts)]
    return find_stalls(seen, _histogram(service_s) if service_s else None, connections)


def _histogram(service_s: list[float]) -> SparseHistogram:
    values = (np.array(service_s) * 1e9).astype(np.int64)
    buckets, counts = np.unique(bucket_of(values), return_counts=True)
    return SparseHistogram(buckets, counts, float(values.sum()), int(values.max()))


def closed_loop(
    random: np.random.Generator,
    connections: int,
    draw: Draw,
    seconds: int,
    hangs: tuple[tuple[float, float], ...] = (),
) -> tuple[np.ndarray, list[float]]:
    """Completed transactions per second, and how long each took. While the server hangs nothing goes on."""
    counts, service_s = np.zeros(seconds), []
    for _ in range(connections):
        at = 0.0
        while True:
            end = at + draw(random)
            for begin, over in hangs:
                if at < over and end > begin:
                    end += over - max(begin, at)
            if end >= seconds:
                break
            counts[int(end)] += 1
            service_s.append(end - at)
            at = end
    return counts, service_s


RATES_TPS = (0.1, 0.5, 1, 2, 4, 8, 20, 100)


def independent_stalled(rate_tps: float) -> dict[int, int]:
    """Of 1,000 runs of each length in seconds whose completions are independent: those that are called stalled."""
    random = np.random.default_rng(43)
    return {
        seconds: sum(bool(calls(random.poisson(rate_tps, seconds))) for _ in range(1_000)) for seconds in (6, 30, 120)
    }


@pytest.mark.parametrize("rate_tps", RATES_TPS)
def test_independent_completions_are_hardly_ever_called_stalled(rate_tps: float) -> None:
    found = independent_stalled(rate_tps)
    assert max(found.values()) <= 3, found


def test_a_noisy_throughput_is_not_called_stalled() -> None:
    """Seconds that differ by a half of their mean and resemble their neighbours, as those of a busy server."""
    random = np.random.default_rng(47)
    found = 0
    for _ in range(500):
        noise = np.zeros(60)
        for second in range(1, 60):
            noise[second] = 0.7 * noise[second - 1] + np.sqrt(1 - 0.7**2) * random.normal()
        found += bool(calls(800 * np.exp(0.5 * noise - 0.125)))
    assert found <= 1


def gamma(mean_s: float) -> Draw:
    return lambda random: float(random.gamma(3, mean_s / 3))


def mixed(quick_s: float, slow_s: float, slow_ratio: float) -> Draw:
    return lambda random: slow_s * random.normal(1, 0.05) if random.random() < slow_ratio else quick_s


HEALTHY: tuple[tuple[int, Draw], ...] = (
    (1, gamma(0.3)),
    (1, gamma(2.0)),
    (4, gamma(1.0)),
    (16, lambda random: 3 + 0.01 * random.normal()),  # all of them begin together, and end together
    (16, gamma(5.0)),
    (8, lambda random: float(random.lognormal(-1.5, 1))),
    (2, mixed(0.01, 4.0, 0.1)),  # nearly all of the time is spent in slow ones
    (4, mixed(0.01, 4.0, 0.1)),
    (16, mixed(0.01, 4.0, 0.1)),
)
"""Connections of closed loops, and how long their transactions take."""


def healthy_stalled(connections: int, draw: Draw) -> int:
    """Of 100 runs of a closed loop."""
    random = np.random.default_rng(53)
    runs = [closed_loop(random, connections, draw, 60) for _ in range(100)]
    return sum(bool(calls(counts, service_s, connections)) for counts, service_s in runs)


@pytest.mark.parametrize(("connections", "draw"), HEALTHY)
def test_healthy_closed_loops_are_hardly_ever_called_stalled(connections: int, draw: Draw) -> None:
    assert healthy_stalled(connections, draw) <= 2


@pytest.mark.parametrize("connections", [1, 4, 32])
@pytest.mark.parametrize("mean_s", [0.02, 0.05])
@pytest.mark.parametrize(
    ("seconds", "hangs"),
    [
        (12, ((6.0, 12.5),)),
        (12, ((2.4, 11.3),)),
        (60, ((10.2, 12.6),)),
        (60, ((10.2, 13.5), (30.1, 33.2), (50.5, 54.9))),
        (6, ((1.2, 4.9),)),
    ],
)
def test_a_server_that_hangs_is_found(
    connections: int, mean_s: float, seconds: int, hangs: tuple[tuple[float, float], ...]
) -> None:
    random = np.random.default_rng(59)
    for _ in range(3):
        counts, service_s = closed_loop(random, connections, gamma(mean_s), seconds, hangs)
        found = calls(counts, service_s, connections)
        whole = [(np.ceil(begin), min(np.floor(over), seconds)) for begin, over in hangs]
        assert len(found) == len(hangs), (counts, found)
        for stall, (begin, over) in zip(found, whole, strict=True):
            # The seconds in which it begins and ends may be as good as empty.
            assert stall.from_s in (begin - 1, begin)
            assert stall.to_s in (over, over + 1)


def test_one_stall_that_caught_every_connection_is_no_coincidence_of_slow_transactions() -> None:
    """Both connections spend five of six seconds in a slow transaction: the stall itself, once each."""
    random = np.random.default_rng(59)
    counts, service_s = closed_loop(random, 2, lambda one: one.exponential(0.01), 7, hangs=((0.9, 6.1),))
    assert [stall.length_s for stall in calls(counts, service_s, connections=2)] == [5.0]
