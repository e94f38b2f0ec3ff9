"""Data of stopped servers that outlives a study: kept in a folder that the user named, and used again as a copy.

A folder of kept data has one folder for each instance, with a marker of ours that says what the data is: which server
made it, for which data sets. It is refused where that does not fit, and where another study uses it (flock). What is
kept is written beside the old one and then renamed. Binary logs are not kept: a new server begins new ones.

Deliberately not here: what data sets are (the caller describes them).
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.errors import HostError
from plimsoll.servers.data_copy import Copied, replace_tree
from plimsoll.servers.directory import InstanceDirectory

MARKER = "plimsoll-data.json"
LOCK = "lock"
_KEPT = ("data", "redo", "undo")

Identity = Mapping[str, Any]
"""What data is: values that JSON holds. Data fits where all of them are equal."""


@dataclass(slots=True)
class KeptFolder:
    """A folder of kept data that this process holds.

    Attributes:
        path: As the user wrote it.
        key: Of the study file, for messages.
    """

    path: Path
    key: str
    _lock_fd: int = -1

    def hold(self, *, may_make: bool) -> None:
        """Makes sure that nobody else uses the folder until `release`; made if need be.

        Raises:
            HostError: It is in use, is not there, or holds something that Plimsoll did not make.
        """
        if fault := self.fault(may_make=may_make):
            raise HostError(fault)
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.path / LOCK, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise HostError(f"{self.key}: {self.path} cannot be used: {error.strerror}; choose another") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise HostError(f"{self.key}: {self.path} is in use by another study; wait until it has ended") from None
        self._lock_fd = descriptor

    def release(self) -> None:
        """Lets others use it."""
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1

    def fault(self, *, may_make: bool) -> str | None:
        """Why the folder cannot be used at all; None when it can."""
        if not self.path.exists():
            return None if may_make else f"{self.key}: {self.path} is not there; keep data with keep_data first"
        if not self.path.is_dir() or self.path.is_symlink():
            return f"{self.key}: {self.path} is not a folder; choose another"
        foreign = [one.name for one in self.path.iterdir() if one.name != LOCK and not _is_ours(one)]
        if foreign:
            return f"{self.key}: {self.path} holds {foreign[0]}, which Plimsoll did not make; choose an empty folder"
        return None

    def differences(self, number: int, wanted: Identity) -> Iterator[str]:
        """Why the data of an instance does not fit, a line for each value that differs."""
        found = read_marker(self.path / str(number))
        if found is None:
            yield f"{self.key}: {self.path} holds no data of instance {number}; keep data with keep_data first"
            return
        for name, value in wanted.items():
            if found.get("identity", {}).get(name) != value:
                kept = found.get("identity", {}).get(name)
                yield f"{self.key}: {self.path} is other data: {name} is {kept!r} there and {value!r} in this study"

    def take(self, number: int, directory: InstanceDirectory, wanted: Identity) -> Copied:
        """Replaces the files of a stopped instance by a copy of what was kept.

        Raises:
            HostError: The data does not fit, or cannot be copied.
        """
        faults = list(self.differences(number, wanted))
        if faults:
            raise HostError("\n".join(faults))
        kept = self.path / str(number)
        copied = Copied()
        for role, (live, _) in directory.kept_folders.items():
            if role in _KEPT:
                copied += replace_tree(kept / role, live)
        return copied

    def keep(self, number: int, directory: InstanceDirectory, identity: Identity) -> Copied:
        """Keeps the files of a cleanly stopped instance in place of what was kept before.

        Raises:
            HostError: What is there is other data, or the copy failed; then what was kept stays.
        """
        kept, partial = self.path / str(number), self.path / f"{number}.new"
        if kept.exists() and (faults := list(self.differences(number, identity))):
            raise HostError("\n".join(faults))
        try:
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(mode=0o700)
            _write_marker(partial, {"made_by": "plimsoll", "format": 1, "identity": {}})
            copied = Copied()
            for role, (live, _) in directory.kept_folders.items():
                if role in _KEPT:
                    copied += replace_tree(live, partial / role)
            about = {"made_by": "plimsoll", "format": 1, "kept_unix_s": time.time(), "identity": dict(identity)}
            _write_marker(partial, about)
            if kept.exists():
                kept.rename(self.path / f"{number}.old")
            partial.rename(kept)
            shutil.rmtree(self.path / f"{number}.old", ignore_errors=True)
        except OSError as error:
            raise HostError(f"{self.key}: {partial}: data cannot be kept: {error}") from None
        return copied


def read_marker(folder: Path) -> dict[str, Any] | None:
    """What the marker of an instance's kept data says; None where there is none of this user."""
    try:
        marker = folder / MARKER
        if folder.is_symlink() or marker.lstat().st_uid != os.geteuid():
            return None
        content = json.loads(marker.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and content.get("made_by") == "plimsoll" else None


def _is_ours(entry: Path) -> bool:
    return entry.name.split(".")[0].isdigit() and read_marker(entry) is not None


def _write_marker(folder: Path, content: dict[str, Any]) -> None:
    """Whole or not at all."""
    partial = folder / f".{MARKER}"
    partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    partial.rename(folder / MARKER)
