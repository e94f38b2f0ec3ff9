"""`[study]` of a study file as users write it: how to measure.

Deliberately not here: what contradicts other parts of the file (`study`).
"""

from __future__ import annotations

from pydantic import field_validator

from plimsoll.spec.clients import Clients
from plimsoll.spec.drivers import ONE_HERE, Drivers
from plimsoll.spec.duet import Design
from plimsoll.spec.environments import Switch
from plimsoll.spec.fields import Count, DurationS, Length, Name, Repetitions, Share, WarmUp, Written
from plimsoll.spec.hooks import StudyHooksSpec
from plimsoll.spec.levels import Levels
from plimsoll.spec.placement import ClientPlacement
from plimsoll.spec.prices import UTILISATION, Utilisation
from plimsoll.spec.system import Reset


class Objective(Written):
    """The objective that a load must keep to count as sustained.

    Attributes:
        response_p99: 99 % of transactions must be answered within this time, such as "20ms".
    """

    response_p99: DurationS | None = None


class StudySection(Written):
    """What to measure, how long and how often.

    Attributes:
        name: Name of the study and title of its guide.
        levels: The loads to offer: numbers of connections, or rates.
        warm_up: Load before the measurement: "auto" (until throughput is flat), or a fixed time such as "120s".
        warm_up_limit: Longest warm-up with "auto".
        settle_limit: Longest wait for the server to become quiet before the load begins.
        duration: Length of each measurement, or "auto" (until the interval of its throughput is as narrow as
            `target_interval`). In a search for a capacity: length of each steady run.
        target_interval: With duration = "auto": half width of the 95 % CI of a trial's throughput, over the throughput.
        duration_limit: Longest measurement with duration = "auto".
        repetitions: How often each system is measured at each level, or "auto" (until every comparison is decided,
            `repetitions_limit` is reached or another repetition would exceed the budget).
        repetitions_limit: Most repetitions or rounds with "auto".
        reset: When the data is put back as it was loaded: `per_trial` (the default), `per_system` (each time a system
            starts), `never`, or `hook` (before each trial, by the hook `reset`). Required if a workload writes to a
            `target`.
        objective: The objective that a load must keep to count as sustained.
        budget: Time for all runs of the study. A plan that takes longer is refused; with "auto" the study ends instead.
            Time that is left repeats trials during which the machine was slow, but not with "auto".
        equal_within: Systems count as equal if their throughputs are shown to differ by less than this share.
        client: CPUs of the load generator. Default: all of them.
        drivers: Machines that drive the load together, such as ["load1", "load2"], or nodes of a Ray cluster, such as
            { ray = "auto", count = 8 }. "local" is this machine, which drives the load alone by default.
        clients: How clients connect, how long they think, and how they handle errors.
        utilisation: Share of its capacity at which a system will run in production; used for the cost per transaction.
        seed: Seed of the order of trials and of all randomness.
        design: `sequential`: one system after the other. `duet`: all servers are up and take short turns; exactly one
            runs at a time, the others are frozen. With `capacity` they run ramps in place of turns.
        turn: Length of a turn in a duet.
        rounds: In a duet, in place of repetitions: number of rounds, each with newly started servers; or "auto". Where
            capacities are compared one round is the default, which goes on until it is decided.
        switch: How environments are switched. `hand`: each run of the study measures the environment that is there.
            `hook`: the hook `switch` does it.
        blocks: With `switch = "hand"`: number of blocks into which the repetitions of each environment are divided,
            with the other environments in between.
        hooks: Commands for the whole study.
    """

    name: Name
    levels: Levels
    warm_up: WarmUp = None
    warm_up_limit: DurationS = 120.0
    settle_limit: DurationS = 60.0
    duration: Length = 60.0
    target_interval: Share = 0.05
    duration_limit: DurationS = 600.0
    repetitions: Repetitions = 3
    repetitions_limit: Count = 20
    reset: Reset | None = None
    budget: DurationS | None = None
    objective: Objective = Objective()
    equal_within: Share = 0.05
    client: ClientPlacement | None = None
    drivers: Drivers = ONE_HERE
    clients: Clients = Clients()
    utilisation: Utilisation = UTILISATION
    seed: int = 1
    design: Design = "sequential"
    turn: DurationS = 0.5
    rounds: Repetitions = 6
    switch: Switch | None = None
    blocks: Count = 2
    hooks: StudyHooksSpec = StudyHooksSpec()

    @property
    def client_cpus(self) -> tuple[int, ...] | None:
        """CPUs of the load generator; None for all."""
        return None if self.client is None else self.client.cpus

    @property
    def is_duet(self) -> bool:
        """Whether systems take turns."""
        return self.design == "duet"

    @property
    def climbs(self) -> bool:
        """Whether capacities are compared by paired ramps."""
        return self.is_duet and self.levels.capacity is not None

    @property
    def is_until_decided(self) -> bool:
        """Whether repetitions, in a duet rounds, go on until every comparison is decided."""
        return not self.climbs and (self.rounds if self.is_duet else self.repetitions) is None

    @property
    def repetition_count(self) -> int:
        """How often each cell is measured, at most; in a duet once in each round."""
        if self.climbs and "rounds" not in self.model_fields_set:
            return 1
        return (self.rounds if self.is_duet else self.repetitions) or self.repetitions_limit

    @property
    def blocks_count(self) -> int:
        """In how many blocks each environment is measured where it is switched by hand: never more than repetitions."""
        return min(self.blocks, self.repetition_count)

    @property
    def duration_most(self) -> float:
        """The longest that a trial is measured, seconds."""
        return self.duration_limit if self.duration is None else self.duration

    @field_validator("duration", "duration_limit", mode="after")
    @classmethod
    def _long_enough(cls, value: float | None) -> float | None:
        if value is not None and value < 1:
            raise ValueError(f'must be at least "1s", is {value} s: an interval is one second')
        return value
