"""Passwords given in arguments: accepted, and wiped from the argument list that other users can read.

Those in URLs are warned about, whatever their scheme: one that is mistyped holds the same password. So is a value of
--password-env that names no variable, since it may be the password itself. Passwords of sysbench's options are wiped
without a word: nothing is printed that sysbench does not print.

The arguments' own memory is overwritten (its place is in /proc/self/stat). Where that cannot be done, the warning says
so.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

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
    found = os.fsencode(text)
    for begin, end in reversed([match.span(match.lastindex or 0) for match in _IN_URL.finditer(found)]):
        found = found[:begin] + "…".encode() + found[end:]
    return os.fsdecode(found)


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
