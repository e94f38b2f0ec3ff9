"""What a test of failover found: the document that `plimsoll failover --json` prints.

Deliberately not here: how it was found (`plimsoll.run.failover`), sentences about it.
"""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.document import Document
from plimsoll.record.environment import StorageFacts

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
