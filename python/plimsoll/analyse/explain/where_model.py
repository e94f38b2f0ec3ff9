"""Where the time of transactions goes, and what a database makes of its storage, as values; part of the analysis."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from plimsoll.analyse.study.cell_model import Bounds, Estimate
from plimsoll.record.document import Document
from plimsoll.record.level import Level, LevelKind

CPU = "cpu"
BUSIEST = "busiest cpu"
DATA_DEVICE = "data device"
DISK = "disk "
"""Begins the name of the resource that is one disk, as `DATA_DEVICE` begins that of a server's storage."""


def is_device(resource: str | None) -> bool:
    """Whether a resource is storage, whose busy time is no measure of how much more it can do."""
    return resource is not None and resource.startswith((DATA_DEVICE, DISK))


class WherePart(StrEnum):
    """A part of response time, by what server and client did or waited for. The order is that of the stack."""

    SERVER_CPU = "server-cpu"
    CLIENT_CPU = "client-cpu"
    RUN_QUEUE = "run-queue"
    ROW_LOCKS = "row-locks"
    REDO = "redo"
    STORAGE_READS = "storage-reads"
    UNEXPLAINED = "unexplained"


class WhereVerdict(StrEnum):
    """What limits throughput."""

    SATURATED = "saturated"
    FIRST_TO_SATURATE = "first-to-saturate"
    WAIT_GROWS = "wait-grows"
    UNEXPLAINED_WAIT_GROWS = "unexplained-wait-grows"
    NOTHING_GROWS = "nothing-grows"
    UNKNOWN = "unknown"


class ResourceDemand(Document):
    """How much of one resource a transaction takes, by the utilisation law U = X D, at the highest throughput.

    Attributes:
        resource: `cpu` (all of the host), `busiest cpu`, `server cpus` and `client cpus` (those of a side
            that had only some of them), `cpu quota`, `data device`, `data device of NAME`, `disk NAME`, `network NAME`,
            `network NAME of the client`.
        level: Where.
        utilisation_ratio: Share of time that it was busy there, 0..1; of a link, the share of its speed that was used.
        saturation_tps: Throughput at which it would be busy all the time if its demand stayed the same: X / U. A device
            that serves requests in parallel may sustain more.
    """

    resource: str
    level: Level
    utilisation_ratio: float
    saturation_tps: Estimate


class ServerWait(Document):
    """A kind of wait that the server's performance schema counts, per transaction.

    Attributes:
        event: Its name without `wait/`, with dots for slashes, such as `io.file.innodb.innodb_log_file`.
        count: How often a transaction, or a thread on its behalf, waited.
        ms: How long, in all threads together, background threads included.
    """

    event: str
    count: float
    ms: float


class ServerStatement(Document):
    """A kind of statement that the server's performance schema counts, per transaction.

    Attributes:
        kind: Its name without `statement/`, with dots for slashes, such as `sql.select`.
        count: How many a transaction ran.
        ms: How long they took in the server, together.
        rows_examined: How many rows the server read for them, together.
    """

    kind: str
    count: float
    ms: float
    rows_examined: float


class WhereLevel(Document):
    """One level: what a transaction used and waited for, mean of the trials. What was not sampled is absent.

    Attributes:
        level: Which.
        throughput_tps: Completed transactions per second.
        response_ms: Mean response time; null when unknown, as are the two below.
        parts_ms: What response time consists of, by part; they add up to it. Where more was measured, each part takes
            what is left: waits first, then the processor time of the server, then that of the client. Without a
            response time they are as they were measured.
        outside_ms: By part: what was measured beyond the response time. The server's background threads, and the client
            between transactions or while the server worked. Empty where all has room.
        unexplained_ratio: Share of response time that no source explains, 0..1.
        redo_is_estimate: The wait for redo is flushes times the time of a flush, and so a lower bound; otherwise the
            server's performance schema says it.
        client_cpu_ms: Processor time of the load engine for each transaction, within the response time or not.
        per_transaction: `page_reads`, `device_reads`, `device_writes`, `device_flushes`, `written_kb` (to the data
            device), `flushes`
            (of files by the server), `context_switches` (of its threads), `row_lock_waits`, `log_buffer_waits`,
            `log_writes`, `redo_kb` (written to the redo log), `server_read_kb` and `server_written_kb` (what the
            server's process asked of storage).
        utilisation: Share of time that each resource was busy, 0..1.
        waiters: By table: transactions that waited for a row lock, mean.
        throttled_s_per_s: For how long, in each second, CPUs of the server's control group were stopped because it had
            used up its quota of processor time; null without a quota.
        server_waits: What the performance schema counted, the longest first; empty where it is off.
        server_statements: Statements that it counted, those that took longest first.
    """

    level: Level
    throughput_tps: float
    response_ms: float | None = None
    parts_ms: dict[WherePart, float] = Field(default_factory=dict)
    outside_ms: dict[WherePart, float] = Field(default_factory=dict)
    unexplained_ratio: float | None = None
    redo_is_estimate: bool = False
    client_cpu_ms: float | None = None
    per_transaction: dict[str, float] = Field(default_factory=dict)
    utilisation: dict[str, float] = Field(default_factory=dict)
    waiters: dict[str, float] = Field(default_factory=dict)
    throttled_s_per_s: float | None = None
    server_waits: tuple[ServerWait, ...] = ()
    server_statements: tuple[ServerStatement, ...] = ()


class WhatIf(Document):
    """A bound on throughput with twice the processors.

    Attributes:
        bound_tps: Twice the throughput at which the processors saturate, or where another resource saturates before;
            devices are left out.
        limited_by: The resource that limits then: the same processors again, or another one.
        device_busy_tps: Throughput below that bound at which a device would be busy all the time. It may limit there,
            or sustain more if it serves requests in parallel. null where no device is busy before.
        device: Which.
    """

    bound_tps: Estimate
    limited_by: str
    device_busy_tps: Estimate | None = None
    device: str | None = None


class WhereTime(Document):
    """Where the time goes for one system under one workload and kind of load.

    Attributes:
        system: Which.
        workload: Which.
        kind: Who sets the pace.
        verdict: `saturated` (the resource is busy at least 90 % of the time; a device may have capacity even so),
            `first-to-saturate` (at least 60 %), `wait-grows` (no resource is busy; a wait that is counted grows most),
            `unexplained-wait-grows` (the growing part is counted nowhere), `nothing-grows` (response time does not
            grow), or `unknown`.
        resource: The one that saturates first; null where no resource is busy.
        rival: Another resource that may saturate as early: within the noise, or because `resource` is a device, whose
            busy time says little about its capacity. null for none.
        part: The wait, or the client's processor time, that grows most; null where a resource is busy.
        rival_parts: Other parts that may have grown more, those that grew most first: the repetitions leave it open.
        growth_ms: By how much that part grew from the lowest level to the highest, milliseconds per transaction.
        growth_bounds: Its 95 % interval; null with one repetition.
        table: Whose row locks were waited for most; null when not known.
        limit_level: The level with the highest throughput, at which this was judged.
        demands: Every resource, the first to saturate first.
        what_if: With twice the processors; null where these are not what limits, or something else used them.
        client_ratio: Share of the host's busy processor time that the load engine took at that level; null where it
            has a machine of its own.
        others_ratio: Share of it that neither the server nor the load engine took; null when unknown.
        is_network_known: A full link would have been seen: client and server are on one machine, or the links of both
            have a known speed.
        levels: By rising level.
    """

    system: str
    workload: str
    kind: LevelKind
    verdict: WhereVerdict
    resource: str | None = None
    rival: str | None = None
    part: WherePart | None = None
    rival_parts: tuple[WherePart, ...] = ()
    growth_ms: float | None = None
    growth_bounds: Bounds | None = None
    table: str | None = None
    limit_level: Level | None = None
    demands: tuple[ResourceDemand, ...] = ()
    what_if: WhatIf | None = None
    client_ratio: float | None = None
    others_ratio: float | None = None
    is_network_known: bool = False
    levels: tuple[WhereLevel, ...]


class StorageUse(Document):
    """A transaction of one system and workload beside the storage that holds the system's data.

    Attributes:
        system: Which.
        workload: Which.
        storage: Name of the storage.
        level: The lowest level with figures: there, queueing adds least.
        response_ms: Mean response time there, milliseconds.
        flush_ms: Median time of an fdatasync after a small append, as fio measured it on the idle storage.
        flushes: Flushes of files that the server asked for, per transaction; null when unknown.
        read_kb: What the server asked storage for, per transaction; null when unknown, as are those below.
        written_kb: What it caused to be written.
        redo_kb: The part of it that was redo.
        writes_per_s: Writes of the data's device per second at the highest throughput.
        reads_per_s: Reads there.
        busiest_level: The level with the highest throughput.
        device_ratio: Reads and writes of the data's device there as shares of the most that fio did of each, in pages
            of 16 KiB at random, added up; null when unknown, for several servers, and where fio used the page cache.
        device_limit_tps: Throughput at which that would be 1 if a transaction's reads and writes stayed the same.
    """

    system: str
    workload: str
    storage: str
    level: Level
    response_ms: float
    flush_ms: float | None = None
    flushes: float | None = None
    read_kb: float | None = None
    written_kb: float | None = None
    redo_kb: float | None = None
    writes_per_s: float | None = None
    reads_per_s: float | None = None
    busiest_level: Level
    device_ratio: float | None = None
    device_limit_tps: float | None = None
