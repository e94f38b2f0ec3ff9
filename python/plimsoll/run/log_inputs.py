"""Logs as the engine reads them: plain files as they are, compressed ones and standard input through named pipes.

Deliberately not here: how files are decompressed (`decompression`), and what is in a log.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from plimsoll.errors import SpecError
from plimsoll.learn.source_model import SourceFault
from plimsoll.run.decompression import DamagedContentError, compression_of, decompressed

_CHUNK_BYTES = 1 << 20
STANDARD_INPUT = "-"


@dataclass(slots=True)
class LogInput:
    """One log as the engine is told of it.

    Attributes:
        name: As the user named it.
        path: What the engine reads.
        fault: Why it could not be read to its end; None while it could.
    """

    name: str
    path: Path
    fault: SourceFault | None = None


@contextmanager
def log_inputs(names: Sequence[str], folder: Path) -> Iterator[list[LogInput]]:
    """Inputs that the engine can open one after the other.

    Args:
        names: Files, and `-` for standard input.
        folder: Private; named pipes are made in it.

    Raises:
        SpecError: A file is missing or cannot be read; all of them at once.
    """
    if faults := [fault for name in dict.fromkeys(names) if (fault := _fault(name))]:
        raise SpecError(*faults)
    inputs: list[LogInput] = []
    pipes: list[Path] = []
    for number, name in enumerate(names):
        content = _content(name)
        if content is None:
            inputs.append(LogInput(name, Path(name).resolve()))
            continue
        pipe = folder / f"input-{number}"
        os.mkfifo(pipe, 0o600)
        pipes.append(pipe)
        inputs.append(one := LogInput(name, pipe))
        threading.Thread(target=_feed, args=(one, content), name=f"log-input-{number}", daemon=True).start()
    try:
        yield inputs
    finally:
        for pipe in pipes:
            _release(pipe)


def _fault(name: str) -> str | None:
    if name == STANDARD_INPUT:
        return "-: standard input is a terminal; pipe a log into it" if sys.stdin.isatty() else None
    path = Path(name)
    if path.is_dir():
        return f"{name}: is a folder; name the log files in it"
    try:
        form = compression_of(path)
    except OSError as error:
        return f"{name}: cannot be read: {error.strerror}"
    if form == "zstd" and shutil.which("zstd") is None:
        return f"{name}: is compressed with zstd, which is not installed here; install it, or decompress the file"
    return None


def _content(name: str) -> Callable[[], Iterator[bytes]] | None:
    """What reads a log; None for a plain file, which the engine reads itself."""
    if name == STANDARD_INPUT:
        return _standard_input
    path = Path(name)
    if not path.is_file() or (form := compression_of(path)) is None:
        return None
    return partial(decompressed, path, form)


def _standard_input() -> Iterator[bytes]:
    try:
        while chunk := sys.stdin.buffer.read(_CHUNK_BYTES):
            yield chunk
    except OSError as error:
        raise DamagedContentError(str(error)) from error


def _feed(one: LogInput, content: Callable[[], Iterator[bytes]]) -> None:
    """Copies a log into its pipe. Damage is noted before the pipe is closed, and what came before it counts."""
    try:
        descriptor = os.open(one.path, os.O_WRONLY)  # waits for its reader; never makes a file
    except OSError:
        return
    lines, size_bytes = 0, 0
    with contextlib.suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as pipe:
        try:
            for chunk in content():
                pipe.write(chunk)
                lines += chunk.count(b"\n")
                size_bytes += len(chunk)
        except DamagedContentError as error:
            one.fault = SourceFault(line=lines + 1, content_bytes=size_bytes, reason=str(error))


def _release(pipe: Path) -> None:
    """Lets a feeder go whose pipe nobody opened, and removes the pipe."""
    with contextlib.suppress(OSError):
        os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
    pipe.unlink(missing_ok=True)
