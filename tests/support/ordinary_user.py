"""Running the command as an ordinary user who may make no control groups: what most people are on a shared machine.

Needs root to become somebody else; elsewhere the test is skipped with that reason. Folders are made below /var/tmp,
because pytest's own are closed to others.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import plimsoll
from plimsoll.drive.executable import find_engine
from support.servers import missing

USER = "nobody"


@contextmanager
def folder_of_theirs() -> Iterator[Path]:
    """A new folder that belongs to the user, removed at the end with what the user left in it."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        missing("becoming an ordinary user needs root and setpriv")
    folder, user = Path(tempfile.mkdtemp(prefix="plimsoll-test-user-", dir="/var/tmp")), pwd.getpwnam(USER)
    os.chown(folder, user.pw_uid, user.pw_gid)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def start_as_them(home: Path, *arguments: str | Path, env: Mapping[str, str]) -> subprocess.Popen[str]:
    """Starts the command as the user, with no groups and no capabilities; the caller ends it.

    Args:
        home: Of the user; also where programs put temporary files.
        arguments: Of the command.
        env: Beside what this process has.
    """
    user = pwd.getpwnam(USER)
    as_user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    as_user += ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--"]
    own = {"HOME": str(home), "TMPDIR": str(home), "USER": USER, "PLIMSOLL_ENGINE": str(find_engine())}
    environment = {**os.environ, **own, **env, "PYTHONPATH": _packages(), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        [*as_user, _python(as_user, environment), "-c", _COMMAND, *map(str, arguments)],
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


_COMMAND = "from plimsoll.cli.main import main; main()"
_CHILD = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', 'import plimsoll.cli']))"
"""A child of the process, because setpriv itself still has the rights of root when it starts that."""


def _packages() -> str:
    """Where this process has Plimsoll and what it needs from, without the standard library."""
    own = Path(plimsoll.__file__).parents[1]
    return os.pathsep.join([str(own), *(place for place in sys.path if place.endswith("site-packages"))])


def _python(as_user: list[str], environment: Mapping[str, str]) -> str:
    """A Python of this version that the user may run: this one, or the system's where this one is out of reach."""
    system = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, system):
        words = [*as_user, python, "-c", _CHILD]
        if (
            Path(python).exists()
            and not subprocess.run(words, env=environment, capture_output=True, check=False).returncode
        ):
            return python
    return missing(f"{USER} may run neither {sys.executable} nor {system} with Plimsoll's packages")
