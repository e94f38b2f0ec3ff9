"""Studies while they run: which servers there are, waiting for trials, ending a server under them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.run.events import IntervalEnded, TrialBegan, TrialEnded, read_events
from support.command import Running
from support.vanishing import PROC, content, names_in, processes, words_of
from support.waiting import until, where_grown

STEP_S = 0.1
"""Between two looks at all processes or all events of a study: each takes some milliseconds of a processor."""


def servers_below(folder: str) -> list[str]:
    """Command lines of processes that name the folder."""
    found = []
    for pid in processes():
        words = content(PROC / str(pid) / "cmdline").replace(b"\0", b" ").decode(errors="replace")
        if (f"{folder}/" in words or f"{folder} " in f"{words} ") and "pytest" not in words:
            found.append(words)
    return found


def is_running_server(words: str) -> bool:
    """A server that answers clients: no guardian, no initialisation of a data directory."""
    return "mariadbd" in words and not any(other in words for other in ("--bootstrap", "guardian", "install-db"))


def wait_until_gone(folder: str) -> None:
    def left() -> list[object]:
        return [*servers_below(folder), *names_in(Path(folder))]

    assert until(lambda: not left(), step_s=STEP_S), left()


def wait_for_load(study: Path, process: Running) -> None:
    """Waits until rows are loaded."""
    events = study / "events.jsonl"
    _wait_for(process, lambda: events.exists() and '"phase":"load"' in events.read_text(), "no rows are loaded")


def wait_for_trials(study: Path, count: int, process: Running) -> None:
    """Waits until so many trials are recorded and the next one runs."""

    def are_recorded() -> bool:
        events = [stamped.event for stamped in read_events(study / "events.jsonl")]
        ended = sum(isinstance(event, TrialEnded) for event in events)
        began = sum(isinstance(event, TrialBegan) for event in events)
        return ended >= count and began > ended

    _wait_for(process, where_grown(study / "events.jsonl", are_recorded), f"not {count} trials are recorded")


def wait_for_interval(study: Path, process: Running, index: int, *, trial: int = 1) -> None:
    """Waits until an interval of the study's first trial has ended, or of a later one."""

    def has_ended() -> bool:
        trials, found = 0, False
        for stamped in read_events(study / "events.jsonl"):
            trials += isinstance(stamped.event, TrialBegan)
            found |= trials == trial and isinstance(stamped.event, IntervalEnded) and stamped.event.index >= index
        return found

    _wait_for(process, where_grown(study / "events.jsonl", has_ended), "no such interval ended")


def _wait_for(process: Running, condition: Callable[[], bool], otherwise: str) -> None:
    """Waits for what a running study does; one that ends before says what it printed."""

    def is_so_while_it_runs() -> bool:
        if process.poll() is not None:
            pytest.fail(f"it ended with {process.returncode}: {process.communicate()}")
        return condition()

    assert until(is_so_while_it_runs), otherwise


def server_below(folder: str) -> int:
    """The process of a server whose option file lies below our own folder."""
    for pid in processes():
        words = words_of(pid)
        if words and words[0].endswith(b"mariadbd") and any(f"{folder}/".encode() in word for word in words):
            return pid
    raise AssertionError("no server runs")


def kill_server(folder: str) -> None:
    """Ends one server whose option file lies below our own folder."""
    os.kill(server_below(folder), signal.SIGKILL)
