"""What Plimsoll does, step by step, in logs without passwords; passwords in arguments are wiped.

`--verbose` shows the steps on standard error, `--log-file` keeps them in a file. Messages come from the standard
library's `logging`; this is the only place that sends them anywhere. Warnings are shown always. Whatever may repeat an
argument goes through `without_passwords`.

Passwords given in arguments are accepted, and wiped from the argument list that other users can read. Those in URLs are
warned about, whatever their scheme: one that is mistyped holds the same password. So is a value of --password-env that
names no variable, since it may be the password itself. Passwords of sysbench's options are wiped without a word:
nothing is printed that sysbench does not print. The arguments' own memory is overwritten (its place is in
/proc/self/stat). Where that cannot be done, the warning says so.
"""

from __future__ import annotations

import ctypes
import logging
import os
import platform
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from plimsoll import __version__
from plimsoll.errors import HostError
from plimsoll.units import printable

_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
_LINE = "%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s[%(process)d]: %(message)s"
_LOG = logging.getLogger(__name__)


class _Plain(logging.Formatter):
    """Lines that hold no password and nothing that a terminal or an editor would obey. Times are UTC."""

    converter = staticmethod(time.gmtime)

    def format(self, record: logging.LogRecord) -> str:
        """The whole message; more lines of it are indented."""
        first, *more = without_passwords(super().format(record)).splitlines() or [""]
        return "\n    ".join(printable(line) for line in (first, *more))


class _TerminalHandler(logging.Handler):
    """Standard error as it is at that time: while a bar is drawn, lines go above it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Prints a line."""
        print(self.format(record), file=sys.stderr)


def begin_logging(verbosity: int, file: Path | None) -> None:
    """Sends messages to standard error, and all of them to a file where one is named.

    Args:
        verbosity: 0 for warnings, 1 for what is done, 2 for everything.
        file: It is added to.

    Raises:
        HostError: The file cannot be written.
    """
    logging.raiseExceptions = False  # a full disk loses messages and ends no command
    shown = _TerminalHandler()
    shown.setLevel(_LEVELS[min(verbosity, len(_LEVELS) - 1)])
    shown.setFormatter(_Plain("plimsoll: %(message)s"))
    root = logging.getLogger("plimsoll")
    root.handlers = [shown]
    root.setLevel(shown.level if file is None else logging.DEBUG)
    root.propagate = False
    if file is not None:
        kept = logging.StreamHandler(_opened(file))
        kept.setFormatter(_Plain(_LINE, datefmt="%Y-%m-%dT%H:%M:%S"))
        root.addHandler(kept)
    # Not `platform.platform()`: it starts `uname` with the whole environment, in which passwords may be.
    system = os.uname()
    machine = f"{system.sysname} {system.release} {system.machine}"
    _LOG.info("plimsoll %s, Python %s, %s", __version__, platform.python_version(), machine)
    _LOG.info("arguments: %s", " ".join(masked(sys.argv[1:])))


def _opened(file: Path) -> IO[str]:
    """The file, readable by its owner alone where it is new; no pipe or device, and no link is followed."""
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(file, flags, 0o600)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name holds a NUL character"
        raise HostError(f"--log-file: {file}: cannot be written: {reason}; name another file") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise HostError(f"--log-file: {file}: is not a file; name another one")
    return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace", buffering=1)


_IN_URL = re.compile(rb"[A-Za-z][\w+.-]*:/{1,3}[^\0:@/]*:([^\0]+)@|[A-Za-z]*//[^\0:@/]*:([^\0]+)@")
_IN_TARGET = re.compile(rb"(?:mysql:|mariadb:|(?!mysql:|mariadb:|[\w+.-]*:?//))[^\0:@/]*:([^\0]+)@")
_IN_OPTION = re.compile(rb"--[\w-]*password=([^\0]+)")
_VARIABLE_OPTION = b"--password-env"

Place = tuple[int, int]
"""Where something begins and ends."""


def wipe_passwords(arguments: list[str]) -> None:
    """Overwrites passwords among the arguments where the system shows them, and warns about those in URLs."""
    words = [os.fsencode(argument) for argument in arguments]
    in_urls, others = [*_url_places(words)], [*_other_places(words)]
    if not in_urls and not others:
        return
    wiped = _overwrite(words, [*in_urls, *others])
    if not in_urls:
        return
    print(
        "plimsoll: a password in a URL can be seen in shell history"
        + ("" if wiped else " and in the list of processes")
        + "; use --password-env or --defaults-file",
        file=sys.stderr,
    )


def without_passwords(text: str) -> str:
    """A message that may repeat an argument, without the passwords of URLs in it."""
    encoded = os.fsencode(text)
    for begin, end in reversed([match.span(match.lastindex or 0) for match in _IN_URL.finditer(encoded)]):
        encoded = encoded[:begin] + "…".encode() + encoded[end:]
    return os.fsdecode(encoded)


def masked(words: Iterable[str]) -> list[str]:
    """Arguments to show, without what `wipe_passwords` overwrites, wherever else in them it stands."""
    shown = [b"", *map(os.fsencode, words)]
    places = [*_url_places(shown), *_other_places(shown)]
    for secret in sorted({shown[number][begin:end] for number, (begin, end) in places}, key=len, reverse=True):
        shown = [word.replace(secret, "…".encode()) for word in shown]
    return [os.fsdecode(word) for word in shown[1:]]


def _url_places(words: list[bytes]) -> Iterator[tuple[int, Place]]:
    """The number of each word that holds a password in a URL, and where in it."""
    before = b""
    for number, word in enumerate(words):
        begin = len(b"--target=") if word.startswith(b"--target=") else 0
        is_target = bool(begin) or before == b"--target"
        match = _IN_URL.search(word) or (_IN_TARGET.match(word, begin) if is_target else None)
        if match is not None:
            yield number, match.span(match.lastindex or 0)
        before = word


def _other_places(words: list[bytes]) -> Iterator[tuple[int, Place]]:
    before = b""
    for number, word in enumerate(words):
        if match := _IN_OPTION.match(word):
            yield number, match.span(1)
        name, sign, value = word.partition(b"=") if before != _VARIABLE_OPTION else (before, b"=", word)
        if name == _VARIABLE_OPTION and sign and value and os.fsdecode(value) not in os.environ:
            yield number, (len(word) - len(value), len(word))
        before = word


def _overwrite(words: list[bytes], places: Iterable[tuple[int, Place]]) -> bool:
    """Replaces the bytes at these places by x in this process's own argument memory. False where that cannot be done.

    The words are at the end of that memory; an interpreter and its own options may stand before them.
    """
    try:
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        begin, end = int(fields[45]), int(fields[46])
        tail = b"".join(word + b"\0" for word in words[1:])
        if not 0 < begin < end or not ctypes.string_at(begin, end - begin).endswith(tail):
            return False
        starts = [end - len(tail)]
        for word in words[1:]:
            starts.append(starts[-1] + len(word) + 1)
        for number, (first, last) in places:
            ctypes.memset(starts[number - 1] + first, ord("x"), last - first)
    except (OSError, ValueError, IndexError):
        return False
    return not Path("/proc/self/cmdline").read_bytes().endswith(tail)
