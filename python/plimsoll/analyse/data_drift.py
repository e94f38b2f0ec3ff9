"""How data was put back before trials, and how it changed during them: the recordings' own figures, summed up.

Deliberately not here: the trend of InnoDB's state within a trial (`drift`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from plimsoll.analyse.data_model import DataSummary
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.record.data import DataState


def data_summaries(trials: Iterable[TrialSummary]) -> tuple[DataSummary, ...]:
    """One for each system and workload of whose data anything is recorded, in the order of the trials."""
    known: dict[tuple[str, str], list[DataState]] = {}
    for one in trials:
        if one.outcome.data is not None:
            known.setdefault((one.trial.system.name, one.trial.workload.name), []).append(one.outcome.data)
    return tuple(_summary(system, workload, states) for (system, workload), states in known.items())


def _summary(system: str, workload: str, states: Sequence[DataState]) -> DataSummary:
    resets = [one.reset for one in states if one.reset is not None]
    put_back = [one for one in resets if one.way in {"copy", "prepare"}]
    turns = [one.redo_turns for one in states if one.redo_turns is not None]
    return DataSummary(
        system=system,
        workload=workload,
        trials_count=len(states),
        ways=dict(Counter(one.way for one in resets)),
        reset_s_median=_median(one.duration_s for one in put_back),
        other_s_median=_median(one.other_s for one in put_back),
        size_bytes=max((one.size_bytes for one in put_back if one.size_bytes is not None), default=None),
        cloned_bytes=max((one.cloned_bytes for one in put_back), default=0),
        is_aged=any(one.is_aged for one in resets),
        rows_ratio=_largest(_change(one.rows_before, one.rows_after) for one in states),
        bytes_ratio=_largest(_change(one.bytes_before, one.bytes_after) for one in states),
        redo_turns_min=min(turns, default=None),
        redo_turns_max=max(turns, default=None),
    )


def _change(before: int | None, after: int | None) -> float | None:
    return None if not before or after is None else after / before - 1


def _largest(changes: Iterable[float | None]) -> float | None:
    """The change that is farthest from none; None without any."""
    return max((one for one in changes if one is not None), key=abs, default=None)


def _median(values: Iterable[float | None]) -> float | None:
    known = [one for one in values if one is not None]
    return median(known) if known else None
