"""The systems and workloads of a study, from its trials: what they are, and what their recordings do not say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from plimsoll.analyse.explain.durability import system_durability
from plimsoll.analyse.model import SystemSummary, Unknown, WorkloadSummary
from plimsoll.analyse.study.cell_model import has_p99
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.factors import encryptions_of
from plimsoll.analyse.study.throughput import REPETITIONS_NEEDED
from plimsoll.analyse.study.workloads import learned_from, statements_of
from plimsoll.analyse.trial.instances import replicas_of, sources_of
from plimsoll.analyse.trial.processors import servers_host
from plimsoll.analyse.trial.tpcc import beside, tpcc_deviations
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.analyse.trial.types import shares_of
from plimsoll.record.model import Origin, StatementRecord, WorkloadRecord, price_of
from plimsoll.spec.oltp import KINDS, WorkloadSpec
from plimsoll.spec.tpcc import TPCC, TpccSpec


def summarise_systems(trials: Iterable[TrialSummary]) -> tuple[SystemSummary, ...]:
    """One summary for each system, in the order of their first trials."""
    groups: dict[str, list[TrialSummary]] = {}
    for trial in trials:
        groups.setdefault(trial.trial.system.name, []).append(trial)
    return tuple(_system(of_system) for of_system in groups.values())


def summarise_workloads(trials: Iterable[TrialSummary]) -> tuple[WorkloadSummary, ...]:
    """One summary for each workload, in the order of their first trials."""
    trials = list(trials)
    first = {trial.trial.workload.name: trial.trial.workload for trial in reversed(trials)}
    trials_by_workload = {name: [trial for trial in trials if trial.trial.workload.name == name] for name in first}
    return tuple(
        WorkloadSummary(
            name=workload.name,
            kind=workload.kind,
            rate_unit=workload.rate_unit,
            options=_options_told(workload),
            working_set=workload.working_set,
            types=shares_of(
                (trial.types for trial in trials_by_workload[workload.name]),
                beside=beside(trials_by_workload[workload.name]),
            ),
            deviations=tpcc_deviations(trials_by_workload[workload.name]),
            learned=learned_from(workload),
            statements=statements_of(workload, _sent(trials_by_workload[workload.name])),
            reported=workload.reported,
        )
        for workload in reversed(first.values())
    )


def _sent(trials: Iterable[TrialSummary]) -> Sequence[StatementRecord]:
    """What the first of these trials sent that has it recorded."""
    return next((trial.outcome.statements for trial in trials if trial.outcome.statements), ())


def with_unknowns(systems: Sequence[SystemSummary], curves: Sequence[Curve]) -> tuple[SystemSummary, ...]:
    """Adds to each system what its recordings do not say."""
    by_system: Mapping[str, list[Curve]] = {
        system.name: [curve for curve in curves if curve.system == system.name] for system in systems
    }
    return tuple(system.model_copy(update={"unknown": _unknown(system, by_system[system.name])}) for system in systems)


def _system(trials: Sequence[TrialSummary]) -> SystemSummary:
    record = trials[0].trial.system
    environment = trials[0].environment
    return SystemSummary(
        name=record.name,
        instances=record.instances,
        cores=servers_host(environment).cpu_cores,
        cost_per_month=record.cost_per_month,
        price=price_of(record),
        factors=record.factors,
        environment=environment,
        durability=system_durability([instance.variables for instance in sources_of(environment)]),
        replicas=len(replicas_of(environment)),
        encryptions=encryptions_of(trials),
        origin=trials[0].trial.origin.kind,
        imported_from=_imported_from(trials[0].trial.origin),
        factor_values=record.factor_values,
        in_environment=record.environment,
    )


def _imported_from(origin: Origin) -> str | None:
    """The name of the file, without the lines of a table."""
    if origin.kind == "measured" or origin.detail is None:
        return None
    return re.sub(r", lines? \d[\d, to]*$", "", origin.detail)


_ALWAYS_TOLD = ("warehouses", "tables", "table_size", "distribution")


def _options_told(workload: WorkloadRecord) -> dict[str, str]:
    """What is worth reading of a workload's options: those that differ from the defaults of its kind."""
    usual: Mapping[str, object] = {}
    if workload.kind in KINDS:
        usual = WorkloadSpec.model_validate({"name": "usual", "kind": workload.kind}).options()
        # Rows are filled as they are chosen, unless it is said otherwise.
        usual = {**usual, "k_distribution": workload.options.get("distribution")}
    elif workload.kind == TPCC:
        usual = TpccSpec().options()
    options = {
        name: value
        for name, value in workload.options.items()
        if name in _ALWAYS_TOLD or name not in usual or value != usual[name]
    }
    options.pop("definition", None)  # a whole file
    return {name: option_text(value) for name, value in options.items()}


def option_text(value: object) -> str:
    """An option as people read it.

    >>> option_text({"kind": "zipfian", "exponent": 0.9}), option_text(True)
    ('zipfian (exponent 0.9)', 'on')
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, dict):
        parts = ", ".join(f"{name} {part}" for name, part in value.items() if name != "kind")
        return f"{value['kind']} ({parts})" if "kind" in value else parts
    return str(value)


def _unknown(system: SystemSummary, curves: Sequence[Curve]) -> tuple[Unknown, ...]:
    cells = [cell for curve in curves for cell in curve.cells]
    gaps = (
        (not any(has_p99(cell.response_ms) for cell in cells), Unknown.RESPONSE_P99),
        (all(cell.cpu.idle is None for cell in cells), Unknown.PROCESSORS),
        (any(cell.throughput_tps.bounds is None for cell in cells), _unknown_intervals(curves)),
        (system.cores is None, Unknown.CORES),
        (not any(instance.variables for instance in system.environment.instances), Unknown.SETTINGS),
    )
    return tuple(gap for is_missing, gap in gaps if is_missing)


def _unknown_intervals(curves: Sequence[Curve]) -> Unknown:
    fewest = min((cell.throughput_tps.trial_count for curve in curves for cell in curve.cells), default=1)
    if fewest == 1:
        return Unknown.INTERVALS_OF_SINGLE_FIGURES
    return Unknown.INTERVALS_OF_FEW_REPETITIONS if fewest < REPETITIONS_NEEDED else Unknown.INTERVALS
