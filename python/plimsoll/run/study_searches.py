"""All searches for capacities of a study, block by block. One that must not be believed stops; the others go on.

Deliberately not here: one search (`study_search`), and which there are (`plimsoll.plan.searches`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from plimsoll.errors import InvalidTrialError
from plimsoll.plan.model import Plan, PlannedSearch, PlannedTrial
from plimsoll.prose.phrases import counted
from plimsoll.record.capacity import RunRole
from plimsoll.record.model import Outcome
from plimsoll.run.events import EventLog
from plimsoll.run.execution import Execution
from plimsoll.run.freezer import Freezer
from plimsoll.run.paired_search import Climber, PairedSearch
from plimsoll.run.study_search import StudySearch
from plimsoll.run.systems import ManagedSystem, System
from plimsoll.spec.study import StudySpec


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
        names = [one.name for one in self._spec.system]
        ordered = sorted(searches, key=lambda one: names.index(one.system))
        by_workload = {
            name: [one for one in ordered if one.workload == name]
            for name in dict.fromkeys(one.workload for one in searches)
        }
        with ExitStack() as stack:
            systems = {
                one.system: stack.enter_context(self._execution.started(one))
                for one in next(iter(by_workload.values()))
            }
            is_fresh = True
            for own in by_workload.values():
                climbers = [self._climber(one, systems[one.system], first=is_fresh) for one in own]
                budget = self._execution.budget.part(max(self.left_count // len(own), 1))
                is_fresh = False
                try:
                    if PairedSearch(climbers, budget, self._log).run():
                        self._ended.update(one.search_id for one in own)
                except InvalidTrialError as error:
                    is_fresh = True  # what may be wrong with the data goes with it
                    for one in own:
                        self._stop(one, error)

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
        own = (one for one in self._execution.plan.trials if one.search_id == planned.search_id)
        return {one.trial_id for one in own if one.search_role is RunRole.SWEEP} - self._execution.finished
