"""A load that was sized is confirmed: offered at a rate for minutes, on a target or on a system of the study.

Deliberately not here: which load and which system (`analyse.size`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from plimsoll.analyse.capacity_run import judged_run
from plimsoll.analyse.cells import is_sustained
from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.protocol import Interval, Progress
from plimsoll.errors import InvalidTrialError, SpecError, TargetError
from plimsoll.plan.capacity import Step
from plimsoll.record.capacity import CapacityObjective, CapacityRun, RunRole
from plimsoll.record.model import Verdict
from plimsoll.record.partial import recordings_folder
from plimsoll.record.store import read_recording
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

_NO_LIMIT_MS = 3_600_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """What became of a confirmation.

    Attributes:
        run: What it measured; its verdict is about the response time.
        held: The rate was sustained, and the objective, where there is one, was within its limit.
        objective: What had to hold; None for the rate alone.
    """

    run: CapacityRun
    held: bool
    objective: CapacityObjective | None


def confirm(
    run: SingleRun, objective: CapacityObjective | None, seen: Callable[[Interval], None] = lambda _: None
) -> Confirmed:
    """Offers the load, and judges it.

    Args:
        run: At a steady rate.
        objective: What must hold; None for the rate alone.
        seen: Is told of each second.

    Raises:
        TargetError, HostError, EngineBugError: It could not be run, or the server was gone at the end.
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
    with TemporaryDirectory(prefix="plimsoll-confirm-") as folder:
        wanted = RecordingWanted(study=Path(folder) / "runs")
        try:
            summary, _ = record_single(run, wanted, seen)
        except InvalidTrialError:
            return Confirmed(run=nothing_completed(step), held=False, objective=objective)
        if summary.outcome.verdict is Verdict.FAILED:
            raise TargetError(summary.outcome.reason or "the server stopped answering")
        recording = read_recording(recordings_folder(wanted.study) / summary.trial.trial_id)
        judged = judged_run(recording, RunRole.CONFIRM, limit)
    within = judged.counted_over_ratio <= 0.01 and judged.errors_ratio <= (limit.errors_ratio or 0.01)
    return Confirmed(run=judged, held=within and is_sustained(summary), objective=objective)


@contextmanager
def system_of_study(
    spec: StudySpec, name: str, folder: Path, progress: Callable[[Progress], None]
) -> Iterator[Instance]:
    """A system of a study, running with its data; what Plimsoll made of it is removed afterwards.

    Raises:
        SpecError: There is none of that name, or it has several instances.
        TargetError, HostError: It cannot be had.
    """
    found = next((one for one in spec.system if one.name == name), None)
    if found is None:
        raise SpecError(f"--system: there is no {name!r} in the study; it has {', '.join(s.name for s in spec.system)}")
    if found.instances > 1:
        raise SpecError(f"--system: {name} has {found.instances} instances; --confirm can load one. Name its --target")
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
