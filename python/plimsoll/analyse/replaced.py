"""Trials that were measured again because their machine had been slow: the later one counts, the first one is listed.

Which trials are measured again follows from the weather of the machine and never from their throughput, so that no
result is chosen. A repeat that did not complete replaces nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from plimsoll.analyse.trial_summary import RecordingLike
from plimsoll.record.model import Verdict

_Recording = TypeVar("_Recording", bound=RecordingLike)


def counting(recordings: Sequence[_Recording]) -> tuple[list[_Recording], list[tuple[_Recording, str]]]:
    """The recordings that count, and those that were replaced, each with the id of the trial that did it."""
    by = {
        one.trial.repeats: one.trial.trial_id
        for one in recordings
        if one.trial.repeats is not None and one.outcome.verdict is Verdict.COMPLETE
    }
    count = [one for one in recordings if one.trial.trial_id not in by]
    return count, [(one, by[one.trial.trial_id]) for one in recordings if one.trial.trial_id in by]
