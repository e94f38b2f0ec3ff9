"""What is not the same on the two sides of a comparison: the systems themselves, and the conditions around them.

What the systems differ in is what is compared: factors of the study file, and the server's version. Everything else
should be the same: host, storage, client, workload, length of the window, and variables that no study file states.
What is unknown of one side is no difference (`environments`, `variables`).

Deliberately not here: what follows from a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from plimsoll.analyse.compare_model import ConditionDifference
from plimsoll.analyse.environments import changes
from plimsoll.analyse.factors import compare_factors, factors_of
from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.systems import option_text, summarise_systems
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.analyse.variables import variable_differences
from plimsoll.record.environment import Environment
from plimsoll.record.model import TrialRecord, WorkloadRecord

_VERSION = "version of "


def condition_differences(base: Sequence[TrialSummary], system: Sequence[TrialSummary]) -> list[ConditionDifference]:
    """What differs between two systems; what is not compared comes first.

    Args:
        base: Complete trials of the first system, all in one environment, runs of searches included.
        system: Of the second.
    """
    found = [*_around(base, system), *_of_systems(_summary(base, "base"), _summary(system, "system"))]
    unique = {(one.what, one.base, one.system): one for one in found}
    return sorted(unique.values(), key=lambda one: one.is_compared)


def _summary(trials: Sequence[TrialSummary], name: str) -> SystemSummary:
    """The system under a name that tells the two apart even where they are called the same."""
    (summary,) = summarise_systems(trials)
    return summary.model_copy(update={"name": name})


def _around(base: Sequence[TrialSummary], system: Sequence[TrialSummary]) -> Iterator[ConditionDifference]:
    one, other = base[0], system[0]
    for change in changes(_without_variables(one.environment), _without_variables(other.environment)):
        if change.what != "instances":
            yield ConditionDifference(
                what="server version" if change.what.startswith(_VERSION) else change.what,
                base=change.before,
                system=change.after,
                is_compared=change.what.startswith(_VERSION),
            )
    workloads = {trial.trial.workload.name: trial.trial.workload for trial in reversed(system)}
    for workload in {trial.trial.workload.name: trial.trial.workload for trial in reversed(base)}.values():
        if workload.name in workloads:
            yield from _of_workloads(workload, workloads[workload.name])
    sides = [[trial.trial for trial in side] for side in (base, system)]
    yield from _of_windows("measured window", *map(_lengths_s, sides))
    yield from _of_windows("window of steady runs", *map(_steady_s, sides))
    yield from _of_rates(*sides)


def _without_variables(environment: Environment) -> Environment:
    """Without what is compared elsewhere: variables, and what servers may use of a machine, which factors say."""
    bare = tuple(one.model_copy(update={"variables": {}, "placement": None}) for one in environment.instances)
    return environment.model_copy(update={"instances": bare})


def _of_workloads(base: WorkloadRecord, system: WorkloadRecord) -> Iterator[ConditionDifference]:
    if base.kind is not None and system.kind is not None and base.kind != system.kind:
        yield _other(f"kind of workload {base.name}", base.kind, system.kind)
    for name in sorted(base.options.keys() & system.options.keys()):
        if base.options[name] != system.options[name]:
            texts = option_text(base.options[name]), option_text(system.options[name])
            yield _other(f"{name} of workload {base.name}", *texts)


def _of_windows(what: str, *lengths: Sequence[float]) -> Iterator[ConditionDifference]:
    if all(lengths) and lengths[0] != lengths[1]:
        yield _other(what, *(" and ".join(f"{length_s:g} s" for length_s in side) for side in lengths))


def _lengths_s(trials: Iterable[TrialRecord]) -> Sequence[float]:
    """Runs of searches are left out: how many of which length there are follows from what they found."""
    return sorted({one.duration_s for one in trials if one.duration_s is not None and one.search_id is None})


def _steady_s(trials: Iterable[TrialRecord]) -> Sequence[float]:
    """The shortest one: at a low rate they are longer."""
    longer = (one for one in trials if one.search_role is not None and one.search_role.is_long)
    return sorted(one.duration_s for one in longer if one.duration_s is not None)[:1]


def _of_rates(base: Iterable[TrialRecord], system: Iterable[TrialRecord]) -> Iterator[ConditionDifference]:
    """Levels at one rate are the same level, whatever number of connections serves them."""
    of_base, of_system = _connections_by_rate(base), _connections_by_rate(system)
    for key in of_base:
        if key in of_system and of_base[key] != of_system[key]:
            texts = (" and ".join(map(str, sorted(side[key]))) for side in (of_base, of_system))
            yield _other(f"connections that serve the rates of {key[0]}", *texts)


def _connections_by_rate(trials: Iterable[TrialRecord]) -> dict[tuple[str, float], set[int]]:
    found: dict[tuple[str, float], set[int]] = {}
    for one in trials:
        if one.level.rate_tps is not None and one.search_id is None:
            found.setdefault((one.workload.name, one.level.rate_tps), set()).add(one.level.connections)
    return found


def _of_systems(base: SystemSummary, system: SystemSummary) -> Iterator[ConditionDifference]:
    for name, one, other in compare_factors(factors_of(base), factors_of(system)).differing:
        yield ConditionDifference(what=name, base=one, system=other, is_compared=True)
    for variable in variable_differences([base, system]):
        if not variable.expected:
            values = [variable.values[name] for name in ("base", "system")]
            yield _other(variable.variable, *("(none)" if value is None else value for value in values))


def _other(what: str, base: str, system: str) -> ConditionDifference:
    return ConditionDifference(what=what, base=base, system=system, is_compared=False)
