"""Snapshots of a server's counters: taken, waited for, kept in files.

Deliberately not here: the statements (`plimsoll.servers.digests`), and what two snapshots show
(`plimsoll.learn.digests`).
"""

from __future__ import annotations

import threading
from pathlib import Path

from pydantic import ValidationError

from plimsoll.errors import RecordError
from plimsoll.record.digest_snapshot import SNAPSHOT_FORMAT, DigestSnapshot
from plimsoll.record.document import is_newer
from plimsoll.regular_file import read_regular
from plimsoll.servers.control import connect
from plimsoll.servers.digests import digest_snapshot
from plimsoll.servers.private_file import write_private
from plimsoll.spec.target import Target

_SNAPSHOT_BYTES_MAX = 1 << 30


def take_snapshot(target: Target) -> DigestSnapshot:
    """What the server counted up to now. Raises as `servers.digests.digest_snapshot`."""
    with connect(target) as control:
        return digest_snapshot(control)


def snapshots_apart(target: Target, seconds: float) -> tuple[DigestSnapshot, DigestSnapshot]:
    """Two snapshots with some time between them, without a connection that stays open. Raises as `take_snapshot`."""
    before = take_snapshot(target)
    threading.Event().wait(seconds)
    return before, take_snapshot(target)


def write_snapshot(path: Path, snapshot: DigestSnapshot) -> None:
    """Keeps a snapshot in a file that only its owner can read: it holds the texts of statements.

    Raises:
        HostError: The file cannot be written.
    """
    write_private(path, snapshot.model_dump_json() + "\n", cure="name another file with --snapshot")


def read_snapshot(path: Path) -> DigestSnapshot:
    """A snapshot that was kept.

    Raises:
        RecordError: The file cannot be read, or holds no snapshot.
    """
    try:
        content = read_regular(path, _SNAPSHOT_BYTES_MAX)
        if is_newer(content, "snapshot_format", SNAPSHOT_FORMAT):
            raise RecordError(f"{path}: was written by a newer version of Plimsoll")
        return DigestSnapshot.model_validate_json(content)
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise RecordError(f"{path}: is no snapshot that plimsoll learn digests --snapshot wrote") from error
