"""A study that goes on until its answer is decided: what is known of each question, in words too, and when it stops.

Everything follows from the folder: the recordings decide, and the events tell how long the study has run already.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import polars as pl

from plimsoll.analyse.findings.limits import unlike_figures
from plimsoll.analyse.study.conditions import disturbances, of_trials, unlike
from plimsoll.analyse.study.duets import round_log_ratio
from plimsoll.analyse.study.sequential import (
    AnytimeInterval,
    CellKey,
    Interim,
    Question,
    Values,
    decided_after,
    estimate_of,
    interim,
    questions,
    values_of_cells,
)
from plimsoll.analyse.trial.condition_model import UnlikeConditions
from plimsoll.analyse.trial.trial_summary import TrialSummary, compared_trial
from plimsoll.analyse.trial.window import inside
from plimsoll.errors import RecordError
from plimsoll.plan.model import Plan, PlannedTrial
from plimsoll.prose.capacity import slow_words
from plimsoll.prose.ratios import changes_span
from plimsoll.record.files import recordings_folder
from plimsoll.record.level import REPETITIONS_MIN
from plimsoll.record.model import Verdict
from plimsoll.record.store import read_recording
from plimsoll.run.events import AnswerProgressed
from plimsoll.run.planning import Budget
from plimsoll.spec.study import StudySpec
from plimsoll.units import format_duration, format_percent, format_rate
from plimsoll.wording import counted, repeat_noun


class Answering:
    """What is known of a study's questions, repetition after repetition.

    Attributes:
        interim: What is known of each question.
        decided_after: After so many repetitions of the plan everything was decided; None while it is not.
    """

    def __init__(self, spec: StudySpec, folder: Path, plan: Plan) -> None:
        """Of all trials of a plan that may go on to its limit."""
        self._spec, self._folder = spec, folder
        self._trials = {trial.trial_id: trial for trial in plan.trials}
        self._asked = questions(
            [system.name for system in spec.system],
            [workload.name for workload in spec.workload],
            spec.study.levels.levels,
        )
        self._cells: dict[CellKey, dict[int, float]] = defaultdict(dict)
        self._turns: dict[CellKey, dict[int, pl.DataFrame]] = defaultdict(dict)
        self._complete: set[str] = set()
        self._summaries: dict[CellKey, list[TrialSummary]] = defaultdict(list)
        self._judge()

    def read(self, trial_ids: Iterable[str]) -> None:
        """Takes in the complete recordings among these trials."""
        for trial_id in sorted(self._trials.keys() & set(trial_ids) - self._complete):
            self._read(self._trials[trial_id])
        self._judge()

    def _read(self, planned: PlannedTrial) -> None:
        try:
            recording = read_recording(recordings_folder(self._folder) / planned.trial_id)
            if recording.outcome.verdict is not Verdict.COMPLETE:
                return
            turns, summary = recording.turns(), compared_trial(recording)
        except RecordError:
            return  # it is measured again
        self._complete.add(planned.trial_id)
        key = CellKey(planned.system, planned.workload, planned.level)
        if summary is not None and summary.counts is not None:
            self._cells[key][planned.repetition] = summary.counts.throughput_tps
            self._summaries[key].append(summary)
        if turns is not None:
            self._turns[key][planned.repetition] = inside(turns, recording.outcome.window)

    def _judge(self) -> None:
        equal_within = self._spec.study.equal_within
        if self._spec.study.is_duet:
            values: Values = {question: dict(self._of_rounds(question)) for question in self._asked}
        else:
            values = values_of_cells(self._asked, self._cells)
        self.interim = interim(values, equal_within=equal_within)
        self.decided_after = decided_after(values, equal_within=equal_within)

    def _of_rounds(self, question: Question) -> Iterator[tuple[int, float]]:
        """The value of each round in which both systems of a question took turns."""
        assert question.base is not None, "a duet has two systems or more"
        base, system = (
            self._turns[CellKey(name, question.workload, question.level)] for name in (question.base, question.system)
        )
        for index in sorted(base.keys() & system.keys()):
            value = round_log_ratio(base[index], system[index], base=question.base, system=question.system)
            if value is not None:
                yield index, value

    def disturbed(self) -> dict[Question, UnlikeConditions]:
        """The questions whose two systems met unlike conditions so far, with what they met."""
        met = disturbances([summary for summaries in self._summaries.values() for summary in summaries])
        by_question = {
            question: unlike(
                *(
                    of_trials(self._summaries[CellKey(name, question.workload, question.level)], met)
                    for name in (base, question.system)
                )
            )
            for question in self._asked
            if (base := question.base) is not None
        }
        return {question: conditions for question, conditions in by_question.items() if conditions is not None}

    @property
    def complete_repetitions(self) -> list[int]:
        """The repetitions that lack no trial, rising."""
        return sorted({trial.repetition for trial in self._trials.values()} - self._incomplete)

    @property
    def _incomplete(self) -> set[int]:
        return {trial.repetition for trial in self._trials.values() if trial.trial_id not in self._complete}

    def is_over_budget(self, budget: Budget) -> bool:
        """Whether another repetition would take the study beyond its budget; not before any answer is possible."""
        count = len(self.complete_repetitions)
        if count < REPETITIONS_MIN or not self._incomplete:
            return False
        return not budget.has_room_for(budget.used_s / count)

    def end(self, budget: Budget) -> int | None:
        """How many repetitions of the plan are enough, or all that the budget allows; None where it goes on.

        No repetition that is complete is ever beyond it.
        """
        if self.decided_after is None and not self.is_over_budget(budget):
            return None
        return max([self.decided_after or 0, *(repetition + 1 for repetition in self.complete_repetitions)])

    @property
    def more_max(self) -> int | None:
        """How many further repetitions decide every question; None where that is not known of one."""
        more = [interim_result.more for interim_result in self.interim]
        return None if None in more else max((count for count in more if count is not None), default=None)

    @property
    def trials_left(self) -> int:
        """How many further trials that is expected to take: those of `more_max`, at most all that are planned.

        Once it is decided, they are those that failed before.
        """
        if self.decided_after is not None:
            lacking = (trial for trial in self._trials.values() if trial.trial_id not in self._complete)
            return sum(trial.repetition < self.decided_after for trial in lacking)
        missing = len(self._trials) - len(self._complete)
        in_repetition = len(self._trials) // self._spec.study.repetition_count
        return missing if self.more_max is None else min(max(self.more_max, 1) * in_repetition, missing)

    def progress(self, budget: Budget) -> AnswerProgressed:
        """What is known now, as an event."""
        study = self._spec.study
        is_decided = self.decided_after is not None
        is_over_budget = not is_decided and self.is_over_budget(budget)
        disturbed = self.disturbed()
        lines = interim_lines(self.interim, study.equal_within, is_duet=study.is_duet, disturbed=disturbed)
        return AnswerProgressed(
            is_duet=study.is_duet,
            repetitions=len(self.complete_repetitions),
            is_decided=is_decided,
            is_over_budget=is_over_budget,
            more_max=self.more_max,
            trials_left=0 if is_over_budget else self.trials_left,
            text=(*lines, over_budget_line(study.budget)) if is_over_budget and study.budget else lines,
        )


def until(plan: Plan, end: int | None) -> Plan:
    """The plan without the repetitions that are not needed; all of it without an end."""
    if end is None:
        return plan
    return plan.model_copy(update={"trials": tuple(trial for trial in plan.trials if trial.repetition < end)})


def interim_lines(
    interims: Sequence[Interim],
    equal_within: float,
    *,
    is_duet: bool = False,
    disturbed: Mapping[Question, UnlikeConditions] = MappingProxyType({}),
) -> tuple[str, ...]:
    """One line for each question of which something is known; disturbed ones first.

    Args:
        interims: What is known.
        equal_within: Share within which two systems count as equal.
        is_duet: Repetitions are rounds.
        disturbed: Questions whose two systems met unlike conditions so far: no winner is named.
    """
    noun = repeat_noun(is_duet=is_duet)
    known = [interim for interim in interims if interim.interval is not None]
    withheld = (
        _disturbed(interim.question, disturbed[interim.question]) for interim in known if interim.question in disturbed
    )
    rest = [interim for interim in known if interim.question not in disturbed]
    return (
        *withheld,
        *(_line(interim, interim.interval, equal_within, noun) for interim in rest if interim.interval is not None),
    )


def _disturbed(asked: Question, met: UnlikeConditions) -> str:
    assert asked.base is not None, "one system meets no unlike conditions"
    seen = slow_words(unlike_figures(asked.base, asked.system, met))
    return f"{asked.workload}, {asked.level.label()}: disturbed: {seen}"


def over_budget_line(budget_s: float) -> str:
    """Why a study ended with open questions, and what its user can do."""
    return (
        f"the budget of {format_duration(budget_s)} leaves no time for more; to go on, raise it in the study file and"
        " run the study again"
    )


def _line(interim: Interim, interval: AnytimeInterval, equal_within: float, noun: str) -> str:
    asked, bounds = interim.question, estimate_of(interval).bounds
    place = f"{asked.workload}, {asked.level.label()}"
    if asked.base is None:
        figure = format_rate(math.exp(interval.mean))
        is_known = bounds is not None and not bounds.is_vague
        known = f" (within {format_percent(math.expm1(interval.half_width))})" if is_known else ""
        return f"{place}: {asked.system} completes {figure}{known}{_state(interim, interval, noun)}"
    known = ""
    if bounds is not None and not bounds.is_vague_ratio:
        known = f" ({changes_span(bounds)})"
    return f"{place}: {_compared(interim, interval, equal_within)}{known}{_state(interim, interval, noun)}"


def _compared(interim: Interim, interval: AnytimeInterval, equal_within: float) -> str:
    system, base = interim.question.system, interim.question.base
    if interim.is_decided and interval.low <= 0.0 <= interval.high:
        return f"{system} and {base} are equal within {format_percent(equal_within)}"
    faster, ratio = "faster" if interval.mean >= 0 else "slower", math.expm1(interval.mean)
    return f"{system} is {format_percent(abs(ratio))} {faster} than {base}"


def _state(interim: Interim, interval: AnytimeInterval, noun: str) -> str:
    if interim.is_decided:
        return ", decided"
    if interval.deviation is None:
        return " so far"
    if interim.more is None:
        return " so far, no decision in sight"
    return f" so far, about {counted(interim.more, f'more {noun}')} to decide"
