"""What replicas add and cost: scaling by their number, the arithmetic of a fleet, waiting at each commit.

What another replica adds: throughput against their number, step by step, and held against the fleet's arithmetic.
Systems that are alike but for the number of replicas are compared at their peaks, each number with the next one,
within repetitions where they share some (`ratios`, `curves`). The steps of a workload are one family, which Holm's
procedure corrects. Another replica stops helping at the first step that is shown to be no gain: equal within what the
study allows, or slower; a step to a system whose replica's lag grows is no gain either, since that is not sustained. A
step that is not resolved before that is said to be so.

What a source with k replicas would carry, by the processor time that transactions cost its servers. Utilisation law
(Denning and Buzen 1978): a server that has C seconds of processor time in each second sustains C over the demand of a
transaction. Every replica carries the whole write stream at its apply cost, beside its part of the reads; the source
carries the writes. So with a share w of transactions that write, of cost W on the source and A on each replica, and
reads of cost R, a source and k replicas with processors of their own sustain

    min(C / (w W), k C / ((1 - w) R + k w A)),

and where they share processors C / ((1 - w) R + w W + k w A). R, W and A are those of the cell with one replica, where
reads, writes and applying are apart (what the cell without replicas needs beyond its reads would be W as well, but as
a small difference of two noisy figures); C is what the cell without replicas used.

Assumptions: costs stay the same with more replicas; the processors are what limits; reads are spread evenly; what
costs replicas no processor time (locks, flushes, one applier thread that is busy all the time) is not seen. Where an
applier has fewer threads than processors the replica saturates earlier: a growing lag says so.

What it costs to wait for replicas at each commit: response times of writes by acknowledging replicas and delay.
Systems that are alike but for replication, the number of replicas that must acknowledge, and the delay of the network
are compared at one level with the system that waits for none over the shortest delay. The unit is the repetition: the
mean response time of its transactions that write, on the source; ratios are compared within repetitions (paired t on
logarithms), and Holm's procedure corrects all of a workload and level.

In a closed loop a slower commit also means fewer transactions, and so less load: levels at a rate compare at equal
load.

Which systems of a study are alike but for some factors: those that are compared as one family. Replicas are counted
where they ran, since a study may vary them in whatever way; the other keys are read from what the study states of a
system.

The servers of a system with replicas at one level: its trials together, server by server. Figures are means of the
trials; response times come from merged histograms; counts are sums.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from plimsoll.analyse.explain.replication_model import (
    CommitCost,
    CommitPoint,
    FleetCosts,
    ReplicaScaling,
    Replication,
    ScalingPoint,
    ScalingStep,
    ServerFigures,
    ServersOfLevel,
)
from plimsoll.analyse.findings.finding_model import Finding, make_finding
from plimsoll.analyse.study.cells import MeasuredCell
from plimsoll.analyse.study.comparison import LogRatio, judge, repetition_ratio
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.curves import LevelKey, compare_peaks, highest
from plimsoll.analyse.study.ratio_model import Ratio, RatioVerdict
from plimsoll.analyse.study.ratios import ratio_of
from plimsoll.analyse.trial.histograms import durations, merge
from plimsoll.analyse.trial.instances import REPLICA, SOURCE, replicas_of, sources_of
from plimsoll.analyse.trial.replicas import ServerTrial, growing
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.environment import Environment, InstanceFacts
from plimsoll.record.model import SystemRecord


def replication_of(cells: Sequence[MeasuredCell], equal_within: float) -> Replication:
    """Levels, scaling and commits; all empty where no system has replicas.

    Args:
        cells: Of the whole study.
        equal_within: Share within which two systems count as equal.
    """
    levels = servers_of_levels(cells)
    if not levels:
        return Replication()
    return Replication(
        levels=levels,
        scaling=replica_scalings(cells, equal_within),
        commits=commit_costs(cells, equal_within),
    )


HELPS_FROM = 1.05
"""By the arithmetic a replica helps where it adds this much; smaller gains are within what systems count as equal."""

COUNTED_MAX = 64
"""So many replicas the arithmetic looks at."""

Levels = dict[LevelKey, MeasuredCell]


def replica_scalings(cells: Iterable[MeasuredCell], equal_within: float) -> tuple[ReplicaScaling, ...]:
    """One for each workload and family of systems with at least two numbers of replicas."""
    closed = [cell for cell in cells if not cell.level.kind.is_at_rate and cell.throughput.value_tps > 0]
    workload_families = [
        (cells_of[0].workload, alike, by_count)
        for alike, members in families(closed, {REPLICAS})
        for cells_of in [[variant.cell for variant in members]]
        for by_count in [_by_count(cells_of)]
        if len(by_count) > 1 and len(by_count) == len({cell.system for cell in cells_of})
    ]
    judged = {
        workload: _judged([by_count for name, _, by_count in workload_families if name == workload], equal_within)
        for workload in {name for name, _, _ in workload_families}
    }
    return tuple(
        _scaling(workload, alike, by_count, judged[workload]) for workload, alike, by_count in workload_families
    )


def _by_count(cells: Sequence[MeasuredCell]) -> dict[int, Levels]:
    """The levels of each system, by its number of replicas."""
    by_count: dict[int, Levels] = {}
    for cell in sorted(cells, key=lambda cell: cell.level.order):
        by_count.setdefault(member(cell).replicas, {})[cell.level.order] = cell
    return dict(sorted(by_count.items()))


_Steps = Mapping[tuple[str, str], Ratio]
"""Verdicts by the names of both systems."""


def _names(levels: Levels, other: Levels) -> tuple[str, str]:
    return next(iter(levels.values())).system, next(iter(other.values())).system


def _judged(scalings: Sequence[Mapping[int, Levels]], equal_within: float) -> _Steps:
    """Every step of a workload in one family."""
    tests: dict[tuple[str, str], LogRatio] = {}
    untestable: dict[tuple[str, str], Ratio] = {}
    for base, more in (step for by_count in scalings for step in pairwise(by_count.values())):
        means = [{key: cell.throughput for key, cell in levels.items()} for levels in (base, more)]
        log_ratio = compare_peaks(*means).log_ratio
        if log_ratio is not None and log_ratio.is_testable:
            tests[_names(base, more)] = log_ratio
            continue
        plain = ratio_of(_best(more).throughput, _best(base).throughput)
        assert plain is not None, "cells without throughput are left out"
        verdict = RatioVerdict.UNTESTABLE
        untestable[_names(base, more)] = Ratio(ratio=plain, verdict=verdict, equal_within=equal_within)
    return untestable | dict(zip(tests, judge(list(tests.values()), equal_within=equal_within), strict=True))


def _best(levels: Levels) -> MeasuredCell:
    cells = list(levels.values())
    return cells[highest([cell.throughput for cell in cells])]


def _scaling(workload: str, alike: dict[str, str], by_count: Mapping[int, Levels], judged: _Steps) -> ReplicaScaling:
    best = {count: _best(levels) for count, levels in by_count.items()}
    costs = fleet_costs(best[0], best[1]) if 0 in best and 1 in best else None
    points = tuple(_scaling_point(count, cell, costs) for count, cell in best.items())
    steps = tuple(
        ScalingStep(**judged[_names(by_count[base], by_count[other])].as_fields, base=base, count=other)
        for base, other in pairwise(by_count)
    )
    grows = {point.replicas for point in points if point.lag_grows}
    stops_after, unresolved_from = _stops(steps, grows)
    with_replicas = next((cell for count, cell in best.items() if count > 0), None)
    return ReplicaScaling(
        workload=workload,
        alike=alike,
        read_ratio=None if with_replicas is None else _read_ratio(with_replicas),
        points=points,
        steps=steps,
        stops_after=stops_after,
        unresolved_from=unresolved_from,
        costs=costs,
        stops_after_expected=None if costs is None else _stops_expected(costs),
    )


def _scaling_point(count: int, cell: MeasuredCell, costs: FleetCosts | None) -> ScalingPoint:
    expected = None if costs is None else costs.expected_tps(count)
    measured = cell.throughput.value_tps
    return ScalingPoint(
        system=cell.system,
        replicas=count,
        level=cell.level,
        throughput_tps=cell.throughput.estimate(),
        lag_grows=any(growing(trial.servers) for trial in cell.trials),
        expected_tps=expected,
        deviation_ratio=measured / expected - 1 if expected else None,
        trials=tuple(trial.trial.trial_id for trial in cell.trials),
    )


def _stops(steps: Sequence[ScalingStep], grows: set[int]) -> tuple[int | None, int | None]:
    """After which number the next replica does not help, and from which on that is not resolved before."""
    unresolved = None
    for step in steps:
        if step.count in grows or step.verdict in (RatioVerdict.EQUAL, RatioVerdict.SLOWER):
            return step.base, unresolved
        if step.verdict != RatioVerdict.FASTER and unresolved is None:
            unresolved = step.base
    return None, unresolved


def _stops_expected(costs: FleetCosts) -> int | None:
    """The first number after which the next one adds less than 5 % by the arithmetic."""
    rates = [costs.expected_tps(count) for count in range(COUNTED_MAX + 1)]
    return next((count for count, (rate, more) in enumerate(pairwise(rates)) if more < HELPS_FROM * rate), None)


def _read_ratio(cell: MeasuredCell) -> float | None:
    level = servers_of_level(cell)
    reads = sum(server.read_tps for trial in cell.trials for server in trial.servers) / len(cell.trials)
    total = sum(server.throughput_tps for server in level.servers)
    return reads / total if total > 0 else None


def fleet_costs(without: MeasuredCell, with_one: MeasuredCell) -> FleetCosts | None:
    """The costs of transactions; None where one of them is not known, or the replica served no reads.

    Args:
        without: The best level of the system without replicas.
        with_one: That of the one with one replica.
    """
    known = [
        used_cpu_s for trial in without.trials if (used_cpu_s := trial.resources.per_s.get("server_cpu_s")) is not None
    ]
    level = servers_of_level(with_one)
    replica = next((server for server in level.servers if server.role == REPLICA), None)
    total_tps = sum(server.throughput_tps for server in level.servers)
    if not known or replica is None or total_tps <= 0 or without.throughput.value_tps <= 0:
        return None
    read_ms, apply_ms = replica.cpu_ms_per_transaction, replica.apply_ms
    write_ratio = min(level.written_tps / total_tps, 1.0)
    if read_ms is None or (apply_ms is None and write_ratio > 0):
        return None
    write_ms = _write_ms(level.servers[0], read_ms, level.written_tps)
    if write_ms is None:
        return None
    cpu_s = sum(known) / len(known)
    environment = with_one.trials[0].environment
    return FleetCosts(
        read_ms=read_ms,
        write_ms=write_ms,
        apply_ms=apply_ms or 0.0,
        write_ratio=write_ratio,
        source_cpu_s=cpu_s,
        replica_cpu_s=cpu_s * _size_ratio(environment),
        is_shared=_is_shared(environment, with_one),
        is_placed=_is_placed(environment, with_one),
    )


def _write_ms(source: ServerFigures, read_ms: float, written_tps: float) -> float | None:
    """Of a write on the source: its processor time without that of the reads that ran there; None where not known."""
    if written_tps <= 0:
        return 0.0
    if source.cpu_s_per_s is None:
        return None
    reads_ms = max(source.throughput_tps - written_tps, 0.0) * read_ms
    return max(source.cpu_s_per_s * 1000 - reads_ms, 0.0) / written_tps


def _hosts(cell: MeasuredCell) -> dict[str, str | None]:
    return {server.instance: server.host for server in cell.trials[0].servers}


def _cpus(instance_facts: InstanceFacts) -> frozenset[int] | None:
    return (
        frozenset(instance_facts.placement.cpus)
        if instance_facts.placement is not None and instance_facts.placement.cpus
        else None
    )


def _is_shared(environment: Environment, cell: MeasuredCell) -> bool:
    """Whether a replica is on the source's machine and not known to have processors of its own."""
    hosts = _hosts(cell)
    for source in sources_of(environment):
        for replica in replicas_of(environment):
            source_cpus, replica_cpus = _cpus(source), _cpus(replica)
            is_apart = source_cpus is not None and replica_cpus is not None and not source_cpus & replica_cpus
            if hosts.get(source.name) == hosts.get(replica.name) and not is_apart:
                return True
    return False


def _is_placed(environment: Environment, cell: MeasuredCell) -> bool:
    hosts = _hosts(cell)
    is_one_machine = len(set(hosts.values())) == 1
    return not is_one_machine or all(_cpus(instance) is not None for instance in environment.instances)


def _size_ratio(environment: Environment) -> float:
    """Processors of a replica over those of the source; 1 where either is unknown."""
    source_processors = [
        source.placement.processors for source in sources_of(environment) if source.placement is not None
    ]
    replica_processors = [
        replica.placement.processors for replica in replicas_of(environment) if replica.placement is not None
    ]
    if not source_processors or not replica_processors or not source_processors[0] or not replica_processors[0]:
        return 1.0
    return replica_processors[0] / source_processors[0]


REPLICAS, REPLICATION, ACKNOWLEDGING = "replicas", "replication", "semisync_replicas"
DELAY, DELAY_S = "replication_delay", "replication_delay_s"
"""As a factor of the study, with its unit, and as what tells systems apart, in seconds."""

_VARIED = {REPLICAS, REPLICATION, ACKNOWLEDGING, DELAY, DELAY_S}


def commit_costs(cells: Iterable[MeasuredCell], equal_within: float) -> tuple[CommitCost, ...]:
    """One for each workload, level and family in which waiting or delay differs and writes are known."""
    known = [cell for cell in cells if all(_mean_ms(trial) is not None for trial in cell.trials)]
    costs = []
    for level in dict.fromkeys((cell.workload, cell.level.order) for cell in known):
        at_level = [cell for cell in known if (cell.workload, cell.level.order) == level]
        for alike, members in families(at_level, _VARIED):
            if len({(variant.acknowledging, variant.delay_ms) for variant in members}) > 1:
                costs.append(_cost(alike, members, equal_within))
    return tuple(costs)


def _cost(alike: dict[str, str], members: Sequence[Member], equal_within: float) -> CommitCost:
    order = sorted(
        members,
        key=lambda variant: (variant.acknowledging > 0, variant.delay_ms, variant.acknowledging, variant.replicas),
    )
    base = order[0]
    ratios = {
        variant.cell.system: ratio for variant in order[1:] if (ratio := _ratio(base.cell, variant.cell)) is not None
    }
    judged = dict(zip(ratios, judge(list(ratios.values()), equal_within=equal_within), strict=True))
    return CommitCost(
        workload=base.cell.workload,
        level=base.cell.level,
        alike=alike,
        points=tuple(
            _commit_point(variant, judged.get(variant.cell.system), is_base=variant is base) for variant in order
        ),
    )


def _ratio(base: MeasuredCell, cell: MeasuredCell) -> LogRatio | None:
    """Mean response times of the repetitions of one cell over those of the other, by what they have in common."""
    base_ms, cell_ms = (
        {trial.trial.repetition: _mean_ms(trial) or 0.0 for trial in each.trials} for each in (base, cell)
    )
    shared = sorted(base_ms.keys() & cell_ms.keys())
    is_paired = len(shared) == len(base.trials) == len(cell.trials)
    if is_paired:
        return repetition_ratio([base_ms[name] for name in shared], [cell_ms[name] for name in shared], paired=True)
    return repetition_ratio(list(base_ms.values()), list(cell_ms.values()), paired=False)


def _mean_ms(trial: TrialSummary) -> float | None:
    """Mean response time of transactions that write, on the source, milliseconds."""
    written = merge(
        [server.written for server in trial.servers if server.role == SOURCE and server.written is not None]
    )
    return written.sum_ns / written.total / 1e6 if written is not None and written.total else None


def _commit_point(variant: Member, comparison: Ratio | None, *, is_base: bool) -> CommitPoint:
    sources = [server for trial in variant.cell.trials for server in trial.servers if server.role == SOURCE]
    written = merge([server.written for server in sources if server.written is not None])
    verdict = "" if is_base else RatioVerdict.UNTESTABLE if comparison is None else comparison.verdict.inverted
    return CommitPoint(
        system=variant.cell.system,
        replicas=variant.replicas,
        acknowledging=variant.acknowledging,
        delay_ms=variant.delay_ms,
        response_ms=durations(written),
        ratio=None if comparison is None else comparison.ratio,
        simultaneous=None if comparison is None else comparison.simultaneous,
        verdict=verdict,
        trials=tuple(trial.trial.trial_id for trial in variant.cell.trials),
    )


_FOLLOWS = ("replica.", "replica_", "target")
"""Begin the names of factors that only systems with replicas can state, or that are the address of a server."""

_USUAL = {REPLICATION: "async", DELAY: "none"}
"""What a system has that does not state it: systems without replicas may not."""

_UNITS_MS = {"us": 0.001, "µs": 0.001, "ms": 1.0, "s": 1000.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One system of a family.

    Attributes:
        replicas: How many it has.
        acknowledging: Replicas that must have acknowledged a commit; 0 for asynchronous replication, or none.
        delay_ms: One-way delay of its replication network, as the study states it.
    """

    cell: MeasuredCell
    replicas: int
    acknowledging: int
    delay_ms: float


def families(cells: Iterable[MeasuredCell], varied: Collection[str]) -> list[tuple[dict[str, str], list[Member]]]:
    """Cells of one workload and level, by what they have in common beside the factors that are varied.

    Args:
        cells: Any.
        varied: Names of factors in which members of a family may differ.

    Returns:
        What tells each family from the others of the study, with its members.
    """
    members_by_key: dict[tuple[object, ...], list[Member]] = {}
    labels: dict[tuple[object, ...], dict[str, str]] = {}
    for cell in cells:
        stated = {
            name: value
            for name, value in stated_of(cell).items()
            if _last(name) not in varied and not name.startswith(_FOLLOWS) and _USUAL.get(_last(name)) != value
        }
        key = (cell.workload, tuple(sorted(stated.items())))
        members_by_key.setdefault(key, []).append(member(cell))
        labels[key] = stated
    common = _common(list(labels.values()))
    return [
        ({name: value for name, value in labels[key].items() if name not in common}, members)
        for key, members in members_by_key.items()
    ]


def member(cell: MeasuredCell) -> Member:
    """A cell with what its system is as far as replicas are concerned."""
    record = cell.trials[0].trial.system
    stated = {_last(name): value for name, value in (*record.factors.items(), *record.factor_values.items())}
    replicas = max((sum(server.role == REPLICA for server in trial.servers) for trial in cell.trials), default=0)
    is_semisync = stated.get(REPLICATION) == "semisync" and replicas > 0
    return Member(
        cell=cell,
        replicas=replicas,
        acknowledging=int(stated.get(ACKNOWLEDGING, "1")) if is_semisync else 0,
        delay_ms=delay_ms(stated.get(DELAY) or stated.get(DELAY_S, "")),
    )


def stated_of(cell: MeasuredCell) -> Mapping[str, str]:
    """What the study states of a system: the factors that it varies, else all that tells it from others."""
    record: SystemRecord = cell.trials[0].trial.system
    return record.factor_values or {name: value for name, value in record.factors.items() if name != "reads"}


def delay_ms(text: str) -> float:
    """A stated delay, milliseconds; 0 for none.

    >>> delay_ms("2ms"), delay_ms("0.5 s"), delay_ms("none"), delay_ms("250us")
    (2.0, 500.0, 0.0, 0.25)
    """
    match = re.fullmatch(r"([0-9.]+) ?(us|µs|ms|s)?", text.strip())
    return float(match[1]) * _UNITS_MS[match[2] or "s"] if match else 0.0


def _last(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _common(labels: Sequence[Mapping[str, str]]) -> set[str]:
    """Names that all families state alike."""
    names = {name for label in labels for name in label}
    return {name for name in names if len({label.get(name) for label in labels}) == 1}


def servers_of_levels(cells: Iterable[MeasuredCell]) -> tuple[ServersOfLevel, ...]:
    """One for each cell of a system with replicas, in their order."""
    return tuple(servers_of_level(cell) for cell in cells if any(trial.servers for trial in cell.trials))


def servers_of_level(cell: MeasuredCell) -> ServersOfLevel:
    """The servers of one cell, whose trials have some."""
    by_name: dict[str, list[ServerTrial]] = {}
    for trial in cell.trials:
        for server in trial.servers:
            by_name.setdefault(server.instance, []).append(server)
    sources = [server for server_trials in by_name.values() for server in server_trials if server.role == SOURCE]
    written_tps = sum(source.written_tps for source in sources) / len(cell.trials)
    servers = (_figures(server_trials, written_tps) for server_trials in by_name.values())
    return ServersOfLevel(
        system=cell.system,
        workload=cell.workload,
        level=cell.level,
        throughput_tps=cell.throughput.estimate(),
        written_tps=written_tps,
        servers=tuple(sorted(servers, key=lambda server: server.role != SOURCE)),
        trials=tuple(trial.trial.trial_id for trial in cell.trials),
    )


def _figures(trials: Sequence[ServerTrial], written_tps: float) -> ServerFigures:
    first = trials[0]
    tps = _mean([trial.throughput_tps for trial in trials]) or 0.0
    cpu = _mean([trial.cpu_s_per_s for trial in trials])
    apply_cpu = _mean([trial.apply_cpu_s_per_s for trial in trials])
    applied_tps = _mean([trial.applied_tps for trial in trials])
    is_source = first.role == SOURCE
    applied = None if is_source else applied_tps or written_tps
    served = cpu if is_source else None if cpu is None or apply_cpu is None else max(cpu - apply_cpu, 0.0)
    outages = [length_s for trial in trials for length_s in trial.outages_s]
    responses = [trial.response for trial in trials if trial.response is not None]
    seen = {
        name: sum(trial.seen.get(name, 0) for trial in trials)
        for name in {name for trial in trials for name in trial.seen}
    }
    return ServerFigures(
        instance=first.instance,
        role=first.role,
        throughput_tps=tps,
        response_ms=durations(merge(responses)),
        failed_count=sum(trial.failed_count for trial in trials),
        errors_count=sum(trial.errors_count for trial in trials),
        outages_count=len(outages),
        outage_s=max(outages, default=0.0),
        cpu_s_per_s=cpu,
        cpu_ms_per_transaction=served / tps * 1000 if served is not None and tps > 0 else None,
        applied_tps=None if is_source else applied_tps,
        apply_ms=apply_cpu / applied * 1000 if apply_cpu is not None and applied else None,
        lag=tuple(trial.lag for trial in trials if trial.lag is not None),
        reads_count=int(seen.get("reads", 0)),
        stale_reads_count=int(seen.get("stale_reads", 0)),
        waits_count=int(seen.get("waits", 0)),
        wait_s=float(seen.get("wait_s", 0.0)),
        wait_timeouts_count=int(seen.get("wait_timeouts", 0)),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def lag_answer(curves: Iterable[Curve]) -> Iterator[Finding]:
    """One finding for the study, where the lag of a replica grew at some level: the lowest of each curve."""
    places = []
    for curve in curves:
        growing = [cell for cell in curve.cells if cell.growing_replicas]
        if growing:
            first = growing[0]
            places.append((curve.system, curve.workload, first.level.label(), ", ".join(first.growing_replicas)))
    if places:
        yield make_finding("lag-grows", places=tuple(places))
