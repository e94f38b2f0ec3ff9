"""What `plimsoll compare` answers, as values: the JSON that it prints."""

from __future__ import annotations

from enum import StrEnum

from plimsoll.analyse.findings.finding_model import Finding, Grade
from plimsoll.analyse.study.cell_model import Bounds, SpreadKind
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.trial.condition_model import UnlikeConditions
from plimsoll.record.capacity import CapacityObjective
from plimsoll.record.document import Document
from plimsoll.record.level import Level

COMPARE_FORMAT = 1
"""Version of this schema."""


class Metric(StrEnum):
    """What is compared: throughput and capacity, or the 99th percentile of response time."""

    THROUGHPUT = "throughput"
    P99 = "p99"


class Sessions(StrEnum):
    """Across what two sides were replicated: how a machine moves between sessions shows only in some designs."""

    ONE_STUDY = "one-study"  # what a session changes is common to both
    ALTERNATING = "alternating"  # two studies, each continued after the other at least three times
    APART = "apart"  # two studies, one session of each: no verdict
    BASELINE = "baseline"  # the same, and other sessions of the first side show how far sessions lie apart
    UNKNOWN = "unknown"  # imports do not say when they were measured: taken as if sessions did not matter


class ComparedSide(Document):
    """One of the two that are compared.

    Attributes:
        name: As the user wrote it.
        study: Name of its study.
        system: Name of the system in that study.
        server_versions: As its servers say.
        trials_count: Complete trials that were compared; runs of searches for a capacity are no part of them.
        left_out_count: Trials that are damaged, failed or invalid.
        searches_count: Finished searches for a capacity.
        unfinished_count: Searches for a capacity that are not finished.
    """

    name: str
    study: str
    system: str
    server_versions: tuple[str, ...] = ()
    trials_count: int
    left_out_count: int = 0
    searches_count: int = 0
    unfinished_count: int = 0


class MetricComparison(Document):
    """One metric of the second side over that of the first.

    Attributes:
        ratio: Second over first; None where the first is zero or one is not known.
        low: Lower end of the 95 % confidence interval of this ratio alone; None where there is none.
        high: Upper end.
        verdict: `faster`, `slower` or `equal` (the second side), corrected for all comparisons of the metric (Holm);
            `unresolved` where these trials cannot tell, `untestable` where it is unknown how repetitions, or sessions
            of two studies, differ, `disturbed` where the machine was not equally fast for both. A higher p99 is slower.
        repetitions_needed: Further repetitions of each side that would decide four times out of five if the ratio
            stays; 0 where it is decided; None when untestable, or where more than 100 are needed.
        equal_within: Share within which the two count as equal.
        smallest_effect: Smallest ratio above 1 that is found four times out of five; None when untestable.
        base_value: Of the first side: the geometric mean of the repetitions that the ratio is of, tps or milliseconds,
            so that `system_value` over it is `ratio`. In a duet that of both sides, parted by the ratio of the turns.
            None where not known.
        system_value: Of the second side.
        base_repetitions: How many repetitions of the first side; where sessions alternate, how many sessions.
        system_repetitions: How many of the second.
        basis: What the interval rests on; `within-run` says nothing about how repetitions differ, `within-study`
            nothing about how sessions do.
        method: How it was found, in words.
        unlike: What both sides met where the verdict is `disturbed`; None otherwise.
        grade: How well it is known: `measured` where repetitions or sessions gave a verdict, `indicated` where only a
            ratio is known, or figures were imported, `unknown` where nothing can be said.
    """

    ratio: float | None
    low: float | None = None
    high: float | None = None
    verdict: RatioVerdict
    repetitions_needed: int | None = None
    equal_within: float
    smallest_effect: float | None = None
    base_value: float | None = None
    system_value: float | None = None
    base_repetitions: int = 0
    system_repetitions: int = 0
    basis: SpreadKind | None = None
    method: str = ""
    unlike: UnlikeConditions | None = None
    grade: Grade = Grade.UNKNOWN

    @property
    def bounds(self) -> Bounds | None:
        """The confidence interval of the ratio; None where there is none."""
        if self.low is None or self.high is None:
            return None
        return Bounds(low=self.low, high=self.high, basis=self.basis, method=self.method)


class CellComparison(MetricComparison):
    """Throughput of one workload and level that both sides have, and its p99.

    Attributes:
        workload: Name.
        level: Level.
        p99: 99th percentile of response time, milliseconds; None where it is not known of both.
    """

    workload: str
    level: Level
    p99: MetricComparison | None = None


class CapacityComparison(MetricComparison):
    """Capacity at an objective that both sides were searched for, under one workload.

    Attributes:
        workload: Name.
        objective: What had to hold.
        is_of_ramps: It rests on pairs of ramps, whose number stands for that of the repetitions.
    """

    workload: str
    objective: CapacityObjective
    is_of_ramps: bool = False


class ConditionDifference(Document):
    """Something that is not the same on both sides.

    Attributes:
        what: Its name for people.
        base: Value of the first side.
        system: Value of the second.
        is_compared: It is what the two systems differ in: a factor of the study file or the server's version. Anything
            else (host, client, workload, a variable that nobody stated) may cause a difference that is not theirs.
    """

    what: str
    base: str
    system: str
    is_compared: bool


class GateOutcome(StrEnum):
    """What a rule of `--fail-if` comes to."""

    FAILED = "failed"
    PASSED = "passed"
    UNDECIDED = "undecided"


class GateResult(Document):
    """A rule of `--fail-if` and what it comes to.

    Attributes:
        metric: What it is about.
        limit: By which share the second side may be worse, such as 0.05.
        outcome: `failed` where it is established, for at least one place, that the second side is worse by more than
            the limit; `passed` where it is established for every place that it is not; else `undecided`.
        failed_at: The places, as (workload, level as text); ("", "") for all together.
        undecided_at: Places where neither is established; empty where the rule failed.
        open_at: The same also where the rule failed elsewhere.
        passed_at: Places where it is established that the second side is not worse by the limit or more.
        repetitions_needed: Further repetitions that would probably decide; 0 where it is decided, None where unknown.
        places_count: At how many places it was tested or could not be; with none it is undecided.
        is_within_run: It rests on intervals within single runs: repetitions may differ more.
    """

    metric: Metric
    limit: float
    outcome: GateOutcome
    failed_at: tuple[tuple[str, str], ...] = ()
    undecided_at: tuple[tuple[str, str], ...] = ()
    open_at: tuple[tuple[str, str], ...] = ()
    passed_at: tuple[tuple[str, str], ...] = ()
    repetitions_needed: int | None = None
    places_count: int = 0
    is_within_run: bool = False


class CompareAnswer(MetricComparison):
    """The whole answer. Its own figures are those of throughput over all cells together.

    Over several cells that is the geometric mean of their ratios, taken within each repetition; levels at a rate, where
    throughput is what was asked for, are no part of it unless there are no others. Where both sides have no level in
    common but capacities, its figures are those of the capacities.

    Attributes:
        compare_format: Version of this schema.
        plimsoll_version: What made it.
        base: The first side, which is compared with.
        system: The second side.
        is_paired: Both sides are systems of one study, compared within its repetitions.
        at_any_look: Repetitions went on until an answer was decided: intervals hold after every repetition.
        is_duet: The two took turns, and are compared by the pairs of their turns.
        sessions: Across what the two were replicated.
        baselines: Other sessions of the first side, whose spread the intervals have.
        text: The answer in one sentence.
        differing: What is not the same on both sides; what is not compared comes first.
        comparisons: By workload and level, rising.
        capacities: By workload and objective.
        gates: One for each rule of `--fail-if`.
        notes: What to know before relying on it.
    """

    compare_format: int = COMPARE_FORMAT
    plimsoll_version: str
    base: ComparedSide
    system: ComparedSide
    is_paired: bool
    at_any_look: bool = False
    is_duet: bool = False
    sessions: Sessions = Sessions.UNKNOWN
    baselines: tuple[ComparedSide, ...] = ()
    text: str = ""
    differing: tuple[ConditionDifference, ...] = ()
    comparisons: tuple[CellComparison, ...]
    capacities: tuple[CapacityComparison, ...] = ()
    gates: tuple[GateResult, ...] = ()
    notes: tuple[Finding, ...] = ()
