"""A search for the capacity of one server, without a study: single runs that are recorded into one folder.

After a run that asked for more than the server can do, what it left must go first: the rows of a server that Plimsoll
started are made again where the workload changes them, and every server is waited for until it is quiet.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from plimsoll.analyse.capacity_run import judged_run
from plimsoll.analyse.machine_seconds import MachineSeconds
from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.protocol import Interval, Progress
from plimsoll.errors import RecordError, TargetError
from plimsoll.plan.capacity import Step
from plimsoll.plan.search_settings import SearchSettings
from plimsoll.record.capacity import Capacity, CapacityRun, SearchRecord
from plimsoll.record.folders import recordings_folder
from plimsoll.record.model import Verdict
from plimsoll.record.store import Recording, read_recording
from plimsoll.run.joined import RecordingWanted
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.running_servers import refuse_unfit
from plimsoll.run.searching import Search, Searched, keep_search
from plimsoll.run.single import record_single
from plimsoll.run.single_run import SingleRun
from plimsoll.servers.control import connect
from plimsoll.servers.settle import settle
from plimsoll.spec.arrivals import steady

SETTLE_LIMIT_S = 60.0
_IDLE_LIMIT_S = 30.0
_POLL_S = 0.2
_OWN_RUNNING = 2
"""Threads that run on an idle server: this connection, and perhaps one of the server's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Who is told what while a search runs.

    Attributes:
        step: Of the run that begins.
        interval: Of each of its seconds.
        searched: Where the search stands after it.
        loading: How far rows are that are made again.
        note: What the user should know, one line.
    """

    step: Callable[[Step], None] = lambda _: None
    interval: Callable[[Interval], None] = lambda _: None
    searched: Callable[[Searched], None] = lambda _: None
    loading: Callable[[Progress], None] = lambda _: None
    note: Callable[[str], None] = lambda _: None


class TargetSearch:
    """A search on one server."""

    def __init__(self, base: SingleRun, wanted: RecordingWanted, settings: SearchSettings, told: Told) -> None:
        """Nothing runs yet.

        Args:
            base: What every run has in common; its connections, arrivals and duration are those of each step.
            wanted: Where the runs are recorded.
            settings: How the search goes.
            told: Who is told what.
        """
        self._base, self._wanted, self._settings, self._told = base, wanted, settings, told
        self._search = Search(settings, self._searched, warm_up_s=base.warm_up_s)
        self._id = f"search-{time.time_ns():x}"
        self._names, self._is_finished = ("", ""), False
        self._machines: list[MachineSeconds] = []

    def run(self) -> Capacity:
        """Searches to the end.

        Raises:
            SpecError, TargetError, HostError, EngineBugError, RecordError: A run could not be done, or not be kept.
            InvalidTrialError: Nothing completed in the whole sweep, or drivers that share the load were lost.
            KeyboardInterrupt: Somebody ended it; `so_far` says what is known.
        """
        if self._base.managed is None:
            refuse_unfit(self._base.target, self._base.workload, max(self._settings.connections))
        found = self._search.run(self._execute)
        self._is_finished = True
        self._keep()
        return found

    @property
    def so_far(self) -> Capacity:
        """What is known by now."""
        return self._search.so_far

    @property
    def expected_s(self) -> float:
        """About how long it will still take, seconds."""
        return self._search.expected_s

    @property
    def record(self) -> SearchRecord:
        """What is known by now, as it is kept."""
        system, workload = self._names
        return SearchRecord(
            search_id=self._id,
            system=system,
            workload=workload,
            is_finished=self._is_finished,
            capacity=self.so_far,
        )

    @property
    def recordings(self) -> list[Recording]:
        """Of the runs so far, as far as they can be read."""
        folder, found = recordings_folder(self._wanted.study), []
        for run in self._search.runs:
            with suppress(RecordError):
                found += [read_recording(folder / run.trial_id)] if run.trial_id else []
        return found

    def _execute(self, step: Step) -> CapacityRun:
        self._told.step(step)
        self._make_ready(step)
        run = replace(
            self._base,
            connections=step.connections,
            duration_s=step.duration_s,
            seed=self._base.seed + len(self._search.runs),
            arrivals=None if step.rate_tps is None else steady(step.rate_tps),
            search=(self._id, step.role),
        )
        summary, notes = record_single(run, self._wanted, self._told.interval)
        if summary.outcome.verdict is Verdict.FAILED:
            raise TargetError(summary.outcome.reason or "the server stopped answering")
        self._names = (summary.trial.system.name, summary.trial.workload.name)
        for note in notes[:-1]:  # the last one names the recording
            self._told.note(note)
        recording = read_recording(recordings_folder(self._wanted.study) / summary.trial.trial_id)
        return judged_run(recording, step.role, self._settings.objective, self._machines)

    def _make_ready(self, step: Step) -> None:
        target, managed = self._base.target, self._base.managed
        if step.after_overload and managed is not None and self._base.workload.writes and self._search.runs:
            keeper = DataKeeper(
                driver=LocalDriver(), data_sets=(self._base.workload,), progress=self._told.loading, changing=True
            )
            keeper.reset(target)
        with connect(target) as control:
            _wait_idle(lambda: int(control.status().get("threads_running", "1")))
            settle(control, limit_s=SETTLE_LIMIT_S, may_set_variables=managed is not None)

    def _searched(self, searched: Searched) -> None:
        self._keep()
        self._told.searched(searched)

    def _keep(self) -> None:
        keep_search(self._wanted.study, self.record)


def _wait_idle(running: Callable[[], int]) -> None:
    """Waits until statements that an overload left behind have ended; this connection is one that runs."""
    until_s = time.monotonic() + _IDLE_LIMIT_S
    while running() > _OWN_RUNNING and time.monotonic() < until_s:
        time.sleep(_POLL_S)
