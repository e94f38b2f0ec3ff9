"""What can be said from recordings, as values: the JSON that `plimsoll guide --json` prints.

A number that was estimated travels with its bounds, how they were found and how many trials it rests on.
Deliberately not here: how anything is calculated, and how anything is shown.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from plimsoll.analyse.duration_model import Durations, TypeTotal
from plimsoll.analyse.outage_model import TrialOutage
from plimsoll.record.document import Document
from plimsoll.record.model import Environment, TrialWarning

ANALYSIS_FORMAT = 1
"""Version of this schema."""


class Bounds(Document):
    """Where the true value lies with the stated confidence.

    Attributes:
        confidence: 0..1, such as 0.95.
        method: How they were found, in a few words.
    """

    low: float
    high: float
    confidence: float = 0.95
    method: str


class Estimate(Document):
    """A number, how sure it is, and how many trials it rests on.

    Attributes:
        bounds: None when they cannot be given; the guide says why.
    """

    value: float
    bounds: Bounds | None = None
    trial_count: int = 1


class CpuShares(Document):
    """Share of processor time, 0..1, mean over the measured windows; None where unknown.

    The host's modes add up to 1; `server` and `client` are shares of the whole host as well.
    """

    user: float | None = None
    system: float | None = None
    iowait: float | None = None
    idle: float | None = None
    steal: float | None = None
    server: float | None = None
    client: float | None = None


class ErrorTotal(Document):
    """How often one kind of error occurred in the measured windows.

    Attributes:
        error_class: retryable, connection or statement.
        code: MySQL's number; 0 when the client noticed it without one.
    """

    error_class: str
    code: int
    count: int


class Cell(Document):
    """One system, workload and level: all its repetitions together.

    Attributes:
        connections: Of all instances together.
        throughput_tps: Completed transactions per second.
        scale_factor: Throughput over that of the lowest level of the same curve.
        client_us_per_statement: Processor time of the load engine for each statement, microseconds.
        completed_count: Transactions that completed in the measured windows; 0 for published figures.
        dropped_count: Transactions that were due and never started.
        types: Each type of transaction, the most frequent first; empty for published figures.
        trials: Ids of the recordings that it rests on.
    """

    connections: int
    connections_per_instance: int | None = None
    throughput_tps: Estimate
    scale_factor: Estimate
    response_ms: Durations = Durations()
    service_ms: Durations = Durations()
    cpu: CpuShares = CpuShares()
    statements_per_s: float | None = None
    rows_returned_per_transaction: float | None = None
    rows_affected_per_transaction: float | None = None
    client_us_per_statement: float | None = None
    errors: tuple[ErrorTotal, ...] = ()
    completed_count: int = 0
    failed_count: int = 0
    dropped_count: int = 0
    retries_count: int = 0
    types: tuple[TypeTotal, ...] = ()
    trials: tuple[str, ...] = ()


class Peak(Document):
    """The level with the highest throughput.

    Attributes:
        bracketed: A higher level was measured and carried less: the peak is not beyond the last level.
        tied_connections: Levels that cannot be told from the peak at the given confidence, the peak included, rising.
    """

    connections: int
    throughput_tps: Estimate
    bracketed: bool
    tied_connections: tuple[int, ...] = ()


class PoolAdvice(Document):
    """How large a connection pool should be, following from the curve.

    Attributes:
        connections: The smallest level whose throughput cannot be told from the peak's.
        per_core: `connections` over the system's processor cores; None when cores are unknown.
        text: The advice as one sentence.
    """

    connections: int
    per_core: float | None = None
    text: str


class Curve(Document):
    """One system under one workload: its cells by rising level."""

    system: str
    workload: str
    cells: tuple[Cell, ...]
    peak: Peak
    pool: PoolAdvice


class SystemSummary(Document):
    """A candidate that could carry the load.

    Attributes:
        cores: Processor cores of its host; None when unknown.
        factors: Everything that tells it from other systems, as text.
        unknown: What its recordings do not say, in words ("response times", "bounds: one repetition").
        environment: That of its first complete trial.
        encryptions: In how many trials its connections were encrypted how: version and cipher suite, or `none`.
    """

    name: str
    instances: int = 1
    cores: int | None = None
    cost_per_month: float | None = None
    factors: dict[str, str] = Field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    environment: Environment = Environment()
    encryptions: dict[str, int] = Field(default_factory=dict)
    origin: str = "measured"


class WorkloadSummary(Document):
    """What clients did.

    Attributes:
        rate_unit: How throughput is shown: `tps` or `tpm`.
        options: Those that differ from the defaults, and always those that say which rows there are.
        working_set: Rows, of all tables together, by the percentage of accesses that they take.
        types: By type of transaction, the most frequent first: its share of all that completed; empty for one type.
    """

    name: str
    kind: str | None = None
    rate_unit: str = "tps"
    options: dict[str, str] = Field(default_factory=dict)
    working_set: dict[str, int] = Field(default_factory=dict)
    types: dict[str, float] = Field(default_factory=dict)


class DifferenceVerdict(StrEnum):
    """What a comparison of two systems shows."""

    FASTER = "faster"
    SLOWER = "slower"
    UNDECIDED = "undecided"
    UNTESTABLE = "untestable"  # no bounds can be given


class Difference(Document):
    """How `system` compares with `base` under one workload.

    Attributes:
        connections: The level compared at; None for the comparison of the two peaks.
        ratio: Throughput of `system` over that of `base`.
        smallest_effect: The smallest ratio above 1 that trials as many and as noisy as these would have found four
            times out of five; None when untestable.
        other_factors: For peaks: every factor whose value differs, as (name, base's value, system's value).
    """

    workload: str
    base: str
    system: str
    connections: int | None = None
    ratio: Estimate
    smallest_effect: float | None = None
    verdict: DifferenceVerdict
    other_factors: tuple[tuple[str, str, str], ...] = ()


class VariableDifference(Document):
    """A server variable whose effective value is not the same in all systems.

    Attributes:
        values: By system name; None where the system does not have the variable.
        expected: The difference follows from what the study varies, or is a path, a port or the like.
    """

    variable: str
    values: dict[str, str | None]
    expected: bool


class PlacedWarning(Document):
    """A warning and what it is about. Empty tuples mean the whole study."""

    warning: TrialWarning
    systems: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    connections: tuple[int, ...] = ()


class MissingTrial(Document):
    """A trial that is no part of any number here, and why."""

    trial_id: str
    system: str
    workload: str
    connections: int
    reason: str


class MethodNote(Document):
    """How a kind of number was found: name, what was done with its assumptions, source."""

    name: str
    text: str
    source: str | None = None


class Analysis(Document):
    """Everything that the guide shows.

    Attributes:
        objective_ms_p99: 99 % of transactions may take at most so long, milliseconds; None when the study has none.
        answer: The advice, first things first, as whole sentences.
        limits: What these trials cannot decide, as whole sentences.
        outages: The longest; `outages_count` is how many there were.
    """

    analysis_format: int = ANALYSIS_FORMAT
    plimsoll_version: str
    study: str
    objective_ms_p99: float | None = None
    answer: tuple[str, ...]
    limits: tuple[str, ...]
    systems: tuple[SystemSummary, ...]
    workloads: tuple[WorkloadSummary, ...]
    curves: tuple[Curve, ...]
    differences: tuple[Difference, ...] = ()
    variables: tuple[VariableDifference, ...] = ()
    warnings: tuple[PlacedWarning, ...] = ()
    outages: tuple[TrialOutage, ...] = ()
    outages_count: int = 0
    missing: tuple[MissingTrial, ...] = ()
    methods: tuple[MethodNote, ...] = ()
