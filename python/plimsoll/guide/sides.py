"""From what a user names to the two sides of a comparison: the folder of a study, one of its systems, or a recording.

`STUDY` is a study with one system, `STUDY:SYSTEM` one of several, and the folder of one trial a recording alone.
Deliberately not here: what the comparison says (`plimsoll.analyse.answers.compare`).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from plimsoll.analyse.answers.compare_model import ComparedSide, Sessions
from plimsoll.analyse.answers.compare_sides import Design, Side, design_of_two_studies
from plimsoll.analyse.answers.trend import PastStudy
from plimsoll.analyse.study.environments import apart
from plimsoll.analyse.study.sequential import questions
from plimsoll.analyse.trial.trial_summary import TrialSummary, compared_trial, counting
from plimsoll.errors import RecordError, SpecError
from plimsoll.guide.sources import of_plan, searches_of_plan
from plimsoll.record.capacity import SearchRecord
from plimsoll.record.model import Verdict
from plimsoll.record.store import Damaged, Recording, read_recording, read_study
from plimsoll.run.capacity_search import read_searches
from plimsoll.run.folder import current_spec, read_plan
from plimsoll.spec.study import StudySpec
from plimsoll.wording import first_few

_SIDES_COUNT = 2


@dataclass(frozen=True, slots=True)
class _Named:
    """What a user named.

    Attributes:
        text: As it was written.
        path: The folder.
        system: Which of its systems; None for the only one.
    """

    text: str
    path: Path
    system: str | None


@dataclass(frozen=True, slots=True)
class _Folder:
    """What a folder holds.

    Attributes:
        recordings: Those that count.
        damaged: Recordings that cannot be read.
        searches: For capacities.
        spec: What the study was asked; None where there is no study file.
        is_recording: It is a single recording, and no study.
    """

    recordings: Sequence[Recording]
    damaged: Sequence[Damaged] = ()
    searches: Sequence[SearchRecord] = ()
    spec: StudySpec | None = None
    is_recording: bool = False

    @property
    def is_until_decided(self) -> bool:
        """Whether its repetitions went on until the answer was decided."""
        return self.spec is not None and self.spec.study.is_until_decided


def right_form(words: Sequence[str]) -> str:
    """How two sides are written, from words that were too many; a system belongs to the folder before it.

    >>> right_form(["/", "durable", "relaxed"])
    '/:durable /:relaxed'
    >>> right_form(["durable", "relaxed"])
    'STUDY:SYSTEM STUDY:SYSTEM'
    """
    sides: list[str] = []
    folder = None
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if not Path(word).is_dir():
            sides += [] if folder is None else [f"{folder}:{word}"]
        else:
            folder = word
            sides += [word] if not following or Path(following).is_dir() else []
    return shlex.join(sides) if len(sides) == _SIDES_COUNT else " ".join(["STUDY:SYSTEM"] * _SIDES_COUNT)


def read_sides(base: str, system: str, baselines: Sequence[str] = ()) -> tuple[Side, Side, Design]:
    """Reads both sides.

    Args:
        base: What is compared with, as a user names it.
        system: What is compared.
        baselines: Other studies of what `base` is.

    Returns:
        The two, and how they were measured against each other.

    Raises:
        RecordError: There is no study or recording, or nothing in it can be read.
        SpecError: A system is not named and there are several, or there is none of that name, or a baseline is of no
            use.
    """
    named = [_named(text) for text in (base, system, *baselines)]
    folders = {path: _folder(path) for path in dict.fromkeys(side_name.path for side_name in named)}
    sides = [_side(side_name, folders[side_name.path]) for side_name in named]
    first, other = named[:2]
    is_same = first.path.resolve() == other.path.resolve()
    if is_same and sides[0].facts.system == sides[1].facts.system:
        raise SpecError(f"{system}: is the same system as {base}; name two, such as {first.path}:SYSTEM")
    at_any_look = any(folders[each.path].is_until_decided for each in (first, other))
    if not is_same:
        return sides[0], sides[1], design_of_two_studies(sides[0], sides[1], sides[2:], at_any_look=at_any_look)
    if baselines:
        raise SpecError("--baseline: A and B are of one study, and are compared within its repetitions. Leave it out")
    is_measured = all(trial.trial.origin.kind == "measured" for side in sides for trial in side.all_trials)
    design = Design(
        is_paired=is_measured,
        at_any_look=at_any_look,
        sessions=Sessions.ONE_STUDY if is_measured else Sessions.UNKNOWN,
        questions_count=_questions_count(folders[first.path].spec),
    )
    return sides[0], sides[1], design


def read_past(names: Sequence[str]) -> list[PastStudy]:
    """Reads the studies of a history: of each all of its systems, or the one that is named.

    Args:
        names: Each `STUDY` or `STUDY:SYSTEM`.

    Returns:
        The studies. One without a complete trial is among them, and has no sides.

    Raises:
        RecordError: There is no study, or no trial of any is complete.
        SpecError: There is no system of that name, or a study is named twice.
    """
    read: dict[Path, dict[str | None, PastStudy]] = {}
    for named in map(_named, names):
        systems = read.setdefault(named.path.resolve(), {})
        if named.system in systems or (systems and None in (named.system, *systems)):
            raise SpecError(f"{named.text}: is named twice: a study is all of its systems, or those that are named")
        systems[named.system] = _past(named)
    studies = [study for systems in read.values() for study in systems.values()]
    if not any(study.sides for study in studies):
        names_of_all = first_few([study.name for study in studies])
        raise RecordError(f"{names_of_all}: no trial is complete; run the study again")
    return studies


def _past(named: _Named) -> PastStudy:
    folder = _folder(named.path)
    of_systems = [
        recording
        for recording in folder.recordings
        if named.system is None or _is_of(named.system, recording.trial.system.name)
    ]
    is_study = bool(folder.recordings or folder.damaged or folder.spec is not None)
    if not is_study or (folder.recordings and not of_systems):
        _side(named, folder)  # says what is wrong
    complete = [recording for recording in of_systems if recording.outcome.verdict is Verdict.COMPLETE]
    names = dict.fromkeys(recording.trial.system.name for recording in complete)
    sides: list[Side] = []
    for system in [named.system] if named.system is not None else names:
        with suppress(RecordError):  # no trial of it is complete
            sides.append(_side(_Named(named.text, named.path, system), folder))
    return PastStudy(named.text, sides, () if sides else [recording.trial for recording in of_systems])


def _questions_count(spec: StudySpec | None) -> int:
    """How many comparisons a study was to decide: as many as share its 5 %."""
    if spec is None:
        return 0
    systems, workloads = [system.name for system in spec.system], [workload.name for workload in spec.workload]
    return len(questions(systems, workloads, spec.study.levels.levels))


def _named(text: str) -> _Named:
    """The longest folder that is there; names of systems may have colons too, as addresses do."""
    path = Path(text)
    for place in reversed([index for index, letter in enumerate(text) if letter == ":"]):
        folder, system = text[:place], text[place + 1 :]
        if folder and system and not path.exists() and Path(folder).is_dir():
            return _Named(text, Path(folder), system)
    return _Named(text, path, None)


def _folder(path: Path) -> _Folder:
    if (path / "trial.json").exists():
        return _Folder((read_recording(path),), is_recording=True)
    plan = read_plan(path)
    study = of_plan(plan, read_study(path))
    recordings, _ = counting(study.recordings)
    spec, _ = current_spec(path)
    return _Folder(recordings, study.damaged, searches_of_plan(plan, read_searches(path)), spec)


def _side(named: _Named, folder: _Folder) -> Side:
    wanted = named.system
    names = list(dict.fromkeys(recording.trial.system.name for recording in folder.recordings))
    if not names:
        reason = folder.damaged[0].reason if folder.damaged else "no trial has been recorded yet; run the study first"
        raise RecordError(f"{named.path}: {reason}")
    if wanted is None and len(names) > 1:
        raise SpecError(f"{named.text}: has several systems, name one: {_choices(named, names)}")
    matching = [
        recording for recording in folder.recordings if wanted is None or _is_of(wanted, recording.trial.system.name)
    ]
    if not matching:
        raise SpecError(f"{named.text}: there is no such system; there is {_choices(named, names)}")
    trials, left_out = _reduced(matching)
    if not trials:
        raise RecordError(f"{named.text}: no trial is complete; run the study again")
    chosen = _in_one_environment(named, trials)
    first = chosen[0]
    levels = [trial for trial in chosen if folder.is_recording or trial.trial.search_id is None]
    searches = _searches(first.trial.system.name, folder, trials, chosen)
    finished_count = sum(search.is_finished for search in searches)
    versions = dict.fromkeys(instance.version for instance in first.environment.instances if instance.version)
    facts = ComparedSide(
        name=named.text,
        study=first.trial.study,
        system=first.trial.system.name,
        server_versions=tuple(versions),
        trials_count=len(levels),
        left_out_count=left_out + len(folder.damaged),
        searches_count=finished_count,
        unfinished_count=len(searches) - finished_count,
    )
    searched = [trial for trial in chosen if not folder.is_recording and trial.trial.search_id is not None]
    return Side(facts, levels, searched, searches)


def _searches(
    system: str, folder: _Folder, trials: Sequence[TrialSummary], chosen: Sequence[TrialSummary]
) -> list[SearchRecord]:
    """The searches of a system, without those that ran in another environment."""
    elsewhere = {trial.trial.trial_id for trial in trials} - {trial.trial.trial_id for trial in chosen}
    return [
        search
        for search in folder.searches
        if _is_of(system, search.system) and not any(run.trial_id in elsewhere for run in search.capacity.runs)
    ]


def _is_of(wanted: str, system: str) -> bool:
    """Whether a name is that of a system, or of one of its environments (`environments.apart`)."""
    return wanted == system or wanted.startswith(f"{system} (environment ")


def _choices(named: _Named, names: Iterable[str]) -> str:
    return ", ".join(f"{named.path}:{name}" for name in names)


def _reduced(recordings: Sequence[Recording]) -> tuple[list[TrialSummary], int]:
    """Complete trials, and how many others there are; a run of a search that failed is part of what the search found.

    Reading tables side by side does not hold the interpreter.
    """

    def reduced(recording: Recording) -> TrialSummary | None:
        try:
            return compared_trial(recording) if recording.outcome.verdict is Verdict.COMPLETE else None
        except RecordError:
            return None

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        trials = list(pool.map(reduced, recordings))
    others = [recording for recording, trial in zip(recordings, trials, strict=True) if trial is None]
    return [trial for trial in trials if trial is not None], sum(other.trial.search_id is None for other in others)


def _in_one_environment(named: _Named, trials: Sequence[TrialSummary]) -> list[TrialSummary]:
    """The trials of one environment: those of several are no repetitions of each other."""
    named_apart, _ = apart(trials)
    names = list(dict.fromkeys(trial.trial.system.name for trial in named_apart))
    if len(names) == 1:
        return named_apart
    chosen = [trial for trial in named_apart if trial.trial.system.name == named.system]
    if not chosen:
        raise SpecError(f"{named.text}: was measured in several environments, name one: {_choices(named, names)}")
    return chosen
