"""Warnings about how a single trial ran: stalls, what never ended, the state it was in, its instances and its rows.

Each check says for itself from which value on it doubts, and why there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

from plimsoll.analyse.explain.replication_model import LagState
from plimsoll.analyse.findings.client import (
    check_client_beside,
    check_dispatch,
    check_limit,
    check_place,
    check_run_queue,
)
from plimsoll.analyse.findings.doubts import Doubt, Observation, Place, Voids, WarningKind, place_of, recorded
from plimsoll.analyse.findings.options import (
    check_character_sets,
    check_files,
    check_flush,
    check_options,
    check_throttled,
)
from plimsoll.analyse.findings.repetitions import check_turns
from plimsoll.analyse.findings.servers import recorded_conditions
from plimsoll.analyse.trial.condition_model import SeriesState, StateKind, SteadyState
from plimsoll.analyse.trial.drivers import check_drivers
from plimsoll.analyse.trial.instances import lag_of, skew_of
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.model import Outcome
from plimsoll.stats.cycles import CYCLES_NEEDED
from plimsoll.stats.series import INTERVALS_NEEDED
from plimsoll.units import format_ms, format_number, format_percent, format_rate
from plimsoll.wording import counted

Check = Callable[[TrialSummary], Iterator[Doubt]]


def check_trials(trials: Iterable[TrialSummary]) -> Iterator[Doubt]:
    """All doubts about single trials, those that recordings already hold first."""
    for trial in trials:
        for check in _CHECKS:
            yield from check(trial)


def _recorded(trial_summary: TrialSummary) -> Iterator[Doubt]:
    yield from (recorded(warning, place_of(trial_summary.trial)) for warning in trial_summary.outcome.warnings)


THROUGHPUT_STALLED = WarningKind(
    "throughput-stalled",
    Voids.RUN,
    "Look at the server's error log, storage and telemetry at that time, at the network and at the client; remove the"
    " cause and measure these trials again.",
)


class Stalled(Observation, kind=THROUGHPUT_STALLED, seen="stalled"):
    """When, how long and how much of the window nothing, or nearly nothing, completed.

    Attributes:
        instance: That stalled, of several; None where there is one.
        stalled_s: All stretches.
        from_s: When the longest began, seconds since the load did.
        other_instances_count: That stalled as well.
    """

    instance: str | None
    stalled_s: float
    window_s: float
    completed_count: int
    stalls_count: int
    longest_s: float
    from_s: float
    other_instances_count: int

    def __str__(self) -> str:
        share = format_percent(self.stalled_s / self.window_s)
        span = f"{self.stalled_s:.1f} of {self.window_s:.1f} s ({share})"
        where = "" if self.instance is None else f" on {self.instance}"
        few = f"only {counted(self.completed_count, 'transaction')} completed{where} in {span}"
        text = few if self.completed_count else f"nothing completed{where} for {span}"
        if self.stalls_count > 1:
            text += f" in {self.stalls_count} stretches; the longest lasted {self.longest_s:.1f} s"
        text += f", from {self.from_s:.1f} s after the start of the load"
        others = self.other_instances_count
        return f"{text}; {counted(others, 'more instance')} stalled as well" if others else text


def _stalled(trial_summary: TrialSummary) -> Iterator[Doubt]:
    if (seen := stall_of(trial_summary)) is not None:
        yield place_of(trial_summary.trial).doubt(seen, trial_summary.quiet.stalled_ratio)


def stall_of(trial_summary: TrialSummary) -> Stalled | None:
    """The stalls of a trial, of several instances those of the one with the longest; None without any."""
    if not trial_summary.quiet.stalls or trial_summary.counts is None:
        return None
    longest = max(trial_summary.quiet.stalls, key=lambda stall: stall.length_s)
    alike = [stall for stall in trial_summary.quiet.stalls if stall.instance == longest.instance]
    return Stalled(
        instance=longest.instance,
        stalled_s=sum(stall.length_s for stall in alike),
        window_s=trial_summary.counts.duration_s,
        completed_count=sum(stall.completed for stall in alike),
        stalls_count=len(alike),
        longest_s=longest.length_s,
        from_s=longest.from_s,
        other_instances_count=len({stall.instance for stall in trial_summary.quiet.stalls}) - 1,
    )


TRANSACTIONS_UNFINISHED = WarningKind(
    "transactions-unfinished",
    Voids.RUN,
    "Find out what held them up (locks, a stalled server, the network), and measure these trials again.",
)


class Unfinished(Observation, kind=TRANSACTIONS_UNFINISHED, seen="unfinished"):
    """Transactions that never ended, and how old the oldest was at the end of the window."""

    unfinished_count: int
    all_count: int
    oldest_ms: float

    def __str__(self) -> str:
        return (
            f"{self.unfinished_count:,} of {self.all_count:,} transactions never ended; at the end of the window the"
            f" oldest was {format_ms(self.oldest_ms)} old"
        )


class UnfinishedOfUnknownAge(Observation, kind=TRANSACTIONS_UNFINISHED, seen="unfinished-of-unknown-age"):
    """The same of recordings from before it was kept how old they were."""

    unfinished_count: int

    def __str__(self) -> str:
        return f"{self.unfinished_count:,} transactions had not ended when the load did; their age was not recorded"


def _unfinished(trial_summary: TrialSummary) -> Iterator[Doubt]:
    response, counts = trial_summary.histograms.get("response"), trial_summary.counts
    ages = None if response is None else response.in_flight
    if counts is not None and ages is not None and trial_summary.unfinished_count:
        of = counts.completed + counts.failed + counts.dropped + trial_summary.unfinished_count
        seen = Unfinished(unfinished_count=trial_summary.unfinished_count, all_count=of, oldest_ms=ages.max_ns / 1e6)
        yield place_of(trial_summary.trial).doubt(seen, trial_summary.unfinished_count / of)
    elif trial_summary.unfinished_count is None and (never := _never_ended(trial_summary.outcome)):
        yield place_of(trial_summary.trial).doubt(UnfinishedOfUnknownAge(unfinished_count=never))


def _never_ended(outcome: Outcome) -> int:
    reported = outcome.reported.counts.get("unfinished", 0) if outcome.reported is not None else 0
    return reported if outcome.account is None else outcome.account.unfinished_count


REPLICA_LAG_GROWS = WarningKind(
    "replica-lag-grows",
    Voids.RUN,
    "Take no figure of these trials as capacity: ask for less, or let the replica apply faster (more applier threads,"
    " more CPUs, less strict flushing), and measure again.",
)


class ReplicaLagGrows(Observation, kind=REPLICA_LAG_GROWS, seen="replica-lag-grows"):
    """A replica that does not keep up: what was measured is not sustained."""

    instance: str
    growth_s_per_s: float | None
    largest_s: float | None
    end_s: float | None

    def __str__(self) -> str:
        return (
            f"the lag of {self.instance} grew by {format_ms((self.growth_s_per_s or 0.0) * 1000)} in each second, to"
            f" {self.end_s or 0.0:.1f} s at the end of the window"
        )


def _replica_lag(trial_summary: TrialSummary) -> Iterator[Doubt]:
    lags = [(server.instance, server.lag) for server in trial_summary.servers if server.lag is not None]
    for instance, lag in lags:
        if lag.state is LagState.GROWING:
            seen = ReplicaLagGrows(
                instance=instance, growth_s_per_s=lag.growth_s_per_s, largest_s=lag.largest_s, end_s=lag.end_s
            )
            yield place_of(trial_summary.trial).doubt(seen, lag.growth_s_per_s or 0.0)


SHORT_WINDOW = WarningKind(
    "short-window", Voids.CERTAINTY, "Measure at least 60 s; several minutes for workloads that write."
)


class ShortWindow(Observation, kind=SHORT_WINDOW, seen="short-window"):
    """Too few intervals to judge a state by."""

    intervals_count: int
    window_s: float
    needed_count: int

    def __str__(self) -> str:
        return f"{self.intervals_count} intervals ({self.window_s:.1f} s) were measured, fewer than {self.needed_count}"


def _short_window(trial_summary: TrialSummary) -> Iterator[Doubt]:
    if trial_summary.counts is not None and trial_summary.counts.rates_tps.size < INTERVALS_NEEDED:
        size = int(trial_summary.counts.rates_tps.size)
        seen = ShortWindow(
            intervals_count=size, window_s=trial_summary.counts.duration_s, needed_count=INTERVALS_NEEDED
        )
        yield place_of(trial_summary.trial).doubt(seen, -float(size))


WARM_UP_UNFINISHED = WarningKind(
    "warm-up-unfinished", Voids.CERTAINTY, "Raise warm_up or warm_up_limit, and measure these trials again."
)
THROUGHPUT_DRIFTS = WarningKind(
    "throughput-drifts",
    Voids.CERTAINTY,
    "Warm up longer and measure longer, until throughput neither rises nor falls.",
)
THROUGHPUT_UNSTEADY = WarningKind(
    "throughput-unsteady",
    Voids.CERTAINTY,
    "Look at the server's error log and at the telemetry of that time, remove the cause, or measure for long enough"
    " that such changes average out.",
)
FEW_CYCLES = WarningKind(
    "few-cycles", Voids.CERTAINTY, 'Measure for at least two whole cycles, or set duration = "auto".'
)
INNODB_DRIFTS = WarningKind(
    "innodb-drifts",
    Voids.CERTAINTY,
    "Measure longer: throughput may change when the server has to do what it puts off.",
)


class WarmUpUnfinished(Observation, kind=WARM_UP_UNFINISHED, seen="warm-up-unfinished"):
    """The first seconds of the window were unlike the rest."""

    first_s: float
    change_ratio: float

    def __str__(self) -> str:
        change = format_percent(self.change_ratio, signed=True)
        return f"throughput in the first {self.first_s:.0f} s of the window differed by {change} from the rest"


class Unsteady(Observation, kind=THROUGHPUT_UNSTEADY, seen="unsteady"):
    """The mean changed within the window."""

    changes_count: int
    low_tps: float
    high_tps: float
    from_s: float

    def __str__(self) -> str:
        return (
            f"the mean of throughput changed {self.changes_count:,} times, first {self.from_s:.1f} s after the start of"
            f" the load; it was between {format_rate(self.low_tps)} and {format_rate(self.high_tps)}"
        )


class Drift(Observation, kind=THROUGHPUT_DRIFTS, seen="drift"):
    """Throughput changed from the start to the end of the window."""

    name: str
    change_ratio: float

    def __str__(self) -> str:
        change = format_percent(self.change_ratio, signed=True)
        return f"{self.name} changed by {change} from the start to the end of the window"


class InnodbDrift(Drift, kind=INNODB_DRIFTS):
    """Something that InnoDB puts off changed."""


class FewCycles(Observation, kind=FEW_CYCLES, seen="few-cycles"):
    """The window holds less than two cycles."""

    name: str
    cycles: float
    period_s: float
    window_s: float

    def __str__(self) -> str:
        return (
            f"{self.name} is cyclic with a period of {self.period_s:.0f} s; the window of {self.window_s:.0f} s holds"
            f" {self.cycles:.1f} cycles"
        )


def _steadiness(trial_summary: TrialSummary) -> Iterator[Doubt]:
    """What is doubtful about the state that a trial was in."""
    if trial_summary.steady is None:
        return
    place = place_of(trial_summary.trial)
    yield from _changed(place, trial_summary.steady)
    for series in trial_summary.steady.series:
        if series.state is StateKind.DRIFTING and series.change_ratio is not None:
            drift = Drift if series.name == "throughput" else InnodbDrift
            yield place.doubt(drift(name=series.name, change_ratio=series.change_ratio), abs(series.change_ratio))
        elif series.state is StateKind.CYCLIC:
            yield from _few_cycles(place, trial_summary.steady, series)


def _changed(place: Place, steady: SteadyState) -> Iterator[Doubt]:
    if len(steady.segments) < 2:
        return
    first, last = steady.segments[0], steady.segments[-1]
    if steady.warm_up_s is not None:
        change = first.mean_tps / last.mean_tps - 1 if last.mean_tps else 0.0
        yield place.doubt(WarmUpUnfinished(first_s=steady.warm_up_s, change_ratio=change), abs(change))
        return
    means = [segment.mean_tps for segment in steady.segments]
    seen = Unsteady(
        changes_count=len(means) - 1, low_tps=min(means), high_tps=max(means), from_s=steady.segments[1].from_s
    )
    yield place.doubt(seen, max(means) - min(means))


def _few_cycles(place: Place, steady: SteadyState, series: SeriesState) -> Iterator[Doubt]:
    period_s, window_s = series.period_s or 0.0, steady.to_s - steady.from_s
    if window_s < CYCLES_NEEDED * period_s:
        cycles = window_s / period_s
        seen = FewCycles(name=series.name, cycles=cycles, period_s=period_s, window_s=window_s)
        yield place.doubt(seen, -cycles)


INSTANCE_LAGS = WarningKind(
    "instance-lags",
    Voids.CERTAINTY,
    "Look at that instance's error log, storage and telemetry, remove the cause and measure again.",
)
INSTANCES_SKEWED = WarningKind(
    "instances-skewed",
    Voids.CERTAINTY,
    "Look for what the instances do not share equally: CPUs, memory nodes, devices, rows. The sum is that of uneven"
    " instances until then.",
)


class InstanceLags(Observation, kind=INSTANCE_LAGS, seen="instance-lags"):
    """An instance completed less than its part."""

    instance: str
    throughput_tps: float
    expected_tps: float

    def __str__(self) -> str:
        completed, expected = format_rate(self.throughput_tps), format_rate(self.expected_tps)
        return f"{self.instance} completed {completed}; {expected} were expected of it"


class InstancesSkewed(Observation, kind=INSTANCES_SKEWED, seen="instances-skewed"):
    """The fastest and the slowest instance are far apart.

    Attributes:
        factor: The one over the other, each over its part of the load.
    """

    fastest: str
    slowest: str
    fastest_tps: float
    slowest_tps: float
    factor: float

    def __str__(self) -> str:
        fastest, slowest = format_rate(self.fastest_tps), format_rate(self.slowest_tps)
        return f"{self.fastest} completed {fastest}, {self.slowest} {slowest}"


def _lagging_instance(trial_summary: TrialSummary) -> Iterator[Doubt]:
    if trial_summary.counts is None or not trial_summary.instances_tps:
        return
    lag = lag_of(trial_summary.instances_tps, trial_summary.trial.level, trial_summary.counts.duration_s)
    if lag is not None:
        seen = InstanceLags(instance=lag.instance, throughput_tps=lag.throughput_tps, expected_tps=lag.expected_tps)
        yield place_of(trial_summary.trial).doubt(seen, 1 - lag.throughput_tps / lag.expected_tps)
    elif (
        skew := skew_of(trial_summary.instances_tps, trial_summary.trial.level, trial_summary.counts.duration_s)
    ) is not None:
        seen_skew = InstancesSkewed(
            fastest=skew.fastest,
            slowest=skew.slowest,
            fastest_tps=skew.fastest_tps,
            slowest_tps=skew.slowest_tps,
            factor=skew.factor,
        )
        yield place_of(trial_summary.trial).doubt(seen_skew, skew.factor)


KEY_RANGE_MISSES_DATA = WarningKind(
    "key-range-misses-data",
    Voids.ABSOLUTE,
    "Set table_size to the number of rows that the tables have, or prepare them again.",
)

_ROWS_FOUND_RATIO = 0.9
_RANGES_IN_TABLE = 20
"""In a table of fewer ranges than this, ranges that reach beyond its end make up for missing rows."""


class RowsReturned(Observation, kind=KEY_RANGE_MISSES_DATA, seen="rows-returned"):
    """Fewer rows were returned than transactions ask for."""

    done: ClassVar = "returned"
    rows_per_transaction: float
    expected_rows_per_transaction: float

    def __str__(self) -> str:
        return (
            f"{format_number(self.rows_per_transaction)} rows were {self.done} per transaction;"
            f" {format_number(self.expected_rows_per_transaction)} were expected"
        )


class RowsChanged(RowsReturned, seen="rows-changed"):
    """Fewer rows were changed than transactions change."""

    done = "changed"


def _key_range(trial_summary: TrialSummary) -> Iterator[Doubt]:
    counts = trial_summary.counts
    if counts is None or counts.completed == 0:
        return
    rows = {RowsReturned: counts.rows_returned, RowsChanged: counts.rows_affected}
    for observed, expected in _expected_rows(trial_summary).items():
        per_transaction = rows[observed] / counts.completed
        if per_transaction < _ROWS_FOUND_RATIO * expected:
            seen = observed(rows_per_transaction=per_transaction, expected_rows_per_transaction=expected)
            yield place_of(trial_summary.trial).doubt(seen, 1 - per_transaction / expected)


def _expected_rows(trial_summary: TrialSummary) -> dict[type[RowsReturned], float]:
    """Rows that each transaction of an OLTP workload returns and changes at least; empty where that is unknown."""
    kind, options = trial_summary.trial.workload.kind, trial_summary.trial.workload.options
    if kind in ("oltp_point_select", "oltp_0.4_simple"):
        return {RowsReturned: 1.0}
    if kind not in ("oltp_read_only", "oltp_read_write", "oltp_write_only", "oltp_0.4_complex"):
        return {}
    value = {name: float(count) for name, count in options.items() if isinstance(count, int)}
    expected: dict[type[RowsReturned], float] = {}
    if kind != "oltp_read_only" and not options.get("read_only"):
        updates = value.get("index_updates", 0.0) + value.get("non_index_updates", 0.0)
        expected[RowsChanged] = updates + 2 * value.get("delete_inserts", 0.0)
    reads = kind != "oltp_write_only" and not options.get("write_only")
    if reads and {"point_selects", "range_size", "table_size"} <= value.keys():
        expected[RowsReturned] = _rows_read(value, ranges=bool(options.get("range_selects", True)))
    return {observed: count for observed, count in expected.items() if count > 0}


def _rows_read(value: dict[str, float], *, ranges: bool) -> float:
    """Rows that the selects of a transaction return; 0 where ranges may reach beyond the table."""
    if value["table_size"] < _RANGES_IN_TABLE * value["range_size"]:
        return 0.0
    whole = value.get("simple_ranges", 0.0) + value.get("order_ranges", 0.0)
    in_ranges = whole * value["range_size"] + value.get("sum_ranges", 0.0)
    return value["point_selects"] + (in_ranges if ranges else 0.0)


CHECKS_OF_A_RUN: tuple[Check, ...] = (_stalled, _unfinished, check_drivers, check_limit)
"""Those that a single run without a recording is held to, the gravest first."""

_CHECKS: tuple[Check, ...] = (
    _recorded,
    _stalled,
    _unfinished,
    _replica_lag,
    check_client_beside,
    check_place,
    _short_window,
    check_turns,
    check_throttled,
    _steadiness,
    _lagging_instance,
    check_flush,
    check_files,
    check_options,
    check_character_sets,
    recorded_conditions,
    _key_range,
    check_dispatch,
    check_run_queue,
    check_drivers,
    check_limit,
)
