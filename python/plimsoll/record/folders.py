"""Where the recordings of a study lie, and what their folders are called.

Deliberately not here: what is in such a folder (`store`, `partial`).
"""

from __future__ import annotations

import re
from pathlib import Path

from plimsoll.errors import RecordError

PREFIX = ".partial-"
"""Begins the name of a recording that is being written."""


def recordings_folder(study: Path) -> Path:
    """Where a study's recordings lie."""
    return study / "recordings"


def checked_id(trial_id: str) -> str:
    """A trial's id that can be a folder's name; raises RecordError for others."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", trial_id):
        raise RecordError(f"trial_id: must be 1 to 100 letters, digits, - or _, is {trial_id!r}")
    return trial_id


def partials(study: Path) -> list[Path]:
    """The folders of recordings that are being written, or that a crash left unfinished."""
    return sorted(recordings_folder(study).glob(f"{PREFIX}*"))
