"""Why a step of a curve is steeper than its connections."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.analyse.cell_model import Cell, CpuShares
from plimsoll.analyse.scaling_fit import Levels
from plimsoll.analyse.scaling_model import SuperlinearReason
from plimsoll.analyse.superlinear import superlinear_steps
from plimsoll.record.environment import HostFacts
from plimsoll.record.level import Level
from support.analyses import estimate


@pytest.mark.parametrize(("others", "reason"), [(0.05, SuperlinearReason.BATCHING), (0.40, SuperlinearReason.OTHERS)])
def test_no_reason_is_given_where_others_took_the_processors(others: float, reason: SuperlinearReason) -> None:
    """Transactions took less processor time: batching, unless others kept the processors, and their caches, busy."""
    levels = Levels(
        connections=np.array([2.0, 4.0]),
        log_tps=np.log([100.0, 300.0]),
        weights=np.array([3.0, 3.0]),
        repetitions=3,
        residual=1e-4,
        degrees=4,
        between=0.0,
    )
    cells = [
        Cell(
            level=Level(connections=connections),
            throughput_tps=estimate(tps),
            cpu=CpuShares(idle=1 - server - others, server=server),
        )
        for connections, tps, server in ((2, 100.0, 0.2), (4, 300.0, 0.4))
    ]
    (step,) = superlinear_steps(cells, levels, HostFacts(cpu_threads=4))
    assert step.reason is reason
