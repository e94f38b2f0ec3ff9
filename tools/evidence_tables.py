"""How the tables of docs/evidence.md are written: rows, shares, and what they rest on."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

WIDTH = 120
"""Columns of prose."""


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def results(shown: Mapping[str, str], heading: str = "Result") -> str:
    """A table of what was simulated and what came of it."""
    return table(["What", heading], shown.items())


def basis(draws: str, seeds: str, *tests: str) -> str:
    """What a table rests on."""
    files = ", ".join(f"`tests/{test}.py`" for test in tests)
    text = f"{draws}; {seeds}. {'Tests' if len(tests) > 1 else 'Test'}: {files}."
    return "\n" + textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"


def percent(*shares: float, digits: int = 1) -> str:
    """A share, or the range of several."""
    low, high = f"{100 * min(shares):.{digits}f}", f"{100 * max(shares):.{digits}f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


def whole(*shares: float) -> str:
    """The same in whole percent."""
    return percent(*shares, digits=0)


def share(of: Iterable[bool]) -> float:
    """How many of them hold."""
    return float(np.mean(list(of)))
