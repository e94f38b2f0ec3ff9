"""Waiting for what becomes true, in place of a guess at how long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def until(condition: Callable[[], bool], limit_s: float = 300, *, step_s: float = 0.02) -> bool:
    """Whether a condition becomes true within a limit, which no busy machine reaches: asked again and again."""
    end_s = time.monotonic() + limit_s
    while time.monotonic() < end_s:
        if condition():
            return True
        time.sleep(step_s)
    return condition()


def where_grown(file: Path, condition: Callable[[], bool]) -> Callable[[], bool]:
    """For `until`: a condition that follows from a file to which lines are added, asked only when there are new ones.

    Reading the events of a study takes longer than the steps between two looks, on a processor that the study needs.
    """
    size_seen = -1

    def is_so() -> bool:
        nonlocal size_seen
        size_before, size_seen = size_seen, file.stat().st_size if file.exists() else 0
        return size_seen != size_before and condition()

    return is_so
