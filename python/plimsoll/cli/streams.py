"""Standard output and standard error: nothing that is said can end a command, text fits, and a first line comes early.

Where nobody reads any more (`plimsoll study run … 2>&1 | head`), what is written is dropped and the command goes on: a
study is worth more than its progress. Characters that an encoding lacks become escapes. Text is broken between words on
a terminal, without blanks at the ends of lines in a file. A command that reaches or starts servers says its first line
before the imports that a person would wait for; it names users and hosts, never a password. Deliberately not here:
wrong URLs, which are told of where targets are read.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from plimsoll.units import printable

if TYPE_CHECKING:
    from rich.console import RenderableType


class _Unbroken(io.RawIOBase):
    """Writes to a descriptor; once its reader is gone, to nowhere.

    Any other fault, such as a full disk, is raised once where `faults_count`: what is lost of the data must be known.
    """

    def __init__(self, descriptor: int, *, faults_count: bool) -> None:
        self._descriptor, self._faults_count = descriptor, faults_count

    def fileno(self) -> int:
        """The descriptor, which whoever looks for a terminal asks for."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether a person reads."""
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        """It is all that it does."""
        return True

    def write(self, data: Any, /) -> int:
        """Writes some of the bytes, or drops all of them."""
        try:
            return os.write(self._descriptor, data)
        except OSError as error:
            if self._faults_count and not isinstance(error, BrokenPipeError):
                self._faults_count = False
                raise
            return memoryview(data).nbytes


def go_on_unread() -> None:
    """Lets this process write on where nobody reads any more."""
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        descriptor = os.open(os.devnull, os.O_WRONLY) if stream is None else stream.fileno()  # closed from the start
        encoding = "utf-8" if stream is None else stream.encoding
        raw = io.BufferedWriter(_Unbroken(descriptor, faults_count=name == "stdout"))
        setattr(sys, name, io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace", line_buffering=True))


def say_first(text: str, *, is_quiet: bool = False) -> None:
    """Says what begins, on standard error.

    Args:
        text: Without the dots behind it.
        is_quiet: Nothing is said: the command prints its result alone.
    """
    if not is_quiet:
        print(f"{printable(text)} ...", file=sys.stderr, flush=True)


def say_connecting(*targets: str, is_quiet: bool = False) -> None:
    """Says which servers are reached; nothing where a URL is wrong."""
    from plimsoll.errors import SpecError
    from plimsoll.spec.target import parse_target  # of what it needs, the command line has imported the most already

    try:
        accounts = [f"{target.user}@{target.endpoint}" for target in map(parse_target, targets)]
    except SpecError:
        return
    say_first(f"connecting to {_listed(accounts)}", is_quiet=is_quiet)


def say_starting(*servers: str, is_quiet: bool = False) -> None:
    """Says which servers are started, by the names of their programs."""
    say_first(f"starting {_listed(map(_program, servers))}", is_quiet=is_quiet)


def say_reaching(target: str | None, server: str, *, is_quiet: bool = False) -> None:
    """Says which server is reached, or started where the target is `managed`; nothing without a target."""
    if target is None:
        return
    if target == "managed":
        say_starting(server, is_quiet=is_quiet)
    else:
        say_connecting(target, is_quiet=is_quiet)


def _program(server: str) -> str:
    """The name of a server's program; its own options, and what loads it, are left out.

    >>> _program("/opt/mysql/bin/mysqld --no-defaults"), _program("mariadb")
    ('mysqld', 'mariadb')
    """
    from plimsoll.spec.server_options import server_word  # help names no server

    try:
        words = shlex.split(server)
        return Path(server_word(words) or words[0]).name
    except (ValueError, IndexError):  # an open quote, or nothing: told of where the command is read
        return "a server"


def _listed(names: Iterable[str]) -> str:
    return " and ".join(names)


_LABELLED = re.compile(r"\s*\S+(?: \S+)*\s{2,}(?=\S)")
_UNIT = re.compile(r"(?<=\d) (?=(?:ms|s|us|min|h|%|tps|MB)\b|%)")
"""A number and its unit stay together."""

_INDENT_MAX = 30


def show(*parts: RenderableType) -> None:
    """Prints what Rich can print. Where nobody watches it has no blanks at the ends of lines."""
    from rich.console import Console

    console = Console()
    if console.is_terminal:
        console.print(*parts, sep="\n")
        return
    with console.capture() as captured:
        console.print(*parts, sep="\n")
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def echo_fitted(text: str, *, is_text: bool = True) -> None:
    """Prints lines; on a terminal those of a text that are too long go on below their own beginning."""
    if is_text and sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        text = "\n".join(fitted(line, width) for line in text.splitlines())
    typer.echo(text)


def fitted(line: str, width: int) -> str:
    """A line in as many as it needs, broken between words only. What follows a label and two blanks stays below itself.

    >>> print(fitted("failed            0, retries 12 of 3", 28))
    failed            0, retries
                      12 of 3
    """
    if len(line) <= width:
        return line
    label = _LABELLED.match(line)
    blanks = len(line) - len(line.lstrip())
    indent = label.end() if label and label.end() <= min(_INDENT_MAX, width // 2) else blanks + 2
    kept = _UNIT.sub("\u00a0", line)
    broken = textwrap.fill(kept, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
    return broken.replace("\u00a0", " ")
