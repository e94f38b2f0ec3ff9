"""What tests of durability and failover are to do: which fault, on which server or replication, how often.

A test of durability has settings of a server, one of failover whoever chooses the next source. Deliberately not here:
running them (`plimsoll.run`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product

from plimsoll.errors import SpecError
from plimsoll.spec.hooks import HookSpec
from plimsoll.spec.server_options import OptionValue


class FaultKind(StrEnum):
    """What befalls the server while transactions are written."""

    KILL = "kill"
    POWER_LOSS = "power-loss"
    LYING_DEVICE = "lying-device"

    @property
    def needs_device(self) -> bool:
        """The data must lie on a device that forgets what was not flushed."""
        return self is not FaultKind.KILL


@dataclass(frozen=True, slots=True)
class DurabilitySetting:
    """One combination of the settings that decide what a server may lose.

    Attributes:
        flush_log_at_trx_commit: `innodb_flush_log_at_trx_commit`.
        sync_binlog: `sync_binlog`; the binary log is always written.
        doublewrite: `innodb_doublewrite`.
    """

    flush_log_at_trx_commit: int
    sync_binlog: int
    doublewrite: bool

    @property
    def label(self) -> str:
        """In words, for progress and messages."""
        doublewrite = "on" if self.doublewrite else "off"
        return f"flush {self.flush_log_at_trx_commit}, sync_binlog {self.sync_binlog}, doublewrite {doublewrite}"

    @property
    def options(self) -> Mapping[str, OptionValue]:
        """As options of the server."""
        return {
            "log_bin": "binlog",
            "innodb_flush_log_at_trx_commit": self.flush_log_at_trx_commit,
            "sync_binlog": self.sync_binlog,
            "innodb_doublewrite": self.doublewrite,
        }

    def promises_to_keep(self, fault: FaultKind) -> bool:
        """Whether no acknowledged transaction may be lost, if the storage does as it says."""
        if fault is FaultKind.KILL:
            return self.flush_log_at_trx_commit != 0
        return self.flush_log_at_trx_commit == 1 and self.sync_binlog == 1

    def promises_whole_data(self, fault: FaultKind) -> bool:
        """Whether the server must come back with whole transactions: without doublewrite, pages may be torn."""
        return fault is FaultKind.KILL or self.doublewrite


@dataclass(frozen=True, slots=True, kw_only=True)
class DurabilitySpec:
    """A whole test.

    Attributes:
        fault: What befalls the server.
        settings: In the order in which they are tested.
        faults: How many under each setting.
        connections: That write at once.
        load_s: Throughput is measured for so long; a fault comes after half to all of it.
        seed: Of the instants of faults, and of what is written.
    """

    fault: FaultKind
    settings: tuple[DurabilitySetting, ...]
    faults: int
    connections: int
    load_s: float
    seed: int


def settings_of(flush: str, sync_binlog: str, doublewrite: str) -> tuple[DurabilitySetting, ...]:
    """All combinations of three lists, such as `0,1,2`, `0,1` and `on,off`.

    Raises:
        SpecError: A list has something else; all faults at once.
    """
    faults: list[str] = []

    def read(option: str, text: str, known: Mapping[str, int]) -> tuple[int, ...]:
        words = [word.strip().lower() for word in text.split(",")]
        if unknown := [word for word in words if word not in known]:
            faults.append(f"{option}: must be a list of {', '.join(known)}, has {unknown[0]!r}")
        return tuple(dict.fromkeys(known[word] for word in words if word in known))

    flushes = read("--flush", flush, {"0": 0, "1": 1, "2": 2})
    syncs = read("--sync-binlog", sync_binlog, {"0": 0, "1": 1})
    doublewrites = read("--doublewrite", doublewrite, {"on": 1, "off": 0})
    if faults:
        raise SpecError(*faults)
    return tuple(
        DurabilitySetting(at_commit, sync, doublewrite=bool(doubled))
        for at_commit, sync, doubled in product(flushes, syncs, doublewrites)
    )


class FailoverFault(StrEnum):
    """What befalls the source while transactions are written."""

    KILL = "kill"
    CUT_OFF = "cut-off"


class Replication(StrEnum):
    """What a commit waits for."""

    ASYNC = "async"
    SEMISYNC = "semisync"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverSpec:
    """A whole test.

    Attributes:
        fault: What befalls the source.
        replicas: How many there are.
        replication: What a commit waits for.
        semisync_replicas: How many must acknowledge a commit; of no meaning without semi-synchronous replication.
        replication_delay_s: One way, between source and replicas, seconds.
        options: Of each server; they win over everything.
        faults: How many.
        connections: That write at once.
        load_s: A fault comes after half to all of it.
        seed: Of the instants of faults, and of what is written.
        promote: Chooses the replica that becomes the source; None for the most advanced one.
    """

    fault: FailoverFault
    replicas: int
    replication: Replication
    semisync_replicas: int
    replication_delay_s: float
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    faults: int
    connections: int
    load_s: float
    seed: int
    promote: HookSpec | None = None

    @property
    def is_semisync(self) -> bool:
        """Commits wait for replicas."""
        return self.replication is Replication.SEMISYNC

    @property
    def acknowledging(self) -> int:
        """How many replicas a commit waits for."""
        return self.semisync_replicas if self.is_semisync else 0

    def faults_found(self, *, is_mariadb: bool) -> tuple[str, ...]:
        """What cannot be done, each with the name of its option."""
        faults = []
        if self.semisync_replicas > self.replicas:
            faults.append(
                f"--semisync-replicas: must be at most --replicas ({self.replicas}), is {self.semisync_replicas}"
            )
        if self.semisync_replicas > 1 and not self.is_semisync:
            faults.append("--semisync-replicas: has no meaning with --replication async; leave it out")
        if self.semisync_replicas > 1 and is_mariadb:
            faults.append(f"--semisync-replicas: MariaDB waits for one replica, not for {self.semisync_replicas}")
        return tuple(faults)
