"""Starts an agent on a host: takes the archive from standard input, unpacks it, and hands over to it.

Runs as text given to `python3 -c`, before anything of Plimsoll is there, so it imports the standard library only. The
directory is locked while the agent lives; one whose lock is free belongs to nobody and is removed by the next one.
"""

import fcntl
import io
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile


def main() -> None:
    """Reads a line with the archive's size, the archive, and then serves."""
    prefix = "plimsoll-host-%d-" % os.geteuid()  # noqa: UP031  (must run, and say what is wrong, on any Python 3)
    remove_left(prefix)
    size = int(read_line())
    archive = read_exactly(size)
    if len(archive) != size:
        return
    folder = tempfile.mkdtemp(prefix=prefix, dir="/var/tmp")
    try:
        lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
            tar.extractall(folder + "/lib")  # noqa: S202  (Plimsoll made it)
        sys.path.insert(0, folder + "/lib")
        from plimsoll.hosts import agent

        agent.main()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)  # what still runs must not keep the connection open


def read_line() -> bytes:
    """A line from standard input, and nothing after it."""
    line = b""
    while not line.endswith(b"\n"):
        sign = os.read(0, 1)
        if not sign:
            sys.exit(1)
        line += sign
    return line


def read_exactly(size: int) -> bytes:
    """So many bytes from standard input; fewer where it ends."""
    parts, left = [], size
    while left and (part := os.read(0, min(left, 2**20))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def remove_left(prefix: str) -> None:
    """Removes directories that agents left which were killed."""
    for left in pathlib.Path("/var/tmp").glob(prefix + "*"):  # noqa: S108
        try:
            if left.is_symlink() or left.stat().st_uid != os.geteuid():
                continue
            lock = os.open(left, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(lock)
        except OSError:
            continue


main()
