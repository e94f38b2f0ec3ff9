"""A search for a capacity while it runs: step by step, each told, until there is an answer.

Deliberately not here: which run comes next (`plan.capacity`), and how one is run (`capacity_target`, `study_searches`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from plimsoll.analyse.study.capacities import mark_disturbed
from plimsoll.analyse.trial.samples import MachineSeconds
from plimsoll.errors import NothingCompletedError, RecordError
from plimsoll.plan.capacity import SearchSettings, Step, bracket_of, capacity_so_far, next_step, remaining_s
from plimsoll.record.capacity import (
    CAPACITY_FORMAT,
    Capacity,
    CapacityDocument,
    CapacityRun,
    RunRole,
    RunVerdict,
    SearchRecord,
)
from plimsoll.record.files import replace_file
from plimsoll.run.folder import read_kept

CAPACITY_FILE = "capacity.json"
STEP_OVERHEAD_S = 3.0
"""Typical time of a run besides its load: settling, connecting, checking."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """Where a search stands after a run.

    Attributes:
        run: The last one.
        low_tps: The highest rate that held so far; 0 where none did.
        high_tps: The lowest rate that did not; infinite where all held.
        remaining_s: About how long it will still take.
    """

    run: CapacityRun
    low_tps: float
    high_tps: float
    remaining_s: float


class Search:
    """One search.

    Attributes:
        runs: Those that ran so far, in their order.
        machines: What the machine did in them, by their trial ids, as far as it is known; whoever runs them adds it.
    """

    def __init__(self, settings: SearchSettings, report: Callable[[Searched], None], *, warm_up_s: float) -> None:
        self._settings, self._report, self._warm_up_s = settings, report, warm_up_s
        self.runs: list[CapacityRun] = []
        self.machines: dict[str, MachineSeconds] = {}

    def run(self, execute: Callable[[Step], CapacityRun]) -> Capacity:
        """Runs it to its end.

        Args:
            execute: Does one step. What it raises ends the search, except that nothing completed, which is what the
                step showed; `so_far` is what is known then.

        Raises:
            NothingCompletedError: Nothing did in the whole sweep: that is a fault of the server, and no capacity.
        """
        empty: NothingCompletedError | None = None
        while isinstance(decision := next_step(self._settings, self.runs), Step):
            try:
                self.runs.append(execute(decision))
            except NothingCompletedError as error:
                empty = error
                self.runs.append(nothing_completed(decision, error.trial_id))
            self.runs = [_left_out(run) for run in mark_disturbed(self.runs, self.machines)]
            low_tps, high_tps = bracket_of(self._settings, self.runs)
            self._report(
                Searched(
                    run=self.runs[-1],
                    low_tps=low_tps,
                    high_tps=high_tps,
                    remaining_s=self.expected_s,
                )
            )
        if empty is not None and not any(run.throughput_tps for run in self.runs):
            raise empty
        return decision

    @property
    def so_far(self) -> Capacity:
        """What is known by now."""
        return capacity_so_far(self._settings, self.runs)

    @property
    def expected_s(self) -> float:
        """About how long it will still take, seconds."""
        return expected_s(self._settings, self.runs, warm_up_s=self._warm_up_s)


def _left_out(run: CapacityRun) -> CapacityRun:
    """A run at a rate that was disturbed is left out for good; the sweep only says where to begin.

    What later runs show may make it look undisturbed again, when calm seconds have become rare.
    """
    return run.model_copy(update={"made_again": run.made_again or (run.is_disturbed and run.rate_tps is not None)})


def expected_s(settings: SearchSettings, runs: list[CapacityRun], *, warm_up_s: float) -> float:
    """About how long a search will still take, warm-ups included, seconds."""
    count, load_s = remaining_s(settings, runs)
    return load_s + count * (warm_up_s + STEP_OVERHEAD_S)


def nothing_completed(step: Step, trial_id: str = "") -> CapacityRun:
    """A run in which the server completed nothing: at a rate, no objective holds there."""
    return CapacityRun(
        trial_id=trial_id,
        role=step.role,
        connections=step.connections,
        rate_tps=step.rate_tps,
        throughput_tps=0.0,
        over_ratio=1.0,
        errors_ratio=1.0,
        duration_s=step.duration_s,
        verdict=RunVerdict.NOT_JUDGED if step.role is RunRole.SWEEP else RunVerdict.DOES_NOT_HOLD,
    )


def read_searches(folder: Path) -> tuple[SearchRecord, ...]:
    """The searches of a folder; none where there were none.

    Raises:
        NewerFormatError: A newer Plimsoll wrote them.
        RecordError: They cannot be read.
    """
    cure = "remove it and run the same command again: the recordings are kept"
    version = ("capacity_format", CAPACITY_FORMAT)
    document = read_kept(folder / CAPACITY_FILE, CapacityDocument, version=version, cure=cure)
    return () if document is None else document.searches


def keep_search(folder: Path, record: SearchRecord) -> None:
    """Writes down where a search stands, in the place of what was known of it before.

    Raises:
        HostError: It cannot be written.
        NewerFormatError: A newer Plimsoll wrote the others.
    """
    try:
        known = read_searches(folder)
    except RecordError as error:
        if type(error) is not RecordError:
            raise
        _LOG.warning("%s", error)
        known = ()
    others = {search.search_id: search for search in known} | {record.search_id: record}
    text = CapacityDocument(searches=tuple(others.values())).model_dump_json(indent=1)
    replace_file(folder / CAPACITY_FILE, text, "free space")
