"""What another replica adds and what acknowledged commits cost, as sentences and tables.

Deliberately not here: how it is found (`plimsoll.analyse.replication`).
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.replication.fleet_model import FleetCosts
from plimsoll.analyse.replication.model import CommitCost, CommitPoint, ReplicaScaling, ScalingPoint
from plimsoll.guide.numbers import NOT_KNOWN, per_unit, show_change, show_rate, show_ratio, show_statistic
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.prose.phrases import counted
from plimsoll.units import format_ms, format_number, format_percent, format_rate

VERDICTS = {
    "faster": "more",
    "slower": "less",
    "equal": "no more",
    "unresolved": "not resolved",
    "untestable": "not known: no repetitions",
}
_TAKES = {"slower": "longer", "faster": "shorter", "equal": "equal", "unresolved": "not resolved"}
SHARED_WORDS = (
    "The servers share one machine's processors here, so another replica brings no processor time and takes some to"
    " apply every write. On machines of their own replicas bring theirs."
)
UNPLACED_WORDS = "It is not known which CPUs each server may use, so they count as shared."


def unit_of(analysis: Analysis, workload: str) -> str:
    """The unit of a workload's throughput."""
    return next((one.rate_unit for one in analysis.workloads if one.name == workload), "tps")


def place_of(workload: str, alike: dict[str, str]) -> str:
    """A workload with what tells these systems from others of the study."""
    return ", ".join((workload, *(f"{name} {value}" for name, value in alike.items())))


def scaling_sentences(analysis: Analysis) -> Iterator[str]:
    """Where another replica stops helping: measured, then by the arithmetic."""
    for one in analysis.replication.scaling:
        start = f"{place_of(one.workload, one.alike)}{_reads(one)}"
        yield f"{start}: {_measured(one)}{_expected(one, unit_of(analysis, one.workload))}"


def _reads(one: ReplicaScaling) -> str:
    return "" if one.read_ratio is None else f" ({format_percent(one.read_ratio)} of transactions only read)"


def _measured(one: ReplicaScaling) -> str:
    most = one.points[-1].replicas
    if one.stops_after is not None and one.unresolved_from is None:
        grows = next((point.lag_grows for point in one.points if point.replicas > one.stops_after), False)
        why = ", because lag then grows" if grows else ""
        return f"after {counted(one.stops_after, 'replica')} another one does not help{why}."
    if one.unresolved_from is not None:
        return f"whether another replica helps is not resolved from {counted(one.unresolved_from, 'replica')} on."
    return f"each replica helps, up to the {most} that were measured."


def _expected(one: ReplicaScaling, unit: str) -> str:
    costs = one.costs
    if costs is None:
        return ""
    far = max((abs(point.deviation_ratio) for point in one.points if point.deviation_ratio is not None), default=0.0)
    after = one.stops_after_expected
    says = (
        " By the arithmetic of the fleet every replica helps"
        if after is None
        else f" By the arithmetic of the fleet another replica adds less than 5 % after {counted(after, 'replica')}"
    )
    limit = "" if costs.most_tps is None else f", and no number exceeds {format_rate(costs.most_tps, unit)}"
    shared = f" {SHARED_WORDS}" if costs.is_shared else ""
    unplaced = f" {UNPLACED_WORDS}" if not costs.is_placed else ""
    return f"{says}{limit}. The measured figures deviate from it by up to {format_percent(far)}.{shared}{unplaced}"


def scaling_tables(analysis: Analysis) -> Iterator[Table]:
    """A row for each number of replicas."""
    for one in analysis.replication.scaling:
        unit = unit_of(analysis, one.workload)
        columns = (
            Column(heading="replicas"),
            Column(heading="system", numeric=False),
            Column(heading="level"),
            Column(heading=unit),
            Column(heading="over one fewer"),
            Column(heading="another replica gives", numeric=False),
            Column(heading=f"arithmetic {unit}"),
            Column(heading="deviation"),
        )
        rows = tuple(_point(point, one, unit) for point in one.points)
        notes = _notes(one.costs) if one.costs is not None else ()
        caption = f"{place_of(one.workload, one.alike)}: throughput by number of replicas"
        yield Table(caption=caption, columns=columns, rows=rows, notes=notes)


def _notes(costs: FleetCosts) -> tuple[str, ...]:
    formula = (
        "All servers share the processors: those over reads, writes and applying on each replica."
        if costs.is_shared
        else "The smaller of what the source can write and what the replicas can read beside applying every write."
    )
    return (
        f"Arithmetic: a read costs {format_ms(costs.read_ms)} of processor time, a write {format_ms(costs.write_ms)} on"
        f" the source and {format_ms(costs.apply_ms)} on each replica;"
        f" {format_percent(costs.write_ratio)} of transactions write. {formula} It rests on the systems with none and"
        " with one replica, so it agrees with these more than with others.",
    )


def _point(point: ScalingPoint, one: ReplicaScaling, unit: str) -> tuple[Entry, ...]:
    shown = show_rate(point.throughput_tps, unit)
    step = next((each for each in one.steps if each.count == point.replicas), None)
    change = None if step is None else show_change(step.ratio)
    expected = NOT_KNOWN if point.expected_tps is None else format_number(per_unit(point.expected_tps, unit))
    deviation = NOT_KNOWN if point.deviation_ratio is None else format_percent(point.deviation_ratio, signed=True)
    return (
        Entry(str(point.replicas)),
        Entry(point.system),
        Entry(point.level.figure(unit)),
        Entry(shown.value, shown.bounds, mark="lag grows" if point.lag_grows else None, sources=point.trials),
        Entry(NOT_KNOWN) if change is None else Entry(change.value, change.bounds),
        Entry(NOT_KNOWN if step is None else VERDICTS.get(step.verdict, step.verdict)),
        Entry(expected),
        Entry(deviation),
    )


def commit_sentences(analysis: Analysis) -> Iterator[str]:
    """How much longer writes take that wait for replicas: the dearest of each table."""
    for one in analysis.replication.commits:
        known = [point for point in one.points[1:] if point.ratio is not None and point.verdict == "slower"]
        if known:
            worst = max(known, key=lambda point: point.ratio.value if point.ratio is not None else 0.0)
            assert worst.ratio is not None, "chosen so"
            yield (
                f"{place_of(one.workload, one.alike)}: writes take {show_ratio(worst.ratio).value} times as long with"
                f" {_way(worst)} as with {_way(one.points[0])}."
            )


def _way(point: CommitPoint) -> str:
    replicas = counted(point.acknowledging, "acknowledging replica")
    way = "asynchronous replication" if point.acknowledging == 0 else replicas
    return f"{way} over a delay of {format_ms(point.delay_ms)}" if point.delay_ms else way


def commit_tables(analysis: Analysis) -> Iterator[Table]:
    """A row for each way of replication."""
    for one in analysis.replication.commits:
        columns = (
            Column(heading="acknowledging replicas"),
            Column(heading="delay, one way"),
            Column(heading="replicas"),
            Column(heading="system", numeric=False),
            *(Column(heading=f"{name} ms") for name in ("mean", "p50", "p95", "p99")),
            Column(heading="mean over the first"),
            Column(heading="takes", numeric=False),
        )
        rows = tuple(_commit(point) for point in one.points)
        caption = f"{_commits_place(one, analysis)}: response time of writes"
        notes = (
            "Response times of transactions that write, on the source. Each mean is compared with that of the first"
            " row, within repetitions. In a closed loop slower commits also mean less load; rates compare at equal"
            " load.",
        )
        yield Table(caption=caption, columns=columns, rows=rows, notes=notes)


def _commits_place(one: CommitCost, analysis: Analysis) -> str:
    return f"{place_of(one.workload, one.alike)} at {one.level.label(unit_of(analysis, one.workload))}"


def _commit(point: CommitPoint) -> tuple[Entry, ...]:
    ratio = None if point.ratio is None else show_ratio(point.ratio)
    times = (show_statistic(point.response_ms, name) for name in ("mean", "p50", "p95", "p99"))
    return (
        Entry(str(point.acknowledging)),
        Entry(format_ms(point.delay_ms) if point.delay_ms else "none"),
        Entry(str(point.replicas)),
        Entry(point.system),
        *(Entry(text, sources=point.trials) for text in times),
        Entry(NOT_KNOWN) if ratio is None else Entry(ratio.value, ratio.bounds),
        Entry(_TAKES.get(point.verdict, NOT_KNOWN)),
    )
