"""Starts an agent on a host: takes the archive from standard input, unpacks it, and hands over to it.

Runs as text given to `python3 -c`, before anything of Plimsoll is there, so it imports the standard library only. The
directory is locked before anything is in it and for as long as the agent lives; one whose lock is free belongs to
nobody and is removed by the next one.
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
    folder = locked_folder(prefix)
    try:
        unpack(archive, folder + "/lib")
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


def locked_folder(prefix: str, base: str = "/var/tmp") -> str:  # noqa: S108  (the name is new and random)
    """A new directory, locked for as long as this process lives.

    Between its making and its locking another bootstrap may take it for one that was left, and remove it: then the lock
    is one of a directory that is gone, and another one is made.
    """
    while True:
        folder = tempfile.mkdtemp(prefix=prefix, dir=base)
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(lock), os.lstat(folder)):
                return folder
            os.close(lock)
        except FileNotFoundError:
            continue


def unpack(archive: bytes, into: str) -> None:
    """Unpacks files and directories, and nothing that leads out of the directory."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(into, filter="data")
            return
        members = tar.getmembers()  # before Python 3.11.4 there is no filter
        for member in members:
            if not (member.isfile() or member.isdir()) or member.name.startswith("/") or ".." in member.name.split("/"):
                sys.exit("the archive holds %r, which is not unpacked" % member.name)  # noqa: UP031  (as above)
        tar.extractall(into, members)  # noqa: S202  (each was looked at)


def remove_left(prefix: str, base: str = "/var/tmp") -> None:  # noqa: S108  (only what is locked by nobody, and ours)
    """Removes directories that agents left which were killed."""
    for left in pathlib.Path(base).glob(prefix + "*"):
        try:
            if left.is_symlink() or left.stat().st_uid != os.geteuid():
                continue
            lock = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(lock)
        except OSError:
            continue


if __name__ == "__main__":
    main()
