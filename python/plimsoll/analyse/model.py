"""What can be said from recordings, as values: the JSON that `plimsoll guide --json` prints.

A number that was estimated travels with its bounds, how they were found and how many trials it rests on.
Deliberately not here: how anything is calculated, and how anything is shown.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from plimsoll.analyse.cell_model import Cell, Estimate
from plimsoll.analyse.outage_model import TrialOutage
from plimsoll.analyse.rate_model import RateCurve
from plimsoll.analyse.tpcc_model import Deviation
from plimsoll.record.document import Document
from plimsoll.record.model import Environment, TrialWarning

ANALYSIS_FORMAT = 1
"""Version of this schema."""


class Peak(Document):
    """The level with the highest throughput.

    Attributes:
        connections: The level.
        throughput_tps: The throughput there.
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
    """One system under one workload: its cells by rising level.

    Attributes:
        system: Which.
        workload: Which.
        cells: By rising connections.
        peak: Where throughput is highest.
        pool: How many connections an application should keep open.
    """

    system: str
    workload: str
    cells: tuple[Cell, ...]
    peak: Peak
    pool: PoolAdvice


class Durability(Document):
    """What a system may lose of committed transactions, from the effective variables of its servers.

    Attributes:
        name: `durable`, `may lose the last second at power loss`, `may lose the last second when the server crashes` or
            `may be damaged by power loss`; with another number of seconds where the server flushes less often.
        causes: Each setting that makes it less than durable, as `name = value`.
    """

    name: str
    causes: tuple[str, ...] = ()


class SystemSummary(Document):
    """A candidate that could carry the load.

    Attributes:
        name: As the user calls it; unique within the study.
        instances: How many servers it consists of.
        cores: Processor cores of its host; None when unknown.
        cost_per_month: In the user's currency; None when not given.
        factors: Everything that tells it from other systems, as text.
        unknown: What its recordings do not say, in words ("response times", "bounds: one repetition").
        environment: That of its first complete trial.
        durability: That of its least durable server; None where one does not say.
        encryptions: In how many trials its connections were encrypted how: version and cipher suite, or `none`.
        origin: `measured`, `imported-table`, `imported-sysbench` or `imported-tpcc`.
    """

    name: str
    instances: int = 1
    cores: int | None = None
    cost_per_month: float | None = None
    factors: dict[str, str] = Field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    environment: Environment = Environment()
    durability: Durability | None = None
    encryptions: dict[str, int] = Field(default_factory=dict)
    origin: str = "measured"


class WorkloadSummary(Document):
    """What clients did.

    Attributes:
        name: As the user calls it; unique within the study.
        kind: Such as `oltp_read_write`; None when an import does not say.
        rate_unit: How throughput is shown: `tps` or `tpm`.
        options: Those that differ from the defaults, and always those that say which rows there are.
        working_set: Rows, of all tables together, by the percentage of accesses that they take.
        types: By type of transaction, the most frequent first: its share of all that completed; empty for one type.
        deviations: Where it departs from the TPC-C specification; empty for workloads that are not derived from it.
    """

    name: str
    kind: str | None = None
    rate_unit: str = "tps"
    options: dict[str, str] = Field(default_factory=dict)
    working_set: dict[str, int] = Field(default_factory=dict)
    types: dict[str, float] = Field(default_factory=dict)
    deviations: tuple[Deviation, ...] = ()


class DifferenceVerdict(StrEnum):
    """What a comparison of two systems shows."""

    FASTER = "faster"
    SLOWER = "slower"
    UNDECIDED = "undecided"
    UNTESTABLE = "untestable"  # no bounds can be given


class Difference(Document):
    """How `system` compares with `base` under one workload.

    Attributes:
        workload: Under which.
        base: What is compared with.
        system: What is compared.
        connections: The level compared at; None for the comparison of the two peaks.
        ratio: Throughput of `system` over that of `base`.
        smallest_effect: The smallest ratio above 1 that trials as many and as noisy as these would have found four
            times out of five; None when untestable.
        verdict: Whether `system` is faster or slower than `base`; `undecided` where these trials cannot tell,
            `untestable` where there are no bounds.
        other_factors: For peaks: every factor whose value is known of both and differs, as (name, base's value,
            system's value).
        one_sided_factors: For peaks: every factor that is known of one of them only, in the same form; null for the one
            of which it is not known.
    """

    workload: str
    base: str
    system: str
    connections: int | None = None
    ratio: Estimate
    smallest_effect: float | None = None
    verdict: DifferenceVerdict
    other_factors: tuple[tuple[str, str, str], ...] = ()
    one_sided_factors: tuple[tuple[str, str | None, str | None], ...] = ()


class VariableDifference(Document):
    """A server variable whose effective value is not the same in all systems.

    Attributes:
        variable: Its name.
        values: By system name; None where the system does not have the variable.
        expected: The difference follows from what the study varies, or is a path, a port or the like.
    """

    variable: str
    values: dict[str, str | None]
    expected: bool


class PlacedWarning(Document):
    """A warning and what it is about. Empty tuples mean the whole study.

    Attributes:
        warning: The doubt, with its strongest evidence.
        systems: Where it was raised.
        workloads: Where it was raised.
        connections: Levels at which it was raised, rising.
        rates_tps: Rates at which it was raised, rising.
    """

    warning: TrialWarning
    systems: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    connections: tuple[int, ...] = ()
    rates_tps: tuple[float, ...] = ()


class MissingTrial(Document):
    """A trial that is no part of any number here, and why.

    Attributes:
        trial_id: Name of its recording, or that which it would have.
        system: Empty when its recording does not even say that; so is the workload, and the connections are 0.
        workload: Its workload.
        connections: Its level.
        rate_tps: Its rate; None where connections went at their own pace.
        repetition: 0, 1, 2, ...; None when not known.
        reason: Why it is missing.
        has_run: False for a planned trial of which there is no recording.
    """

    trial_id: str
    system: str
    workload: str
    connections: int
    rate_tps: float | None = None
    repetition: int | None = None
    reason: str
    has_run: bool = True


class MethodNote(Document):
    """How a kind of number was found: name, what was done with its assumptions, source.

    Attributes:
        name: Of the kind of figure.
        text: What is done, and what it assumes.
        source: Where the method comes from; None where it needs none.
    """

    name: str
    text: str
    source: str | None = None


class Analysis(Document):
    """Everything that the guide shows.

    Attributes:
        analysis_format: Version of this schema.
        plimsoll_version: What made it.
        study: Name of the study.
        objective_ms_p99: 99 % of transactions may take at most so long, milliseconds; None when the study has none.
        answer: The advice, first things first, as whole sentences.
        limits: What these trials cannot decide, as whole sentences.
        systems: In the order of the study file, or of the import.
        workloads: In the order of their first trials.
        curves: By workload, then by system.
        rate_curves: Of the workloads that were driven at rates; `curves` are of the others.
        differences: By workload and pair of systems: the peaks first, then equal levels, rising.
        variables: Unexpected differences first, then by name.
        warnings: The gravest first.
        outages: The longest; `outages_count` is how many there were.
        outages_count: How many outages there were.
        planned_count: How many trials the study's plan holds; None without a plan, as for imports.
        missing: Trials that are part of no number, those that never ran included.
        methods: How each kind of figure was found.
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
    rate_curves: tuple[RateCurve, ...] = ()
    differences: tuple[Difference, ...] = ()
    variables: tuple[VariableDifference, ...] = ()
    warnings: tuple[PlacedWarning, ...] = ()
    outages: tuple[TrialOutage, ...] = ()
    outages_count: int = 0
    planned_count: int | None = None
    missing: tuple[MissingTrial, ...] = ()
    methods: tuple[MethodNote, ...] = ()
