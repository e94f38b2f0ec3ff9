"""What a command has measured since it began, as counts that only grow, and what is so now.

Counters hold every interval of load, warm-up included: with those of a recording, the sums of its tables. What is
published is never changed again, so readers on other threads take no lock, and nothing that drives load waits for them.
Deliberately not here: how it is read (`prometheus`, `otlp`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import chain

from plimsoll import __version__
from plimsoll.metrics import families
from plimsoll.metrics.families import Buckets, Family, Readings, Value
from plimsoll.record.model import State, Verdict
from plimsoll.run.capacity_search import Searched
from plimsoll.run.events import Event, SearchProgressed, StateBegan, StudyBegan, StudyEnded, TrialBegan, TrialEnded
from plimsoll.run.live import LiveInterval, LiveSample, LiveTransactions
from plimsoll.run.watch import LATEST_METRICS

ERROR_CODES_MAX = 100
"""So many kinds of errors of a system have a series; the others count together. A server may answer with any number."""

OTHER_ERRORS = ("other", "other")
"""Class and code of these others."""

_NOW = (
    families.LEVEL_CONNECTIONS,
    families.LEVEL_RATE,
    families.CONNECTED,
    families.WAITING,
    families.IN_FLIGHT,
    families.OLDEST,
    families.CLIENT_CORES,
    families.LAG,
)
"""What is so of a trial only while its load runs."""


class Totals:
    """Takes in what a command tells of its run, on the thread that tells it.

    Attributes:
        readings: All values, for any thread.
    """

    def __init__(self) -> None:
        self.readings: Readings = {}
        self._values: Readings = {family: {} for family in families.FAMILIES}
        self._values[families.BUILD][__version__,] = 1
        self._telemetry: dict[tuple[str, str], tuple[LiveSample, ...]] = {}
        self._enter(None)
        self._publish()

    def observe(self, interval: LiveInterval) -> None:
        """Adds an interval of load; the observer of `run.live`."""
        load = (interval.system, interval.workload)
        for name, transactions in interval.transactions.items():
            self._add_transactions((*load, name), transactions)
        for error in interval.errors:
            self._add_error(load, (error.error_class, str(error.code)), error.count)
        self._add(families.INTERVALS, (*load, interval.state), 1)
        self._enter(interval.state)
        self._set_load(load, interval)
        self._telemetry[load] = interval.telemetry  # systems of a duet take turns, and each has telemetry of its own
        self._set_telemetry()
        self._publish()

    def happened(self, event: Event) -> None:
        """Takes in an event of a study."""
        match event:
            case StudyBegan():
                self._set_progress(planned=event.trial_count, complete=event.finished_count)
                self._values[families.REMAINING][()] = event.estimated_s
            case TrialBegan():
                self._values[families.REMAINING][()] = event.remaining_s
            case StateBegan():
                self._enter(event.state)
            case TrialEnded():
                self._add(families.TRIALS, (event.verdict,), 1)
                if event.verdict is Verdict.COMPLETE:
                    self._add(families.STUDY_TRIALS, ("complete",), 1)
                self._rest()
            case SearchProgressed():
                self._search((event.system, event.workload), event.low_tps, event.high_tps)
            case StudyEnded():
                planned = event.complete_count + event.failed_count + event.missing_count
                self._set_progress(planned=planned, complete=event.complete_count)
                self._values[families.REMAINING].clear()
                self._rest()
            case _:
                return
        self._publish()

    def searched(self, searched: Searched) -> None:
        """Takes in where the search of a command stands after a run."""
        high_tps = searched.high_tps if math.isfinite(searched.high_tps) else None
        for load in {labels[:2] for labels in self._values[families.INTERVALS]}:
            self._search((load[0], load[1]), searched.low_tps, high_tps)
        self._values[families.REMAINING][()] = searched.remaining_s
        self._publish()

    def end(self) -> None:
        """No load runs any more."""
        self._rest()
        self._publish()

    def _add_transactions(self, of: tuple[str, ...], transactions: LiveTransactions) -> None:
        counts = transactions.counts
        for outcome in ("completed", "failed", "dropped"):
            self._add(families.TRANSACTIONS, (*of, outcome), getattr(counts, outcome))
        self._add(families.ROLLED_BACK, of, counts.rolled_back)
        self._add(families.RETRIES, of, counts.retries)
        for kind, count in (("read", counts.reads), ("write", counts.writes), ("other", counts.others)):
            self._add(families.STATEMENTS, (*of, kind), count)
        for direction, count in (("returned", counts.rows_returned), ("affected", counts.rows_affected)):
            self._add(families.ROWS, (*of, direction), count)
        if transactions.response is not None:
            before = self._values[families.RESPONSE].get(of, Buckets())
            assert isinstance(before, Buckets), "the family is a histogram"
            self._values[families.RESPONSE][of] = before.plus(transactions.response)

    def _add_error(self, load: tuple[str, str], kind: tuple[str, str], count: int) -> None:
        known = self._values[families.ERRORS]
        if (*load, *kind) not in known and sum(labels[:2] == load for labels in known) >= ERROR_CODES_MAX:
            kind = OTHER_ERRORS
        self._add(families.ERRORS, (*load, *kind), count)

    def _add(self, family: Family, labels: tuple[str, ...], count: int) -> None:
        before = self._values[family].get(labels, 0)
        assert not isinstance(before, Buckets), "the family is no histogram"
        self._values[family][labels] = before + count

    def _set(self, family: Family, values: Mapping[tuple[str, ...], Value | None]) -> None:
        """Sets what is known, and forgets what is not."""
        for labels, value in values.items():
            if value is None:
                self._values[family].pop(labels, None)
            else:
                self._values[family][labels] = value

    def _set_load(self, load: tuple[str, str], interval: LiveInterval) -> None:
        level, oldest_ms = interval.level, interval.in_flight_ms_max
        now: dict[Family, float | None] = {
            families.LEVEL_CONNECTIONS: None if level is None else level.connections,
            families.LEVEL_RATE: None if level is None else level.rate_tps,
            families.CONNECTED: interval.connected_count,
            families.WAITING: interval.waiting_count,
            families.IN_FLIGHT: interval.in_flight_count,
            families.OLDEST: 0.0 if oldest_ms is None else oldest_ms / 1e3,
            families.CLIENT_CORES: interval.client_cores,
        }
        for family, value in now.items():
            self._set(family, {load: value})
        lags = self._values[families.LAG]
        others = {labels: lag_s for labels, lag_s in lags.items() if labels[:2] != load}
        self._values[families.LAG] = others | {(*load, server): lag_s for server, lag_s in interval.lag_s.items()}

    def _set_telemetry(self) -> None:
        """Forgets what was not sampled lately."""
        for metric in LATEST_METRICS:
            self._values[families.telemetry(metric)].clear()
        for sample in chain.from_iterable(self._telemetry.values()):
            self._values[families.telemetry(sample.metric)][sample.host, sample.instance] = sample.value

    def _set_progress(self, *, planned: int, complete: int) -> None:
        self._set(families.STUDY_TRIALS, {("planned",): planned, ("complete",): complete})

    def _search(self, load: tuple[str, str], low_tps: float, high_tps: float | None) -> None:
        self._set(families.SEARCH_RATE, {(*load, "held"): low_tps, (*load, "missed"): high_tps})

    def _enter(self, state: State | None) -> None:
        self._set(families.STATE, {(each,): float(each is state) for each in State})

    def _rest(self) -> None:
        """Nothing is in any state."""
        self._enter(None)
        self._telemetry.clear()
        self._set_telemetry()
        for family in _NOW:
            self._values[family].clear()

    def _publish(self) -> None:
        self.readings = {family: dict(series) for family, series in self._values.items() if series}
