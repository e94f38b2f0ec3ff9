"""The end of a server's error log, and what it means where that is known. Deliberately not here: any process."""

from __future__ import annotations

import re
from pathlib import Path

from plimsoll.units import format_bytes

_TAIL_BYTES = 64 * 1024
_INSTALLER_ADVICE = "\nInstallation of system tables failed!"
"""From here on mariadb-install-db guesses, and suggests to start a server without passwords."""

_MEANINGS = (
    (
        r"unknown (?:variable|option) '(?:--)?([A-Za-z0-9_-]+)",
        "the server does not know the option {0}: remove it from the system's options, or correct its spelling",
    ),
    (
        r"(?:Unknown suffix .* used for variable|Error while setting value .* to|Wrong value .* for|Invalid value for) "
        r"'?(?:option )?'?([A-Za-z0-9_-]+)",
        "the value of the option {0} is wrong: correct it in the system's options",
    ),
    (r"Address already in use|port is already in use", "its port is used by another program"),
    (
        r"No space left on device|errno: 28|OS error(?: number)? 28|Error: 28|disk is full|Disk is full",
        "the disk is full: free some space, reduce the buffer pool and redo log, or choose another data_dir",
    ),
    (
        r"(?:Cannot|Can't) allocate memory|OS error(?: number)? 12|errno: 12|mmap\([^)]*\) failed",
        "the machine has too little memory: choose a smaller buffer_pool",
    ),
    (r"Unable to lock \S+|Cannot lock file", "another server uses the same data directory"),
    (
        r"Permission denied|errno: 13|OS error(?: number)? 13|Operation not permitted",
        "no permission for a file or folder: check the permissions of data_dir, and AppArmor or SELinux",
    ),
    (r"Too many open files|errno: 24", "too few open files allowed: raise the limit (ulimit -n)"),
    (r"my_print_defaults", "mariadb-install-db needs my_print_defaults: install mariadb-client-core"),
)


def read_tail(log: Path, *, offset: int = 0, lines: int = 15) -> str:
    """The last lines of a log, without what MariaDB's initialiser guesses.

    Args:
        log: The log; one that does not exist has no lines.
        lines: How many at most.
        offset: Bytes at the start that belong to an earlier run.
    """
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(offset, size - _TAIL_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return "\n".join(text.partition(_INSTALLER_ADVICE)[0].rstrip().splitlines()[-lines:])


def explain_log(text: str) -> str | None:
    """What a log's end means for the one who can act on it.

    Returns:
        A sentence without its full stop; None when the log says nothing that is known.

    >>> explain_log("[ERROR] mariadbd: unknown variable 'foo=1'").split(":")[0]
    'the server does not know the option foo'
    """
    for pattern, meaning in _MEANINGS:
        match = re.search(pattern, text)
        if match:
            return meaning.format(*match.groups())
    return None


def explain_exit(code: int, memory_limit_bytes: int | None = None) -> str:
    """How a process ended, from its exit code (negative: by a signal) and the limit of its memory, if it had one."""
    if code == -9 and memory_limit_bytes is not None:
        limit = format_bytes(memory_limit_bytes)
        return (
            f"was killed by SIGKILL (the kernel does so when a server needs more than its memory_limit, here {limit})"
        )
    if code == -9:
        return "was killed by SIGKILL (the kernel does so when memory runs out; see dmesg)"
    if code < 0:
        return f"was ended by signal {-code}"
    return f"ended with exit code {code}"
