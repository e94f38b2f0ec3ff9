"""What an agent knows of its connection, how it keeps others off, and small files that its other end asks for."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from plimsoll.errors import HostError
from plimsoll.regular_file import read_regular

TEXT_BYTES_MAX = 65_536


def connected_to() -> str | None:
    """The address of this machine that the SSH connection leads to; None where sshd does not say."""
    words = os.environ.get("SSH_CONNECTION", "").split()
    return words[2] if len(words) == 4 else None


def hold(holder: str) -> None:
    """Keeps other studies of this user off this machine for as long as this process lives.

    Args:
        holder: Says who holds it, for whoever is refused.

    Raises:
        HostError: Another study holds it.
    """
    place = Path(f"/var/tmp/plimsoll-host-{os.geteuid()}.lock")  # noqa: S108  (opened without following links)
    lock = os.open(place, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        other = os.read(lock, _HOLDER_BYTES_MAX).decode(errors="replace")
        os.close(lock)
        raise HostError(f"another study uses this host ({other or 'unknown'}); wait until it has ended") from None
    os.ftruncate(lock, 0)
    os.write(lock, holder.encode()[:_HOLDER_BYTES_MAX])
    _held.append(lock)


_HOLDER_BYTES_MAX = 200
_held: list[int] = []
"""Descriptors of locks; they are closed when the process ends."""


def text_of(place: Path) -> str:
    """A small text file. Raises OSError where it cannot be read, is no file, or is too large."""
    return read_regular(place, TEXT_BYTES_MAX).decode()
