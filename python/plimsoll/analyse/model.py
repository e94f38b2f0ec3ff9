"""What can be said from recordings, as values: the JSON that `plimsoll guide --json` prints.

A number that was estimated travels with its bounds, how they were found and how many trials it rests on.
Deliberately not here: how anything is calculated, and how anything is shown.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import Field

from plimsoll.analyse.answers.size_model import WorkloadChoices
from plimsoll.analyse.explain.equivalence_model import Durability, DurabilityClass, Equivalence
from plimsoll.analyse.explain.replication_model import Replication
from plimsoll.analyse.explain.scaling_model import Scalability
from plimsoll.analyse.explain.where_model import StorageUse, WhereTime
from plimsoll.analyse.findings.doubts import PlacedWarning
from plimsoll.analyse.findings.finding_model import Finding
from plimsoll.analyse.findings.missing import MissingTrial
from plimsoll.analyse.study.capacity_model import CapacityRatio, SystemCapacity, WorkloadCost
from plimsoll.analyse.study.curve_model import CheckedClaim, Curve, Duet, Effects
from plimsoll.analyse.study.ratio_model import ResponseRatio, SystemRatio
from plimsoll.analyse.study.workloads import LearnedFrom, WorkloadStatement
from plimsoll.analyse.trial.tpcc_clauses import Deviation
from plimsoll.analyse.trial.trial_model import DataSummary, LongTrial, MeasuredTrial, TrialOutage
from plimsoll.record.document import Document
from plimsoll.record.environment import Environment
from plimsoll.record.level import Level
from plimsoll.record.model import Price
from plimsoll.record.storage import StorageRecord

ANALYSIS_FORMAT = 2
"""Version of this schema."""


class Unknown(StrEnum):
    """What the recordings of a system do not say."""

    RESPONSE_P99 = "response-p99"
    PROCESSORS = "processors"
    INTERVALS_OF_SINGLE_FIGURES = "intervals-of-single-figures"
    INTERVALS_OF_FEW_REPETITIONS = "intervals-of-few-repetitions"
    INTERVALS = "intervals"
    CORES = "cores"
    SETTINGS = "settings"


class SystemSummary(Document):
    """A candidate that could carry the load.

    Attributes:
        name: As the user calls it; unique within the study.
        instances: How many servers it consists of, each with a part of the whole; replicas are not among them.
        replicas: How many servers repeat them.
        cores: Processor cores that it could use; None when unknown.
        cost_per_month: In the user's currency; None when not given.
        price: The same with currency, term and date; null when not given.
        factors: Everything that tells it from other systems, as text.
        unknown: What its recordings do not say.
        environment: That of its first complete trial.
        durability: That of its least durable server, replicas aside; None where one does not say.
        encryptions: In how many trials its connections were encrypted how: version and cipher suite, or `none`.
        origin: `measured`, `imported-table`, `imported-sysbench` or `imported-tpcc`.
        imported_from: For an import the name of the file.
        factor_values: Its value of each factor of the study's `[factors]`; empty where systems were written out.
        in_environment: Name of the environment in which it was measured; null where environments are not switched.
    """

    name: str
    instances: int = 1
    replicas: int = 0
    cores: int | None = None
    cost_per_month: float | None = None
    price: Price | None = None
    factors: dict[str, str] = Field(default_factory=dict)
    unknown: tuple[Unknown, ...] = ()
    environment: Environment = Environment()
    durability: Durability | None = None
    encryptions: dict[str, int] = Field(default_factory=dict)
    origin: str = "measured"
    imported_from: str | None = None
    factor_values: dict[str, str] = Field(default_factory=dict)
    in_environment: str | None = None


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
        learned: The log that it was learned from, and how a run of it compared with that log; None for others.
        statements: Those of its workload file; else those that the engine sent, if the recordings say.
        reported: What the authors of an import say that clients did; empty for other workloads.
    """

    name: str
    kind: str | None = None
    rate_unit: str = "tps"
    options: dict[str, str] = Field(default_factory=dict)
    working_set: dict[str, int] = Field(default_factory=dict)
    types: dict[str, float] = Field(default_factory=dict)
    deviations: tuple[Deviation, ...] = ()
    learned: LearnedFrom | None = None
    statements: tuple[WorkloadStatement, ...] = ()
    reported: str = ""


class EnvironmentBlocks(Document):
    """How often two environments that cannot be there at the same time were measured.

    Attributes:
        environments: Those of the base and of the system.
        counts: In how many blocks each was measured; with a single block of either there is no interval.
    """

    environments: tuple[str, str]
    counts: tuple[int, int]


class Difference(SystemRatio):
    """How throughput of `system` compares with that of `base`.

    All comparisons of a workload are judged together (Holm).

    Attributes:
        level: The level compared at; None for the comparison of the two peaks.
        base_level: For peaks: the level at which `base` was read. Where some level is near the peak of both, it is the
            same for both: that of these at which both together have most.
        system_level: The same of `system`.
        repetitions_needed: How many further repetitions would decide four times out of five, if the ratio stays; 0
            where it is decided; None when untestable, or where more than 100 are needed. Blocks of each environment
            where `blocks` is there.
        other_factors: For peaks: every factor whose known values differ, as (name, base's value, system's value).
        one_sided_factors: For peaks: every factor that is known of one of them only; null for the other's value.
        duet: The pairs of turns that it rests on; null where the systems did not take turns.
        blocks: The blocks of environments that it rests on; null where both systems are in the same environment.
        response: How response times compare where both systems were read at one level; null where they were not, and
            where no statistic of them is known of every repetition.
    """

    level: Level | None = None
    base_level: Level | None = None
    system_level: Level | None = None
    other_factors: tuple[tuple[str, str, str], ...] = ()
    one_sided_factors: tuple[tuple[str, str | None, str | None], ...] = ()
    duet: Duet | None = None
    blocks: EnvironmentBlocks | None = None
    response: ResponseRatio | None = None

    @property
    def inverted(self) -> Self:
        """The base over the system, with the levels, factors and response times of both."""
        update = {
            "response": self.response and self.response.inverted,
            "base_level": self.system_level,
            "system_level": self.base_level,
            "other_factors": tuple((name, value, of_base) for name, of_base, value in self.other_factors),
            "one_sided_factors": tuple((name, value, of_base) for name, of_base, value in self.one_sided_factors),
        }
        return super().inverted.model_copy(update=update)

    @property
    def withheld(self) -> Self:
        """Without verdicts and intervals, those of response times included."""
        return super().withheld.model_copy(update={"response": self.response and self.response.withheld})


class VariableReason(StrEnum):
    """Why a variable is not the same in all systems."""

    FACTOR = "factor"  # the study varies it, or what it follows from
    OWN = "own"  # a path, a port, an identifier: no two servers share it
    ABSENT = "absent"  # another flavour or version does not have it
    DEFAULT = "default"  # nobody set it: flavours and versions have other defaults
    UNEXPLAINED = "unexplained"


class VariableDifference(Document):
    """A server variable whose effective value is not the same in all systems.

    Attributes:
        variable: Its name; of one that is called otherwise in some system, the newer name.
        values: By system name; None where the system does not have the variable.
        expected: The difference follows from what the study varies, or is a path, a port or the like, or another
            default of another flavour or version that hardly changes what is measured.
        reason: Which of these.
    """

    variable: str
    values: dict[str, str | None]
    expected: bool
    reason: VariableReason = VariableReason.UNEXPLAINED


class Cover(Document):
    """What the guide says of itself as a document; each is empty where nobody said it.

    Attributes:
        title: In place of the study's name.
        author: Who wrote it.
        organisation: Where the author works.
        audience: Whom it is for.
        summary: The author's words above the answer.
        confidential: A mark on every sheet.
        logo: A picture, as a `data:` address.
        group_by: Systems that differ only in this factor share a page.
    """

    title: str = ""
    author: str = ""
    organisation: str = ""
    audience: str = ""
    summary: str = ""
    confidential: str = ""
    logo: str = ""
    group_by: str = ""


class StudyFile(Document):
    """What a study was asked to do, for those who want to repeat it.

    Attributes:
        options: Of `[study]`: how trials ran, defaults included, as people read them.
        text: The study file as the study ran; arguments of hooks and what is called a secret are left out.
    """

    options: dict[str, str]
    text: str


class Analysis(Document):
    """Everything that the guide shows.

    Attributes:
        analysis_format: Version of this schema.
        plimsoll_version: What made it.
        study: Name of the study.
        objective_ms_p99: 99 % of transactions may take at most so long, milliseconds; None when the study has none.
        answer: The advice, first things first.
        limits: The limitations of these trials.
        systems: In the order of the study file, or of the import.
        workloads: In the order of their first trials.
        curves: By workload, then by system.
        differences: By workload and pair of systems: the peaks first, then equal levels, rising.
        variables: Unexpected differences first, then by name.
        warnings: The gravest first.
        outages: The longest; `outages_count` is how many there were.
        outages_count: How many outages there were.
        planned_count: How many trials the study's plan holds; None without a plan, as for imports.
        missing: Trials that are part of no number, those that never ran included.
        where_time: Where the time of transactions goes, for each curve with telemetry.
        scalability: How throughput follows connections, for each curve of at least two levels in a closed loop.
        equivalence: What was compared between systems besides throughput, and what was not the same.
        costs: What systems cost for what they sustain, for each workload; empty without prices.
        capacities: The highest rates at which an objective held, by system and workload; empty without a search.
        capacity_ratios: Every two systems compared by their capacity.
        storages: What storage does by itself, as fio measured it; empty where the study asks for none.
        storage_use: For each system, workload and storage of the system's data: a flush there beside a transaction.
        claims: What earlier studies or the authors of an import found, held against what was measured.
        trials: Those that figures rest on, in the order of `curves` and repetitions; then the runs of searches.
        effects: What each factor of the study changes over the others, and how factors interact.
        long_trials: Trials of ten minutes and more, minute by minute; in the order of `trials`.
        data: How data was put back and how it changed, by system and workload; empty for imports and older recordings.
        replication: What is said of replicas; empty where no system has any.
        durability_classes: Speed against safety, by workload, the safest first; empty where systems do not differ.
        document: What the guide's first page says of itself.
        choices: Which system to choose for which load, by workload.
        study_file: How to repeat the study; null for imports.
    """

    analysis_format: int = ANALYSIS_FORMAT
    plimsoll_version: str
    study: str
    objective_ms_p99: float | None = None
    answer: tuple[Finding, ...]
    limits: tuple[Finding, ...]
    systems: tuple[SystemSummary, ...]
    workloads: tuple[WorkloadSummary, ...]
    curves: tuple[Curve, ...]
    differences: tuple[Difference, ...] = ()
    variables: tuple[VariableDifference, ...] = ()
    warnings: tuple[PlacedWarning, ...] = ()
    outages: tuple[TrialOutage, ...] = ()
    outages_count: int = 0
    planned_count: int | None = None
    missing: tuple[MissingTrial, ...] = ()
    where_time: tuple[WhereTime, ...] = ()
    scalability: tuple[Scalability, ...] = ()
    equivalence: tuple[Equivalence, ...] = ()
    costs: tuple[WorkloadCost, ...] = ()
    capacities: tuple[SystemCapacity, ...] = ()
    capacity_ratios: tuple[CapacityRatio, ...] = ()
    storages: tuple[StorageRecord, ...] = ()
    storage_use: tuple[StorageUse, ...] = ()
    claims: tuple[CheckedClaim, ...] = ()
    trials: tuple[MeasuredTrial, ...] = ()
    long_trials: tuple[LongTrial, ...] = ()
    effects: Effects = Effects()
    data: tuple[DataSummary, ...] = ()
    replication: Replication = Replication()
    durability_classes: tuple[DurabilityClass, ...] = ()
    document: Cover = Cover()
    choices: tuple[WorkloadChoices, ...] = ()
    study_file: StudyFile | None = None
