"""Passwords given in arguments: accepted with a warning, and wiped from the argument list that other users can read.

The arguments' own memory is overwritten (its place is in /proc/self/stat). Where that cannot be done, the warning says
so.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from pathlib import Path

_URL_PASSWORD = re.compile(rb"((?:mysql|mariadb)://[^\0:@/]*:)([^\0]+)(@)")


def wipe_passwords(arguments: list[str]) -> None:
    """Warns about passwords in URLs among the arguments and overwrites them where the system shows them."""
    if not any(_URL_PASSWORD.search(os.fsencode(argument)) for argument in arguments):
        return
    wiped = _overwrite()
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
        wiped = _URL_PASSWORD.sub(lambda match: match[1] + b"x" * len(match[2]) + match[3], memory)
        ctypes.memmove(begin, wiped, len(memory))
    except (OSError, ValueError, IndexError):
        return False
    return b":x" in Path("/proc/self/cmdline").read_bytes()
