"""Logs as the engine reads them: plain files as they are, compressed ones and standard input through named pipes.

A compressed file is told by its first bytes, whatever its name. Deliberately not here: what is in a log.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from plimsoll.errors import SpecError

_MAGIC: dict[bytes, str] = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
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
    fault: str | None = None


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
        opened = _opener(name)
        if opened is None:
            inputs.append(LogInput(name, Path(name).resolve()))
            continue
        pipe = folder / f"input-{number}"
        os.mkfifo(pipe, 0o600)
        pipes.append(pipe)
        inputs.append(one := LogInput(name, pipe))
        threading.Thread(target=_feed, args=(one, opened), name=f"log-input-{number}", daemon=True).start()
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
        with path.open("rb") as file:
            begin = file.read(8)
    except OSError as error:
        return f"{name}: cannot be read: {error.strerror}"
    if _form(begin) == "zstd" and shutil.which("zstd") is None:
        return f"{name}: is compressed with zstd, which is not installed here; install it, or decompress the file"
    return None


def _form(begin: bytes) -> str | None:
    return next((form for magic, form in _MAGIC.items() if begin.startswith(magic)), None)


def _opener(name: str) -> Callable[[], IO[bytes]] | None:
    """What opens a log for reading; None for a plain file."""
    if name == STANDARD_INPUT:
        return lambda: sys.stdin.buffer
    path = Path(name)
    if not path.is_file():
        return None
    with path.open("rb") as file:
        form = _form(file.read(8))
    openers: dict[str, Callable[[], Any]] = {
        "gzip": partial(gzip.open, path),
        "bzip2": partial(bz2.open, path),
        "xz": partial(lzma.open, path),
        "zstd": lambda: subprocess.Popen(["zstd", "-dcq", str(path)], stdout=subprocess.PIPE).stdout,
    }
    return None if form is None else openers[form]


def _feed(one: LogInput, opened: Callable[[], IO[bytes]]) -> None:
    """Copies a log into its pipe. A broken end is told, and what came before it counts."""
    try:
        descriptor = os.open(one.path, os.O_WRONLY)  # waits for its reader; never makes a file
    except OSError:
        return
    with contextlib.suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as pipe:
        try:
            with opened() as log:
                while chunk := log.read(_CHUNK_BYTES):
                    pipe.write(chunk)
        except BrokenPipeError:
            raise
        except (OSError, EOFError, lzma.LZMAError) as error:
            one.fault = f"{one.name}: ends early: {error}"


def _release(pipe: Path) -> None:
    """Lets a feeder go whose pipe nobody opened, and removes the pipe."""
    with contextlib.suppress(OSError):
        os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
    pipe.unlink(missing_ok=True)
