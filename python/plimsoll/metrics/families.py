"""Which metrics there are: names, labels, units, meaning, and the buckets of response times.

A name and a unit are OpenTelemetry's (`plimsoll.response`, `s`); Prometheus' name follows from them by the rules that
its own translation has (`plimsoll_response_seconds`), so a dashboard finds the same names either way. Deliberately not
here: values (`totals`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.drive.protocol import Histogram
from plimsoll.record.histograms import bucket_of_ns
from plimsoll.run.watch import LATEST_METRICS


class Kind(Enum):
    """What a value means: a count that only grows, what is so now, or how many took how long."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


_SUFFIXES = {"s": "_seconds", "By": "_bytes", "1": "_ratio", "{transaction}/s": "_per_second"}
"""Of Prometheus' names, by unit; a unit in braces says what is counted, and has none."""


@dataclass(frozen=True, slots=True)
class Family:
    """One metric with all its series.

    Attributes:
        name: As OpenTelemetry has it, without the namespace.
        kind: What its values mean.
        unit: In UCUM's notation; empty for what has none.
        labels: Names of its labels, in the order of their values.
        help: What it is, as a sentence.
    """

    name: str
    kind: Kind
    unit: str
    labels: tuple[str, ...]
    help: str

    @property
    def otel_name(self) -> str:
        """The name with its namespace."""
        return f"plimsoll.{self.name}"

    @property
    def prometheus_name(self) -> str:
        """The name of its samples; those of a histogram add `_bucket`, `_sum` and `_count`.

        >>> RESPONSE.prometheus_name, TRANSACTIONS.prometheus_name
        ('plimsoll_response_seconds', 'plimsoll_transactions_total')
        """
        total = "_total" if self.kind is Kind.COUNTER else ""
        return f"plimsoll_{self.name.replace('.', '_')}{_SUFFIXES.get(self.unit, '')}{total}"


_LOAD = ("system", "workload")
_TYPE = (*_LOAD, "type")

BUILD = Family("build.info", Kind.GAUGE, "", ("version",), "1, with the version of Plimsoll.")
TRANSACTIONS = Family(
    "transactions",
    Kind.COUNTER,
    "{transaction}",
    (*_TYPE, "outcome"),
    "Transactions by outcome: completed, failed, or dropped (due, and never sent).",
)
ROLLED_BACK = Family(
    "transactions.rolled_back", Kind.COUNTER, "{transaction}", _TYPE, "Completed transactions that were rolled back."
)
RETRIES = Family("retries", Kind.COUNTER, "{retry}", _TYPE, "Retries of transactions.")
STATEMENTS = Family(
    "statements", Kind.COUNTER, "{statement}", (*_TYPE, "kind"), "Statements by kind: read, write, or other."
)
ROWS = Family("rows", Kind.COUNTER, "{row}", (*_TYPE, "direction"), "Rows by direction: returned, or affected.")
ERRORS = Family(
    "errors",
    Kind.COUNTER,
    "{error}",
    (*_LOAD, "class", "code"),
    "Failed statements by class (retryable, connection, statement) and MySQL's error number.",
)
RESPONSE = Family(
    "response",
    Kind.HISTOGRAM,
    "s",
    _TYPE,
    "Response times of completed transactions, from due to the last byte of the last reply.",
)
INTERVALS = Family(
    "intervals", Kind.COUNTER, "{interval}", (*_LOAD, "state"), "Intervals of load by state: warm, or measure."
)
STATE = Family("trial.state", Kind.GAUGE, "", ("state",), "1 for the state of the running trial, 0 for the others.")
LEVEL_CONNECTIONS = Family(
    "level.connections", Kind.GAUGE, "{connection}", _LOAD, "Connections that the running trial asks for."
)
LEVEL_RATE = Family(
    "level.target_rate",
    Kind.GAUGE,
    "{transaction}/s",
    _LOAD,
    "Target rate of the running trial; none in a closed loop.",
)
CONNECTED = Family("connections.open", Kind.GAUGE, "{connection}", _LOAD, "Connections that are open.")
WAITING = Family(
    "transactions.waiting",
    Kind.GAUGE,
    "{transaction}",
    _LOAD,
    "Transactions that are due and wait for a free connection.",
)
IN_FLIGHT = Family(
    "transactions.in_flight", Kind.GAUGE, "{transaction}", _LOAD, "Transactions that were sent and have not ended."
)
OLDEST = Family(
    "transactions.oldest", Kind.GAUGE, "s", _LOAD, "Age of the oldest transaction that was due and has not ended."
)
CLIENT_CORES = Family(
    "client.cores", Kind.GAUGE, "{cpu}", _LOAD, "Processors that the load engine uses: time of processors over time."
)
LAG = Family("replica.lag", Kind.GAUGE, "s", (*_LOAD, "server"), "How far a replica is behind its source.")
TRIALS = Family(
    "trials",
    Kind.COUNTER,
    "{trial}",
    ("verdict",),
    "Trials of the study that ended since the command began, by verdict.",
)
STUDY_TRIALS = Family(
    "study.trials",
    Kind.GAUGE,
    "{trial}",
    ("progress",),
    "Trials of the study: planned, and of these complete.",
)
REMAINING = Family("run.remaining", Kind.GAUGE, "s", (), "About how long the study or the search will still take.")
SEARCH_RATE = Family(
    "search.rate",
    Kind.GAUGE,
    "{transaction}/s",
    (*_LOAD, "bound"),
    "A running search: held, the highest rate that held; missed, the lowest that did not.",
)


_UNITS = {"_ratio": "1", "_bytes": "By", "_s": "s", "_total": ""}
"""Of telemetry's metrics, by what their names end with; what is called a total there is no counter."""


@cache
def telemetry(metric: str) -> Family:
    """What telemetry samples of host, server and client; docs/telemetry.md has each metric with its unit.

    >>> [telemetry(metric).prometheus_name for metric in ("busy_ratio", "replica_seconds_behind_s")]
    ['plimsoll_telemetry_busy_ratio', 'plimsoll_telemetry_replica_seconds_behind_seconds']
    """
    suffix, unit = next(((suffix, unit) for suffix, unit in _UNITS.items() if metric.endswith(suffix)), ("", ""))
    name, text = metric.removesuffix(suffix), f"The last sample of {metric}, see docs/telemetry.md."
    return Family(f"telemetry.{name}", Kind.GAUGE, unit, ("host", "server"), text)


FAMILIES = (
    BUILD, TRANSACTIONS, ROLLED_BACK, RETRIES, STATEMENTS, ROWS, ERRORS, RESPONSE, INTERVALS, STATE, LEVEL_CONNECTIONS,
    LEVEL_RATE, CONNECTED, WAITING, IN_FLIGHT, OLDEST, CLIENT_CORES, LAG, TRIALS, STUDY_TRIALS, REMAINING,
    SEARCH_RATE, *map(telemetry, sorted(LATEST_METRICS)),
)  # fmt: skip
"""All that there may be."""

BOUNDS_US = (
    50, 70,
    *(step * 10**decade for decade in range(1, 6) for step in (10, 15, 20, 30, 50, 70)),
    10_000_000, 20_000_000, 30_000_000, 60_000_000,
)  # fmt: skip
"""Upper bounds of the buckets, microseconds: six in each decade, from a point select to a server that stands still."""

BOUNDS_S = tuple(bound / 1e6 for bound in BOUNDS_US)
"""The same in seconds, as people write them."""

_FINE_ENDS: NDArray[np.int64] = bucket_of_ns(np.asarray(BOUNDS_US, dtype=np.int64) * 1000 + 1)
"""For each bound the engine's first bucket that does not end at or before it."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """How many durations fell into each bucket.

    The engine's buckets are 0.1 % wide at most, and each counts here as a whole: below a bound if it ends at or before
    the bound, above it otherwise. So nothing is interpolated, and no transaction that took longer than a bound counts
    as within it; one that took less may count above if it is within 0.1 % of the bound.

    Attributes:
        counts: One for each of `BOUNDS_S`, and the last for what is longer than all; not added up.
        sum_ns: Of all durations.
    """

    counts: tuple[int, ...] = (0,) * (len(BOUNDS_US) + 1)
    sum_ns: int = 0

    def plus(self, histogram: Histogram) -> Buckets:
        """With the durations of an interval besides."""
        places = np.searchsorted(_FINE_ENDS, np.asarray(histogram.buckets, dtype=np.int64), side="right")
        counts = np.asarray(self.counts, dtype=np.int64)
        np.add.at(counts, places, np.asarray(histogram.counts, dtype=np.int64))
        return Buckets(tuple(counts.tolist()), self.sum_ns + histogram.sum_ns)

    @property
    def count(self) -> int:
        """Of all durations."""
        return sum(self.counts)


Value: TypeAlias = float | Buckets
"""Of one series: `Buckets` for histograms, a number for the others."""

Readings: TypeAlias = dict[Family, dict[tuple[str, ...], Value]]
"""All values at one moment, by family and by the values of its labels. Nobody changes it once it is published."""
