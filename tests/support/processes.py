"""Whether processes are there. One that only waits to be reaped is not: whoever inherits it may take its time."""

from __future__ import annotations

from pathlib import Path


def exists(pid: int) -> bool:
    return _state_and_group(pid)[0] not in ("", "Z")


def group_exists(number: int) -> bool:
    """Whether a process group has a process."""
    pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal())
    return any(state not in ("", "Z") and group == number for state, group in map(_state_and_group, pids))


def _state_and_group(pid: int) -> tuple[str, int]:
    """An empty state where it is gone."""
    try:
        state, _, group = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:3]
    except OSError:
        return "", 0
    return state, int(group)
