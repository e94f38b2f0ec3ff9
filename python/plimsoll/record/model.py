"""What one trial leaves behind, as values: the JSON documents of a recording. The tables are in `frames`.

Deliberately not here: reading and writing (`store`), any statistic (package `analyse`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, field_serializer

from plimsoll.record.capacity import RunRole
from plimsoll.record.connections import ConnectionsRecord, OutageRecord
from plimsoll.record.data import DataState
from plimsoll.record.document import Document, FileMark, UnixSeconds
from plimsoll.record.drivers import DriverRecord
from plimsoll.record.hooks import HookRecord
from plimsoll.record.level import Level
from plimsoll.record.origin import Origin
from plimsoll.record.price import Price
from plimsoll.record.ramp import Ramp
from plimsoll.record.reported import ReportedResult
from plimsoll.record.weather import Weather

RECORD_FORMAT = 2
"""Version of the recording's format. A reader refuses a newer one and upgrades an older one."""

DUET_FORMAT = 3
"""Version of a recording of a duet, which has a table that earlier readers do not know."""

RECORD_FORMAT_MAX = DUET_FORMAT
"""The newest that is read."""

_INTERVALS_MAX = 10_000_000
"""Of one trial: four months in seconds. Arrays of so many fit into memory."""


class State(StrEnum):
    """The states of a trial, in their order."""

    RESET = "reset"
    SETTLE = "settle"
    WARM = "warm"
    MEASURE = "measure"
    VERIFY = "verify"


class Verdict(StrEnum):
    """What became of a trial: complete, ran but must not be believed, did not run to its end, was ended."""

    COMPLETE = "complete"
    INVALID = "invalid"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class TrialWarning(Document):
    """A doubt about a number: what, the evidence, and what to do.

    Attributes:
        code: Stable name; every code is described in docs/warnings.md.
        evidence: What was seen, with its numbers and units, as one sentence.
        advice: What to do about it, as one sentence.
    """

    code: str
    evidence: str
    advice: str


class SystemRecord(Document):
    """The system that carried the load.

    Attributes:
        name: As the user calls it; unique within a study.
        factors: What tells it from other systems: name and value as text, such as `{"storage": "SAN"}`.
        instances: How many servers it consists of.
        cost_per_month: In the user's currency; None when not given.
        price: The same with currency, term and date; None when not given.
        factor_values: Its value of each factor of the study's `[factors]`, by the factor's name, in the order of the
            file; empty where systems were written out.
        environment: The environment of the study in which it is measured; None where environments are not switched.
    """

    name: str
    factors: dict[str, str] = Field(default_factory=dict)
    instances: int = 1
    cost_per_month: float | None = None
    price: Price | None = None
    factor_values: dict[str, str] = Field(default_factory=dict)
    environment: str | None = None


def price_of(system: SystemRecord) -> Price | None:
    """What a system costs; older recordings have only the number."""
    if system.price is not None or system.cost_per_month is None:
        return system.price
    return Price(per_month=system.cost_per_month)


class WorkloadRecord(Document):
    """What clients did.

    Attributes:
        name: As the user calls it; unique within a study.
        kind: Such as `oltp_read_write`; None when a published table does not say.
        options: All options that were in force, defaults included.
        working_set: Rows, of all tables together, by the percentage of accesses that they take: `50`, `90`, `99`. Empty
            where rows are not chosen by their numbers.
        rate_unit: How its throughput is shown: `tps` or `tpm`. Inside it is always per second.
    """

    name: str
    kind: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    working_set: dict[str, int] = Field(default_factory=dict)
    rate_unit: str = "tps"


class StateMark(Document):
    """When a state began, and how it ended.

    Attributes:
        state: Which.
        began_unix_s: Wall clock, seconds since 1970.
        note: What was waited for and whether it was reached; None when there is nothing to say.
    """

    state: State
    began_unix_s: UnixSeconds
    note: str | None = None


class TrialRecord(Document):
    """`trial.json`: what was planned, and when each state began.

    Attributes:
        record_format: Version of the format.
        trial_id: Hash of the trial's own inputs.
        study: Name of the study.
        repetition: 0, 1, 2, … for the same system, workload and level.
        position: Place in the order in which trials ran.
        block: Trials with the same number ran without the system being stopped in between.
        session_id: Of the `plimsoll study run` that ran it; None when unknown.
        server_start_id: The same for trials that met the same server processes; None when unknown.
        seed: All randomness of the load follows from it.
        interval_s: Length of an interval, seconds.
        duration_s: Planned length of the measured window, seconds; None for imports that do not say.
        repeats: The trial that this one replaces, because the machine was slow around it; None for none.
        search_id: Of the search for a capacity that it is a run of; None for others.
        search_role: What it was for in that search; None for others.
        ramp: How its rate rose; None where it did not rise.
    """

    record_format: int = RECORD_FORMAT
    trial_id: str
    study: str
    system: SystemRecord
    workload: WorkloadRecord
    level: Level
    repetition: int
    position: int = 0
    block: int = 0
    session_id: str | None = None
    server_start_id: str | None = None
    seed: int = 0
    interval_s: Annotated[float, Field(gt=0)] = 1.0
    duration_s: float | None = None
    origin: Origin = Origin()
    repeats: str | None = None
    states: tuple[StateMark, ...] = ()
    search_id: str | None = None
    search_role: RunRole | None = None
    ramp: Ramp | None = None

    @field_serializer("level")
    def _stored_level(self, level: Level) -> dict[str, Any]:
        """Terminals are the workload's and stand with its options."""
        return level.model_dump(exclude={"terminals"})


class EngineAccount(Document):
    """What the engine says about itself and the whole trial.

    Attributes:
        started_unix_s: When interval 0 began, wall clock, seconds since 1970.
        duration_s: How long load was offered, warm-up included, seconds.
        client_user_s: Processor time in user space, all of the trial, seconds.
        client_system_s: Processor time in the kernel, seconds.
        client_memory_bytes_max: Largest resident memory.
    """

    started_unix_s: UnixSeconds
    duration_s: float
    offered_count: int
    unfinished_count: int
    client_user_s: float
    client_system_s: float
    client_memory_bytes_max: int


class Window(Document):
    """The measured intervals: from `first` to `last`, both included."""

    first: Annotated[int, Field(ge=0, le=_INTERVALS_MAX)]
    last: Annotated[int, Field(ge=0, le=_INTERVALS_MAX)]


class Outcome(Document):
    """`outcome.json`: written last; its presence commits the recording.

    Attributes:
        verdict: Complete; or invalid, failed or interrupted, and then it counts nowhere.
        reason: Why it is not complete.
        nothing_completed: It is invalid only because no transaction completed in the measured window: at a rate that is
            overload.
        window: Which intervals count; None when there are none.
        account: None for imports.
        connections: None for imports, and when the load never began.
        drivers: Those that shared the load; empty where it was one engine on the machine that ran Plimsoll.
        outages: The first thousand, by instance and time.
        outages_count: How many there were.
        reported: None for what was measured here, and where the source of an import states nothing of the whole run.
        weather: How fast the machine was; None for imports and older recordings.
        data: What the trial's data was before and after; None for imports and older recordings.
        hooks: Those that ran since the trial before, and in this one.
        files: The recording's other files by name. Filled in when the recording is written.
    """

    verdict: Verdict
    reason: str | None = None
    nothing_completed: bool = False
    window: Window | None = None
    account: EngineAccount | None = None
    connections: ConnectionsRecord | None = None
    drivers: tuple[DriverRecord, ...] = ()
    outages: tuple[OutageRecord, ...] = ()
    outages_count: int = 0
    reported: ReportedResult | None = None
    weather: Weather | None = None
    data: DataState | None = None
    hooks: tuple[HookRecord, ...] = ()
    warnings: tuple[TrialWarning, ...] = ()
    files: dict[str, FileMark] = Field(default_factory=dict)
