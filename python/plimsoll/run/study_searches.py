"""Searches for capacities within a study: each step becomes a trial of the plan, or is read where it was recorded.

A search that was cut short needs no state of its own: the same steps have the same trial ids, so that it goes through
what is recorded at once and goes on where it stopped. One that must not be believed stops; the others go on.

Capacities of several systems are compared by paired ramps: all are up, and the others are frozen while one has load.
That ends when every two systems are told apart, or when there is no time for another pair. Deliberately not here: rates
and order (`plan.capacity`), which searches there are (`plan.build`), and what knees say (`analyse.study.capacities`).
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.analyse.study.capacities import (
    capacities,
    capacity_ratios,
    judged_run,
    mark_disturbed,
    unlike_sides,
)
from plimsoll.analyse.study.capacity_model import CapacityRatio
from plimsoll.analyse.study.conditions import judged
from plimsoll.analyse.trial.condition_model import Disturbance
from plimsoll.analyse.trial.samples import MachineSeconds
from plimsoll.errors import HostError, InvalidTrialError, NothingCompletedError, RecordError
from plimsoll.plan.build import search_settings, searched_trial
from plimsoll.plan.capacity import (
    CONFIRMATIONS_MOST,
    CONFIRMED_AGAIN_MOST,
    PAIRS_MOST,
    Step,
    confirmed_step,
    order_of,
    ramp_after,
    ramp_step,
    usual_ramp_s,
)
from plimsoll.plan.model import Plan, PlannedSearch, PlannedTrial
from plimsoll.record.capacity import Capacity, CapacityRun, RunRole, SearchRecord, held_between, knee_of
from plimsoll.record.files import recordings_folder
from plimsoll.record.level import Ramp
from plimsoll.record.model import Outcome, Verdict
from plimsoll.record.store import read_recording
from plimsoll.run.capacity_search import STEP_OVERHEAD_S, Search, Searched, keep_search, nothing_completed
from plimsoll.run.events import (
    EventLog,
    RampsCompared,
    RatioSoFar,
    SearchBegan,
    SearchEnded,
    SearchProgressed,
    SearchStopped,
)
from plimsoll.run.execution import Execution
from plimsoll.run.planning import Budget
from plimsoll.run.systems import ManagedSystem, System
from plimsoll.run.watch import Freezer
from plimsoll.spec.study import StudySpec
from plimsoll.wording import counted


class StudySearches:
    """The searches of a plan."""

    def __init__(
        self, spec: StudySpec, folder: Path, log: EventLog, execution: Execution, keep_plan: Callable[[Plan], None]
    ) -> None:
        self._spec, self._folder, self._log = spec, folder, log
        self._execution, self._keep_plan = execution, keep_plan
        self._ended, self._stopped = set[str](), dict[str, str]()

    def run(self) -> None:
        """Searches for all capacities; what is recorded of them is read and not run again. Raises as a trial does."""
        for _, block in itertools.groupby(self._execution.plan.searches, key=lambda search: search.block):
            searches = list(block)
            if self._spec.study.is_duet:
                self._search_pairs(searches)
                continue
            with self._execution.started(searches[0]) as system:
                is_fresh = True
                for planned in searches:
                    self._search(planned, system, first=is_fresh)
                    is_fresh = planned.search_id in self._stopped  # what may be wrong with the data goes with it

    def _search_pairs(self, searches: Sequence[PlannedSearch]) -> None:
        """All systems together, workload by workload; their servers run until all are done."""
        names = [system.name for system in self._spec.system]
        ordered = sorted(searches, key=lambda search: names.index(search.system))
        by_workload = {
            name: [search for search in ordered if search.workload == name]
            for name in dict.fromkeys(search.workload for search in searches)
        }
        with ExitStack() as stack:
            systems = {
                search.system: stack.enter_context(self._execution.started(search))
                for search in next(iter(by_workload.values()))
            }
            is_fresh = True
            for workload_searches in by_workload.values():
                climbers = [
                    self._climber(search, systems[search.system], first=is_fresh) for search in workload_searches
                ]
                budget = self._execution.budget.part(max(self.left_count // len(workload_searches), 1))
                is_fresh = False
                try:
                    if PairedSearch(climbers, budget, self._log).run():
                        self._ended.update(search.search_id for search in workload_searches)
                except InvalidTrialError as error:
                    is_fresh = True  # what may be wrong with the data goes with it
                    for search in workload_searches:
                        self._stop(search, error)

    def _climber(self, planned: PlannedSearch, system: System, *, first: bool) -> Climber:
        assert isinstance(system, ManagedSystem), "a duet freezes its servers"
        return Climber(self._study_search(planned, system, first=first), Freezer(system.servers))

    @property
    def left_count(self) -> int:
        """How many have no answer yet."""
        return sum(search.search_id not in self._ended for search in self._execution.plan.searches)

    @property
    def why_stopped(self) -> str | None:
        """Which stopped without an answer, and why; None where none did."""
        if not self._stopped:
            return None
        return f"{counted(len(self._stopped), 'search')} stopped: {'; '.join(self._stopped.values())}"

    def _search(self, planned: PlannedSearch, system: System, *, first: bool) -> None:
        try:
            self._study_search(planned, system, first=first).run()
        except InvalidTrialError as error:
            self._stop(planned, error)
        else:
            self._ended.add(planned.search_id)

    def _stop(self, planned: PlannedSearch, error: InvalidTrialError) -> None:
        """Notes that a search stopped without an answer."""
        place = f"{planned.system}, {planned.workload}, repetition {planned.repetition + 1}"
        self._stopped[planned.search_id] = f"{place}: {error}"
        self._execution.failed.update(self._empty_sweeps(planned))

    def _study_search(self, planned: PlannedSearch, system: System, *, first: bool) -> StudySearch:
        ran = 0

        def run_trial(trial: PlannedTrial, after_overload: bool) -> Outcome:
            nonlocal ran
            plan = self._execution.plan
            if trial not in plan.trials:
                self._keep_plan(plan.model_copy(update={"trials": (*plan.trials, trial)}))
            is_fresh = first and ran == 0
            ran += 1
            return self._execution.run_trial(trial, system, first=is_fresh or after_overload, remaining=0)

        return StudySearch(
            spec=self._spec,
            folder=self._folder,
            planned=planned,
            finished=self._execution.finished,
            log=self._log,
            run_trial=run_trial,
        )

    def _empty_sweeps(self, planned: PlannedSearch) -> set[str]:
        """Runs of a search's sweep in which nothing completed: without an answer they are failures."""
        trials = (trial for trial in self._execution.plan.trials if trial.search_id == planned.search_id)
        return {trial.trial_id for trial in trials if trial.search_role is RunRole.SWEEP} - self._execution.finished


RunTrial = Callable[[PlannedTrial, bool], Outcome]
"""Runs one trial and says what became of it; the flag says that the run before overloaded the system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySearch:
    """One search of a study.

    Attributes:
        folder: Of the study.
        finished: Ids of trials with a complete recording.
        run_trial: Runs a trial; raises where the study cannot go on.
    """

    spec: StudySpec
    folder: Path
    planned: PlannedSearch
    finished: set[str]
    log: EventLog
    run_trial: RunTrial

    def run(self) -> Capacity:
        """Searches to the end, from whatever is recorded.

        Raises:
            InvalidTrialError: A run must not be believed, or nothing completed in the sweep. This search stopped, and
                its record says why; others can go on.
            PlimsollError: The study could not go on.
            KeyboardInterrupt: Somebody ended it; what is recorded is found again.
        """
        self.log.say(SearchBegan(**self.place))
        study = self.spec.study
        warm_up_s = study.warm_up_limit / 4 if study.warm_up is None else study.warm_up
        search = Search(
            search_settings(self.spec),
            lambda searched: self._report_progress(search, searched),
            warm_up_s=warm_up_s,
        )
        try:
            capacity = search.run(lambda step: self.execute(step, search.machines))
        except InvalidTrialError as error:
            self.keep(search.so_far, is_finished=False, stopped=str(error))
            self.log.say(SearchStopped(**self.place, reason=str(error)))
            raise
        self.keep(capacity, is_finished=True)
        facts = {
            "capacity_tps": capacity.capacity_tps,
            "objective": capacity.objective,
            "is_given_up": capacity.is_given_up,
        }
        self.log.say(SearchEnded(**self.place, **facts))
        return capacity

    def is_recorded(self, step: Step) -> bool:
        """Whether a step need not run again."""
        return self._trial(step).trial_id in self.finished

    def execute(self, step: Step, machines: dict[str, MachineSeconds]) -> CapacityRun:
        """Runs a step, or reads it where it is recorded.

        Args:
            step: What to run.
            machines: What the machine did in it is added here by its trial id, where it is known.

        Raises:
            InvalidTrialError: Its run must not be believed.
            NothingCompletedError: Nothing completed in it.
            PlimsollError: The study could not go on.
        """
        trial = self._trial(step)
        if trial.trial_id in self.finished:
            try:
                return self._judged(trial, step, machines)
            except RecordError:
                self.finished.discard(trial.trial_id)  # it was damaged since; it is measured again
        while trial.trial_id not in self.finished:
            outcome = self.run_trial(trial, step.after_overload)
            if outcome.nothing_completed:
                raise NothingCompletedError(outcome.reason or "", trial_id=trial.trial_id)
            if outcome.verdict is Verdict.INVALID:
                raise InvalidTrialError(f"{trial.trial_id} is invalid: {outcome.reason}")
        return self._judged(trial, step, machines)

    def _judged(self, trial: PlannedTrial, step: Step, machines: dict[str, MachineSeconds]) -> CapacityRun:
        recording = read_recording(recordings_folder(self.folder) / trial.trial_id)
        return judged_run(recording, step.role, search_settings(self.spec).objective, machines, pair=step.ordinal)

    def _trial(self, step: Step) -> PlannedTrial:
        system = next(candidate for candidate in self.spec.system if candidate.name == self.planned.system)
        return searched_trial(self.planned, step, instances=system.instances)

    def _report_progress(self, search: Search, searched: Searched) -> None:
        self.keep(search.so_far, is_finished=False)
        self.log.say(
            SearchProgressed(
                **self.place,
                run=searched.run,
                low_tps=searched.low_tps,
                high_tps=searched.high_tps if math.isfinite(searched.high_tps) else None,
                remaining_s=searched.remaining_s,
            )
        )

    def keep(self, capacity: Capacity, *, is_finished: bool, stopped: str | None = None) -> None:
        """Writes down what is known; raises as `keep_search`."""
        keep_search(self.folder, self.record(capacity, is_finished=is_finished, stopped=stopped))

    def record(self, capacity: Capacity, *, is_finished: bool, stopped: str | None = None) -> SearchRecord:
        """What is known, as it is written down."""
        return SearchRecord(**self.place, is_finished=is_finished, stopped=stopped, capacity=capacity)

    @property
    def place(self) -> dict[str, object]:
        """Which search it is: names and the repetition."""
        return self.planned.model_dump(include={"search_id", "system", "workload", "repetition"})


_PAIRS_WITHOUT_KNEE = 3
"""After so many pairs a system none of whose ramps has a knee is given up: no ratio can be had of it."""


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
        self._equal_within = spec.study.equal_within
        self._warm_up_s = spec.study.warm_up_limit / 4 if spec.study.warm_up is None else spec.study.warm_up
        self._pair_s = len(climbers) * (usual_ramp_s() + STEP_OVERHEAD_S)
        self._steady_machines: dict[str, MachineSeconds] = {}

    def run(self) -> bool:
        """Runs it to its end, from whatever is recorded.

        Returns:
            Whether it came to one; otherwise there was no time for any pair.

        Raises:
            InvalidTrialError: As `StudySearch.run`; HostError too, where servers cannot be frozen.
        """
        for climber in self._climbers:
            self._log.say(SearchBegan(**climber.search.place))
        try:
            self._sweep()
            self._climb_pairs(ramp_after([climber.swept_tps for climber in self._climbers]))
            for place, climber in enumerate(self._climbers):
                self._confirm(climber, later_count=len(self._climbers) - place - 1)
        except InvalidTrialError as error:
            for climber in self._climbers:
                climber.search.keep(self._so_far(climber), is_finished=False, stopped=str(error))
                self._log.say(SearchStopped(**climber.search.place, reason=str(error)))
            raise
        has_ended = all(self._so_far(climber).ramps for climber in self._climbers)
        for climber in self._climbers:
            capacity = self._keep(climber, is_finished=has_ended)
            facts = {"capacity_tps": None, "held_tps": capacity.low, "objective": capacity.objective}
            if has_ended:
                self._log.say(SearchEnded(**climber.search.place, **facts))
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
            if pair + 1 >= _PAIRS_WITHOUT_KNEE and any(climber.knee_tps is None for climber in self._climbers):
                return

    def _is_decided(self, ratios: Sequence[CapacityRatio]) -> bool:
        return len(ratios) == math.comb(len(self._climbers), 2) and all(ratio.verdict.is_decided for ratio in ratios)

    def _sweep(self) -> None:
        """Raises NothingCompletedError where a server did nothing at all."""
        for connections in self._settings.connections:
            for climber in self._climbers:
                step = Step(
                    role=RunRole.SWEEP,
                    connections=connections,
                    rate_tps=None,
                    duration_s=self._settings.sweep_s,
                )
                self._take(climber, step, self._steady_machines)
        for climber in self._climbers:
            if not climber.swept_tps:
                raise NothingCompletedError(f"{climber.search.planned.system}: no transaction completed in the sweep")

    def _climb(self, ramp: Ramp, pair: int) -> None:
        """One ramp of each system."""
        began_s = time.monotonic()
        for index in order_of(len(self._climbers), pair, self._seed):
            climber, seen = self._climbers[index], dict[str, MachineSeconds]()
            self._take(climber, ramp_step(ramp, pair, climber.connections), seen)
            climber.machines.update(zip([pair], seen.values(), strict=False))
        took_s = time.monotonic() - began_s
        if took_s > self._pair_s / 2:  # it ran, and was not read
            self._pair_s = took_s

    def _confirm(self, climber: Climber, later_count: int) -> None:
        """A steady run below the knee: the same again where the machine was disturbed, a lower one where it fails.

        Further ones leave the systems that come later the time for theirs.
        """
        lowered = again = 0
        while climber.knee_tps is not None:
            step = confirmed_step(climber.knee_tps, lowered, again, climber.connections, self._settings)
            has_time = self._budget.has_room_for((1 + later_count) * self._confirmed_s)
            if (lowered or again) and not (has_time or climber.search.is_recorded(step)):
                return
            if again:
                climber.runs[-1] = climber.runs[-1].model_copy(update={"made_again": True})
            run = self._take(climber, step, self._steady_machines)
            if run.is_disturbed and again < CONFIRMED_AGAIN_MOST:
                again += 1
            elif lowered + 1 == CONFIRMATIONS_MOST or held_between(climber.runs, self._settings.objective)[0]:
                return
            else:
                lowered, again = lowered + 1, 0

    def _take(self, climber: Climber, step: Step, machines: dict[str, MachineSeconds]) -> CapacityRun:
        """One run; what the machine did in it is added to `machines`, by its trial id."""
        with nullcontext() if climber.search.is_recorded(step) else _alone(climber, self._climbers):
            try:
                run = climber.search.execute(step, machines)
            except NothingCompletedError as error:
                run = nothing_completed(step, error.trial_id)
        climber.runs.append(run)
        for each in self._climbers:  # a sweep or steady run of one shows what the machine can do for all
            each.runs = mark_disturbed(each.runs, self._steady_machines)
        self._keep(climber, is_finished=False)
        return climber.runs[-1]

    def _say(self, pair_count: int) -> Sequence[CapacityRatio]:
        """Tells how the systems compare by now."""
        ratios = self._ratios()
        left_s = 0.0 if self._is_decided(ratios) else self._left_s(pair_count)
        place = self._climbers[0].search.place
        self._log.say(
            RampsCompared(
                workload=str(place["workload"]),
                repetition=int(str(place["repetition"])),
                pair_count=pair_count,
                ratios=tuple(map(_ratio_so_far, ratios)),
                remaining_s=left_s + self._confirming_s,
            )
        )
        return ratios

    def _ratios(self) -> list[CapacityRatio]:
        system_capacities = capacities(
            climber.search.record(self._so_far(climber), is_finished=False) for climber in self._climbers
        )
        met = self._met()
        names = [climber.search.planned.system for climber in self._climbers]
        return [
            capacity_ratio.unless(
                unlike_sides(met[names.index(capacity_ratio.base)], met[names.index(capacity_ratio.system)])
            )
            for capacity_ratio in capacity_ratios(
                system_capacities, self._workloads_count, equal_within=self._equal_within
            )
        ]

    def _met(self) -> list[dict[int, Disturbance]]:
        """What each system's ramps met, by pair, against the ramps of all."""
        places = [(index, pair) for index, climber in enumerate(self._climbers) for pair in climber.machines]
        seen = judged([self._climbers[index].machines[pair] for index, pair in places])
        by_system: list[dict[int, Disturbance]] = [{} for _ in self._climbers]
        for (index, pair), disturbance in zip(places, seen, strict=True):
            if disturbance is not None:
                by_system[index][pair] = disturbance
        return by_system

    def _is_recorded(self, ramp: Ramp, pair: int) -> bool:
        return all(climber.search.is_recorded(ramp_step(ramp, pair, climber.connections)) for climber in self._climbers)

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

    def _keep(self, climber: Climber, *, is_finished: bool) -> Capacity:
        capacity = self._so_far(climber)
        climber.search.keep(capacity, is_finished=is_finished)
        return capacity

    def _so_far(self, climber: Climber) -> Capacity:
        """What is known of a system: a rate that held, and the runs; ramps tell no rate that would."""
        low_tps, high_tps = held_between(climber.runs, self._settings.objective)
        return Capacity(
            low=low_tps or None,
            high=high_tps if math.isfinite(high_tps) else None,
            objective=self._settings.objective,
            runs=tuple(climber.runs),
        )


def _ratio_so_far(capacity_ratio: CapacityRatio) -> RatioSoFar:
    bounds = capacity_ratio.ratio.bounds
    return RatioSoFar(
        base=capacity_ratio.base,
        system=capacity_ratio.system,
        ratio=capacity_ratio.ratio.value,
        low=None if bounds is None else bounds.low,
        high=None if bounds is None else bounds.high,
        is_disturbed=capacity_ratio.unlike is not None,
    )


@contextmanager
def _alone(climber: Climber, climbers: Sequence[Climber]) -> Iterator[None]:
    """For the time of a run: the servers of the other systems are frozen."""
    others = [other.freezer for other in climbers if other is not climber]
    try:
        for freezer in others:
            freezer.freeze()
        yield
    finally:
        for freezer in others:
            with suppress(HostError):  # of a server that has ended that is told elsewhere
                freezer.thaw()
