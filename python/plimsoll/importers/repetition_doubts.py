"""Runs that count as repetitions although their files' names differ where a pattern has `{any}`.

Numbers that follow each other, dates and times are what repetitions are called after; anything else may be another
configuration. Deliberately not here: whether figures differ more than repetitions do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from plimsoll.analyse.doubts import Code
from plimsoll.importers.log_places import Place
from plimsoll.importers.trials import ImportedTrial
from plimsoll.prose.catalogue import warning

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
        own = texts.setdefault(cell_of(place), [])
        if (text := " ".join(place.passed_over)) not in own:
            own.append(text)
    return {cell: _listed(own) for cell, own in texts.items() if len(own) > 1 and not _are_repetitions(own)}


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
    warnings = (*trial.outcome.warnings, warning(Code.REPETITIONS_MAY_DIFFER, _seen(texts)))
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
    numbers = [int(found[1]) for found in counted if found]
    return len(numbers) == len(counted) and max(numbers) - min(numbers) < 2 * len(texts)


def _listed(texts: Sequence[str]) -> str:
    shown = ", ".join(repr(text) for text in texts[:_TEXTS_SHOWN_MAX])
    return shown if len(texts) <= _TEXTS_SHOWN_MAX else f"{shown} and {len(texts) - _TEXTS_SHOWN_MAX} more"
