"""What one trial leaves behind, as values: the JSON documents of a recording. The tables are in `frames`.

Deliberately not here: reading and writing (`store`), any statistic (package `analyse`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from plimsoll.record.connections import ConnectionsRecord, OutageRecord
from plimsoll.record.document import Document, FileMark
from plimsoll.record.origin import Origin
from plimsoll.record.reported import ReportedResult

RECORD_FORMAT = 2
"""Version of the recording's format. A reader refuses a newer one and upgrades an older one."""


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
    """

    name: str
    factors: dict[str, str] = Field(default_factory=dict)
    instances: int = 1
    cost_per_month: float | None = None


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


class LevelRecord(Document):
    """One offered load.

    Attributes:
        connections: Of all instances together.
        connections_per_instance: When connections were stated for each instance; None when in total.
        rate_tps: Transactions per second that were wanted; None where each connection went at its own pace.
    """

    connections: int
    connections_per_instance: int | None = None
    rate_tps: float | None = None


class StateMark(Document):
    """When a state began, and how it ended.

    Attributes:
        state: Which.
        began_unix_s: Wall clock, seconds since 1970.
        note: What was waited for and whether it was reached; None when there is nothing to say.
    """

    state: State
    began_unix_s: float
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
    """

    record_format: int = RECORD_FORMAT
    trial_id: str
    study: str
    system: SystemRecord
    workload: WorkloadRecord
    level: LevelRecord
    repetition: int
    position: int = 0
    block: int = 0
    session_id: str | None = None
    server_start_id: str | None = None
    seed: int = 0
    interval_s: float = 1.0
    duration_s: float | None = None
    origin: Origin = Origin()
    states: tuple[StateMark, ...] = ()


class HostFacts(Document):
    """A machine. Whatever cannot be found out is None."""

    name: str | None = None
    kernel: str | None = None
    operating_system: str | None = None
    virtualisation: str | None = None
    cpu_model: str | None = None
    cpu_sockets: int | None = None
    cpu_cores: int | None = None
    cpu_threads: int | None = None
    cpu_governor: str | None = None
    numa_nodes: int | None = None
    memory_bytes: int | None = None
    clock_source: str | None = None
    pressure_stall_information: bool | None = None


class StorageFacts(Document):
    """Where an instance keeps its data. Whatever cannot be found out is None.

    Attributes:
        flush_ms_median: Of a small write with fdatasync in the data directory, milliseconds.
    """

    path: str | None = None
    file_system: str | None = None
    mount_options: str | None = None
    device: str | None = None
    device_model: str | None = None
    rotational: bool | None = None
    scheduler: str | None = None
    free_bytes: int | None = None
    flush_ms_median: float | None = None


class InstanceFacts(Document):
    """A running server.

    Attributes:
        name: Unique within its system.
        version: As the server says it.
        flavour: `mariadb` or `mysql`.
        started_unix_s: When its process began, by the server's clock, whole seconds.
        variables: Every effective global variable.
        tables: Definition of each table of the data set, as SHOW CREATE TABLE prints it.
        data_bytes: Size of the data set's tables with their indexes.
        option_file: Text of the option file of a managed server.
        storage: Where its data is; None when the server is not on this machine.
    """

    name: str
    version: str | None = None
    flavour: str | None = None
    started_unix_s: int | None = None
    variables: dict[str, str] = Field(default_factory=dict)
    tables: dict[str, str] = Field(default_factory=dict)
    data_bytes: int | None = None
    option_file: str | None = None
    storage: StorageFacts | None = None


class ClientFacts(Document):
    """What drove the load.

    Attributes:
        on_server_host: Client and server shared a machine; None when unknown.
        server_place: How that was found, or why it is unknown; None for imports.
        limit_tps: What it reached at this level against a server that answers at once; None when never measured.
    """

    plimsoll_version: str | None = None
    engine_version: str | None = None
    python_version: str | None = None
    on_server_host: bool | None = None
    server_place: str | None = None
    limit_tps: float | None = None


class Environment(Document):
    """`environment.json`: what the number was measured on.

    Attributes:
        reported: What an import's source says about its machines, as name and text.
    """

    host: HostFacts = HostFacts()
    instances: tuple[InstanceFacts, ...] = ()
    client: ClientFacts = ClientFacts()
    reported: dict[str, str] = Field(default_factory=dict)


class EngineAccount(Document):
    """What the engine says about itself and the whole trial.

    Attributes:
        started_unix_s: When interval 0 began, wall clock, seconds since 1970.
        duration_s: How long load was offered, warm-up included, seconds.
        client_user_s: Processor time in user space, all of the trial, seconds.
        client_system_s: Processor time in the kernel, seconds.
        client_memory_bytes_max: Largest resident memory.
    """

    started_unix_s: float
    duration_s: float
    offered_count: int
    unfinished_count: int
    client_user_s: float
    client_system_s: float
    client_memory_bytes_max: int


class Window(Document):
    """The measured intervals: from `first` to `last`, both included."""

    first: int
    last: int


class Outcome(Document):
    """`outcome.json`: written last; its presence commits the recording.

    Attributes:
        verdict: Complete; or invalid, failed or interrupted, and then it counts nowhere.
        reason: Why it is not complete.
        window: Which intervals count; None when there are none.
        account: None for imports.
        connections: None for imports, and when the load never began.
        outages: The first thousand, by instance and time.
        outages_count: How many there were.
        reported: None for what was measured here, and where the source of an import states nothing of the whole run.
        files: The recording's other files by name. Filled in when the recording is written.
    """

    verdict: Verdict
    reason: str | None = None
    window: Window | None = None
    account: EngineAccount | None = None
    connections: ConnectionsRecord | None = None
    outages: tuple[OutageRecord, ...] = ()
    outages_count: int = 0
    reported: ReportedResult | None = None
    warnings: tuple[TrialWarning, ...] = ()
    files: dict[str, FileMark] = Field(default_factory=dict)
