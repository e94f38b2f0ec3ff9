"""The load engine's executable on this machine: where it is, and which version.

Deliberately not here: talking to it (`engine`), so that whoever only hands over to it starts at once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from plimsoll.errors import HostError


def find_engine() -> Path:
    """The engine's executable: named by PLIMSOLL_ENGINE, beside this Python, or on PATH.

    Raises:
        HostError: There is none.
    """
    named = os.environ.get("PLIMSOLL_ENGINE")
    beside = Path(sys.executable).parent / "plimsoll-engine"
    found = named or (str(beside) if beside.exists() else shutil.which("plimsoll-engine"))
    if found is None or not os.access(found, os.X_OK):
        place = f" at {named}" if named else ""
        raise HostError(f"plimsoll-engine: not found{place}; reinstall plimsoll, or name it in PLIMSOLL_ENGINE")
    return Path(found)


def engine_version() -> str:
    """What `plimsoll-engine --version` says.

    Raises:
        HostError: It cannot be run.
    """
    try:
        ran = subprocess.run([str(find_engine()), "--version"], capture_output=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise HostError(f"plimsoll-engine: cannot be run: {error}; reinstall plimsoll") from None
    return ran.stdout.decode(errors="replace").strip()
