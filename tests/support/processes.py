"""Whether processes are there. One that only waits to be reaped is not: whoever inherits it may take its time."""

from __future__ import annotations

from support.vanishing import PROC, processes, stat


def exists(pid: int) -> bool:
    return _state_and_group(pid)[0] not in ("", "Z")


def group_exists(number: int) -> bool:
    """Whether a process group has a process."""
    return any(state not in ("", "Z") and group == number for state, group in map(_state_and_group, processes()))


def _state_and_group(pid: int) -> tuple[str, int]:
    """An empty state where it is gone."""
    state, _, group = stat(PROC / str(pid))[:3] or ("", "", "0")
    return state, int(group)
