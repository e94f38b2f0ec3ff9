"""Signals that ask a run to end: Ctrl-C, SIGTERM and SIGHUP, alike. The first ends it; cleaning up is not interrupted.

A signal that was ignored when Plimsoll began stays ignored: under `nohup` a run outlives its terminal. Deliberately not
here: what a run does when it is asked to end.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, TypeAlias

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AGAIN_S = 0.01
"""An interruption that would be lost is tried again so soon."""

Handler: TypeAlias = Callable[[int, FrameType | None], Any]


def interrupt_once() -> None:
    """Lets the first signal interrupt what runs, as a command line wants it."""
    _install(interrupt)


def interrupt(number: int, frame: FrameType | None) -> None:
    """The handler of a command line: raises KeyboardInterrupt once. Whatever runs after that cleans up."""
    if _would_be_lost(frame):
        signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(number))
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        return
    ignore_further()
    say_at_once("stopping; waits until all that it started has ended and is removed")
    raise KeyboardInterrupt


def _would_be_lost(frame: FrameType | None) -> bool:
    """Whether what is raised here is dropped, or becomes another error: in imports, and while objects are removed.

    The machinery of imports drops what is raised in the callbacks of its locks, and a model that is being made calls it
    an error of its schema.
    """
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith("<frozen importlib") or code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


def ignore_further() -> None:
    """Lets further signals change nothing.

    They are handled and not set to be ignored: programs that are started from here on would inherit that.
    """
    _install(_say_that_it_ends)


@contextmanager
def handled_by(handler: Handler) -> Iterator[Mapping[signal.Signals, Any]]:
    """Has signals handled by a function; gives the handlers that they had. For the main thread only.

    At the end they are set back, unless somebody else has changed them meanwhile.
    """
    before: dict[signal.Signals, Any] = {number: signal.getsignal(number) for number in SIGNALS}
    _install(handler)
    try:
        yield before
    finally:
        for number, earlier in before.items():
            if signal.getsignal(number) == handler:
                signal.signal(number, earlier)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Lets a short step come to its end, such as starting a process or removing a folder, before it is interrupted.

    The interruption is raised as the block is left, so the caller's `finally` stands around the block.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # interruptions are raised in the main thread only
        return
    waiting: list[int] = []
    with handled_by(lambda came, _frame: waiting.append(came)):
        yield
    for came in waiting[:1]:
        signal.raise_signal(came)


def _install(handler: Handler) -> None:
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _say_that_it_ends(_number: int, _frame: FrameType | None) -> None:
    say_at_once("is ending already, and cleans up first")


def say_at_once(text: str) -> None:
    """Says a line on standard error, also from the handler of a signal, whatever it interrupted."""
    with suppress(OSError):
        os.write(2, f"\nplimsoll: {text}\n".encode())
