"""Hooks and the switching of environments while a study runs, as events."""

from __future__ import annotations

from typing import Literal

from plimsoll.record.document import Document
from plimsoll.record.hooks import HookResult


class HookBegan(Document):
    """A hook runs. `system` is None for a hook of the whole study."""

    type: Literal["hook_began"] = "hook_began"
    hook: str
    system: str | None = None
    limit_s: float


class HookEnded(Document):
    """A hook ended.

    Attributes:
        output: The last lines of what it wrote.
        message: What is wrong, as a sentence; None where it is done.
    """

    type: Literal["hook_ended"] = "hook_ended"
    hook: str
    system: str | None = None
    result: HookResult
    exit_code: int | None = None
    duration_s: float
    attempts_count: int
    output: str = ""
    message: str | None = None


class EnvironmentTurn(Document):
    """Trials of an environment are measured next; with `switch = "hand"` only those."""

    type: Literal["environment_turn"] = "environment_turn"
    environment: str
    trial_count: int
