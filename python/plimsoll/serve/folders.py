"""What there is below a folder: studies and folders of single runs, each with what a list says of it.

A list must be there at once, whatever lies below: it reads the end of a study's events, one environment and what the
guide answered, and never the tables of recordings. What was read of a file is kept until the file changes. Deliberately
not here: where a study stands in full (`standing`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from plimsoll.analyse.trial.window import counts_of, throughput_tps
from plimsoll.errors import RecordError
from plimsoll.guide.headline import HEADLINE_CODES
from plimsoll.record.files import recordings_folder
from plimsoll.record.store import read_recording
from plimsoll.regular_file import open_regular, read_regular
from plimsoll.run.folder import EVENTS_FILE, GUIDE_HTML, GUIDE_JSON, PLAN_FILE, is_held
from plimsoll.spec.study import STUDY_FILE

DEPTH_MAX = 4
FOLDERS_MAX = 20_000
"""So many folders are looked at."""

_JSON_BYTES_MAX = 64 * 2**20
_TAIL_BYTES = 64 * 2**10
_NAME_MAX, _ANSWER_MAX, _SYSTEMS_MAX = 200, 600, 100

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A study, or a folder of single runs.

    Attributes:
        place: Its path below the folder that is served; empty for that folder itself.
        name: Of the study; of a folder of runs the folder's.
        is_study: It has a plan or a study file.
        state: running, finished, stopped or not begun.
        changed_unix_s: When something was recorded last, wall clock.
        recordings_count: How many there are.
        server: Which server it measured last; empty where that is not known.
        answer: The first sentence of its guide's answer; empty where there is none yet.
        has_guide: Its guide was built.
        systems: Those of its plan or its guide, else of recordings.
    """

    place: str
    name: str
    is_study: bool
    state: str
    changed_unix_s: float
    recordings_count: int
    server: str
    answer: str
    has_guide: bool
    systems: tuple[str, ...]

    @property
    def sides(self) -> tuple[str, ...]:
        """What of it can be compared, as `plimsoll compare` takes it, below the folder that is served."""
        return tuple(f"{self.place or '.'}:{system}" for system in self.systems) or (self.place or ".",)


class Folders:
    """Everything below one folder."""

    def __init__(self, root: Path) -> None:
        """Takes the folder."""
        self.root = root
        self._kept: dict[Path, tuple[FileStamp, Any]] = {}

    def path_of(self, place: str) -> Path | None:
        """The folder of a place, if it is the root or one that `entries` can list; None otherwise.

        A place comes from an address: it leads nowhere but below the root, and through no hidden folder. The root may
        be the folder of a run that only begins.
        """
        if not place:
            return self.root
        parts = place.split("/")
        if any(not part or part.startswith(".") or "\0" in part for part in parts):
            return None
        path = self.root.joinpath(*parts)
        try:
            is_below = path.resolve().is_relative_to(self.root.resolve())
        except OSError:
            return None
        return path if is_below and is_listed(path) else None

    def entries(self) -> list[Entry]:
        """All of them, those that run first, then the latest first."""
        entries = [self.entry(path) for path in self._paths()]
        return sorted(entries, key=lambda entry: (entry.state != "running", -entry.changed_unix_s))

    def _paths(self) -> Iterator[Path]:
        level, seen = [self.root], 0
        for depth in range(DEPTH_MAX + 1):
            below: list[Path] = []
            for path in level:
                seen += 1
                if seen > FOLDERS_MAX:
                    return
                if is_listed(path):
                    yield path
                elif depth < DEPTH_MAX:
                    below += _folders_in(path)
            level = below

    def entry(self, path: Path) -> Entry:
        """What a list says of a folder."""
        recordings = recordings_folder(path)
        names = _names_in(recordings)
        place = "" if path == self.root else path.relative_to(self.root).as_posix()
        is_study = any((path / name).exists() for name in (STUDY_FILE, PLAN_FILE))
        events = path / EVENTS_FILE
        plan, guide = self._from(path / PLAN_FILE, _plan_of), self._from(path / GUIDE_JSON, _guide_of)
        changed_s = max(map(_changed_s, (recordings, events, path / GUIDE_JSON)))
        return Entry(
            place=place,
            name=plan[0] if plan else path.resolve().name,
            is_study=is_study,
            state=_state(path, is_study=is_study, ended=self._from(events, _ended), has_recordings=bool(names)),
            changed_unix_s=changed_s,
            recordings_count=len(names),
            server=self._server(recordings, names),
            answer=guide[0] if guide else "",
            has_guide=(path / GUIDE_HTML).is_file(),
            systems=(plan[1] if plan else ()) or (guide[1] if guide else ()) or self._recorded(recordings, names),
        )

    def _server(self, recordings: Path, names: list[str]) -> str:
        """By the environment of one recording, which one is all the same."""
        return next(
            (text for name in names[:1] if (text := self._from(recordings / name / _ENVIRONMENT, _servers))), ""
        )

    def _recorded(self, recordings: Path, names: list[str]) -> tuple[str, ...]:
        """Systems of some recordings: of a folder with many runs perhaps not all."""
        some = (self._from(recordings / name / "trial.json", _system_of) for name in sorted(names)[:_SYSTEMS_MAX])
        return tuple(dict.fromkeys(filter(None, some)))

    def _from(self, path: Path, read: Callable[[Path], T]) -> T | None:
        """What a file says; None where it is not there or says nothing of the kind."""
        stamp, known = file_stamp(path), self._kept.get(path)
        if stamp is None:
            return None
        if known is None or known[0] != stamp:
            try:
                value: T | None = read(path)
            except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
                value = None
            self._kept[path] = known = (stamp, value)
        return known[1]


_ENVIRONMENT = "environment.json"

FileStamp = tuple[int, int, int]


def file_stamp(path: Path) -> FileStamp | None:
    """Another one when a file has changed: its time alone moves in steps on many systems. None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def is_listed(path: Path) -> bool:
    """Whether a folder is a study, or has recordings."""
    return (path / PLAN_FILE).is_file() or recordings_folder(path).is_dir()


def _folders_in(path: Path) -> list[Path]:
    """Those that are not hidden, and no links."""
    try:
        with os.scandir(path) as entries:
            names = [
                entry.name
                for entry in entries
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []
    return [path / name for name in sorted(names)]


def _names_in(recordings: Path) -> list[str]:
    """Ids of the recordings that are whole; which comes first means nothing."""
    try:
        return [path.name for path in recordings.iterdir() if not path.name.startswith(".")]
    except OSError:
        return []


def _changed_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _state(path: Path, *, is_study: bool, ended: bool | None, has_recordings: bool) -> str:
    if is_held(path):
        return "running"
    if not is_study:
        return "finished"
    if ended is None:
        return "stopped" if has_recordings else "not begun"
    return "finished" if ended else "stopped"


def _read_json(path: Path) -> Any:
    return json.loads(read_regular(path, _JSON_BYTES_MAX))


def _plan_of(path: Path) -> tuple[str, tuple[str, ...]]:
    """The name of a study, and its systems."""
    plan = _read_json(path)
    of_trials = [str(trial["system"]) for trial in (*plan["trials"], *plan.get("searches", ()))]
    return str(plan["study"])[:_NAME_MAX], tuple(dict.fromkeys(of_trials))[:_SYSTEMS_MAX]


def _system_of(path: Path) -> str:
    return str(_read_json(path)["system"]["name"])[:_NAME_MAX]


def _ended(path: Path) -> bool:
    """Whether the last event of a study is its end, with nothing missing."""
    with open_regular(path) as file:
        file.seek(max(os.fstat(file.fileno()).st_size - _TAIL_BYTES, 0))
        lines = file.read(_TAIL_BYTES).splitlines()
    event = json.loads(lines[-1])["event"]
    return bool(event["type"] == "study_ended" and event.get("reason") is None and not event.get("missing_count"))


def _servers(path: Path) -> str:
    known = (
        f"{instance.get('flavour') or 'server'} {str(instance['version']).split('-')[0]}"
        for instance in _read_json(path)["instances"]
        if instance.get("version")
    )
    return ", ".join(dict.fromkeys(known))[:200]


def _guide_of(path: Path) -> tuple[str, tuple[str, ...]]:
    """The first sentence of the answer that a guide begins with, and its systems."""
    guide = _read_json(path)
    systems = tuple(str(system["name"]) for system in guide.get("systems", ()))[:_SYSTEMS_MAX]
    findings = [finding for finding in guide["answer"] if finding.get("text")]
    if not findings:
        return "", systems
    codes = ("comparison", *HEADLINE_CODES)
    first = next((finding for finding in findings if finding.get("code") in codes), findings[0])
    return first_sentence(str(first["text"]))[:_ANSWER_MAX], systems


def first_sentence(text: str) -> str:
    """A text up to the end of its first sentence; points within numbers and names end none.

    >>> first_sentence("MariaDB 10.11 completes 1,234 tps. It was disturbed. Find out why.")
    'MariaDB 10.11 completes 1,234 tps.'
    """
    return re.split(r"(?<=\.) (?=[A-Z])", text, maxsplit=1)[0]


RUNS_SHOWN = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A recording in a list.

    Attributes:
        verdict: complete, failed, …; damaged where it cannot be read, and then nothing else is known.
        repetition: From 1.
        tps: None where nothing was measured.
        changed_unix_s: When it was recorded, wall clock.
    """

    trial_id: str
    system: str = ""
    workload: str = ""
    level: str = ""
    repetition: int = 0
    verdict: str = "damaged"
    tps: float | None = None
    changed_unix_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Some recordings of a folder, the latest first.

    Attributes:
        first: Ordinal of the first of them, from 0.
        total: How many there are in all.
        size: How many are shown at most.
    """

    rows: tuple[Run, ...]
    first: int
    total: int
    size: int = RUNS_SHOWN


def runs_of(folder: Path, first: int) -> Runs:
    """The recordings from an ordinal on; only those that are shown are read, and of them no histograms."""
    recordings = recordings_folder(folder)
    latest = sorted(((_changed_s(recordings / name), name) for name in _names_in(recordings)), reverse=True)
    shown = latest[first : first + RUNS_SHOWN]
    return Runs(rows=tuple(_run(recordings / name, at_s) for at_s, name in shown), first=first, total=len(latest))


def _run(path: Path, changed_unix_s: float) -> Run:
    try:
        recording = read_recording(path)
        intervals = recording.intervals()
    except RecordError:
        return Run(trial_id=path.name, changed_unix_s=changed_unix_s)
    trial, outcome = recording.trial, recording.outcome
    counts = None if intervals is None else counts_of(trial, outcome, intervals)
    reported = None if outcome.reported is None else outcome.reported.throughput_tps
    return Run(
        trial_id=path.name,
        system=trial.system.name,
        workload=trial.workload.name,
        level=trial.level.label(),
        repetition=trial.repetition + 1,
        verdict=str(outcome.verdict),
        tps=reported if counts is None else throughput_tps(outcome, counts),
        changed_unix_s=changed_unix_s,
    )
