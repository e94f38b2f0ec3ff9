"""What tests of durability and failover found, as documents.

`plimsoll durability --json` and `plimsoll failover --json` print them. Deliberately not here: running the tests
(`plimsoll.run`), and sentences about them.
"""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.document import Document
from plimsoll.record.environment import StorageFacts

DURABILITY_FILE = "durability.json"
"""In a study's folder: what `plimsoll durability --json` printed."""

DURABILITY_FORMAT = 1
"""Version of the document; docs/durability.md describes it."""


class FaultOutcome(Document):
    """What one fault did.

    Attributes:
        survival_ratio: Share of the blocks that were not flushed and had reached the device by themselves; null where
            the server alone was killed.
        load_s: How long transactions were written before it, seconds.
        acknowledged: Transactions of which the server had said that they are committed.
        lost: Of those, how many were not found afterwards.
        lost_ms: Age of the oldest lost one when the fault came, milliseconds; null where none was lost.
        torn: Transactions of which a part was found.
        foreign: Rows that nobody sent.
        unknown_found: Transactions that were found, and of which the server had not said that they are committed.
        recovery_s: From starting the server until it answered, seconds; null where it did not come back.
        failure: Why it did not come back, or its tables could not be read; null where it did. All acknowledged
            transactions then count as lost.
    """

    survival_ratio: float | None = Field(default=None, ge=0, le=1)
    load_s: float = Field(ge=0)
    acknowledged: int = Field(ge=0)
    lost: int = Field(ge=0)
    lost_ms: float | None = Field(default=None, ge=0)
    torn: int = Field(ge=0)
    foreign: int = Field(ge=0)
    unknown_found: int = Field(default=0, ge=0)
    recovery_s: float | None = Field(default=None, ge=0)
    failure: str | None = None

    @property
    def is_corrupt(self) -> bool:
        """What was found is not what was written."""
        return self.torn > 0 or self.foreign > 0 or self.failure is not None

    @property
    def is_plain_loss(self) -> bool:
        """Something was lost, and what was found is what was written."""
        return self.lost > 0 and not self.is_corrupt


class SettingOutcome(Document):
    """What all faults under one setting did, and how fast it is.

    Attributes:
        flush_log_at_trx_commit: `innodb_flush_log_at_trx_commit`.
        sync_binlog: `sync_binlog`.
        doublewrite: `innodb_doublewrite`.
        throughput_tps: Transactions in each second without any fault, straight on the storage.
        faults: How many there were.
        faults_with_loss: After how many of them something was lost.
        loss_ratio_max: Upper end of the one-sided 95 % confidence interval of the share of faults that lose something.
        acknowledged: Transactions, of all faults.
        lost: Transactions, of all faults.
        lost_ms: The largest of all faults, milliseconds; null where nothing was lost.
        corrupt: After how many faults data was torn or foreign, or the server did not come back.
        recovery_s: Median, seconds; null where the server never came back.
        is_kept: The setting keeps what it promises: nothing was lost where nothing may be, and nothing was corrupt
            where it may not be.
        each: The faults in their order.
    """

    flush_log_at_trx_commit: int
    sync_binlog: int
    doublewrite: bool
    throughput_tps: float = Field(ge=0)
    faults: int = Field(ge=0)
    faults_with_loss: int = Field(ge=0)
    loss_ratio_max: float = Field(ge=0, le=1)
    acknowledged: int = Field(ge=0)
    lost: int = Field(ge=0)
    lost_ms: float | None = Field(default=None, ge=0)
    corrupt: int = Field(ge=0)
    recovery_s: float | None = Field(default=None, ge=0)
    is_kept: bool
    each: tuple[FaultOutcome, ...]


class DurabilityRecord(Document):
    """A whole test.

    Attributes:
        durability_format: Version of this schema.
        fault: `kill`, `power-loss` or `lying-device`.
        server: What the server says it is.
        storage: Below its data.
        connections: That wrote at once.
        seed: Of the instants of faults, and of what was written.
        is_complete: Every setting was tested; false where somebody ended it.
        settings: Those that were tested.
    """

    durability_format: int = DURABILITY_FORMAT
    fault: str
    server: str
    storage: StorageFacts
    connections: int
    seed: int
    is_complete: bool
    settings: tuple[SettingOutcome, ...] = ()


FAILOVER_FORMAT = 1
"""Version of the document; docs/failover.md describes it."""


class FailoverTimeline(Document):
    """What happened when, in seconds since the source was killed, on one clock.

    Attributes:
        last_good_s: The last transaction was acknowledged by the old source; an answer may still arrive after the kill.
        first_error_s: A client met the first error.
        detected_s: A new connection to the source failed too: it is gone.
        chosen_s: The next source was chosen.
        applied_s: It had applied what it had received, and took writes.
        followed_s: The other replicas followed it, and clients were told.
        first_good_s: It acknowledged the first transaction.
        all_good_s: Every client had a transaction acknowledged by it.
    """

    last_good_s: float
    first_error_s: float
    detected_s: float
    chosen_s: float
    applied_s: float
    followed_s: float
    first_good_s: float
    all_good_s: float


class Outage(Document):
    """How long nothing was acknowledged, and the parts that it consists of, seconds.

    Attributes:
        total_s: From the last transaction before it to the first one after it; the sum of the parts.
        detect_s: From the last transaction until the source was known to be gone.
        choose_s: Until the next source was chosen.
        apply_s: Until it had applied what it had received, and took writes.
        follow_s: Until the other replicas followed it.
        reconnect_s: Until it acknowledged a transaction.
    """

    total_s: float = Field(ge=0)
    detect_s: float
    choose_s: float
    apply_s: float
    follow_s: float
    reconnect_s: float


class ErrorSeen(Document):
    """An error that clients met during the outage.

    Attributes:
        code: MySQL's error number; where no server answered, that of MySQL's client library: 2013 for a connection that
            was lost, 2003 for one that did not come about.
        count: How often.
        first_s: The first one, seconds since the kill.
        last_s: The last one.
    """

    code: int
    count: int = Field(ge=1)
    first_s: float
    last_s: float


class NotFollowing(Document):
    """A replica that could not follow the new source.

    Attributes:
        name: Its name.
        reason: Why, as the server said.
    """

    name: str
    reason: str


class FailoverOutcome(Document):
    """What one fault did.

    Attributes:
        load_s: How long transactions were written before it, seconds.
        throughput_tps: Transactions in each second of that time.
        promoted: The replica that became the source.
        is_behind: Another replica had received more.
        timeline: What happened when.
        outage: How long nothing was acknowledged.
        errors: What clients met, by code.
        failed: Transactions that were begun and not acknowledged.
        failed_found: Of those, how many the new source has: a client that repeats one does it twice.
        acknowledged: Transactions of which a server had said that they are committed, before and after the fault.
        lost: Of those, how many the new source does not have.
        lost_ms: Age of the oldest lost one when the source was killed, milliseconds; null where none was lost.
        torn: Transactions of which a part was found.
        foreign: Rows that nobody sent.
        not_following: Replicas that could not follow the new source.
    """

    load_s: float = Field(ge=0)
    throughput_tps: float = Field(ge=0)
    promoted: str
    is_behind: bool
    timeline: FailoverTimeline
    outage: Outage
    errors: tuple[ErrorSeen, ...]
    failed: int = Field(ge=0)
    failed_found: int = Field(ge=0)
    acknowledged: int = Field(ge=0)
    lost: int = Field(ge=0)
    lost_ms: float | None = Field(default=None, ge=0)
    torn: int = Field(ge=0)
    foreign: int = Field(ge=0)
    not_following: tuple[NotFollowing, ...] = ()

    @property
    def is_corrupt(self) -> bool:
        """What was found is not what was written."""
        return self.torn > 0 or self.foreign > 0


class FailoverRecord(Document):
    """A whole test.

    Attributes:
        failover_format: Version of this schema.
        fault: `kill`, or `cut-off` where replicas stopped receiving before it.
        server: What the servers say they are.
        storage: Below the source's data.
        replicas: How many there were.
        replication: `async` or `semisync`.
        semisync_replicas: How many a commit waited for; null for `async`.
        replication_delay_s: One way, between source and replicas, seconds.
        promote: Who chose the next source: `most-advanced` or `hook`.
        connections: That wrote at once.
        seed: Of the instants of faults, and of what was written.
        is_complete: All faults came; false where somebody ended it.
        faults: How many came.
        faults_with_loss: After how many of them an acknowledged transaction was missing.
        loss_ratio_max: Upper end of the one-sided 95 % confidence interval of the share of faults that lose something.
        acknowledged: Transactions, of all faults.
        lost: Transactions, of all faults.
        lost_ms: The largest of all faults, milliseconds; null where nothing was lost.
        corrupt: After how many faults data was torn or foreign.
        outage_s: Median of all faults, seconds; null where none came.
        outage_s_min: The shortest.
        outage_s_max: The longest.
        is_kept: Nothing was lost that may not be: nothing at all by `semisync` where the most advanced replica was
            promoted; and no data was corrupt.
        each: The faults in their order.
    """

    failover_format: int = FAILOVER_FORMAT
    fault: str
    server: str
    storage: StorageFacts
    replicas: int
    replication: str
    semisync_replicas: int | None = None
    replication_delay_s: float = Field(ge=0)
    promote: str
    connections: int
    seed: int
    is_complete: bool = False
    faults: int = Field(default=0, ge=0)
    faults_with_loss: int = Field(default=0, ge=0)
    loss_ratio_max: float = Field(default=1.0, ge=0, le=1)
    acknowledged: int = Field(default=0, ge=0)
    lost: int = Field(default=0, ge=0)
    lost_ms: float | None = Field(default=None, ge=0)
    corrupt: int = Field(default=0, ge=0)
    outage_s: float | None = Field(default=None, ge=0)
    outage_s_min: float | None = Field(default=None, ge=0)
    outage_s_max: float | None = Field(default=None, ge=0)
    is_kept: bool = True
    each: tuple[FailoverOutcome, ...] = ()
