"""Why a step of a curve is steeper than its connections."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.analyse.explain.scalability import superlinear_steps
from plimsoll.analyse.explain.scaling_model import SuperlinearReason
from plimsoll.analyse.study.cell_model import Cell, CpuShares
from plimsoll.record.environment import HostFacts
from plimsoll.record.level import Level
from plimsoll.stats.scaling_laws import Levels
from support.analyses import estimate


def reason(
    low: CpuShares, high: CpuShares, *, tps: tuple[float, float] = (100.0, 300.0), cpus: int | None = 4
) -> SuperlinearReason:
    """Of a step from 2 to 4 connections at which throughput rose threefold."""
    levels = Levels(
        connections=np.array([2.0, 4.0]),
        log_tps=np.log(tps),
        weights=np.array([3.0, 3.0]),
        repetitions=3,
        residual=1e-4,
        degrees=4,
        between=0.0,
    )
    cells = [
        Cell(level=Level(connections=connections), throughput_tps=estimate(rate), cpu=cpu)
        for connections, rate, cpu in zip((2, 4), tps, (low, high), strict=True)
    ]
    (step,) = superlinear_steps(cells, levels, HostFacts(cpu_threads=cpus))
    return step.reason


@pytest.mark.parametrize(("others", "expected"), [(0.05, SuperlinearReason.BATCHING), (0.40, SuperlinearReason.OTHERS)])
def test_no_reason_is_given_where_others_took_the_processors(others: float, expected: SuperlinearReason) -> None:
    """Transactions took less processor time: batching, unless others kept the processors, and their caches, busy."""
    low, high = (CpuShares(idle=1 - server - others, server=server) for server in (0.2, 0.4))
    assert reason(low, high) is expected


@pytest.mark.parametrize(
    ("idle", "server_after", "expected"),
    [
        (0.80, 0.60, SuperlinearReason.IDLE_STATES),  # as much processor time each, and CPUs that had to wake
        (0.80, 0.58, SuperlinearReason.IDLE_STATES),  # 3 % less is not batching
        (0.80, 0.55, SuperlinearReason.BATCHING),
        (0.80, 0.75, SuperlinearReason.IDLE_STATES),  # dearer ones are no batching either
        (0.20, 0.60, SuperlinearReason.UNKNOWN),  # the CPUs had no time to sleep
    ],
)
def test_idle_processors_are_the_reason_where_transactions_cost_as_much(
    idle: float, server_after: float, expected: SuperlinearReason
) -> None:
    """At the lower level the server takes 0.2 of the processors, and the client what is not idle besides."""
    low = CpuShares(idle=idle, server=0.2, client=0.8 - idle)
    assert reason(low, CpuShares(idle=0.1, server=server_after, client=0.9 - server_after)) is expected


@pytest.mark.parametrize("shares", [CpuShares(), CpuShares(idle=0.8), CpuShares(server=0.2)])
def test_without_processor_time_of_the_server_or_idle_time_there_is_no_reason(shares: CpuShares) -> None:
    assert reason(shares, shares.model_copy(update={"server": shares.server and 0.6})) is SuperlinearReason.UNKNOWN


def test_without_the_number_of_processors_there_is_no_reason() -> None:
    low, high = CpuShares(idle=0.8, server=0.2), CpuShares(idle=0.4, server=0.6)
    assert (reason(low, high), reason(low, high, cpus=None)) == (
        SuperlinearReason.IDLE_STATES,
        SuperlinearReason.UNKNOWN,
    )
