"""Passwords given in arguments: accepted, and wiped from the argument list that other users can read.

Those in URLs are warned about. Those of sysbench's options are not: nothing is printed that sysbench does not print.

The arguments' own memory is overwritten (its place is in /proc/self/stat). Where that cannot be done, the warning says
so.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from pathlib import Path

_URL_PASSWORD = re.compile(rb"((?:mysql|mariadb)://[^\0:@/]*:)([^\0]+)(?=@)")
_OPTION_PASSWORD = re.compile(rb"(--[\w-]*password=)([^\0]+)")


def wipe_passwords(arguments: list[str]) -> None:
    """Overwrites passwords among the arguments where the system shows them, and warns about those in URLs."""
    words = [os.fsencode(argument) for argument in arguments]
    in_urls = any(_URL_PASSWORD.search(word) for word in words)
    if not in_urls and not any(_OPTION_PASSWORD.match(word) for word in words):
        return
    wiped = _overwrite()
    if not in_urls:
        return
    print(
        "plimsoll: a password in a URL can be seen in shell history"
        + ("" if wiped else " and in the list of processes")
        + "; use --password-env or --defaults-file",
        file=sys.stderr,
    )


def _overwrite() -> bool:
    """Replaces every password in this process's own argument memory by x. False where that cannot be done."""
    try:
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        begin, end = int(fields[45]), int(fields[46])
        if not 0 < begin < end:
            return False
        memory = ctypes.string_at(begin, end - begin)
        wiped = memory
        for pattern in (_URL_PASSWORD, _OPTION_PASSWORD):
            wiped = pattern.sub(lambda match: bytes(match[1]) + b"x" * len(match[2]), wiped)
        ctypes.memmove(begin, wiped, len(memory))
    except (OSError, ValueError, IndexError):
        return False
    return b":x" in Path("/proc/self/cmdline").read_bytes()
