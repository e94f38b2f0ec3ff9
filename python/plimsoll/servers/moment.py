"""What this machine does at this moment, before any load of ours: busy processors, steal, swapping.

Deliberately not here: the same over time during a trial (package `telemetry`).
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path

from plimsoll.analyse.readiness.model import Moment

SAMPLE_S = 0.5
_STEAL = 7
_IDLE = (3, 4)
_TIMES = 8
"""user, nice, system, idle, iowait, irq, softirq, steal; guest time counts as user time already (proc(5))."""


def machine_moment(
    *, proc: Path = Path("/proc"), sample_s: float = SAMPLE_S, sleep: Callable[[float], None] = time.sleep
) -> Moment | None:
    """How busy the machine is while this process waits; None where the kernel does not say.

    Args:
        proc: Where the kernel shows processes; another folder in tests.
        sample_s: How long to look, seconds.
        sleep: Waits so long.
    """
    before = _cpu_times(proc)
    sleep(sample_s)
    after = _cpu_times(proc)
    if before is None or after is None:
        return None
    spent = [late - early for early, late in zip(before, after, strict=True)]
    total = sum(spent)
    if total <= 0:
        return None
    return Moment(
        steal_ratio=spent[_STEAL] / total,
        busy_ratio=1 - sum(spent[place] for place in (*_IDLE, _STEAL)) / total,
        sample_s=sample_s,
        steal_ratio_since_boot=before[_STEAL] / max(sum(before), 1),
    )


def _cpu_times(proc: Path) -> list[int] | None:
    """Ticks of all processors together since the machine began, in the order of the kernel."""
    try:
        words = (proc / "stat").read_text(encoding="utf-8", errors="replace").split("\n", 1)[0].split()
    except OSError:
        return None
    known = words[: _TIMES + 1]
    if len(known) <= _TIMES or known[0] != "cpu" or not all(word.isdigit() for word in known[1:]):
        return None
    return [int(word) for word in known[1:]]


def open_files_max() -> int | None:
    """How many files a process of this user may have open at most; None where that is not limited."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if hard == resource.RLIM_INFINITY else hard
