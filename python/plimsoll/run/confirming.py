"""A load that was sized is confirmed: offered at a rate for minutes, on a target or on a system of the study.

Deliberately not here: which load and which system (`analyse.size`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from plimsoll.analyse.capacity_run import judged_run
from plimsoll.analyse.cells import is_sustained
from plimsoll.analyse.confirmed import Confirmed, confirmed
from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.protocol import Interval, Progress
from plimsoll.errors import NothingCompletedError, SpecError, TargetError
from plimsoll.plan.capacity import Step
from plimsoll.private_folder import PrivateFolder
from plimsoll.record.capacity import CapacityObjective, RunRole
from plimsoll.record.folders import recordings_folder
from plimsoll.record.model import TrialWarning, Verdict
from plimsoll.record.store import Recording, read_recording
from plimsoll.run.instance import Instance
from plimsoll.run.joined import RecordingWanted
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.machines import Machines
from plimsoll.run.opening import open_system
from plimsoll.run.searching import nothing_completed
from plimsoll.run.single import record_single
from plimsoll.run.single_run import SingleRun
from plimsoll.spec.statements import data_sets
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import SystemSpec

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
        judged, doubts = judged_run(recording, RunRole.CONFIRM, limit), doubts_of(recording)
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
    found = next((one for one in spec.system if one.name == name), None)
    if found is None:
        raise SpecError(f"--system: there is no {name!r} in the study; it has {', '.join(s.name for s in spec.system)}")
    if (why := _why_not(found)) is not None:
        raise SpecError(f"--system: {name} {why}, which --confirm cannot start; start it, and name its --target")
    keeper = DataKeeper(
        driver=LocalDriver(), data_sets=data_sets(spec.workload), progress=progress,
        changing=any(one.changes_row_count for one in spec.workload),
    )  # fmt: skip
    system = open_system(found, keeper, Machines(folder, lambda _place, _reason: None), resets=False)
    try:
        system.start()
        yield system.instances[0]
    finally:
        system.stop()
        system.close()


def _why_not(found: SystemSpec) -> str | None:
    """What a system has that only a study can start; None where it is a plain server."""
    replicas = found.server.replicas if found.server is not None else 0
    faults = {
        f"has {found.instances} instances": found.instances > 1,
        "has replicas": bool(replicas or found.targets),
        "runs on another host": found.host is not None,
        "has hooks": found.hooks is not None,
        "is measured in an environment of its own": found.environment is not None,
    }
    return next((fault for fault, is_so in faults.items() if is_so), None)
