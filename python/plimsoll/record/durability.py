"""What a test of durability found: the document that `plimsoll durability --json` prints.

Deliberately not here: how it was found (`plimsoll.run.durability`), sentences about it.
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
