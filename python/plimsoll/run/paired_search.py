"""Capacities of several systems compared by paired ramps: all are up, and the others are frozen while one has load.

Everything that ran is a trial of the plan, or is read where it was recorded, so that a comparison that was cut short
goes on where it stopped. It ends when every two systems are told apart, or when there is no time for another pair.

Deliberately not here: rates and order (`plan.ramps`), what knees say (`analyse.ramps`), one run (`study_search`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field

from plimsoll.analyse.capacities import capacities, capacity_ratios
from plimsoll.analyse.capacity_model import CapacityRatio
from plimsoll.analyse.disturbance import judged
from plimsoll.analyse.disturbance_model import Disturbance
from plimsoll.analyse.machine_seconds import MachineSeconds
from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.analyse.ramps import unlike_sides, withheld
from plimsoll.errors import HostError, InvalidTrialError, NothingCompletedError
from plimsoll.plan.capacity import Step
from plimsoll.plan.ramps import (
    CONFIRMATIONS_MOST,
    PAIRS_MOST,
    confirmed_step,
    order_of,
    ramp_after,
    ramp_step,
    usual_ramp_s,
)
from plimsoll.plan.searches import search_settings
from plimsoll.record.capacity import Capacity, CapacityRun, RunRole, held_between, knee_of
from plimsoll.record.ramp import Ramp
from plimsoll.run.events import EventLog
from plimsoll.run.freezer import Freezer
from plimsoll.run.search_events import RampsCompared, RatioSoFar, SearchBegan, SearchEnded, SearchStopped
from plimsoll.run.searching import STEP_OVERHEAD_S, nothing_completed
from plimsoll.run.study_search import StudySearch
from plimsoll.run.time_left import Budget

_PAIRS_WITHOUT_KNEE = 3
"""After so many pairs a system none of whose ramps has a knee is given up: no ratio can be had of it."""

_OPEN = (DifferenceVerdict.UNRESOLVED, DifferenceVerdict.UNTESTABLE, DifferenceVerdict.DISTURBED)


@dataclass(slots=True)
class Climber:
    """One system while ramps are run.

    Attributes:
        search: Runs it and keeps what it found.
        freezer: Of its servers.
        runs: Of it so far, in their order.
        machines: What its machine did in each ramp, by pair.
    """

    search: StudySearch
    freezer: Freezer
    runs: list[CapacityRun] = field(default_factory=list)
    machines: dict[int, MachineSeconds] = field(default_factory=dict)

    @property
    def swept_tps(self) -> float:
        """The most that it did in a closed loop."""
        return max((run.throughput_tps for run in self.runs if run.role is RunRole.SWEEP), default=0.0)

    @property
    def connections(self) -> int:
        """Those of the fastest run of the sweep."""
        return max(self.runs, key=lambda run: run.throughput_tps if run.role is RunRole.SWEEP else -1.0).connections

    @property
    def knee_tps(self) -> float | None:
        """The geometric mean of its knees; None where no ramp had one."""
        return knee_of(self.runs)


class PairedSearch:
    """The systems of a duet under one workload."""

    def __init__(self, climbers: Sequence[Climber], budget: Budget, log: EventLog) -> None:
        """Nothing runs yet.

        Args:
            climbers: Of one workload, in the order of the study.
            budget: Its time.
            log: Is told of everything.
        """
        self._climbers, self._budget, self._log = climbers, budget, log
        spec = climbers[0].search.spec
        self._settings, self._seed, self._workloads_count = search_settings(spec), spec.study.seed, len(spec.workload)
        self._warm_up_s = spec.study.warm_up_limit / 4 if spec.study.warm_up is None else spec.study.warm_up
        self._pair_s = len(climbers) * (usual_ramp_s() + STEP_OVERHEAD_S)
        self._steady_machines: list[MachineSeconds] = []

    def run(self) -> bool:
        """Runs it to its end, from whatever is recorded.

        Returns:
            Whether it came to one; otherwise there was no time for any pair.

        Raises:
            InvalidTrialError: As `StudySearch.run`; HostError too, where servers cannot be frozen.
        """
        for one in self._climbers:
            self._log.say(SearchBegan(**one.search.place))
        try:
            self._sweep()
            self._climb_pairs(ramp_after([one.swept_tps for one in self._climbers]))
            for one in self._climbers:
                self._confirm(one)
        except InvalidTrialError as error:
            for one in self._climbers:
                one.search.keep(self._so_far(one), is_finished=False, stopped=str(error))
                self._log.say(SearchStopped(**one.search.place, reason=str(error)))
            raise
        has_ended = all(self._so_far(one).ramps for one in self._climbers)
        for one in self._climbers:
            found = self._keep(one, is_finished=has_ended)
            told = {"capacity_tps": None, "held_tps": found.low, "objective": found.objective}
            if has_ended:
                self._log.say(SearchEnded(**one.search.place, **told))
        return has_ended

    def _climb_pairs(self, ramp: Ramp) -> None:
        """Pairs of ramps until all is decided, or there is no time for another one; what is recorded takes none."""
        recorded = {pair for pair in range(PAIRS_MOST) if self._is_recorded(ramp, pair)}
        for pair in range(PAIRS_MOST):
            if pair not in recorded and not self._has_time():
                if pair > max(recorded, default=-1):
                    return
                continue
            self._climb(ramp, pair)
            if pair and self._is_decided(self._say(pair + 1)):
                return
            if pair + 1 >= _PAIRS_WITHOUT_KNEE and any(one.knee_tps is None for one in self._climbers):
                return

    def _is_decided(self, ratios: Sequence[CapacityRatio]) -> bool:
        return len(ratios) == math.comb(len(self._climbers), 2) and all(one.verdict not in _OPEN for one in ratios)

    def _sweep(self) -> None:
        """Raises NothingCompletedError where a server did nothing at all."""
        for connections in self._settings.connections:
            for one in self._climbers:
                step = Step(
                    role=RunRole.SWEEP,
                    connections=connections,
                    rate_tps=None,
                    duration_s=self._settings.sweep_s,
                )
                self._take(one, step, self._steady_machines)
        for one in self._climbers:
            if not one.swept_tps:
                raise NothingCompletedError(f"{one.search.planned.system}: no transaction completed in the sweep")

    def _climb(self, ramp: Ramp, pair: int) -> None:
        """One ramp of each system."""
        began_s = time.monotonic()
        for index in order_of(len(self._climbers), pair, self._seed):
            one, seen = self._climbers[index], list[MachineSeconds]()
            self._take(one, ramp_step(ramp, pair, one.connections), seen)
            one.machines.update(zip([pair], seen, strict=False))
        took_s = time.monotonic() - began_s
        if took_s > self._pair_s / 2:  # it ran, and was not read
            self._pair_s = took_s

    def _confirm(self, one: Climber) -> None:
        """A steady run below the knee: the same again where the machine was disturbed, a lower one where it fails."""
        lowered = again = 0
        while one.knee_tps is not None:
            step = confirmed_step(one.knee_tps, lowered, again, one.connections, self._settings)
            if (lowered or again) and not self._has_time_to_confirm(one, step):
                return
            if again:
                one.runs[-1] = one.runs[-1].model_copy(update={"made_again": True})
            run = self._take(one, step, self._steady_machines)
            if run.is_disturbed and again < self._settings.made_again:
                again += 1
            elif lowered + 1 == CONFIRMATIONS_MOST or held_between(one.runs, self._settings.objective)[0]:
                return
            else:
                lowered, again = lowered + 1, 0

    def _has_time_to_confirm(self, one: Climber, step: Step) -> bool:
        return one.search.is_recorded(step) or self._budget.has_room_for(self._confirmed_s)

    def _take(self, one: Climber, step: Step, machines: list[MachineSeconds]) -> CapacityRun:
        """One run; what the machine did in it is added to `machines`, with which it is compared."""
        with nullcontext() if one.search.is_recorded(step) else _alone(one, self._climbers):
            try:
                run = one.search.execute(step, machines)
            except NothingCompletedError as error:
                run = nothing_completed(step, error.trial_id)
        one.runs.append(run)
        self._keep(one, is_finished=False)
        return run

    def _say(self, pair_count: int) -> Sequence[CapacityRatio]:
        """Tells how the systems compare by now."""
        found = self._ratios()
        left_s = 0.0 if self._is_decided(found) else self._left_s(pair_count)
        place = self._climbers[0].search.place
        self._log.say(
            RampsCompared(
                workload=str(place["workload"]),
                repetition=int(str(place["repetition"])),
                pair_count=pair_count,
                ratios=tuple(map(_told, found)),
                remaining_s=left_s + self._confirming_s,
            )
        )
        return found

    def _ratios(self) -> list[CapacityRatio]:
        found = capacities(one.search.record(self._so_far(one), is_finished=False) for one in self._climbers)
        met = self._met()
        names = [one.search.planned.system for one in self._climbers]
        return [
            withheld(one, unlike_sides(met[names.index(one.base)], met[names.index(one.system)]))
            for one in capacity_ratios(found, self._workloads_count)
        ]

    def _met(self) -> list[dict[int, Disturbance]]:
        """What each system's ramps met, by pair, against the ramps of all."""
        places = [(index, pair) for index, one in enumerate(self._climbers) for pair in one.machines]
        seen = judged([self._climbers[index].machines[pair] for index, pair in places])
        found: list[dict[int, Disturbance]] = [{} for _ in self._climbers]
        for (index, pair), disturbance in zip(places, seen, strict=True):
            if disturbance is not None:
                found[index][pair] = disturbance
        return found

    def _is_recorded(self, ramp: Ramp, pair: int) -> bool:
        return all(one.search.is_recorded(ramp_step(ramp, pair, one.connections)) for one in self._climbers)

    def _has_time(self) -> bool:
        """Whether another pair fits into what is left of the budget, with the steady runs at the end."""
        return self._budget.has_room_for(self._pair_s + self._confirming_s)

    def _left_s(self, pair_count: int) -> float:
        left_s = (PAIRS_MOST - pair_count) * self._pair_s
        return max(self._budget.at_most(left_s + self._confirming_s) - self._confirming_s, 0.0)

    @property
    def _confirming_s(self) -> float:
        """About how long the steady runs at the end take."""
        return len(self._climbers) * self._confirmed_s

    @property
    def _confirmed_s(self) -> float:
        return self._warm_up_s + self._settings.steady_s + STEP_OVERHEAD_S

    def _keep(self, one: Climber, *, is_finished: bool) -> Capacity:
        found = self._so_far(one)
        one.search.keep(found, is_finished=is_finished)
        return found

    def _so_far(self, one: Climber) -> Capacity:
        """What is known of a system: a rate that held, and the runs; ramps tell no rate that would."""
        low_tps, high_tps = held_between(one.runs, self._settings.objective)
        return Capacity(
            low=low_tps or None,
            high=high_tps if math.isfinite(high_tps) else None,
            objective=self._settings.objective,
            runs=tuple(one.runs),
        )


def _told(one: CapacityRatio) -> RatioSoFar:
    bounds = one.ratio.bounds
    return RatioSoFar(
        base=one.base,
        system=one.system,
        ratio=one.ratio.value,
        low=None if bounds is None else bounds.low,
        high=None if bounds is None else bounds.high,
        is_disturbed=one.unlike is not None,
    )


@contextmanager
def _alone(one: Climber, climbers: Sequence[Climber]) -> Iterator[None]:
    """For the time of a run: the servers of the other systems are frozen."""
    others = [other.freezer for other in climbers if other is not one]
    try:
        for freezer in others:
            freezer.freeze()
        yield
    finally:
        for freezer in others:
            with suppress(HostError):  # of a server that has ended that is told elsewhere
                freezer.thaw()
