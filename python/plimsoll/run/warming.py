"""When the systems of a duet are warm: the rule of `warm`, over the turns of each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from plimsoll.analyse.doubts import Code
from plimsoll.prose.catalogue import warning
from plimsoll.run.progressing import Progressing
from plimsoll.run.warm import trends
from plimsoll.spec.duet import sweeps_to_warm
from plimsoll.spec.study_section import StudySection

VALUE_S = 1.0
"""Turns are taken together to values of at least so long, as the rule expects them."""

Seen = tuple[Progressing, Mapping[str, Sequence[float]]]
"""What is known of one system's trial, and its InnoDB state so far, a value for each second in which it ran."""


class Warming:
    """Counts sweeps until all systems are warm.

    Attributes:
        limit_s: How long each system is warmed at most, seconds.
        sweeps_max: As sweeps.
    """

    def __init__(self, study: StudySection, system_count: int) -> None:
        self._study = study
        self._sweeps_count = 0
        self._turns_in_value = max(math.ceil(VALUE_S / study.turn), 1)
        self.limit_s = study.warm_up_limit if study.warm_up is None else study.warm_up
        self.sweeps_max = max(sweeps_to_warm(self.limit_s, study, system_count), 1)

    def is_over(self, seen: Sequence[Seen]) -> bool:
        """Whether what comes after this sweep counts; then each trial has a note that says why."""
        self._sweeps_count += 1
        is_last = self._sweeps_count >= self.sweeps_max
        if self._study.warm_up is not None:
            for progressing, _ in seen:
                progressing.warm_note = f"{self._study.warm_up:g} s of own turns as asked for"
            return is_last
        moving = [trends(self._values(progressing.throughput_tps), stocks) for progressing, stocks in seen]
        if not is_last and any(moving):
            return False
        for (progressing, _), names in zip(seen, moving, strict=True):
            self._note(progressing, names)
        return True

    def _note(self, progressing: Progressing, moving: Sequence[str]) -> None:
        turns = len(progressing.throughput_tps)
        if not moving:
            progressing.warm_note = f"flat after {turns} turns of {self._study.turn:g} s"
            return
        limit_s, names = self.limit_s, ", ".join(moving)
        progressing.warm_note = f"still trending at the limit of {limit_s:g} s: {names}"
        evidence = f"After {limit_s:g} s of warm-up there was still a trend in: {names}."
        progressing.warnings.append(warning(Code.NOT_WARM_AT_LIMIT, evidence))

    def _values(self, turns_tps: Sequence[float]) -> list[float]:
        """The means of neighbouring turns of one system, the latest whole."""
        size = self._turns_in_value
        begin = len(turns_tps) % size
        return [sum(turns_tps[at : at + size]) / size for at in range(begin, len(turns_tps), size)]
