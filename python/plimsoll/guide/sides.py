"""From what a user names to the two sides of a comparison: the folder of a study, one of its systems, or a recording.

`STUDY` is a study with one system, `STUDY:SYSTEM` one of several, and the folder of one trial a recording alone.
Deliberately not here: what the comparison says (`plimsoll.analyse.compare`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from plimsoll.analyse.compare_model import ComparedSide
from plimsoll.analyse.compared_side import Side
from plimsoll.analyse.compared_trial import compared_trial
from plimsoll.analyse.environments import apart
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.errors import RecordError, SpecError
from plimsoll.guide.chosen import of_plan
from plimsoll.record.model import Verdict
from plimsoll.record.store import Recording, StudyRecordings, read_recording, read_study
from plimsoll.run.folder import read_plan


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


def read_sides(base: str, system: str) -> tuple[Side, Side, bool]:
    """Reads both sides.

    Returns:
        The two, and whether they were measured in the repetitions of one study.

    Raises:
        RecordError: There is no study or recording, or nothing in it can be read.
        SpecError: A system is not named and there are several, or there is none of that name.
    """
    one, other = _named(base), _named(system)
    studies = {path: _recordings(path) for path in dict.fromkeys((one.path, other.path))}
    sides = [_side(named, studies[named.path]) for named in (one, other)]
    is_same = one.path.resolve() == other.path.resolve()
    if is_same and sides[0].facts.system == sides[1].facts.system:
        raise SpecError(f"{system}: is the same system as {base}; name two, such as {one.path}:SYSTEM")
    measured = all(trial.trial.origin.kind == "measured" for side in sides for trial in side.trials)
    return sides[0], sides[1], is_same and measured


def _named(text: str) -> _Named:
    path = Path(text)
    folder, colon, system = text.rpartition(":")
    if colon and system and not path.exists() and Path(folder).is_dir():
        return _Named(text, Path(folder), system)
    return _Named(text, path, None)


def _recordings(path: Path) -> StudyRecordings:
    if (path / "trial.json").exists():
        return StudyRecordings((read_recording(path),))
    return of_plan(read_plan(path), read_study(path))


def _side(named: _Named, found: StudyRecordings) -> Side:
    wanted = named.system
    names = list(dict.fromkeys(one.trial.system.name for one in found.recordings))
    if not names:
        reason = found.damaged[0].reason if found.damaged else "no trial has been recorded yet; run the study first"
        raise RecordError(f"{named.path}: {reason}")
    if wanted is None and len(names) > 1:
        raise SpecError(f"{named.text}: has several systems, name one: {_choices(named, names)}")
    own = [one for one in found.recordings if wanted is None or _is_of(wanted, one.trial.system.name)]
    if not own:
        raise SpecError(f"{named.text}: there is no such system; there is {_choices(named, names)}")
    trials, left_out = _reduced(own)
    if not trials:
        raise RecordError(f"{named.text}: no trial is complete; run the study again")
    trials = _in_one_environment(named, trials)
    first = trials[0]
    versions = dict.fromkeys(one.version for one in first.environment.instances if one.version)
    facts = ComparedSide(
        name=named.text,
        study=first.trial.study,
        system=first.trial.system.name,
        server_versions=tuple(versions),
        trials_count=len(trials),
        left_out_count=left_out + len(found.damaged),
    )
    return Side(facts, trials)


def _is_of(wanted: str, system: str) -> bool:
    """Whether a name is that of a system, or of one of its environments (`environments.apart`)."""
    return wanted == system or wanted.startswith(f"{system} (environment ")


def _choices(named: _Named, names: Iterable[str]) -> str:
    return ", ".join(f"{named.path}:{name}" for name in names)


def _reduced(recordings: Sequence[Recording]) -> tuple[list[TrialSummary], int]:
    """Complete trials, and how many others there are. Reading tables side by side does not hold the interpreter."""

    def reduced(one: Recording) -> TrialSummary | None:
        try:
            return compared_trial(one) if one.outcome.verdict is Verdict.COMPLETE else None
        except RecordError:
            return None

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        trials = [one for one in pool.map(reduced, recordings) if one is not None]
    return trials, len(recordings) - len(trials)


def _in_one_environment(named: _Named, trials: Sequence[TrialSummary]) -> list[TrialSummary]:
    """The trials of one environment: those of several are no repetitions of each other."""
    named_apart, _ = apart(trials)
    names = list(dict.fromkeys(one.trial.system.name for one in named_apart))
    if len(names) == 1:
        return named_apart
    chosen = [one for one in named_apart if one.trial.system.name == named.system]
    if not chosen:
        raise SpecError(f"{named.text}: was measured in several environments, name one: {_choices(named, names)}")
    return chosen
