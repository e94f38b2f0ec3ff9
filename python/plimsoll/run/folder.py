"""A study's folder: what was asked (`study.toml`), what follows (`plan.json`), what happened (`events.jsonl`).

Recordings lie in the same folder and belong to package `record`. A run locks the folder that it writes into, and
notices when it is moved. A folder keeps a copy of the user's file as it was when the study ran. Costs, the objective,
`equal_within` and `[document]` are no conditions of a trial: they may change later, in the user's file or in the copy,
and the one that was changed last counts.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self, TypeVar

from pydantic import ValidationError

from plimsoll.errors import HostError, NewerFormatError, RecordError, SpecError, StorageError
from plimsoll.plan.build import former_ids
from plimsoll.plan.model import PLAN_FORMAT, Plan
from plimsoll.record.document import Document, is_newer
from plimsoll.record.files import partial_of, replace_file, unreadable
from plimsoll.regular_file import read_regular, text_regular
from plimsoll.spec.cover import read_logo
from plimsoll.spec.study import STUDY_FILE, StudySpec, parse_study, read_study
from plimsoll.spec.workloads import WORKLOADS_FILE, StatementsSpec, kept_files, reader

PLAN_FILE = "plan.json"
EVENTS_FILE = "events.jsonl"
GUIDE_HTML, GUIDE_MARKDOWN, GUIDE_JSON = GUIDE_FILES = ("guide.html", "guide.md", "guide.json")
"""In the order in which they are written."""

MACHINE_FILE = "machine.json"
_Kept = TypeVar("_Kept", bound=Document)
UNPLANNED = "made before the study was changed; kept, but not part of its guide"
"""What recordings are whose trial is not in the plan."""


def resolve(path: Path, to: Path | None) -> tuple[Path, StudySpec, Path]:
    """From what a user named, a study file or a study's folder: the file, what it says, and the folder.

    Raises:
        SpecError: There is nothing, the file is wrong, or the folder holds something else.
    """
    if path.is_dir():
        file = path / STUDY_FILE
        if not file.exists():
            raise SpecError(f"{path}: this folder has no {STUDY_FILE}; name a study file or the folder of a study")
        return file, read_study(file), path if to is None else to
    spec = read_study(path)
    return path, spec, to if to is not None else Path(_folder_name(spec.study.name))


def read_plan(folder: Path) -> Plan | None:
    """The plan that a study's folder holds; None where there is none, such as in a folder of imports.

    Raises:
        NewerFormatError: A newer Plimsoll wrote it.
        RecordError: It cannot be read.
    """
    cure = "run the study again to restore it"
    return read_kept(folder / PLAN_FILE, Plan, version=("plan_format", PLAN_FORMAT), cure=cure)


def read_kept(file: Path, kind: type[_Kept], *, version: tuple[str, int], cure: str) -> _Kept | None:
    """Reads a document that a study's folder holds; None where there is none.

    Args:
        file: The document.
        kind: What it must be.
        version: The field with its version, and the newest that is known.
        cure: What to do about a damaged one.

    Raises:
        NewerFormatError: A newer Plimsoll wrote it.
        RecordError: It cannot be read.
    """
    try:
        content = read_regular(file)
        if is_newer(content, *version):
            raise NewerFormatError(f"{file}: written by a newer Plimsoll. Upgrade Plimsoll to continue this study.")
        return kind.model_validate_json(content)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise RecordError(
            f"{file.parent}: is a file, and a study is a folder. If it is a bundle: plimsoll open {file.parent}"
        ) from None
    except OSError as error:
        raise unreadable(file, error) from None
    except ValidationError:
        raise RecordError(f"{file}: is damaged; {cure}") from None


def _folder_name(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.") or "study"


class OpenedStudy:
    """A study's folder that this process holds.

    Attributes:
        held: Its lock.
    """

    def __init__(self, held: HeldFolder, spec: StudySpec, file: Path, text: str, logo: bytes) -> None:
        self.held, self._spec, self._file, self._text, self._logo = held, spec, file, text, logo

    def keep(self, plan: Plan) -> None:
        """Writes down what was asked and what follows from it.

        Raises:
            HostError: It cannot be written.
        """
        folder = self.held.path
        cure = "free space or choose another --to"
        replace_file(folder / STUDY_FILE, self._text, cure)
        if (pointer := pointer_text(folder, self._file)) is not None:
            replace_file(folder / POINTER_FILE, pointer, cure)
        replace_file(folder / PLAN_FILE, plan.model_dump_json(indent=1), cure)
        if files := {
            workload.file: workload.text for workload in self._spec.workload if isinstance(workload, StatementsSpec)
        }:
            replace_file(folder / WORKLOADS_FILE, json.dumps(files, indent=1), cure)
        if self._logo:
            replace_file(folder / self._spec.document.logo, self._logo, cure)


@contextlib.contextmanager
def opened(folder: Path, file: Path, spec: StudySpec) -> Iterator[OpenedStudy]:
    """Makes or takes up a study's folder and holds its lock: only one process runs a study at a time.

    Raises:
        SpecError: The folder belongs to something else, the file says something else by now, or its logo is none.
        HostError: It cannot be written, or another process runs the study.
    """
    text = _text_of(file, spec)
    logo = read_logo(spec.document, folder_of_file(folder, file), folder)
    _refuse_foreign(folder, spec)
    with HeldFolder(folder) as held:
        yield OpenedStudy(held, spec, file, text, logo)


def holds_study(folder: Path, name: str) -> bool:
    """Whether a folder holds a study of that name."""
    with contextlib.suppress(SpecError):
        return (folder / STUDY_FILE).exists() and read_study(folder / STUDY_FILE).study.name == name
    return False


def known_former_ids(folder: Path, recorded: Iterable[str]) -> dict[str, str]:
    """Ids that trials of a folder were recorded under by an earlier rule, by the ids that they would have now.

    The folder's own study file, not a newer one, says what they were; and the plan, what was found out before.

    Args:
        folder: Of the study.
        recorded: Ids of its recordings, of damaged ones too.

    Raises:
        NewerFormatError: A newer Plimsoll wrote the plan.
    """
    former: dict[str, str] = {}
    with contextlib.suppress(SpecError):
        if (folder / STUDY_FILE).exists():
            ids = set(recorded)
            former = {new: old for new, old in former_ids(read_study(folder / STUDY_FILE)).items() if old in ids}
    try:
        plan = read_plan(folder)
    except NewerFormatError:
        raise
    except RecordError:
        plan = None  # it is written again
    return former if plan is None else {**plan.former_ids, **former}


def _text_of(file: Path, spec: StudySpec) -> str:
    """The text that a spec was read from; a pipe, or a file that is being edited, would give another one."""
    with contextlib.suppress(OSError, UnicodeDecodeError, SpecError):
        text = text_regular(file)
        if parse_study(text, reader(file.parent, kept_files(file.parent))) == spec:
            return text
    raise SpecError(
        f"{file}: changed while it was read, or cannot be read twice; name a regular file that does not change"
    )


def _refuse_foreign(folder: Path, spec: StudySpec) -> None:
    """A folder that is not empty must hold this study. What a run left that was killed while it began is nothing."""
    ours = {
        LOCK_FILE,
        partial_of(folder / STUDY_FILE).name,
        partial_of(folder / PLAN_FILE).name,
        partial_of(folder / WORKLOADS_FILE).name,
        WORKLOADS_FILE,
        POINTER_FILE,
        partial_of(folder / POINTER_FILE).name,
    }
    try:
        if not folder.is_dir() or {path.name for path in folder.iterdir()} <= ours:
            return
    except OSError as error:
        raise HostError(f"{folder}: cannot be read: {error.strerror}; choose another folder with --to") from None
    if not (folder / STUDY_FILE).exists():
        if (folder / "recordings").is_dir():
            raise SpecError(f"{folder}: holds imported recordings; choose another folder with --to")
        raise SpecError(f"{folder}: is not empty and is not a study; choose another folder with --to")
    held = read_study(folder / STUDY_FILE).study.name
    if held != spec.study.name:
        raise SpecError(f"{folder}: holds the study {held!r}, not {spec.study.name!r}; choose another folder with --to")


def refuse_for_recordings(folder: Path) -> None:
    """Refuses a folder to which recordings that no plan foresaw must not be added.

    Raises:
        SpecError: It is no folder, holds something else than a study, or a study whose guide is of its plan alone.
        HostError: It cannot be read.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise SpecError(f"{folder}: is not a folder; choose another path")
    for name in (STUDY_FILE, PLAN_FILE):
        if (folder / name).exists():
            raise SpecError(
                f"{folder}: holds a study that was measured here ({name}), and its guide shows only its own trials;"
                " choose another folder"
            )
    try:
        is_foreign = not (folder / "recordings").is_dir() and {path.name for path in folder.iterdir()} - {
            LOCK_FILE,
            MACHINE_FILE,
        }
    except OSError as error:
        raise HostError(f"{folder}: cannot be read: {error.strerror}; choose another folder") from None
    if is_foreign:
        raise SpecError(f"{folder}: is not empty and has no recordings; choose another folder")


POINTER_FILE = ".study-file"
"""Holds the path of the user's file, relative to the folder, so that both can be moved together."""

_PATH_BYTES_MAX = 4096


def pointer_text(folder: Path, file: Path) -> str | None:
    """What the pointer of a study's folder says; None where the file is the folder's own, or its path no text."""
    if file.absolute() == (folder / STUDY_FILE).absolute():
        return None
    path = os.path.relpath(file.absolute(), folder.absolute())
    return None if any("\ud800" <= character <= "\udfff" for character in path) else path


def folder_of_file(folder: Path, file: Path) -> Path:
    """The folder of the user's study file, where hooks run, also where the copy of a study's folder was named.

    Args:
        folder: Of the study.
        file: What the user named.
    """
    if file.absolute() == (folder / STUDY_FILE).absolute() and (users := _users_file(folder)) is not None:
        return users.parent.absolute()
    return file.absolute().parent


def document_folders(folder: Path) -> tuple[Path, Path]:
    """Where a study's `[document]` finds its files: beside the user's study file first, then in the study's folder."""
    return folder_of_file(folder, folder / STUDY_FILE), folder


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
    users = changed_file(folder)
    if users is None:
        return spec, None
    try:
        user_spec = read_study(users)
    except SpecError as error:
        return spec, f"costs and objective are those of {copy}: {error.faults[0]}"
    if user_spec.study.name != spec.study.name:
        return spec, None
    now = _with_what_may_change(spec, user_spec)
    is_same = now.model_copy(update={"document": spec.document}) == spec
    return now, None if is_same else f"costs and objective are those of {users}, which was changed after the run"


def changed_file(folder: Path) -> Path | None:
    """The user's study file where it was changed after the folder's copy was written; None where it was not."""
    users = _users_file(folder)
    is_newer = users is not None and users.stat().st_mtime_ns > (folder / STUDY_FILE).stat().st_mtime_ns
    return users if is_newer else None


def _users_file(folder: Path) -> Path | None:
    """The file that the folder's study came from; None where it is unknown, gone, or the copy itself."""
    try:
        path = (folder / text_regular(folder / POINTER_FILE, _PATH_BYTES_MAX)).resolve()
        return path if path.is_file() and not path.samefile(folder / STUDY_FILE) else None
    except (OSError, ValueError):
        return None


def _with_what_may_change(spec: StudySpec, user_spec: StudySpec) -> StudySpec:
    costs = {system.name: {"cost_per_month": system.cost_per_month, "cost": system.cost} for system in user_spec.system}
    systems = tuple(system.model_copy(update=costs.get(system.name, {})) for system in spec.system)
    later = ("objective", "utilisation", "equal_within")
    study = spec.study.model_copy(update={name: getattr(user_spec.study, name) for name in later})
    return spec.model_copy(update={"system": systems, "study": study, "document": user_spec.document})


LOCK_FILE = ".lock"
_PATIENCE_S = 0.5
"""`is_held` takes the lock for an instant; whoever wants to keep it waits so long."""


class HeldFolder:
    """A folder whose lock this process holds. Use it as a context manager: leaving it gives the lock away.

    A folder that is moved or removed meanwhile must not be made again under its old name: results would be split. Its
    open descriptor tells: it is the folder, whatever it is called by now.
    """

    def __init__(self, path: Path) -> None:
        """Takes the lock; the folder is made if need be.

        Raises:
            HostError: The folder cannot be written, or another process measures into it.
        """
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise HostError(f"{path}: cannot be written: {error.strerror}; choose another folder") from None
        try:
            self._lock = os.open(
                LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=self._folder
            )
        except OSError as error:
            os.close(self._folder)
            raise HostError(f"{path}: cannot be written: {error.strerror}; choose another folder") from None
        if not _locked(self._lock, _PATIENCE_S):
            self.close()
            raise HostError(
                f"{path}: another plimsoll process is using this folder; wait for it, or choose another folder"
            )

    def refuse_moved(self) -> None:
        """Makes sure that the folder still is where it was.

        Raises:
            StorageError: It was moved or removed.
        """
        held = os.fstat(self._folder)
        try:
            current = self.path.stat()
        except OSError:
            current = None
        if current is not None and os.path.samestat(held, current):
            return
        if held.st_nlink == 0:
            raise StorageError(
                f"{self.path}: the folder was removed during the run, with everything in it; run the same command again"
                " to start over"
            )
        place = os.readlink(f"/proc/self/fd/{self._folder}")  # noqa: PTH115 - no path, but what the kernel calls it
        raise StorageError(
            f"{self.path}: the folder was moved to {place} during the run. Everything recorded is there: move it back,"
            " or continue with that folder"
        )

    def close(self) -> None:
        """Gives the lock away."""
        os.close(self._lock)
        os.close(self._folder)

    def __enter__(self) -> Self:
        """Nothing to do: it is locked already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Gives the lock away."""
        self.close()


def is_held(path: Path) -> bool:
    """Whether some process measures into a folder now."""
    try:
        lock = os.open(path / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _locked(lock, 0, shared=True)
    finally:
        os.close(lock)


def _locked(lock: int, patience_s: float, *, shared: bool = False) -> bool:
    """Whether the lock could be had within a time."""
    until_s = time.monotonic() + patience_s
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    while True:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until_s:
                return False
            time.sleep(0.02)
        else:
            return True
