"""Charts drawn in a process of their own: the library that draws holds the interpreter meanwhile, and starts slowly.

So pages and further charts are made while charts are drawn. Charts go there as JSON, a line each, and come back as SVG
in the same order. The process reads nothing else, writes nothing else, and ends with its pipe.
Deliberately not here: what a chart shows (`charts`), and how a drawing becomes part of a page (`figures`).
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import Future
from functools import cache
from typing import IO, Any


def start_drawing() -> None:
    """Starts the process, where this one has none yet, before there is something to draw."""
    _drawer(os.getpid())


def drawn(spec: dict[str, Any], vega_lite: str) -> Future[str]:
    """A chart as SVG, once it is drawn; what cannot be drawn raises RuntimeError there.

    Args:
        spec: The chart, as Vega-Lite.
        vega_lite: The version of Vega-Lite that it is for, such as `6.1`.
    """
    return _drawer(os.getpid()).draw({"spec": spec, "vega_lite": vega_lite})


class _Drawer:
    """This process's end of the pipe."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "plimsoll.guide.drawer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._asked: deque[Future[str]] = deque()
        self._order = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        atexit.register(self._end)

    def draw(self, request: dict[str, Any]) -> Future[str]:
        future: Future[str] = Future()
        line = json.dumps(request, allow_nan=False).encode() + b"\n"
        with self._order:
            self._asked.append(future)
            try:
                _pipe(self._process.stdin).write(line)
                _pipe(self._process.stdin).flush()
            except BrokenPipeError:  # it has ended, and perhaps nobody reads what is asked any more
                if not future.done():
                    future.set_exception(RuntimeError("the process that draws charts has ended"))
        return future

    def _read(self) -> None:
        for line in _pipe(self._process.stdout):
            if not line.endswith(b"\n"):  # it ended while it wrote
                break
            answer = json.loads(line)
            if "fault" in answer:
                self._asked.popleft().set_exception(RuntimeError(answer["fault"]))
            else:
                self._asked.popleft().set_result(answer["svg"])
        with self._order:
            while self._asked:
                future = self._asked.popleft()
                if not future.done():
                    future.set_exception(RuntimeError("the process that draws charts has ended"))

    def _end(self) -> None:
        """It has nothing to put in order."""
        self._process.kill()
        self._reader.join()
        with contextlib.suppress(BrokenPipeError), self._process:
            pass


@cache
def _drawer(_process_id: int) -> _Drawer:
    """That of this process: one that was forked from it has its own."""
    return _Drawer()


def _pipe(end: IO[bytes] | None) -> IO[bytes]:
    assert end is not None, "asked for when it was started"
    return end


def _serve() -> None:
    """Draws what comes, until nothing more can come. The first drawing, which takes longest, is of nothing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks; this one ends with it
    draw_nothing()
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(json.dumps(answer_to(json.loads(line))).encode() + b"\n")
        sys.stdout.buffer.flush()


def draw_nothing() -> None:
    """Makes this process one that draws: its first drawing takes longest."""
    import vl_convert

    vl_convert.vegalite_to_svg({"data": {"values": []}, "mark": "point"})


def answer_to(request: dict[str, Any]) -> dict[str, str]:
    """Draws here what `drawn` asks for: the chart as `svg`, or why it cannot be drawn as `fault`."""
    import vl_convert

    try:
        return {"svg": str(vl_convert.vegalite_to_svg(request["spec"], vl_version=request["vega_lite"]))}
    except ValueError as error:
        return {"fault": str(error)}


if __name__ == "__main__":
    _serve()
