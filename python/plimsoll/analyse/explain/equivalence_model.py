"""What was compared between systems and was not the same, and classes of durability, as values.

Part of the analysis.
"""

from __future__ import annotations

from enum import StrEnum

from plimsoll.analyse.study.cell_model import Estimate
from plimsoll.record.document import Document
from plimsoll.record.level import Level


class Aspect(StrEnum):
    """What is compared."""

    VARIABLES = "variables"
    DURABILITY = "durability"
    DEFINITIONS = "definitions"
    CHARACTER_SETS = "character-sets"
    ROWS = "rows"
    STATISTICS = "statistics"
    PLANS = "plans"
    MACHINES = "machines"


class AspectDifference(Document):
    """Something that is not the same in all systems.

    Attributes:
        what: Its name, such as `sbtest1.c`.
        values: By system; null where a system does not have it.
    """

    what: str
    values: dict[str, str | None]


class Equivalence(Document):
    """One aspect of the systems of a study.

    Attributes:
        aspect: Which.
        systems: Those that were compared; fewer than two where not enough is known.
        compared_count: How many things were compared.
        differences: Those that no factor explains.
        expected: Names of those that a factor of the study explains, or a default of another flavour or version.
        unknown: Systems of which nothing is known.
    """

    aspect: Aspect
    systems: tuple[str, ...] = ()
    compared_count: int = 0
    differences: tuple[AspectDifference, ...] = ()
    expected: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class DurabilityKind(StrEnum):
    """What may happen to committed transactions; the worst first."""

    DAMAGED = "damaged"
    AT_A_CRASH = "lost-at-a-crash"
    AT_POWER_LOSS = "lost-at-power-loss"
    UNNOTICED = "damage-unnoticed"
    DURABLE = "durable"


_WITHOUT_LOSS = {
    DurabilityKind.DAMAGED: "may be damaged by power loss",
    DurabilityKind.UNNOTICED: "does not notice damaged pages",
    DurabilityKind.DURABLE: "durable",
}


class Durability(Document):
    """What a system may lose of committed transactions, from the effective variables of its servers.

    Attributes:
        kind: At a crash of the server alone, at power loss, or not at all; or data may be damaged by power loss, or
            damage of pages by storage is not noticed.
        lost_s: How much of the last transactions may be lost, seconds; null for other kinds.
        causes: Each setting that makes it less than durable, as (name, value).
    """

    kind: DurabilityKind
    lost_s: int | None = None
    causes: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The class in words, as the value of a factor."""
        if self.lost_s is None:
            return _WITHOUT_LOSS[self.kind]
        seconds = "second" if self.lost_s == 1 else f"{self.lost_s} seconds"
        when = "at power loss" if self.kind is DurabilityKind.AT_POWER_LOSS else "when the server crashes"
        return f"may lose the last {seconds} {when}"


class MeasuredLoss(Document):
    """What a test of durability found under the same settings.

    Attributes:
        fault: `kill`, `power-loss` or `lying-device`.
        server: What the tested server said it is.
        faults: How many there were.
        faults_with_loss: After how many of them something was lost.
        loss_ratio_max: Upper end of the one-sided 95 % confidence interval of the share of faults that lose something.
        acknowledged: Transactions, of all faults.
        lost: Transactions, of all faults.
        lost_ms: The largest age of a lost one, milliseconds; null where nothing was lost.
        corrupt: After how many faults data was torn or foreign, or the server did not come back.
        is_kept: The settings kept what they promise.
    """

    fault: str
    server: str
    faults: int
    faults_with_loss: int
    loss_ratio_max: float
    acknowledged: int
    lost: int
    lost_ms: float | None = None
    corrupt: int = 0
    is_kept: bool = True


class DurabilityClass(Document):
    """A system with what decides whether its commits survive, and how fast it is.

    Attributes:
        system: Which.
        workload: Under which, of those that write.
        level: At which level it sustains most.
        throughput_tps: What it sustains there.
        flush_log_at_trx_commit: `innodb_flush_log_at_trx_commit` of its source.
        sync_binlog: `sync_binlog` of its source; null where it writes no binary log.
        doublewrite: Torn pages can be restored.
        replication: `none`, `asynchronous`, or `semi-synchronous, N` with the number of acknowledging replicas.
        promise: What it may lose, in words; null when not known.
        measured: What a test under the same settings lost; null without such a test.
        trials: Ids of the recordings of that level.
    """

    system: str
    workload: str
    level: Level
    throughput_tps: Estimate
    flush_log_at_trx_commit: int
    sync_binlog: int | None = None
    doublewrite: bool = True
    replication: str = "none"
    promise: str | None = None
    measured: MeasuredLoss | None = None
    trials: tuple[str, ...] = ()
