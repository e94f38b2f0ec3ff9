"""Trials whose machine was slow, to be measured again after the plan is done while the budget leaves time.

Which trials these are follows from the recordings of the folder alone, so that a study that was stopped goes on with
the same ones. A trial is measured again once; the repeat counts, whatever its weather was (`analyse.replaced`).
Runs of a search are left out: what they found decided which run came next.
Deliberately not here: running them (`course`).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from plimsoll.analyse.trial_summary import TrialSummary, summarise
from plimsoll.analyse.weather import slow_figures
from plimsoll.errors import RecordError
from plimsoll.plan.model import Plan, PlannedTrial
from plimsoll.record.model import Verdict
from plimsoll.record.store import each_recording


def trials_to_repeat(folder: Path, plan: Plan) -> list[PlannedTrial]:
    """The trials of a plan that are to be measured again, by system, each system a block.

    Args:
        folder: Of the study.
        plan: All of whose trials have run.
    """
    planned = {trial.trial_id: trial for trial in plan.trials if trial.search_id is None}
    summaries, repeated = _read(folder, planned.keys())
    slow = slow_figures(summaries)
    again = [trial for trial_id, trial in planned.items() if trial_id in slow and trial_id not in repeated]
    systems = list(dict.fromkeys(trial.system for trial in again))
    first = max((trial.block for trial in plan.trials), default=-1) + 1
    return sorted((trial.again(first + systems.index(trial.system)) for trial in again), key=lambda trial: trial.block)


def _read(folder: Path, planned: Collection[str]) -> tuple[list[TrialSummary], set[str]]:
    """What is known of complete trials of the plan, and which were measured again already, complete or not."""
    summaries: list[TrialSummary] = []
    repeated: set[str] = set()
    for one in each_recording(folder):
        if one.trial.repeats is not None:
            repeated.add(one.trial.repeats)
        elif one.trial.trial_id in planned and one.outcome.verdict is Verdict.COMPLETE:
            try:
                summary = summarise(one)
            except RecordError:
                continue  # damage is told by whoever reads it
            summaries += [] if summary is None else [summary]
    return summaries, repeated
