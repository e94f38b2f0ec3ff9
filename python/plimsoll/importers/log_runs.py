"""The runs found in logs: which of them become trials, where each belongs, which repetitions are doubtful.

Runs count as repetitions although their files' names differ where a pattern has `{any}`. Numbers that follow each
other, dates and times are what repetitions are called after; anything else may be another configuration. Also here: how
logs were understood, in words for the person who imported them. Deliberately not here: reading logs (`sysbench_log`,
`tpcc`), what becomes of a run (`sysbench`, `tpcc`), and whether figures differ more than repetitions do.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from plimsoll.analyse.findings.recording_warnings import REPETITIONS_MAY_DIFFER
from plimsoll.importers.log_places import Place, Placing
from plimsoll.importers.text_files import FAULTS_SHOWN_MAX, UnreadLines, raise_faults
from plimsoll.importers.trials import ImportedTrial, SkippedLog
from plimsoll.units import printable


class LogRun(Protocol):
    """One run, as its log tells it.

    Attributes:
        lines: First and last line in the file, counted from 1.
        digest: Of all its bytes.
    """

    lines: tuple[int, int]
    digest: str

    @property
    def stated(self) -> Mapping[str, str | int | None]:
        """What the log says about where the run belongs."""


R = TypeVar("R", bound=LogRun)


@dataclass(frozen=True, slots=True)
class LocatedRun(Generic[R]):
    """A run in its file."""

    path: Path
    run: R

    @property
    def name(self) -> str:
        """For people: file and lines."""
        first, last = self.run.lines
        return printable(f"{self.path.name}, lines {first} to {last}")

    @property
    def where(self) -> str:
        """Its place, for messages."""
        return f"{self.path}: line {self.run.lines[0]}"


def split_refused(
    runs: Iterable[LocatedRun[R]], refusals: Callable[[R], Iterable[str]]
) -> tuple[list[LocatedRun[R]], list[SkippedLog]]:
    """The runs of which something can be made, and why nothing can be made of the others.

    Args:
        runs: All runs.
        refusals: Why nothing can be made of a run; nothing for one that can be used.
    """
    usable: list[LocatedRun[R]] = []
    refused: list[SkippedLog] = []
    for log_run in runs:
        reasons = [SkippedLog.of(log_run.path, why, log_run.run.lines[0]) for why in refusals(log_run.run)]
        refused += reasons
        if not reasons:
            usable.append(log_run)
    return usable, refused


def place_runs(
    runs: Sequence[LocatedRun[R]], placing: Placing, workload: Callable[[R], str | None], faults: Sequence[str]
) -> list[Place]:
    """Where each run belongs, in their order.

    Args:
        runs: The runs.
        placing: What the user says about them.
        workload: Name of a run's workload where nobody says another.
        faults: What is wrong already: one line each.

    Raises:
        SpecError: There are such faults, two runs are the same, or a run's place is unknown or contradictory.
    """
    placed = (
        placing.place(log_run.path, log_run.run.lines[0], log_run.run.stated, workload=workload(log_run.run))
        for log_run in runs
    )
    places = [place for place in placed if place is not None]
    raise_faults([*faults, *placing.faults, *_equal_runs(runs)])
    return places


def trial_id(origin: str, place: Place, run: LogRun) -> str:
    """Hash of the log's bytes and the cell, so that the same log always is the same trial, whatever its name."""
    inputs = (origin, place.system, place.workload, place.connections, run.digest)
    return hashlib.sha256(repr(inputs).encode("utf-8", errors="surrogatepass")).hexdigest()[:32]


def _equal_runs(runs: Sequence[LocatedRun[R]]) -> list[str]:
    seen: dict[str, LocatedRun[R]] = {}
    return [
        f"{log_run.where}: is the same run as {seen[log_run.run.digest].name}. Leave one out"
        for log_run in runs
        if seen.setdefault(log_run.run.digest, log_run) is not log_run
    ]


Cell = tuple[str, str, int]
"""System, workload and connections."""

_COUNTED = re.compile(
    r"[-_. ]?(?:r|rep|repetition|repeat|run|round|try|trial|test|iter|iteration|no|n|#)?[-_. ]?(\d{1,4})"
)
_DATED = re.compile(r"[-_. ]?(?:\d{8,14}|\d{4}[-_.]\d\d[-_.]\d\d)(?:[-_.T ]?\d\d[-_.:]?\d\d(?:[-_.:]?\d\d)?)?")
_TEXTS_SHOWN_MAX = 3


def doubtful_cells(places: Iterable[Place]) -> dict[Cell, str]:
    """By cell, what its runs are called where the pattern has `{any}`; only cells whose runs may not be repetitions."""
    texts: dict[Cell, list[str]] = {}
    for place in places:
        cell_texts = texts.setdefault(cell_of(place), [])
        if (text := " ".join(place.passed_over)) not in cell_texts:
            cell_texts.append(text)
    return {cell: _listed(text) for cell, text in texts.items() if len(text) > 1 and not _are_repetitions(text)}


def with_doubts(places: Sequence[Place], trials: Sequence[ImportedTrial]) -> tuple[ImportedTrial, ...]:
    """The trials, those of doubtful cells with a warning."""
    doubtful = doubtful_cells(places)
    return tuple(
        _doubted(trial, doubtful[cell_of(place)]) if cell_of(place) in doubtful else trial
        for place, trial in zip(places, trials, strict=True)
    )


def repetition_words(places: Sequence[Place]) -> Iterator[str]:
    """The doubts for the person who imports: one line for each cell."""
    for (system, workload, connections), texts in doubtful_cells(places).items():
        yield (
            f"warning: system {system}, workload {workload}, {connections} connections: {_seen(texts)} If they are"
            " different configurations, say {factor:NAME} or {workload} in --pattern where {any} stands"
        )


def _doubted(trial: ImportedTrial, texts: str) -> ImportedTrial:
    warnings = (*trial.outcome.warnings, REPETITIONS_MAY_DIFFER.warning(_seen(texts)))
    return replace(trial, outcome=trial.outcome.model_copy(update={"warnings": warnings}))


def _seen(texts: str) -> str:
    return f"Runs that count as repetitions come from files whose names differ: {texts}."


def cell_of(place: Place) -> Cell:
    """What the runs of one cell share."""
    return place.system, place.workload, place.connections


def _are_repetitions(texts: Sequence[str]) -> bool:
    if all(_DATED.fullmatch(text) for text in texts):
        return True
    counted = [_COUNTED.fullmatch(text.lower()) for text in texts if text]  # the first one may have no number
    numbers = [int(match[1]) for match in counted if match]
    return len(numbers) == len(counted) and max(numbers) - min(numbers) < 2 * len(texts)


def _listed(texts: Sequence[str]) -> str:
    shown = ", ".join(repr(text) for text in texts[:_TEXTS_SHOWN_MAX])
    return shown if len(texts) <= _TEXTS_SHOWN_MAX else f"{shown} and {len(texts) - _TEXTS_SHOWN_MAX} more"


def levels(trials: Sequence[ImportedTrial]) -> Iterator[str]:
    """What became systems, workloads and levels."""
    cells = Counter(
        (trial.trial.system.name, trial.trial.workload.name, trial.trial.level.connections) for trial in trials
    )
    for system, workload in dict.fromkeys((name, work) for name, work, _ in cells):
        level_counts = sorted(
            (level, count) for (name, work, level), count in cells.items() if (name, work) == (system, workload)
        )
        listing = ", ".join(str(level) if count == 1 else f"{level} ({count} times)" for level, count in level_counts)
        yield f"system {system}, workload {workload}: connections {listing}"


def skipped_lines(unread: Sequence[UnreadLines], refused: Sequence[SkippedLog]) -> Iterator[str]:
    """What was left out: lines that could not be read, and logs or runs of which nothing can be made."""
    lines = [line for log_unread in unread for line in log_unread.lines]
    count = sum(log_unread.count for log_unread in unread)
    yield from lines[:FAULTS_SHOWN_MAX]
    if count > FAULTS_SHOWN_MAX:
        yield f"… and {count - FAULTS_SHOWN_MAX} more like these"
    yield from (skipped_log.sentence for skipped_log in refused[:FAULTS_SHOWN_MAX])
    if count:
        yield f"{many(count, 'line')} could not be read and {'was' if count == 1 else 'were'} skipped"
    if refused:
        yield f"{many(len(refused), 'log or run', 'logs or runs')} skipped"


def many(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun.

    >>> many(1, "log"), many(2, "log or run", "logs or runs")
    ('1 log', '2 logs or runs')
    """
    return f"{count} {noun if count == 1 else plural or noun + 's'}"
