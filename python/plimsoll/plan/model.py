"""A plan: which trials run, in which order, and what they are expected to take."""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.document import Document

PLAN_FORMAT = 2
"""Version of `plan.json`."""


class PlannedTrial(Document):
    """One trial to come.

    Attributes:
        trial_id: A readable name and a hash of the trial's own inputs: what else a study holds does not change it.
        instances: How many servers the system has.
        connections: Of all instances together, as is `rate_tps`.
        rate_tps: Transactions per second that are wanted; None where each connection goes at its own pace.
        repetition: 0, 1, 2, …
        block: Trials of a block run one after the other, with no other system in between.
        seed: All randomness of its load follows from it.
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
        former_ids: Ids of trials that were recorded under an earlier rule, by the ids that they would have now.
    """

    plan_format: int = PLAN_FORMAT
    study: str
    trials: tuple[PlannedTrial, ...]
    estimates: Estimates
    former_ids: dict[str, str] = Field(default_factory=dict)
