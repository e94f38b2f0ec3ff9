"""Where the study file of the user is whose study a folder holds, and what of it counts without measuring again.

A folder keeps a copy of the file as it was when the study ran. Costs, the objective and `equal_within` are no
conditions of a trial: they may change later, in the user's file or in the copy, and the one that was changed last
counts. Deliberately not here: everything else of a study, which changes when it runs again.
"""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.errors import SpecError
from plimsoll.regular_file import text_regular
from plimsoll.spec.study import STUDY_FILE, StudySpec, read_study

POINTER_FILE = ".study-file"
"""Holds the path of the user's file, relative to the folder, so that both can be moved together."""

_PATH_BYTES_MAX = 4096


def pointer_text(folder: Path, file: Path) -> str | None:
    """What the pointer of a study's folder says; None where the file is the folder's own, or its path no text."""
    if file.absolute() == (folder / STUDY_FILE).absolute():
        return None
    path = os.path.relpath(file.absolute(), folder.absolute())
    return None if any("\ud800" <= one <= "\udfff" for one in path) else path


def folder_of_file(folder: Path, file: Path) -> Path:
    """The folder of the user's study file, where hooks run, also where the copy of a study's folder was named.

    Args:
        folder: Of the study.
        file: What the user named.
    """
    if file.absolute() == (folder / STUDY_FILE).absolute() and (users := _users_file(folder)) is not None:
        return users.parent.absolute()
    return file.absolute().parent


def current_spec(folder: Path) -> tuple[StudySpec | None, str | None]:
    """What a study was asked to do, with the costs and the objective that count now.

    Returns:
        The spec, None for imports, which have no study file; and a line for the user where the user's file was changed
        since the study ran.

    Raises:
        SpecError: The copy in the folder is wrong.
    """
    copy = folder / STUDY_FILE
    if not copy.exists():
        return None, None
    spec = read_study(copy)
    users = _users_file(folder)
    if users is None or users.stat().st_mtime_ns <= copy.stat().st_mtime_ns:
        return spec, None
    try:
        said = read_study(users)
    except SpecError as error:
        return spec, f"costs and objective are those of {copy}: {error.faults[0]}"
    if said.study.name != spec.study.name:
        return spec, None
    now = _with_what_may_change(spec, said)
    return now, None if now == spec else f"costs and objective are those of {users}, which was changed after the run"


def _users_file(folder: Path) -> Path | None:
    """The file that the folder's study came from; None where it is unknown, gone, or the copy itself."""
    try:
        path = (folder / text_regular(folder / POINTER_FILE, _PATH_BYTES_MAX)).resolve()
        return path if path.is_file() and not path.samefile(folder / STUDY_FILE) else None
    except (OSError, ValueError):
        return None


def _with_what_may_change(spec: StudySpec, said: StudySpec) -> StudySpec:
    costs = {one.name: {"cost_per_month": one.cost_per_month, "cost": one.cost} for one in said.system}
    systems = tuple(system.model_copy(update=costs.get(system.name, {})) for system in spec.system)
    later = ("objective", "utilisation", "equal_within")
    study = spec.study.model_copy(update={name: getattr(said.study, name) for name in later})
    return spec.model_copy(update={"system": systems, "study": study})
