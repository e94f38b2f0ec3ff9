"""A study file as users write it, parsed whole: all faults at once, each with path, value and cure.

`[study]` says how to measure. A duet is one of its designs: here is which studies can be one, and how many turns follow
from their times. Keys that a later version will understand are refused with a reason, not ignored. Deliberately not
here: which trials follow from it, and the order of turns (`plan`), the analysis of duets (`analyse.study.duets`), and
any look at a server or a machine.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from plimsoll.errors import Fault, Loc, SpecError, within
from plimsoll.regular_file import text_regular
from plimsoll.spec.claims import ClaimSpec, faults_of_claims
from plimsoll.spec.clients import Clients, Reconnect, RetryRule
from plimsoll.spec.cover import CoverSpec
from plimsoll.spec.drivers import ONE_HERE, Drivers, RayDrivers, driver_faults
from plimsoll.spec.factors import equal_systems, expand
from plimsoll.spec.fields import (
    Count,
    DurationS,
    Length,
    Name,
    Repetitions,
    Share,
    WarmUp,
    Written,
    faults_of,
    parse_toml,
)
from plimsoll.spec.generators import DistributionSpec
from plimsoll.spec.hooks import (
    EnvironmentSpec,
    HookSpec,
    HooksSpec,
    StudyHooksSpec,
    Switch,
    environment_faults,
    hook_faults,
)
from plimsoll.spec.levels import (
    CapacityLevels,
    Levels,
    background_connections,
    has_own_pace,
    level_faults,
    study_faults,
)
from plimsoll.spec.oltp import UserDelay, WorkloadSpec
from plimsoll.spec.placement import ClientPlacement
from plimsoll.spec.storage import StorageSpec, storage_faults
from plimsoll.spec.system import SYSTEM_KEYS, UTILISATION, Reset, SystemSpec, Utilisation, share_faults, system_faults
from plimsoll.spec.tpcc import Mix, TpccSpec
from plimsoll.spec.workloads import (
    ReadFile,
    StatementsSpec,
    WrittenWorkload,
    definition_faults,
    different_rows,
    is_sound,
    kept_files,
    read_workloads,
    reader,
    shared_table_faults,
)


class Objective(Written):
    """The objective that a load must keep to count as sustained.

    Attributes:
        response_p99: 99 % of transactions must be answered within this time, such as "20ms".
    """

    response_p99: DurationS | None = None


Design = Literal["sequential", "duet"]


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
            Time that is left repeats trials whose machine was slow or disturbed, but not with "auto".
        equal_within: Systems count as equal if their throughputs or capacities are shown to differ by less than this.
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


STUDY_FILE = "study.toml"
"""Its name within a study's folder."""

STUDY_FILE_BYTES_MAX = 1_000_000

TRIALS_MAX = 100_000
"""More trials than anybody waits for; a plan is kept in memory."""


class StudySpec(Written):
    """A whole study file.

    Attributes:
        claim: What earlier studies found; the guide says whether this study confirms it.
        environment: How to find out which environment is there, by the environment's name.
        document: What the guide's first page says of itself.
    """

    study: StudySection
    workload: tuple[WrittenWorkload, ...] = Field(min_length=1)
    system: tuple[SystemSpec, ...] = Field(min_length=1)
    claim: tuple[ClaimSpec, ...] = ()
    storage: tuple[StorageSpec, ...] = ()
    environment: dict[Name, EnvironmentSpec] = Field(default_factory=dict)
    document: CoverSpec = CoverSpec()

    @field_validator("workload", "system", "claim", "storage", mode="before")
    @classmethod
    def _a_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @property
    def sessions_max(self) -> int:
        """The most connections that a trial opens."""
        return max(self.study.levels.connections) + max(background_connections(workload) for workload in self.workload)

    @property
    def environments(self) -> tuple[str, ...]:
        """Environments of its systems, in the order of the file; none where systems do not name any."""
        return tuple(dict.fromkeys(system.environment for system in self.system if system.environment is not None))

    def reset_of(self, system: SystemSpec) -> Reset:
        """When the data of a system is put back as prepared."""
        return system.reset or self.study.reset or "per_trial"


_KNOWN = {
    "": (*StudySpec.model_fields, "factors"),
    "study": tuple(StudySection.model_fields),
    "study.levels": tuple(Levels.model_fields),
    "study.levels.capacity": tuple(CapacityLevels.model_fields),
    "study.hooks": tuple(StudyHooksSpec.model_fields),
    "study.objective": tuple(Objective.model_fields),
    "study.client": tuple(ClientPlacement.model_fields),
    "study.drivers": ("ssh", *RayDrivers.model_fields),
    "study.clients": tuple(Clients.model_fields),
    "study.clients.retry": tuple(RetryRule.model_fields),
    "study.clients.reconnect": tuple(Reconnect.model_fields),
    "claim": tuple(ClaimSpec.model_fields),
    "workload": (*{**WorkloadSpec.model_fields, **TpccSpec.model_fields}, "file", "rows", "parameters"),
    "workload.mix": tuple(Mix.model_fields),
    "workload.distribution": tuple(key for key in DistributionSpec.model_fields if key not in DistributionSpec.LATER),
    "workload.k_distribution": tuple(key for key in DistributionSpec.model_fields if key not in DistributionSpec.LATER),
    "workload.user_delay": tuple(UserDelay.model_fields),
    **SYSTEM_KEYS,
    "storage": tuple(StorageSpec.model_fields),
    "environment": tuple(EnvironmentSpec.model_fields),
    **{f"study.hooks.{name}": tuple(HookSpec.model_fields) for name in StudyHooksSpec.model_fields},
    "system.hooks": tuple(HooksSpec.model_fields),
    **{f"system.hooks.{name}": tuple(HookSpec.model_fields) for name in HooksSpec.model_fields},
}


def read_study(path: Path) -> StudySpec:
    """Reads and checks a study file.

    Raises:
        SpecError: The file cannot be read or is wrong; all faults at once.
    """
    try:
        text = text_regular(path, STUDY_FILE_BYTES_MAX)
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path}: is not UTF-8 text") from None
    try:
        return parse_study(text, reader(path.parent, kept_files(path.parent)))
    except SpecError as error:
        raise SpecError(*(f"{path.name}: {fault}" for fault in error.faults)) from None


def parse_study(text: str, read_file: ReadFile | None = None) -> StudySpec:
    """Checks the text of a study file.

    Args:
        text: All of it.
        read_file: Gives the text of a workload file; those that are shipped, and those below the current folder, when
            not given.

    Raises:
        SpecError: All faults at once, one line each.
    """
    written = parse_toml(text, "study file")
    matrix = expand(written)
    later = (*matrix.faults, *later_faults(written), *read_workloads(written, read_file or reader(Path())))
    try:
        spec = StudySpec.model_validate(written)
    except ValidationError as error:
        explained = {fault.path for fault in later}
        faults = [fault for fault in faults_of(error, known=_KNOWN) if fault.path not in explained]
        raise SpecError(*matrix.placed((*later, *faults))) from None
    if faults := [*later, *_contradictions(spec)]:
        raise SpecError(*matrix.placed(faults))
    return spec


def _contradictions(spec: StudySpec) -> Iterable[Fault]:
    for kind, names in (("workload", [w.name for w in spec.workload]), ("system", [s.name for s in spec.system])):
        for name, count in Counter(names).items():
            if count > 1:
                yield Fault((kind,), f"the name {name!r} is used {count} times; give each its own")
    yield from within(("study",), level_faults(spec.study.levels, spec.study.clients))
    if spec.study.levels.capacity is not None and spec.study.repetitions is None:
        yield Fault(
            ("study", "repetitions"), '"auto" is for levels that are given; say how often a capacity is searched for'
        )
    if spec.study.levels.capacity is not None and spec.study.duration is None:
        yield Fault(("study", "duration"), 'must be a time where a capacity is searched for, such as "60s"')
    yield from _too_many_trials(spec)
    yield from (*storage_faults(spec.storage), *duet_faults(spec), *equal_systems(spec.system))
    yield from (*hook_faults(spec), *environment_faults(spec))
    for index, workload in enumerate(spec.workload):
        if isinstance(workload, StatementsSpec):
            yield from definition_faults(("workload", index), workload)
    yield from different_rows(spec.workload)
    yield from shared_table_faults(spec.workload)
    yield from study_faults(spec)
    yield from driver_faults(spec)
    yield from faults_of_claims(spec)
    writes = any(workload.writes for workload in spec.workload if is_sound(workload))
    for index, system in enumerate(spec.system):
        faults = system_faults(system, needs_reset=writes and spec.study.reset is None)
        yield from within(("system", index), faults)
        if system.server is not None:
            faults = share_faults(
                system.server.instances,
                spec.workload,
                connections=spec.study.levels.connections,
                buffer_pool=system.server.buffer_pool,
            )
            yield from within(("system", index, "server"), faults)


def _too_many_trials(spec: StudySpec) -> Iterable[Fault]:
    cells = len(spec.study.levels.levels) * len(spec.workload) * len(spec.system)
    if (count := cells * spec.study.repetition_count) > TRIALS_MAX:
        yield Fault(
            ("study", "repetitions"),
            f"{count} trials follow from it, at most {TRIALS_MAX} can be planned; take fewer repetitions or levels",
        )


TURN_S_MIN, TURN_S_MAX = 0.1, 10.0
"""In a shorter turn the switch counts for more than the load, in a longer one slow noise does not cancel."""

PAIRS_MIN = 10
"""With fewer pairs of turns in a round the trimmed mean has too few degrees of freedom."""

ROUNDS_MIN = 2
"""One round says nothing about how starts of servers differ."""

LEAD_RATIO = 0.2
"""The begin of each turn that does not count, as a share of it."""


def pairs_per_round(study: StudySection) -> int:
    """How many pairs of turns each two systems have in the measured part of a round."""
    return int(study.duration_most / (2 * study.turn) + 1e-9)


def sweeps_to_warm(seconds: float, study: StudySection, system_count: int) -> int:
    """How many sweeps give each system so many seconds of load. A sweep has one pair of turns of each two systems."""
    return math.ceil(seconds / (study.turn * (system_count - 1)) - 1e-9)


def pair_count(system_count: int) -> int:
    """How many pairs there are of so many systems."""
    return system_count * (system_count - 1) // 2


def counted_turn_s(study: StudySection) -> float:
    """Length of the counted part of a turn, seconds."""
    return study.turn * (1 - LEAD_RATIO)


def counted_s_of_duet(study: StudySection, system_count: int) -> float:
    """How long the turns of each system count in a round, seconds."""
    return pairs_per_round(study) * (system_count - 1) * counted_turn_s(study)


def duet_faults(spec: StudySpec) -> Iterable[Fault]:
    """What keeps a study from being a duet, or belongs to duets only; one line each."""
    study, given = spec.study, spec.study.model_fields_set
    if study.design == "sequential":
        for key in ("turn", "rounds"):
            if key in given:
                yield Fault(("study", key), 'belongs to a duet; say design = "duet", or leave it out')
        return
    if "repetitions" in given:
        yield Fault(
            ("study", "repetitions"), "a duet has rounds, in each of which all servers are started again; say rounds"
        )
    if study.levels.capacity is not None:
        yield from _ramp_faults(spec)
        return
    if not TURN_S_MIN <= study.turn <= TURN_S_MAX:
        yield Fault(("study", "turn"), f'must be "100ms" to "10s", is {study.turn:g} s')
    elif study.duration is None:
        yield Fault(
            ("study", "duration"),
            'must be a time in a duet, such as "60s"; rounds = "auto" goes on until it is decided',
        )
    elif pairs_per_round(study) < PAIRS_MIN:
        yield Fault(
            ("study", "duration"),
            f"holds {pairs_per_round(study)} pairs of turns of {study.turn:g} s, at least {PAIRS_MIN}"
            " are needed; raise duration or shorten turn",
        )
    if study.rounds is not None and study.rounds < ROUNDS_MIN:
        yield Fault(
            ("study", "rounds"),
            f"must be at least {ROUNDS_MIN}, is {study.rounds}: one says nothing about how starts differ",
        )
    yield from _system_faults(spec)
    yield from _pace_faults(spec)


def _ramp_faults(spec: StudySpec) -> Iterable[Fault]:
    """Capacities are compared by ramps: each has its own time, in which the other systems are frozen."""
    if "turn" in spec.study.model_fields_set:
        yield Fault(("study", "turn"), "ramps that compare capacities have no turns; leave turn or capacity out")
    if spec.study.rounds is None:
        yield Fault(
            ("study", "rounds"), "must be a number where capacities are compared: pairs of ramps end when it is decided"
        )
    if spec.study.duration is None:
        yield Fault(("study", "duration"), 'must be a time where capacities are compared, such as "20s"')
    yield from _system_faults(spec)


def _system_faults(spec: StudySpec) -> Iterable[Fault]:
    if len(spec.system) < 2:
        yield Fault(("study", "design"), "a duet compares systems; there is one. Add a system, or leave design out")
    for index, system in enumerate(spec.system):
        if system.server is None:
            yield Fault(
                ("system", index),
                "a duet freezes servers, and Plimsoll freezes none that it did not start; use server"
                " in place of target, or leave design out",
            )
        if system.replicas:
            yield Fault(
                ("system", index),
                "replicas would apply what their source wrote in the turns of other systems; leave"
                " replicas or design out",
            )
        if system.host is not None:
            yield Fault(
                ("system", index, "host"), "systems of a duet run on this machine; leave it out, or leave design out"
            )


def _pace_faults(spec: StudySpec) -> Iterable[Fault]:
    """A schedule goes on while its server is frozen, and what falls due then would wait for the thaw."""
    if spec.study.levels.rate_tps is not None:
        yield Fault(
            ("study", "levels", "rate_tps"), "in a duet connections go at their own pace; leave rate_tps or design out"
        )
    if spec.study.clients.think_time is not None:
        yield Fault(
            ("study", "clients", "think_time"), "pauses go on while a server is frozen; leave think_time or design out"
        )
    for index, workload in enumerate(spec.workload):
        if is_sound(workload) and has_own_pace(workload):
            yield Fault(
                ("workload", index),
                "has pauses of its own, which go on while a server is frozen; leave them or design out",
            )


_LATER = {
    ("system", "instances"): "belongs into server: Plimsoll starts several managed servers; a target is one instance",
}
"""Keys of the study file's design that a later version will understand: refused with a reason, not ignored."""


def later_faults(written: dict[str, Any]) -> Iterable[Fault]:
    """What this version does not understand yet."""
    for path, reason in _LATER.items():
        yield from (
            Fault((*place, path[-1]), reason) for place, table in _tables(written, path[:-1]) if path[-1] in table
        )


def _tables(written: object, path: tuple[str, ...], place: Loc = ()) -> Iterable[tuple[Loc, dict[str, Any]]]:
    """Every table at a path, through lists of tables, with its place."""
    if isinstance(written, list):
        for index, item in enumerate(written):
            yield from _tables(item, path, (*place, index))
    elif isinstance(written, dict):
        if not path:
            yield place, written
        elif path[0] in written:
            yield from _tables(written[path[0]], path[1:], (*place, path[0]))
