"""The user's own OpenSSH: command lines, one connection that all of them share, and what its errors mean.

Keys, agents, jump hosts and known hosts are those of the user's configuration; Plimsoll asks for none of them and
stores none. `BatchMode` keeps ssh from asking: what needs an answer fails, and the message says how to try by hand.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Sequence
from typing import IO

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
            said = last_line(done.stderr)
            raise HostError(f"{command[0]} ended with exit code {done.returncode}{f': {said}' if said else ''}")
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
