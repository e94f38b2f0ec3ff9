"""A made-up study of a matrix of two factors: the one helps, and only with the other; as recordings and as analysis."""

from __future__ import annotations

import numpy as np

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis
from support.made import Made, measured

FACTORS = {"threads": ("0", "64"), "scheduling": ("other", "fifo:10")}
CONNECTIONS = (4, 64)


def matrix_trials(*, repetitions: int = 4, noise: float = 0.004) -> list[Made]:
    """Threads 64 help by a fifth at 64 connections, and by another half with fifo:10; at 4 connections nothing does."""
    random = np.random.default_rng(41)
    found = []
    for threads in FACTORS["threads"]:
        for scheduling in FACTORS["scheduling"]:
            for repetition in range(repetitions):
                hour = np.random.default_rng(repetition).normal(scale=0.03)
                for connections in CONNECTIONS:
                    helps = (1.2 * (1.5 if scheduling == "fifo:10" else 1.0)) if threads == "64" else 1.0
                    tps = 1000.0 * (helps if connections == 64 else 1.0) * np.exp(hour + random.normal(scale=noise))
                    found.append(
                        measured(
                            np.round(tps * (1 + random.normal(scale=0.002, size=10))),
                            system=f"MariaDB, threads {threads}, scheduling {scheduling}",
                            factors={"server": "mariadb", "innodb_thread_concurrency": threads},
                            factor_values={"threads": threads, "scheduling": scheduling},
                            connections=connections,
                            repetition=repetition,
                        )
                    )
    return found


def matrix_analysis(*, at_any_look: bool = False, repetitions: int = 4) -> Analysis:
    """The analysis of such a study."""
    return analyse("matrix", matrix_trials(repetitions=repetitions), at_any_look=at_any_look)
