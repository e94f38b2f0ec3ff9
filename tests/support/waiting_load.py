"""A load that waits in the server: it leaves the processors to others, however many connections run it."""

from __future__ import annotations

from pathlib import Path

NAME = "waiting.toml"
"""Of its file, beside the study file that names it."""

_TEXT = """
[[transaction]]
name = "wait"
[[transaction.statement]]
sql = "SELECT SLEEP({wait_s})"
"""


def write_waiting_load(folder: Path, *, wait_ms: float = 10) -> Path:
    """Writes the workload file. A connection completes at most 1,000 / `wait_ms` transactions a second of any server.

    Args:
        folder: Where to.
        wait_ms: How long each transaction waits in the server, milliseconds.
    """
    path = folder / NAME
    path.write_text(_TEXT.format(wait_s=wait_ms / 1e3))
    return path
