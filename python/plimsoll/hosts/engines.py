"""Load engines on another machine, over the user's OpenSSH: the one on its PATH, or else a copy of this machine's.

A copy lies in a directory of Plimsoll's own. A shell there removes it when its input ends: at the end of the study, or
with the connection. Nothing else is needed there, Python neither. Deliberately not here: several engines (`drive`).
"""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Sequence
from types import TracebackType
from typing import IO, Self

from plimsoll.drive.executable import engine_version, find_engine
from plimsoll.drive.launchers import ENGINE
from plimsoll.errors import HostError
from plimsoll.hosts.openssh import OpenSsh, last_line

_PART_BYTES = 2**20
_LINE_BYTES_MAX = 4096
_END_LIMIT_S = 5.0

_KEEP = """\
umask 077
folder=$(mktemp -d /var/tmp/plimsoll-driver-XXXXXX) || exit
trap 'rm -rf "$folder"' EXIT
trap exit HUP INT TERM
engine=$folder/plimsoll-engine
head -c "$1" > "$engine" && chmod 700 "$engine" && "$engine" --version && echo "$engine" || exit
cat > /dev/null
"""
"""Takes an engine of `$1` bytes from standard input and keeps it until the input ends; prints its version and place."""


class SshLauncher:
    """Starts engines on one machine, see `drive.launchers.Launcher`. Use it as a context: its end removes a copy."""

    is_here = False
    machine = None

    def __init__(self, destination: str) -> None:
        """Nothing is connected yet.

        Args:
            destination: As ssh takes it.

        Raises:
            HostError: There is no ssh here.
        """
        self._ssh = OpenSsh(destination)
        self._engine: str | None = None
        self._keeper: subprocess.Popen[bytes] | None = None

    def start(self, words: Sequence[str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
        """Starts one, see `Launcher`. Nobody is asked for a password."""
        return self._ssh.start(["exec", self.engine(), *words[1:]], errors)

    def engine(self) -> str:
        """An engine there of the version that is here: its name on the PATH, or the path of a copy that is made now.

        Raises:
            HostError: The machine cannot be reached, or the engine does not run there.
        """
        if self._keeper is not None and self._keeper.poll() is not None:
            self._engine = None  # the connection was lost, and the copy with it
        if self._engine is None:
            found = self._ssh.run([ENGINE, "--version"])
            is_same = found.returncode == 0 and found.stdout.decode(errors="replace").strip() == engine_version()
            self._engine = ENGINE if is_same else self._copied()
        return self._engine

    def close(self) -> None:
        """Removes what was copied, and ends the connection."""
        if self._keeper is not None:
            _end(self._keeper)
            self._keeper = None
        self._ssh.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _copied(self) -> str:
        file = find_engine()
        with tempfile.TemporaryFile() as errors:
            keeper = self._ssh.start(["sh", "-c", _KEEP, "sh", str(file.stat().st_size)], errors)
            assert keeper.stdin is not None, "a pipe was asked for"
            assert keeper.stdout is not None, "a pipe was asked for"
            with contextlib.suppress(BrokenPipeError), file.open("rb") as source:  # what it said tells why
                while part := source.read(_PART_BYTES):
                    keeper.stdin.write(part)
                keeper.stdin.flush()
            lines = (keeper.stdout.readline(_LINE_BYTES_MAX) for _ in range(2))
            version, place = (line.decode(errors="replace").strip() for line in lines)
            if version == engine_version() and place:
                self._keeper = keeper
                return place
            _end(keeper)
            errors.seek(0)
            said = last_line(errors.read()) or f"it is {version[:80]!r}" if version else "it said nothing"
        raise HostError(
            f"{engine_version()} is not on the PATH there, and a copy of it does not run: {said}; install that version"
            " there"
        )


def _end(keeper: subprocess.Popen[bytes]) -> None:
    """Ends its input, so that it removes the copy."""
    assert keeper.stdin is not None, "a pipe was asked for"
    with contextlib.suppress(BrokenPipeError):
        keeper.stdin.close()
    try:
        keeper.wait(_END_LIMIT_S)
    except subprocess.TimeoutExpired:
        keeper.kill()
        keeper.wait()
    if keeper.stdout is not None:
        keeper.stdout.close()
