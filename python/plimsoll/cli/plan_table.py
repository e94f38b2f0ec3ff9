"""A plan as a table for a terminal, and what is to be said of it before it runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from rich.console import Group
from rich.table import Table
from rich.text import Text

from plimsoll.analyse.trial.tpcc_clauses import Measured, deviations
from plimsoll.cli.storage import planned_storage
from plimsoll.cli.trial_result import sheet_lines
from plimsoll.plan.model import Plan
from plimsoll.prose.phrases import fitted_words
from plimsoll.run.folder import UNPLANNED
from plimsoll.run.planning import PlannedStudy
from plimsoll.servers.settle import STUCK_S
from plimsoll.spec.factors import varied
from plimsoll.spec.study import StudySpec
from plimsoll.spec.tpcc import TpccSpec
from plimsoll.units import format_bytes, format_duration


def plan_table(plan: Plan, spec: StudySpec) -> Group:
    """The systems of a matrix, trials in order, and what they take."""
    matrix, labels = matrix_table(spec), system_labels(spec)
    table = Table(title=f"{plan.study}: {len(plan.trials)} trials in order", title_justify="left", box=None)
    searched: list[Text] = []
    several = any(trial.instances > 1 for trial in plan.trials)
    replicas = {system.name: system.replicas for system in spec.system}
    table.add_column("", justify="right")
    table.add_column("block", justify="right")
    table.add_column("system")
    if several:
        table.add_column("instances", justify="right")
    if any(replicas.values()):
        table.add_column("replicas", justify="right")
    table.add_column("workload")
    at_rates = any(trial.level.kind.is_at_rate for trial in plan.trials)
    table.add_column("target rate, tps" if at_rates else "connections", justify="right")
    table.add_column("repetition", justify="right")
    for position, trial in enumerate(plan.trials, start=1):
        table.add_row(
            str(position),
            str(trial.block + 1),
            labels[trial.system],
            *([str(trial.instances)] if several else []),
            *([str(replicas[trial.system])] if any(replicas.values()) else []),
            trial.workload,
            trial.level.figure(),
            str(trial.repetition + 1),
        )
    estimates = plan.estimates
    for search in plan.searches:
        place = f"block {search.block + 1}, repetition {search.repetition + 1}"
        searched.append(Text(f"search for the capacity of {labels[search.system]} under {search.workload}: {place}"))
    return Group(
        *(() if matrix is None else (matrix, "")),
        *searched,
        *([table] if plan.trials or not searched else []),
        f"about {format_duration(estimates.total_s)} in total, {format_duration(estimates.trial_s)} per trial;"
        f" {format_bytes(estimates.disk_bytes)} of disk, {format_bytes(estimates.recordings_bytes)} for recordings",
    )


def matrix_table(spec: StudySpec) -> Group | None:
    """A row for each system with its value of each factor; None where systems were written out."""
    factors = varied(spec)
    if not factors:
        return None
    counts = " x ".join(str(len(values)) for values in factors.values())
    full = math.prod(len(values) for values in factors.values())
    listed = "" if full == len(spec.system) else f", {len(spec.system)} of {full} combinations listed"
    title = f"{len(spec.system)} systems of {len(factors)} factor{'s' if len(factors) > 1 else ''}: {counts}{listed}"
    table = Table(box=None)
    table.add_column("system", justify="right")
    for factor in factors:
        table.add_column(Text(factor))
    for number, system in enumerate(spec.system, start=1):
        table.add_row(str(number), *(Text(system.factor_values[factor]) for factor in factors))
    return Group(Text(title), table)


def system_labels(spec: StudySpec) -> dict[str, str]:
    """What the table of trials calls each system: those of a matrix by number and values, which are shorter."""
    return {
        system.name: f"{number}: {', '.join(system.factor_values.values())}" if system.factor_values else system.name
        for number, system in enumerate(spec.system, start=1)
    }


def planned_lines(spec: StudySpec, planned: PlannedStudy, folder: Path) -> Iterator[str]:
    """What is to be said besides the table: how it fits its budget, what waiting may add, what is there already."""
    if (fitted := planned.plan.fitted) is not None:
        yield fitted_words(fitted)
    yield from planned_storage(spec)
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
        f"waiting for servers to settle may add up to {format_duration(most)}: at most {format_duration(limit)}"
        " (settle_limit) before each trial"
    )
    targets = [system.name for system in spec.system if system.server is None]
    if targets and limit > STUCK_S:
        count = sum(trial.system in targets for trial in plan.trials)
        yield (
            f"dirty pages of {', '.join(targets)} may never fall, as on an idle MariaDB server: Plimsoll stops waiting"
            f" after {format_duration(STUCK_S)}, {format_duration(count * STUCK_S)} for {count} trials"
        )


def planned_sheets(spec: StudySpec) -> Iterator[str]:
    """Where TPC-C-derived workloads will depart from the specification, whatever is measured."""
    study = spec.study
    for workload in (workload_spec for workload_spec in spec.workload if isinstance(workload_spec, TpccSpec)):
        sheet = deviations(
            {**workload.options(), **study.clients.stated()},
            connections=tuple(sorted(study.levels.connections)),
            instances=max(system.instances for system in spec.system),
            is_at_rates=study.levels.rate_tps is not None or study.levels.capacity is not None,
            measured=Measured(duration_s=study.duration),
        )
        yield from (f"{workload.name}: {line}" if index == 0 else line for index, line in enumerate(sheet_lines(sheet)))
