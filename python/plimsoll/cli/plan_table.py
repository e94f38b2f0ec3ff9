"""A plan as a table for a terminal, and what is to be said of it before it runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Group
from rich.table import Table

from plimsoll.analyse.deviations import Measured, deviations
from plimsoll.cli.type_lines import sheet_lines
from plimsoll.plan.model import Plan
from plimsoll.run.folder import UNPLANNED
from plimsoll.run.planning import PlannedStudy
from plimsoll.servers.settle import STUCK_S
from plimsoll.spec.study import StudySpec
from plimsoll.spec.tpcc import TpccSpec
from plimsoll.units import format_bytes, format_duration, format_exact


def plan_table(plan: Plan) -> Group:
    """Trials in order, and what they take."""
    table = Table(title=f"{plan.study}: {len(plan.trials)} trials in order", title_justify="left", box=None)
    several = any(trial.instances > 1 for trial in plan.trials)
    table.add_column("", justify="right")
    table.add_column("block", justify="right")
    table.add_column("system")
    if several:
        table.add_column("instances", justify="right")
    table.add_column("workload")
    at_rates = any(trial.rate_tps is not None for trial in plan.trials)
    table.add_column("tps wanted" if at_rates else "connections", justify="right")
    table.add_column("repetition", justify="right")
    for position, trial in enumerate(plan.trials, start=1):
        table.add_row(
            str(position),
            str(trial.block + 1),
            trial.system,
            *([str(trial.instances)] if several else []),
            trial.workload,
            str(trial.connections) if trial.rate_tps is None else format_exact(trial.rate_tps),
            str(trial.repetition + 1),
        )
    estimates = plan.estimates
    return Group(
        table,
        f"about {format_duration(estimates.total_s)} in all, {format_duration(estimates.trial_s)} for each trial;"
        f" {format_bytes(estimates.disk_bytes)} of disk, {format_bytes(estimates.recordings_bytes)} for recordings",
    )


def planned_lines(spec: StudySpec, planned: PlannedStudy, folder: Path) -> Iterator[str]:
    """What is to be said besides the table: what waiting may add, what is there already, where workloads depart."""
    yield from _settling(spec, planned.plan)
    if planned.recorded:
        yield f"{folder}: {len(planned.finished)} of these trials are finished; they will not run again"
    if planned.unplanned_count:
        yield f"{folder}: {planned.unplanned_count} recordings {UNPLANNED}"
    yield from planned_sheets(spec)


def _settling(spec: StudySpec, plan: Plan) -> Iterator[str]:
    """What waiting for quiet servers may add, and where it may not help."""
    most, limit = plan.estimates.settle_s_max, spec.study.settle_limit
    if most == 0:
        return
    yield (
        f"waiting until servers are quiet may add up to {format_duration(most)}: at most {format_duration(limit)}"
        " (settle_limit) before each trial"
    )
    targets = [system.name for system in spec.system if system.target is not None]
    if targets and limit > STUCK_S:
        count = sum(trial.system in targets for trial in plan.trials)
        yield (
            f"dirty pages of {', '.join(targets)} may never fall, as on a MariaDB server that is idle: that"
            f" is seen after {format_duration(STUCK_S)}, {format_duration(count * STUCK_S)} for {count} trials"
        )


def planned_sheets(spec: StudySpec) -> Iterator[str]:
    """Where TPC-C-derived workloads will depart from the specification, whatever is measured."""
    study = spec.study
    for workload in (one for one in spec.workload if isinstance(one, TpccSpec)):
        found = deviations(
            {**workload.options(), **study.clients.stated()},
            connections=tuple(sorted(study.levels.connections)),
            instances=max(system.instances for system in spec.system),
            is_at_rates=study.levels.rate_tps is not None,
            measured=Measured(duration_s=study.duration),
        )
        yield from (f"{workload.name}: {line}" if index == 0 else line for index, line in enumerate(sheet_lines(found)))
