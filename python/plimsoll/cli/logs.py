"""What Plimsoll does, step by step: `--verbose` shows it on standard error, `--log-file` keeps it in a file.

Messages come from the standard library's `logging`; this is the only place that sends them anywhere. Warnings are shown
always. No password is in a message: whatever may repeat an argument goes through `without_passwords`.
"""

from __future__ import annotations

import logging
import os
import platform
import stat
import sys
import time
from pathlib import Path
from typing import IO

from plimsoll import __version__
from plimsoll.cli.wipe import masked, without_passwords
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


class _Shown(logging.Handler):
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
    shown = _Shown()
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
    _LOG.info("plimsoll %s, Python %s, %s", __version__, platform.python_version(), platform.platform())
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
