"""How the systems of a duet compare while it runs: within a round from its turns so far, after it from all rounds.

After a round the recordings are read, so that a study which was killed and resumed says what it would have said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from plimsoll.analyse.study.duets import PAIRS_NEEDED, estimate, log_rates, log_ratios, trimmed_mean
from plimsoll.analyse.trial.window import inside
from plimsoll.errors import RecordError
from plimsoll.plan.model import Plan, PlannedTrial
from plimsoll.record.files import recordings_folder
from plimsoll.record.model import Verdict
from plimsoll.record.store import Recording, read_recording
from plimsoll.run.duet import Side, TurnTaken
from plimsoll.run.events import DuetProgressed, EventLog
from plimsoll.spec.study import StudySpec, pairs_per_round
from plimsoll.stats.variance import Series


class Interim:
    """Says how far a duet is."""

    def __init__(self, folder: Path, plan: Plan, spec: StudySpec, log: EventLog) -> None:
        self._folder, self._plan, self._spec, self._log = folder, plan, spec, log

    def in_round(self, sides: Sequence[Side], pair_count: int) -> None:
        """Says what the turns of the running round show, once they are enough for a trimmed mean."""
        if pair_count < PAIRS_NEEDED:
            return
        first = sides[0].task.planned
        for base, system in combinations(sides, 2):
            ratio = math.exp(trimmed_mean(_running(base, system)))
            self._say(first, base.name, system.name, pair_count=pair_count, rounds_count=first.repetition, ratio=ratio)

    def after_round(self, of: PlannedTrial) -> None:
        """Says what all rounds of a workload and level that are over show.

        A study that goes on until its answer is decided says so itself, by an interval that is valid at any look.
        """
        if self._spec.study.is_until_decided:
            return
        for base, system in combinations([system_spec.name for system_spec in self._spec.system], 2):
            rounds = list(self._rounds(of, base, system))
            if not rounds:
                continue
            estimated = estimate(rounds)
            mean = (
                float(np.mean([trimmed_mean(pairs) for pairs in rounds])) if estimated is None else estimated.log_ratio
            )
            width = None if estimated is None else estimated.variance.half_width()
            self._say(
                of,
                base,
                system,
                pair_count=None,
                rounds_count=len(rounds),
                ratio=math.exp(mean),
                bounds=(None, None) if width is None else (math.exp(mean - width), math.exp(mean + width)),
            )

    def _rounds(self, of: PlannedTrial, base: str, system: str) -> Iterator[Series]:
        """The pairs of each round that both completed."""
        cell = [trial for trial in self._plan.trials if (trial.workload, trial.level) == (of.workload, of.level)]
        for repetition in sorted({trial.repetition for trial in cell}):
            ids = {trial.system: trial.trial_id for trial in cell if trial.repetition == repetition}
            both = [self._complete(ids[name]) for name in (base, system)]
            tables = [None if recording is None else recording.turns() for recording in both]
            if both[0] is None or both[1] is None or tables[0] is None or tables[1] is None:
                continue
            pairs = log_ratios(
                inside(tables[0], both[0].outcome.window),
                inside(tables[1], both[1].outcome.window),
                base=base,
                system=system,
            )
            if pairs.size >= PAIRS_NEEDED:
                yield pairs

    def _complete(self, trial_id: str) -> Recording | None:
        try:
            recording = read_recording(recordings_folder(self._folder) / trial_id)
        except RecordError:
            return None  # it has not run yet, or the guide will tell
        return recording if recording.outcome.verdict is Verdict.COMPLETE else None

    def _say(
        self,
        of: PlannedTrial,
        base: str,
        system: str,
        *,
        pair_count: int | None,
        rounds_count: int,
        ratio: float,
        bounds: tuple[float | None, float | None] = (None, None),
    ) -> None:
        study = self._spec.study
        self._log.say(
            DuetProgressed(
                workload=of.workload,
                connections=of.connections,
                base=base,
                system=system,
                pair_count=pair_count,
                pairs_planned=pairs_per_round(study),
                rounds_count=rounds_count,
                rounds_planned=None if study.is_until_decided else study.repetition_count,
                ratio=ratio,
                low=bounds[0],
                high=bounds[1],
            )
        )


def _running(base: Side, system: Side) -> Series:
    """Logarithms of the ratios of the pairs of the running round that count so far."""
    rates = [_log_rates(base, against=system.name), _log_rates(system, against=base.name)]
    return np.array([rates[1][pair] - rates[0][pair] for pair in sorted(rates[0].keys() & rates[1].keys())])


def _log_rates(side: Side, *, against: str) -> dict[int, float]:
    first = side.progressing.first_measured or 0
    return {taken.turn.pair: _log_rate(taken) for taken in side.taken[first:] if taken.row["against"] == against}


def _log_rate(taken: TurnTaken) -> float:
    row = taken.row
    return float(log_rates(np.array([row["begun"]]), np.array([row["running_s"]]))[0])
