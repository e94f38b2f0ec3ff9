"""Workers that write numbered transactions and note what was acknowledged, driven by the engine.

Deliberately not here: the fault that ends them, and the search for what they wrote.
"""

from __future__ import annotations

import select
import time
from pathlib import Path
from typing import TypeVar

from plimsoll.drive.engine import EngineRun, LocalDriver, error_of
from plimsoll.drive.plans import ledger_line, target_line
from plimsoll.drive.protocol import Done, EngineMessage, Failed, Lost, Resumed
from plimsoll.errors import EngineBugError, HostError, TargetError
from plimsoll.servers.control import ControlConnection
from plimsoll.spec.target import Target

LEDGER_TABLES = ("plimsoll_ledger_one", "plimsoll_ledger_two")
LEDGER_COUNTERS = "plimsoll_ledger_counters"

M = TypeVar("M", bound=EngineMessage)


class LedgerLoad:
    """One run of the workers. Use it as a context manager: leaving it ends them and removes the ledger.

    Attributes:
        seed: Of the check values of its rows.
    """

    def __init__(self, target: Target, ledger: Path, *, connections: int, seed: int) -> None:
        """Makes the tables and connects; the server must have none of them yet.

        Args:
            target: The server.
            ledger: File to be made.
            connections: Of workers.
            seed: Of the check values.

        Raises:
            HostError: The engine cannot be started, or the ledger cannot be made.
            TargetError: The server refuses.
        """
        self.seed = seed
        self._ledger = ledger
        plan = ledger_line(target, ledger, connections=connections, seed=seed)
        self._run: EngineRun = LocalDriver().launch("ledger", plan)
        try:
            self._run.ready(lambda _: None)
        except BaseException:
            self._close()
            raise

    def start(self) -> None:
        """Lets the workers begin."""
        self._run.start()

    def run_for(self, seconds: float) -> None:
        """Comes back after a while, while the workers still write.

        Raises:
            HostError: The ledger cannot be written, so nothing could be said of what is lost.
            TargetError: The server refused a transaction, or a connection to it broke.
        """
        until_s = time.monotonic() + seconds
        while (message := self._next(until_s)) is not None:
            if isinstance(message, Lost):
                raise TargetError(
                    f"a connection was lost that should last ({message.message}); look into the server's error log"
                )

    def wait_until_lost(self, limit_s: float) -> Lost | None:
        """Waits until a worker meets an error; None where none has within the limit. Raises as `run_for`."""
        return self._wait_for(Lost, limit_s)

    def wait_until_resumed(self, limit_s: float) -> Resumed | None:
        """Waits until a transaction was acknowledged after a loss; None as before. Raises as `run_for`."""
        return self._wait_for(Resumed, limit_s)

    def go_on_at(self, target: Target) -> None:
        """From now on the workers write to another server, which has the tables."""
        self._run.promoted(target_line(target))

    def finish(self) -> float:
        """Ends the workers in good order; returns acknowledged transactions per second. Raises as `run_for`."""
        self._run.stop()
        done = self._last()
        return (done.offered_count - done.unfinished_count) / (done.duration_ns / 1e9)

    def cut_off(self) -> None:
        """Ends the workers after their server is gone; what it has answered is noted.

        Raises:
            HostError: The ledger cannot be written.
        """
        self._run.stop()
        try:
            self._last()
        except HostError:
            raise
        except TargetError:
            pass  # what a server still says while it dies is no news

    def read(self) -> str:
        """The ledger.

        Raises:
            HostError: It cannot be read.
        """
        try:
            return self._ledger.read_text(encoding="ascii", errors="replace")
        except OSError as error:
            raise HostError(f"{self._ledger}: the ledger cannot be read: {error.strerror}") from None

    def __enter__(self) -> LedgerLoad:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _last(self) -> Done:
        for message in self._run.messages():
            if isinstance(message, Done):
                return message
        raise EngineBugError("plimsoll-engine ledger ended without a last message")

    def _wait_for(self, kind: type[M], limit_s: float) -> M | None:
        until_s = time.monotonic() + limit_s
        while (message := self._next(until_s)) is not None:
            if isinstance(message, kind):
                return message
        return None

    def _next(self, until_s: float) -> EngineMessage | None:
        """The next message; None where none comes in time. Raises what the engine says instead."""
        while (message := self._run.poll()) is None:
            left_s = until_s - time.monotonic()
            if left_s <= 0 or not select.select([self._run], [], [], left_s)[0]:
                return None
        if isinstance(message, Failed):
            raise error_of(message)
        return message

    def _close(self) -> None:
        self._run.close()
        self._ledger.unlink(missing_ok=True)


def read_ledger_tables(control: ControlConnection) -> tuple[list[list[tuple[int, int, int]]], dict[int, int]]:
    """The rows of both tables, and each worker's counter. Raises TargetError where they cannot be read."""
    tables = []
    for table in LEDGER_TABLES:
        rows = control.rows(f"SELECT worker, number, checked FROM {table}", columns=3)  # noqa: S608  (a constant)
        tables.append([(int(worker), int(number), int(checked)) for worker, number, checked in rows])
    rows = control.rows(f"SELECT worker, number FROM {LEDGER_COUNTERS}", columns=2)  # noqa: S608  (a constant)
    return tables, {int(worker): int(number) for worker, number in rows}
