"""Who must act when an engine says nothing more: told from how it ended, or from what it still does.

Deliberately not here: what an engine says itself (`engine`).
"""

from __future__ import annotations

import signal
from pathlib import Path

from plimsoll.errors import EngineBugError, HostError, PlimsollError, TargetError

_FROM_OUTSIDE = frozenset(
    {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU, signal.SIGXFSZ}
)
"""Signals by which somebody else ends a process: a person, a limit, or the kernel when memory runs out."""

_INTERRUPTED = 130
_SERVER_LOST = 2013


def ended(what: str, code: int | None, last_words: str) -> PlimsollError:
    """What the end of an engine's messages means.

    Args:
        what: What it did instead of going on, such as "ended without a last message".
        code: Its exit code, negative when a signal ended it; None while it still runs.
        last_words: The end of what it wrote to standard error.
    """
    said = f": {last_words}" if last_words else ""
    if code is not None and -code in _FROM_OUTSIDE:
        name = signal.Signals(-code).name
        cause = " (the kernel does so when memory runs out; see dmesg)" if name == "SIGKILL" else ""
        return HostError(f"plimsoll-engine was ended by {name}{cause}; run the same command again{said}")
    if code == _INTERRUPTED:
        return HostError(f"plimsoll-engine was interrupted by a signal; run the same command again{said}")
    exit_code = "" if code is None else f", exit code {code}"
    return EngineBugError(f"plimsoll-engine {what}{exit_code}{said}")


def silent(pid: int, limit_s: float, *, waits_for_server: bool) -> PlimsollError:
    """What it means that a running engine has said nothing for so long.

    Args:
        pid: Its process id.
        limit_s: For how long.
        waits_for_server: It looks at a server just now, which is the one thing that it does without a word.
    """
    if _is_stopped(pid):
        return HostError(f"plimsoll-engine {pid} is stopped by a signal or a debugger; let it go on: kill -CONT {pid}")
    if not waits_for_server:
        return EngineBugError(f"plimsoll-engine said nothing for {limit_s:.0f} s")
    return TargetError(
        f"the server has not answered for {limit_s:.0f} s while it was asked for its tables and limits: it hangs, or"
        " another connection holds a lock on a table; SHOW FULL PROCESSLIST on the server tells which",
        code=_SERVER_LOST,
    )


def _is_stopped(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in {"T", "t"}
    except OSError:
        return False
