"""What `plimsoll trend` answers, as values: the JSON that it prints.

Deliberately not here: how level shifts are found (`plimsoll.stats.level_shifts`) and judged (`trend`).
"""

from __future__ import annotations

from pydantic import Field

from plimsoll.analyse.answers.compare_model import ConditionDifference, GateResult, Metric
from plimsoll.analyse.findings.finding_model import Finding, Grade
from plimsoll.analyse.study.cell_model import Estimate
from plimsoll.analyse.study.ratio_model import Ratio
from plimsoll.analyse.trial.condition_model import Disturbance, UnlikeConditions
from plimsoll.record.capacity import CapacityObjective
from plimsoll.record.document import Document
from plimsoll.record.level import Level
from plimsoll.stats.level_shifts import ShiftKind

TREND_FORMAT = 1
"""Version of this schema."""


class TrendStudy(Document):
    """One study of the history.

    Attributes:
        name: As the user wrote it.
        study: Name of the study.
        labels: What `--label` said when it ran.
        began_unix_s: When its first trial began, seconds since 1970; null where that is not known.
        server_versions: As its servers say.
        trials_count: Complete trials.
        left_out_count: Trials that are damaged, failed or invalid.
        changes: What is not as in the study before it: hosts, versions, variables, the load engine.
    """

    name: str
    study: str
    labels: dict[str, str] = Field(default_factory=dict)
    began_unix_s: float | None = None
    server_versions: tuple[str, ...] = ()
    trials_count: int
    left_out_count: int = 0
    changes: tuple[ConditionDifference, ...] = ()


class TrendPoint(Document):
    """What one study found in one place.

    Attributes:
        study_index: Which study, from 0 in the order of `studies`.
        value: The geometric mean of its repetitions, transactions per second or milliseconds. Its interval is that of
            the repetitions: it says nothing of how the machine moves between studies.
        disturbance: How slow its machine was; null where recordings do not say.
        is_used: It is part of the history that is tested. Not where the machine was disturbed for too long, unless it
            was in most studies, or where nothing completed.
    """

    study_index: int
    value: Estimate
    disturbance: Disturbance | None = None
    is_used: bool = True


class TrendShift(Document):
    """A change of the level of one place.

    Attributes:
        study_index: The first study of the new level.
        earliest_index: The first study of the 95 % confidence set of that.
        latest_index: The last study of it.
        kind: `lasting`; `ended` where a later shift took it back, which is then a `return`; `one-sided` where slow
            studies became more or fewer and the fastest did not move, as a disturbed machine does; `gradual` where a
            line describes the change as well, so that no one study began it.
        change: The level after it over that before it, by the spread between studies.
        chance: Probability of a shift as clear as this in a history without any, for this place alone.
        before_value: The level before it, in the unit of the metric.
        after_value: The level after it.
        unlike: What the studies before and after it met, where the machine was not equally fast: the change is not
            that of the system then.
        grade: How well it is known: `measured` for a lasting change, `indicated` for others, `unknown` where the
            machine was not equally fast.
    """

    study_index: int
    earliest_index: int
    latest_index: int
    kind: ShiftKind
    change: Ratio
    chance: float
    before_value: float
    after_value: float
    unlike: UnlikeConditions | None = None
    grade: Grade


class TrendPlace(Document):
    """One metric of one system, workload and level over all studies, or one capacity.

    Attributes:
        system: Name.
        workload: Name.
        level: Level; null for a capacity.
        objective: What had to hold; null for a level.
        metric: Throughput, or the 99th percentile of response time; that of a capacity is throughput.
        points: One for each study that has the place, in order.
        shifts: In order; empty where none was found.
        deviation_ratio: Standard deviation of one study around its level, as a share of it; null where too few tell.
        correlation: Of neighbouring studies around their levels, 0..0.9.
        detectable_ratio: The smallest ratio above 1, between the level since the last shift and a new one that is at
            least `detectable_studies` studies old, that would be found with 90 %, by the same test; null where none
            would.
        detectable_studies: See there: how many studies old.
        detectable_power: With which probability it would be found; where there is none, the largest one.
        newest: The newest studies over those before them, by the most likely begin, with a verdict that is corrected
            for all begins and places; null where nothing can be said.
        newest_count: How many studies those are.
        is_mostly_disturbed: The machine was disturbed for too long in most of its studies: they are tested all the
            same, and steps are indicated and not measured.
    """

    system: str
    workload: str
    level: Level | None = None
    objective: CapacityObjective | None = None
    metric: Metric
    points: tuple[TrendPoint, ...]
    shifts: tuple[TrendShift, ...] = ()
    deviation_ratio: float | None = None
    correlation: float = 0.0
    detectable_ratio: float | None = None
    detectable_studies: int = 0
    detectable_power: float = 0.0
    newest: Ratio | None = None
    newest_count: int = 0
    is_mostly_disturbed: bool = False


class TrendAnswer(Document):
    """The whole answer.

    Attributes:
        trend_format: Version of this schema.
        plimsoll_version: What made it.
        text: The answer in one sentence.
        grade: How well it is known: that of the newest shifts, or `measured` where none was found and one could have
            been.
        ordered_by: `time`, a label, or `given` where it is not known when studies were measured.
        studies: In order.
        places: By system, workload, level and metric.
        newest: How many studies count as the newest at most.
        gates: One for each rule of `--fail-if`.
        notes: What to know before relying on it.
    """

    trend_format: int = TREND_FORMAT
    plimsoll_version: str
    text: str = ""
    grade: Grade
    ordered_by: str
    studies: tuple[TrendStudy, ...]
    places: tuple[TrendPlace, ...]
    newest: int
    gates: tuple[GateResult, ...] = ()
    notes: tuple[Finding, ...] = ()
