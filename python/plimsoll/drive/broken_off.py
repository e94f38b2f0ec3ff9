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
_SSH_FAILED = 255
NODE_LOST = 254
"""Exit code for an engine on a node of a Ray cluster: the node was lost, or could not start it; its last words say."""

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


def unreached(code: int | None, last_words: str) -> HostError | None:
    """What the end of `ssh` or of a node means that was to lead to an engine; None where the engine itself ended so.

    Args:
        code: Its exit code; None while it still runs.
        last_words: The end of what it wrote to standard error.
    """
    if code == _SSH_FAILED:
        said = last_words or "ssh: the connection ended"
        return HostError(f"{said}; check that ssh to that host asks nothing and stays connected")
    if code == NODE_LOST:
        return HostError(last_words or "Ray: the connection to the cluster was lost; run the same command again")
    return None


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
