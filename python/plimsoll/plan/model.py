"""A plan: which trials run, in which order, and what they are expected to take."""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.capacity import RunRole
from plimsoll.record.document import Document
from plimsoll.record.level import FittedBudget, Level, Ramp

PLAN_FORMAT = 2
"""Version of `plan.json`."""


AGAIN = "-again"
"""Ends the id of a trial that measures another one again."""


class PlannedTrial(Document):
    """One trial to come.

    Attributes:
        trial_id: A readable name and a hash of the trial's own inputs: what else a study holds does not change it.
        system: Name of the system that it measures.
        workload: Name of its workload.
        instances: How many servers the system has.
        connections: Of all instances together, as is `rate_tps`.
        rate_tps: Transactions per second to offer; None where each connection goes at its own pace.
        repetition: 0, 1, 2, …
        block: Trials of a block run one after the other, with no other system in between.
        seed: All randomness of its load follows from it.
        repeats: The trial that it measures again; None for none.
        duration_s: Length of its measured window where it is not that of the study; None otherwise.
        search_id: Of the search for a capacity that it is a run of; None for others.
        search_role: What it is for in that search; None for others.
        ramp: Of a ramp: how its rate rises; None for others.
    """

    trial_id: str
    system: str
    workload: str
    instances: int = 1
    connections: int
    rate_tps: float | None = None
    repetition: int
    block: int
    seed: int
    repeats: str | None = None

    def again(self, block: int) -> PlannedTrial:
        """The trial that measures this one again."""
        changes = {"trial_id": f"{self.trial_id}{AGAIN}", "repeats": self.trial_id, "block": block}
        return self.model_copy(update=changes)

    duration_s: float | None = None
    search_id: str | None = None
    search_role: RunRole | None = None
    ramp: Ramp | None = None

    @property
    def level(self) -> Level:
        """What is offered."""
        return Level(connections=self.connections, rate_tps=self.rate_tps)


class PlannedSearch(Document):
    """A search for a capacity to come; its trials join the plan one by one.

    Attributes:
        search_id: A readable name and a hash of what all its trials have in common.
        system: Whose capacity is searched.
        workload: Under which.
        repetition: 0, 1, 2, …
        block: As that of a trial.
    """

    search_id: str
    system: str
    workload: str
    repetition: int
    block: int


class Estimates(Document):
    """What a plan is expected to take: rough, from its own durations and typical speeds, not from this machine.

    Attributes:
        trial_s: One trial, its reset and warm-up included, seconds.
        total_s: All trials, starts and data loads included, seconds.
        disk_bytes: Space for the data of all managed servers at the same time, with the copies that resets need.
        recordings_bytes: Space for the recordings of all trials.
        settle_s_max: What waiting for quiet servers before each trial may add to that, all trials together, seconds.
    """

    trial_s: float
    total_s: float
    disk_bytes: int
    recordings_bytes: int = 0
    settle_s_max: float = 0.0


class Plan(Document):
    """All trials of a study in the order in which they run.

    Attributes:
        plan_format: Version of this document.
        study: Name of the study.
        searches: For capacities, in the order in which they run.
        trials: Those of searches as far as they are known.
        estimates: What it is expected to take.
        former_ids: Ids of trials that were recorded under an earlier rule, by the ids that they would have now.
        fitted: How repetitions were reduced to fit the budget; None where they were not.
    """

    plan_format: int = PLAN_FORMAT
    study: str
    searches: tuple[PlannedSearch, ...] = ()
    trials: tuple[PlannedTrial, ...]
    estimates: Estimates
    former_ids: dict[str, str] = Field(default_factory=dict)
    fitted: FittedBudget | None = None
