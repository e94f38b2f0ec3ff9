"""Studies while they run: which servers there are, waiting for trials, ending a server under them."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from plimsoll.run.events import TrialBegan, TrialEnded, read_events
from support.waiting import until


def servers_below(folder: str) -> list[str]:
    """Command lines of processes that name the folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if folder in words and "pytest" not in words:
            found.append(words)
    return found


def is_running_server(words: str) -> bool:
    """A server that answers clients: no guardian, no initialisation of a data directory."""
    return "mariadbd" in words and not any(other in words for other in ("--bootstrap", "guardian", "install-db"))


def wait_until_gone(folder: str, limit_s: float) -> None:
    def left() -> list[object]:
        return [*servers_below(folder), *(Path(folder).iterdir() if Path(folder).exists() else ())]

    assert until(lambda: not left(), limit_s), left()


def wait_for_trials(study: Path, count: int, process: subprocess.Popen[str]) -> None:
    """Waits until so many trials are recorded and the next one runs."""

    def are_recorded() -> bool:
        assert process.poll() is None, process.communicate()
        events = [stamped.event for stamped in read_events(study / "events.jsonl")]
        ended = sum(isinstance(event, TrialEnded) for event in events)
        began = sum(isinstance(event, TrialBegan) for event in events)
        return ended >= count and began > ended

    assert until(are_recorded, 100)


def kill_server(folder: str) -> None:
    """Ends one server whose option file lies below our own folder."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"mariadbd") and any(folder.encode() in word for word in words):
            os.kill(int(path.name), signal.SIGKILL)
            return
