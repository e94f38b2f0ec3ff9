"""A search for the capacity of one server, or a sized load confirmed: single runs that are recorded into one folder.

After a run that asked for more than the server can do, what it left must go first: the rows of a server that Plimsoll
started are made again where the workload changes them, and every server is waited for until it is quiet. A load is
confirmed by offering it at a rate for minutes, on a target or on a system of the study. Deliberately not here: which
load and which system are confirmed (`analyse.answers.size`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from plimsoll.analyse.answers.size_model import Confirmed, confirmed
from plimsoll.analyse.study.capacities import judged_run, mark_disturbed
from plimsoll.analyse.study.cells import is_sustained
from plimsoll.analyse.trial.samples import MachineSeconds
from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.protocol import Interval, Progress
from plimsoll.errors import NothingCompletedError, RecordError, SpecError, TargetError
from plimsoll.plan.capacity import SearchSettings, Step
from plimsoll.private_folder import PrivateFolder
from plimsoll.record.capacity import Capacity, CapacityObjective, CapacityRun, RunRole, SearchRecord
from plimsoll.record.files import recordings_folder
from plimsoll.record.model import TrialWarning, Verdict
from plimsoll.record.store import Recording, read_recording
from plimsoll.run.capacity_search import Search, Searched, keep_search, nothing_completed
from plimsoll.run.instance import Instance
from plimsoll.run.running_servers import refuse_unfit
from plimsoll.run.single import RecordingWanted, SingleRun, record_single
from plimsoll.run.system_data import DataKeeper
from plimsoll.run.systems import Machines
from plimsoll.run.target_system import open_system
from plimsoll.servers.control import connect
from plimsoll.servers.settle import settle
from plimsoll.spec.clients import steady
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import SystemSpec
from plimsoll.spec.workloads import data_sets

SETTLE_LIMIT_S = 60.0
_IDLE_LIMIT_S = 30.0
_POLL_S = 0.2
_OWN_RUNNING = 2
"""Threads that run on an idle server: this connection, and perhaps one of the server's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchListeners:
    """Who is told what while a search runs.

    Attributes:
        begins: About how long it will take, seconds, once it is known that it can run.
        step: Of the run that begins.
        interval: Of each of its seconds.
        searched: Where the search stands after it.
        loading: How far rows are that are made again.
        note: What the user should know, one line.
    """

    begins: Callable[[float], None] = lambda _: None
    step: Callable[[Step], None] = lambda _: None
    interval: Callable[[Interval], None] = lambda _: None
    searched: Callable[[Searched], None] = lambda _: None
    loading: Callable[[Progress], None] = lambda _: None
    note: Callable[[str], None] = lambda _: None


class TargetSearch:
    """A search on one server."""

    def __init__(
        self, base: SingleRun, wanted: RecordingWanted, settings: SearchSettings, listener: SearchListeners
    ) -> None:
        """Nothing runs yet.

        Args:
            base: What every run has in common; its connections, arrivals and duration are those of each step.
            wanted: Where the runs are recorded.
            settings: How the search goes.
            listener: Who is told what.
        """
        self._base, self._wanted, self._settings, self._listener = base, wanted, settings, listener
        self._search = Search(settings, self._searched, warm_up_s=base.warm_up_s)
        self._id = f"search-{time.time_ns():x}"
        self._names, self._is_finished = ("", ""), False

    def run(self) -> Capacity:
        """Searches to the end.

        Raises:
            SpecError, TargetError, HostError, EngineBugError, RecordError: A run could not be done, or not be kept.
            InvalidTrialError: Nothing completed in the whole sweep, or drivers that share the load were lost.
            KeyboardInterrupt: Somebody ended it; `so_far` says what is known.
        """
        if self._base.managed is None:
            refuse_unfit(self._base.target, self._base.workload, max(self._settings.connections))
        self._listener.begins(self.expected_s)
        capacity = self._search.run(self._execute)
        self._is_finished = True
        self._keep()
        return capacity

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
        folder, readable = recordings_folder(self._wanted.study), []
        for run in self._search.runs:
            with suppress(RecordError):
                readable += [read_recording(folder / run.trial_id)] if run.trial_id else []
        return readable

    def _execute(self, step: Step) -> CapacityRun:
        self._listener.step(step)
        self._make_ready(step)
        run = replace(
            self._base,
            connections=step.connections,
            duration_s=step.duration_s,
            seed=self._base.seed + len(self._search.runs),
            arrivals=None if step.rate_tps is None else steady(step.rate_tps),
            search=(self._id, step.role),
        )
        summary, notes = record_single(run, self._wanted, self._listener.interval)
        if summary.outcome.verdict is Verdict.FAILED:
            raise TargetError(summary.outcome.reason or "the server stopped answering")
        self._names = (summary.trial.system.name, summary.trial.workload.name)
        for note in notes[:-1]:  # the last one names the recording
            self._listener.note(note)
        recording = read_recording(recordings_folder(self._wanted.study) / summary.trial.trial_id)
        return judged_run(recording, step.role, self._settings.objective, self._search.machines)

    def _make_ready(self, step: Step) -> None:
        target, managed = self._base.target, self._base.managed
        if step.after_overload and managed is not None and self._base.workload.writes and self._search.runs:
            keeper = DataKeeper(
                driver=LocalDriver(), data_sets=(self._base.workload,), progress=self._listener.loading, changing=True
            )
            keeper.reset(target)
        with connect(target) as control:
            _wait_idle(lambda: int(control.status().get("threads_running", "1")))
            settle(control, limit_s=SETTLE_LIMIT_S, may_set_variables=managed is not None)

    def _searched(self, searched: Searched) -> None:
        self._keep()
        self._listener.searched(searched)

    def _keep(self) -> None:
        keep_search(self._wanted.study, self.record)


def _wait_idle(running: Callable[[], int]) -> None:
    """Waits until statements that an overload left behind have ended; this connection is one that runs."""
    until_s = time.monotonic() + _IDLE_LIMIT_S
    while running() > _OWN_RUNNING and time.monotonic() < until_s:
        time.sleep(_POLL_S)


_NO_LIMIT_MS = 3_600_000.0


def confirm(
    run: SingleRun,
    objective: CapacityObjective | None,
    *,
    system: str,
    seen: Callable[[Interval], None] = lambda _: None,
    doubts_of: Callable[[Recording], Sequence[TrialWarning]] = lambda _: (),
) -> Confirmed:
    """Offers the load, and judges it.

    Args:
        run: At a steady rate.
        objective: What must hold; None for the rate alone.
        system: What the result calls it.
        seen: Is told of each second.
        doubts_of: Says what makes the run doubtful.

    Raises:
        TargetError, HostError, EngineBugError: It could not be run, or the server was gone at the end.
        InvalidTrialError: Drivers that share the load were lost.
        KeyboardInterrupt: Somebody ended it.
    """
    limit = objective or CapacityObjective(response_ms_p99=_NO_LIMIT_MS)
    assert run.arrivals is not None, "a load is confirmed at a rate"
    step = Step(
        role=RunRole.CONFIRM,
        connections=run.connections,
        rate_tps=run.arrivals.steady_tps,
        duration_s=run.duration_s,
    )
    with PrivateFolder("confirm") as folder:
        wanted = RecordingWanted(study=folder / "runs")
        try:
            summary, _ = record_single(run, wanted, seen)
        except NothingCompletedError:
            return confirmed(nothing_completed(step), objective, system=system, is_sustained=False)
        if summary.outcome.verdict is Verdict.FAILED:
            raise TargetError(summary.outcome.reason or "the server stopped answering")
        recording = read_recording(recordings_folder(wanted.study) / summary.trial.trial_id)
        machines: dict[str, MachineSeconds] = {}
        judged, doubts = judged_run(recording, RunRole.CONFIRM, limit, machines), doubts_of(recording)
        (judged,) = mark_disturbed([judged], machines)
    return confirmed(judged, objective, system=system, is_sustained=is_sustained(summary), warnings=doubts)


@contextmanager
def system_of_study(
    spec: StudySpec, name: str, folder: Path, progress: Callable[[Progress], None]
) -> Iterator[Instance]:
    """A system of a study, running with its data; what Plimsoll made of it is removed afterwards.

    Raises:
        SpecError: There is none of that name, or it is more than one server on this machine.
        TargetError, HostError: It cannot be had.
    """
    system_spec = next((candidate for candidate in spec.system if candidate.name == name), None)
    if system_spec is None:
        raise SpecError(f"--system: there is no {name!r} in the study; it has {', '.join(s.name for s in spec.system)}")
    if (why := _why_not(system_spec)) is not None:
        raise SpecError(f"--system: {name} {why}, which --confirm cannot start; start it, and name its --target")
    keeper = DataKeeper(
        driver=LocalDriver(), data_sets=data_sets(spec.workload), progress=progress,
        changing=any(workload.changes_row_count for workload in spec.workload),
    )  # fmt: skip
    system = open_system(system_spec, keeper, Machines(folder, lambda _place, _reason: None), resets=False)
    try:
        system.start()
        yield system.instances[0]
    finally:
        system.stop()
        system.close()


def _why_not(system_spec: SystemSpec) -> str | None:
    """What a system has that only a study can start; None where it is a plain server."""
    replicas = system_spec.server.replicas if system_spec.server is not None else 0
    faults = {
        f"has {system_spec.instances} instances": system_spec.instances > 1,
        "has replicas": bool(replicas or system_spec.targets),
        "runs on another host": system_spec.host is not None,
        "has hooks": system_spec.hooks is not None,
        "is measured in an environment of its own": system_spec.environment is not None,
    }
    return next((fault for fault, is_so in faults.items() if is_so), None)
