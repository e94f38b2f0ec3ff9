"""Waiting for what becomes true, in place of a guess at how long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(condition: Callable[[], bool], limit_s: float = 300, *, step_s: float = 0.02) -> bool:
    """Whether a condition becomes true within a limit, which no busy machine reaches: asked again and again."""
    end_s = time.monotonic() + limit_s
    while time.monotonic() < end_s:
        if condition():
            return True
        time.sleep(step_s)
    return condition()
