"""What of a study goes into a bundle, and what must not: a copy without secrets, and the guide of that copy.

The rules are those by which guides keep secrets out. Comments, the arguments of hooks and whatever is called a secret
may hold passwords: of the study file and of documents they are left out. Not packed are what hooks printed and
collected, the log of events, paths of this machine's folders, and recordings that are damaged or no longer in the plan.
What is unpacked is analysed again: a page that somebody sent is not trusted. Deliberately not here: the archive
(`record.bundle`).
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll import __version__, strict_json
from plimsoll.errors import HostError, RecordError, SpecError
from plimsoll.guide.build import build_guide, without_secrets
from plimsoll.guide.content import RECORDINGS
from plimsoll.guide.sources import of_plan
from plimsoll.importers.trials import SKIPPED_FILE
from plimsoll.private_folder import PrivateFolder
from plimsoll.prose.phrases import LEFT_OUT, is_secret
from plimsoll.record.bundle import Manifest, Progress, refuse_existing, unpack_bundle, write_bundle
from plimsoll.record.document import FileMark
from plimsoll.record.fault_tests import DURABILITY_FILE
from plimsoll.record.files import TABLE_FILES, document_bytes, is_attached, mark_of, read_bytes
from plimsoll.record.store import Recording, intact_outcome, read_study
from plimsoll.regular_file import text_regular
from plimsoll.run.capacity_search import CAPACITY_FILE
from plimsoll.run.folder import (
    GUIDE_FILES,
    GUIDE_JSON,
    PLAN_FILE,
    POINTER_FILE,
    changed_file,
    current_spec,
    document_folders,
    is_held,
    read_plan,
)
from plimsoll.run.storage import STORAGE_FILE
from plimsoll.spec.cover import LOGO_NAME, CoverSpec, read_logo
from plimsoll.spec.new_study import toml_document
from plimsoll.spec.published import DOCUMENT_FILE, read_kept_document
from plimsoll.spec.study import STUDY_FILE
from plimsoll.spec.study import read_study as read_study_file
from plimsoll.spec.workloads import WORKLOADS_FILE, StatementsSpec

CHANGED_FILE = "changed-study.toml"
"""The user's study file where it was changed after the run: costs and objective are those of this one."""

_DOCUMENTS = (PLAN_FILE, CAPACITY_FILE, STORAGE_FILE, DURABILITY_FILE, SKIPPED_FILE)
_OF_STUDY = {STUDY_FILE, CHANGED_FILE, POINTER_FILE, WORKLOADS_FILE, DOCUMENT_FILE, *_DOCUMENTS, *GUIDE_FILES}
_OF_RECORDING = {"trial.json", "environment.json", "outcome.json", *TABLE_FILES}
_TRIAL_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


@dataclass(frozen=True, slots=True)
class Packed:
    """A bundle that was written.

    Attributes:
        size_bytes: Of the file.
        trials_count: Recordings in it.
        damaged: Ids of recordings that are not in it, because they are damaged.
        attached_count: Files that hooks left in recordings, none of which is in it.
    """

    size_bytes: int
    trials_count: int
    damaged: tuple[str, ...]
    attached_count: int


@dataclass(frozen=True, slots=True)
class Opened:
    """A bundle that was unpacked.

    Attributes:
        manifest: What it says of itself.
        packed_guide: The `guide.json` that was in it.
    """

    manifest: Manifest
    packed_guide: bytes


def is_member(name: str, mark: FileMark) -> bool:
    """Whether a bundle may hold such a file.

    Args:
        name: Within the bundle.
        mark: Of its content: the pointer to a study file leads nowhere but into the bundle.
    """
    folder, _, rest = name.partition("/")
    trial_id, _, file = rest.partition("/")
    if rest:
        return folder == RECORDINGS and _TRIAL_ID.fullmatch(trial_id) is not None and file in _OF_RECORDING
    if name == POINTER_FILE:
        return mark == mark_of(CHANGED_FILE.encode())
    return name in _OF_STUDY or LOGO_NAME.fullmatch(name) is not None


def pack(folder: Path, to: Path, *, force: bool = False, progress: Progress = lambda _done, _total: None) -> Packed:
    """Makes a bundle of a study.

    Args:
        folder: Of the study, of single runs, or of imports.
        to: The file.
        force: Replaces what is there.
        progress: Is told how many bytes are packed.

    Raises:
        RecordError: There is no study, or nothing in it can be read.
        SpecError: The study file is wrong, or there is such a file already.
        HostError: It cannot be written, or the study is running.
    """
    refuse_existing(to, force=force)
    if is_held(folder):
        raise HostError(f"{folder}: another plimsoll process is measuring into this folder; wait for its end")
    with PrivateFolder("bundle") as private:
        copy = _Copy(folder, private / "study")
        analysis, _ = build_guide(copy.folder)
        members = {path.relative_to(copy.folder).as_posix(): path for path in copy.folder.rglob("*") if path.is_file()}
        manifest = Manifest(plimsoll_version=__version__, study=analysis.study, files={})
        size_bytes = write_bundle(to, manifest, members, later={CHANGED_FILE}, force=force, progress=progress)
        return Packed(size_bytes, copy.trials_count, tuple(copy.damaged), copy.attached_count)


def unpack(bundle: Path, to: Path, progress: Progress = lambda _done, _total: None) -> Opened:
    """Unpacks a bundle into a new folder, once all of it is as its manifest says; raises as `unpack_bundle` does.

    Its pages are removed, which may hold any script: whoever shows the study makes them again.
    """
    manifest = unpack_bundle(bundle, to, is_member, progress)
    guide = to / GUIDE_JSON
    packed = guide.read_bytes() if guide.is_file() else b""
    for name in GUIDE_FILES:
        (to / name).unlink(missing_ok=True)
    return Opened(manifest, packed)


class _Copy:
    """A copy of a study without what must not leave this machine. Tables are links to those of the study.

    Attributes:
        folder: Where it is.
        trials_count: Recordings in it.
        damaged: Ids of recordings that are not in it.
        attached_count: Files of hooks that are not in it.
    """

    def __init__(self, study: Path, folder: Path) -> None:
        """Makes it; raises as `pack` does."""
        self.folder = folder
        self.trials_count = self.attached_count = 0
        self.damaged: list[str] = []
        folder.mkdir()
        plan, recordings = read_plan(study), read_study(study)
        chosen = of_plan(plan, recordings)
        self.damaged += [recording.trial_id for recording in chosen.damaged]
        for recording in chosen.recordings:
            self._add_recording(recording)
        if not self.trials_count:
            raise RecordError(f"{study}: has no recording that is whole; run the study first")
        self._add_study_file(study)
        for name in _DOCUMENTS:
            if (study / name).exists():
                self._write(name, _public_json(read_bytes(study / name), study / name))

    def _write(self, name: str, content: bytes) -> FileMark:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return mark_of(content)

    def _add_recording(self, recording: Recording) -> None:
        outcome = intact_outcome(recording.path)
        if outcome is None:
            self.damaged.append(recording.trial.trial_id)
            return
        place = f"{RECORDINGS}/{recording.trial.trial_id}"
        attached = [name for name in outcome.files if is_attached(name)]
        marks = {name: mark for name, mark in outcome.files.items() if name not in attached}
        for name in marks:
            path = recording.path / name
            if name in TABLE_FILES:
                (self.folder / place / name).symlink_to(path.resolve())
            else:
                marks[name] = self._write(f"{place}/{name}", _public_json(read_bytes(path), path))
        hooks = tuple(hook.model_copy(update={"output": None}) for hook in outcome.hooks)
        public = outcome.model_copy(update={"files": marks, "hooks": hooks})
        content = read_bytes(recording.path / "outcome.json") if public == outcome else document_bytes(public)
        self._write(f"{place}/outcome.json", content)
        self.trials_count += 1
        self.attached_count += len(attached)

    def _add_study_file(self, study: Path) -> None:
        """The study file, and what it names: workload files and a logo. Imports have a document in its place."""
        spec, _ = current_spec(study)
        if spec is None:
            document = study / DOCUMENT_FILE
            if document.exists():
                self._write(DOCUMENT_FILE, without_secrets(text_regular(document)).encode())
                self._add_logo(read_kept_document(document).document, study)
            return
        text = without_secrets(text_regular(study / STUDY_FILE))
        self._write(STUDY_FILE, text.encode())
        specs = [read_study_file(study / STUDY_FILE)]
        with suppress(SpecError):  # a file that is wrong by now says nothing about the study
            if (changed := changed_file(study)) is not None:
                specs.insert(0, read_study_file(changed))
                self._write(CHANGED_FILE, without_secrets(text_regular(changed)).encode())
                self._write(POINTER_FILE, CHANGED_FILE.encode())
                os.utime(self.folder / STUDY_FILE, (0, 0))
        files = {
            workload.file: without_comments(workload.text)
            for each in specs
            for workload in each.workload
            if isinstance(workload, StatementsSpec)
        }
        if files:
            self._write(WORKLOADS_FILE, json.dumps(files, indent=1).encode())
        self._add_logo(spec.document, *document_folders(study))
        try:
            read_study_file(self.folder / STUDY_FILE)
        except SpecError as error:
            raise SpecError(
                f"{study / STUDY_FILE}: cannot be packed, because without what may be secret it is wrong:"
                f" {'; '.join(error.lines)}"
            ) from None

    def _add_logo(self, cover: CoverSpec, *folders: Path) -> None:
        with suppress(SpecError):  # whoever writes the guide warns of it
            if picture := read_logo(cover, *folders):
                self._write(cover.logo, picture)


def without_comments(text: str) -> str:
    """A workload file, written again from what it says."""
    try:
        return toml_document(tomllib.loads(text))
    except (ValueError, RecursionError):
        return LEFT_OUT


def _public_json(content: bytes, path: Path) -> bytes:
    """A document without what may be secret; its bytes are the same where there is nothing of the kind.

    Raises:
        RecordError: It is no JSON.
    """
    try:
        value = strict_json.read(content)
    except ValueError:
        raise RecordError(f"{path}: is damaged") from None
    public = _public(value, "")
    return content if public == value else strict_json.write(public, indent=1, ensure_ascii=False).encode() + b"\n"


_TABLES = "tables"
"""Of an environment: definitions by the names of tables, which are called anything."""

_STATED_OPTION = re.compile(r"^([\w-]+)(\s*=\s*)\S.*$", re.MULTILINE)


def _public(value: Any, key: str) -> Any:
    """What is below a key, without values that are called a secret."""
    if isinstance(value, dict):
        return {name: _public(item, key if key == _TABLES else name) for name, item in value.items()}
    if isinstance(value, list):
        return [_public(item, key) for item in value]
    if not isinstance(value, str) or not value:
        return value
    if key == "definition":
        return without_comments(value)
    if key == "option_file":
        return _STATED_OPTION.sub(lambda line: line[1] + line[2] + LEFT_OUT if is_secret(line[1]) else line[0], value)
    return LEFT_OUT if is_secret(key) else value
