"""The user's own OpenSSH: command lines, one connection that all of them share, what its errors mean, and load engines.

Keys, agents, jump hosts and known hosts are those of the user's configuration; Plimsoll asks for none of them and
stores none. `BatchMode` keeps ssh from asking: what needs an answer fails, and the message says how to try by hand.

A load engine on another machine is the one on its PATH, or else a copy of this machine's. A copy lies in a directory of
Plimsoll's own. A shell there removes it when its input ends: at the end of the study, or with the connection. Nothing
else is needed there, Python neither. Deliberately not here: several engines (`drive`), and servers there (`ssh`).
"""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from types import TracebackType
from typing import IO, Self

from plimsoll.drive.executable import ENGINE, engine_version, find_engine
from plimsoll.errors import HostError
from plimsoll.private_folder import PrivateFolder

_OPTIONS = {
    "BatchMode": "yes",
    "ConnectTimeout": "20",
    "ServerAliveInterval": "5",
    "ServerAliveCountMax": "3",
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "ClearAllForwardings": "yes",
    "ControlMaster": "auto",
    "ControlPersist": "5",
}

_SSH_FAILED = 255
_NOT_FOUND = 127
_ERROR_BYTES_MAX = 4096


class OpenSsh:
    """One connection to a host, shared by commands that run over it."""

    def __init__(self, destination: str) -> None:
        """Nothing is connected yet.

        Args:
            destination: As ssh takes it: a name of the user's configuration, or `user@host`, or `ssh://…`.

        Raises:
            HostError: There is no ssh here.
        """
        if shutil.which("ssh") is None:
            raise HostError("ssh: not found; install OpenSSH's client")
        self.destination = destination
        self._folder = PrivateFolder("ssh")
        self._options = [f"-o{name}={value}" for name, value in _OPTIONS.items()]
        self._options.append(f"-oControlPath={self._folder.path}/master")

    def words(self, command: Sequence[str]) -> list[str]:
        """The command line that runs a command there."""
        return ["ssh", "-T", *self._options, "--", self.destination, shlex.join(command)]

    def start(self, command: Sequence[str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
        """Starts a command there, with pipes for its standard input and output.

        Args:
            command: Its words.
            errors: Receives its standard error.
        """
        return subprocess.Popen(
            self.words(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,  # Ctrl-C is for Plimsoll, which ends what runs there in order
        )

    def run(self, command: Sequence[str], *, limit_s: float = 60) -> subprocess.CompletedProcess[bytes]:
        """Runs a short command there to its end, however it ends.

        Raises:
            HostError: The host cannot be reached, or the command does not end within the limit.
        """
        try:
            done = subprocess.run(
                self.words(command), stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_s, check=False
            )
        except subprocess.TimeoutExpired:
            raise HostError(f"did not answer within {limit_s:g} s") from None
        if done.returncode == _SSH_FAILED:
            raise HostError(
                f"cannot be reached over SSH: {last_line(done.stderr) or 'no reason given'}."
                f" Try: ssh -o BatchMode=yes {shlex.quote(self.destination)} true"
            )
        return done

    def output(self, command: Sequence[str], *, cure: str, limit_s: float = 60) -> str:
        """Runs a short command there; gives what it prints.

        Args:
            command: Its words.
            cure: What to do where there is no such command.
            limit_s: As `run` has it.

        Raises:
            HostError: It fails, or the host cannot be reached.
        """
        done = self.run(command, limit_s=limit_s)
        if done.returncode == _NOT_FOUND:
            raise HostError(f"{command[0]} was not found there; {cure}")
        if done.returncode != 0:
            message = last_line(done.stderr)
            raise HostError(f"{command[0]} ended with exit code {done.returncode}{f': {message}' if message else ''}")
        return done.stdout.decode("utf-8", errors="replace")

    def close(self) -> None:
        """Ends the shared connection for good."""
        self.disconnect()
        self._folder.close()

    def disconnect(self) -> None:
        """Ends the shared connection; the next command begins another."""
        subprocess.run(
            ["ssh", *self._options, "-O", "exit", "--", self.destination],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )


def last_line(errors: bytes) -> str:
    """The last line of what a command wrote to standard error, as it can be shown; empty where it wrote nothing."""
    lines = errors[-_ERROR_BYTES_MAX:].decode("utf-8", errors="replace").strip().splitlines()
    return "".join(sign if sign.isprintable() else " " for sign in lines[-1]).strip(". ") if lines else ""


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
    """Starts engines on one machine, see `drive.executable.Launcher`. Use it as a context: its end removes a copy."""

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
            done = self._ssh.run([ENGINE, "--version"])
            is_same = done.returncode == 0 and done.stdout.decode(errors="replace").strip() == engine_version()
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
            reason = last_line(errors.read()) or f"it is {version[:80]!r}" if version else "it said nothing"
        raise HostError(
            f"{engine_version()} is not on the PATH there, and a copy of it does not run: {reason}; install that"
            " version there"
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
