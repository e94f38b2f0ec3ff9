"""The made-up analysis of a study in which a server stalled."""

from __future__ import annotations

from plimsoll.analyse.model import Analysis
from support.analyses import measured_analysis


def stalled_analysis() -> Analysis:
    """That of `analyses`; at its last level the first curve stalled, and what had not ended makes lower bounds."""
    analysis = measured_analysis()
    first, *others = analysis.curves
    cell = first.cells[-1]
    times = cell.response_ms.model_copy(update={"lower_bounds": ("p99", "p999", "max", "mean")})
    cell = cell.model_copy(update={"response_ms": times, "stalled_ratio": 0.5, "unfinished_count": 32})
    first = first.model_copy(update={"cells": (*first.cells[:-1], cell)})
    return analysis.model_copy(update={"curves": (first, *others)})
