"""How a replica applies what its source commits, and how often commits of a source waited for replicas.

The processor time is that of the threads that apply: the server names them (MySQL: in the performance schema, so
nothing where that is switched off), /proc/PID/task/TID/stat has their time. A server that does not let the account look
at replication is asked once and then left alone. Deliberately not here: the lag that clients see, which the engine
measures by its heartbeat.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

from plimsoll.errors import TargetError
from plimsoll.servers.control import ControlConnection
from plimsoll.servers.replication.links import dialect_of
from plimsoll.servers.replication.model import Dialect
from plimsoll.spec.target import Target
from plimsoll.telemetry.sampler import PROC, Sample, Sampler, kernel_text
from plimsoll.telemetry.server_status import is_lost, open_impatiently

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")

_SEMISYNC = {
    "tx_waits": ("semisync_waits_count", 1.0),
    "tx_wait_time": ("semisync_wait_s", 1e-6),
    "no_times": ("semisync_off_count", 1.0),
}
"""The end of a status variable: its metric, and the unit of one."""


class _Asking:
    """A connection of a sampler, opened when it is wanted, and what the server speaks."""

    def __init__(self, target: Target, open_connection: Callable[[Target], ControlConnection]) -> None:
        self._target, self._open = target, open_connection
        self._control: ControlConnection | None = None
        self._speaks: Dialect | None = None
        self._is_refused = False

    def ask(self, look: Callable[[Dialect, ControlConnection], list[Sample]]) -> list[Sample]:
        """What a look gives; nothing where the server refuses it.

        Raises:
            TargetError: No connection could be had, or it was lost.
        """
        if self._is_refused:
            return []
        try:
            if self._control is None:
                self._control = self._open(self._target)
            self._speaks = self._speaks or dialect_of(self._control)
            return look(self._speaks, self._control)
        except TargetError as error:
            self.close()
            if is_lost(error):
                raise
            self._is_refused = True
            return []

    def close(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None


class ReplicaSampler(Sampler):
    """One replica."""

    source: ClassVar[str] = "replication"
    waits: ClassVar[bool] = True
    cost: ClassVar[str] = "SHOW REPLICA STATUS, five small statements, and one short read for each applier thread"
    metrics: ClassVar[Mapping[str, str]] = {
        "replica_apply_cpu_s": "s",
        "replica_seconds_behind_s": "s",
        "replica_applied_transactions_count": "transactions",
    }

    def __init__(
        self,
        target: Target,
        pid: int | None,
        *,
        open_connection: Callable[[Target], ControlConnection] = open_impatiently,
        proc: Path = PROC,
    ) -> None:
        """Watches a replica; `target` has the password, `pid` is its process on this machine."""
        self._asking, self._pid, self._proc = _Asking(target, open_connection), pid, proc
        self._before: dict[int, float] = {}
        self._ended_s = 0.0

    def sample(self, at_unix_s: float) -> list[Sample]:  # noqa: ARG002
        """Looks once, see `Sampler`. Raises TargetError when the connection was lost."""
        return self._asking.ask(self._look)

    def _look(self, speaks: Dialect, control: ControlConnection) -> list[Sample]:
        if (status := speaks.status(control)) is None:
            return []
        samples = [
            Sample(self.source, "replica_applied_transactions_count", float(speaks.transactions(status.executed)))
        ]
        if status.behind_s is not None:
            samples.append(Sample(self.source, "replica_seconds_behind_s", status.behind_s))
        if self._pid is not None and (threads := speaks.applier_threads(control)):
            samples.append(Sample(self.source, "replica_apply_cpu_s", self._cpu_s(threads)))
        return samples

    def _cpu_s(self, threads: list[int]) -> float:
        """Processor time of the applier threads so far; that of those which have ended stays in it."""
        now = dict[int, float]()
        for thread in threads:
            with contextlib.suppress(OSError, ValueError, IndexError):
                # The name before the last parenthesis may hold spaces; utime and stime are fields 14 and 15.
                fields = kernel_text(self._proc / f"{self._pid}/task/{thread}/stat").rpartition(")")[2].split()
                now[thread] = (int(fields[11]) + int(fields[12])) / _TICKS_PER_S
        self._ended_s += sum(used for thread, used in self._before.items() if thread not in now)
        self._before = now
        return self._ended_s + sum(now.values())

    def close(self) -> None:
        """Closes the connection; never fails."""
        self._asking.close()


class SemisyncSampler(Sampler):
    """The source of replicas: how commits waited for them. Nothing where they do not."""

    source: ClassVar[str] = "replication"
    waits: ClassVar[bool] = True
    cost: ClassVar[str] = "one SHOW GLOBAL STATUS of at most twenty rows"
    metrics: ClassVar[Mapping[str, str]] = {
        "semisync_waits_count": "commits",
        "semisync_wait_s": "s",
        "semisync_off_count": "times",
    }

    def __init__(
        self, target: Target, *, open_connection: Callable[[Target], ControlConnection] = open_impatiently
    ) -> None:
        """Watches a source; `target` has the password."""
        self._asking = _Asking(target, open_connection)

    def sample(self, at_unix_s: float) -> list[Sample]:  # noqa: ARG002
        """Looks once, see `Sampler`. Raises TargetError when the connection was lost."""
        return self._asking.ask(self._look)

    def _look(self, _: Dialect, control: ControlConnection) -> list[Sample]:
        rows = control.rows("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_%'", columns=2)
        status = {str(name).lower(): str(value) for name, value, *_ in rows}
        prefix = next((role for role in ("source", "master") if f"rpl_semi_sync_{role}_status" in status), None)
        if prefix is None or self._is_unused(status, prefix):
            return []
        return [
            Sample(self.source, metric, float(status[f"rpl_semi_sync_{prefix}_{end}"]) * unit)
            for end, (metric, unit) in _SEMISYNC.items()
            if f"rpl_semi_sync_{prefix}_{end}" in status
        ]

    @staticmethod
    def _is_unused(status: Mapping[str, str], prefix: str) -> bool:
        """Off, and not because replicas were too slow."""
        return status[f"rpl_semi_sync_{prefix}_status"] == "OFF" and status[f"rpl_semi_sync_{prefix}_no_times"] == "0"

    def close(self) -> None:
        """Closes the connection; never fails."""
        self._asking.close()
