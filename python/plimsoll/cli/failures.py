"""From what went wrong to one clear message on standard error and an exit code."""

from __future__ import annotations

import errno
import logging
import sys
import tempfile
import traceback
from collections.abc import Callable

from typer.exceptions import Abort, TyperException

from plimsoll.cli.logs import without_passwords
from plimsoll.errors import HostError, PlimsollError
from plimsoll.interruption import ignore_further, interrupt_once
from plimsoll.units import printable

INTERRUPTED = 130
BUG = 70
_MACHINE_REFUSES = frozenset(
    {
        errno.EACCES,
        errno.EPERM,
        errno.EROFS,
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.EAGAIN,
    }
)
"""What a machine answers when a right, space or a limit is missing: not our bug, wherever it comes from. Nor is what is
wrong with a file that has a name."""
_BEFORE_A_COMMAND = ("-v", "--verbose", "--log-file")
_LOG = logging.getLogger(__name__)
REPORT_TO = "the project's issue tracker"


def exit_code_of(command: Callable[[], object]) -> int:
    """Runs a command and says how the process is to end. SIGTERM and SIGHUP interrupt as Ctrl-C does."""
    code = _ending(command)
    _LOG.info("ends with exit code %d", code)
    return code


def _ending(command: Callable[[], object]) -> int:
    interrupt_once()
    try:
        result = command()
        sys.stdout.flush()
    except (PlimsollError, TyperException) as error:
        _say_misuse(error) if isinstance(error, TyperException) else _say(error)
        return error.exit_code
    except (KeyboardInterrupt, Abort):
        return _interrupted()
    except Exception as error:
        return _interrupted() if _is_interruption(error) else _unexpected(error)
    if result == INTERRUPTED:  # typer has turned the interruption into its exit code already
        return _interrupted()
    return result if isinstance(result, int) else 0


def _is_interruption(error: BaseException) -> bool:
    """Whether an interruption became another error on its way, as in a class that is being made (Python 3.11)."""
    cause = error.__cause__
    return cause is not None and (isinstance(cause, KeyboardInterrupt) or _is_interruption(cause))


def _interrupted() -> int:
    """Says so. From here on further signals are ignored: all is cleaned up, and the exit code must tell of it."""
    ignore_further()
    print("plimsoll: interrupted", file=sys.stderr)
    return INTERRUPTED


def _say_misuse(error: TyperException) -> None:
    """Several lines are a page of help already: that of a command that was called without its subcommand.

    Others may repeat an argument that was not understood, which may be a URL with its password.
    """
    message = without_passwords(error.format_message())
    context = getattr(error, "ctx", None)
    command = "plimsoll" if context is None else context.command_path
    if any(f"No such option: {name}" in message for name in _BEFORE_A_COMMAND):
        message += " Put it before the command, as in plimsoll -v trial ..."
    print(message if "\n" in message else f"plimsoll: {message} See {command} --help", file=sys.stderr)


def _say(error: PlimsollError) -> None:
    lines = [printable(line) for line in str(error).splitlines()]
    _LOG.debug("%s: %s", type(error).__name__, error)
    prefix = "plimsoll: bug: " if error.exit_code == BUG else "plimsoll: "
    print(f"{prefix}{lines[0] if lines else type(error).__name__}", file=sys.stderr)
    for line in lines[1:]:
        print(f"          {line}", file=sys.stderr)


def _unexpected(error: Exception) -> int:
    if isinstance(error, MemoryError):
        reason = "out of memory; end other programs, raise the memory limit, or run a smaller study"
    elif isinstance(error, OSError) and (error.errno in _MACHINE_REFUSES or error.filename is not None):
        place = f"{error.filename}: " if error.filename else ""
        reason = f"{place}{error.strerror}; check the file, its permissions, this machine's limits and free space"
    else:
        return _bug()
    _say(HostError(reason))
    return HostError.exit_code


def _bug() -> int:
    """Keeps the trace in a file: it helps the developers and frightens everybody else."""
    kind, trace = sys.exc_info()[0], traceback.format_exc()
    _LOG.debug("%s", trace)
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="plimsoll-bug-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(trace)
        kept = file.name
    except OSError as error:
        kept = f"this (it could not be kept in a file: {error.strerror}):\n{trace}"
    name = kind.__name__ if kind else "error"
    print(f"plimsoll: bug: {name}; please report it to {REPORT_TO} with {kept}", file=sys.stderr)
    return BUG
