"""So many transactions of a shipped workload file on a real server: what they did, and their statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.plans import sources, trial_line
from plimsoll.drive.protocol import Interval
from plimsoll.run.system_data import DataKeeper
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.spec.workloads import StatementsSpec, reader

HANGS_S = 300


class Ran:
    """What a shipped workload did: a closed loop that ends after so many transactions, which a seed draws.

    Attributes:
        counts: What the engine counted, by type of transaction and name of the count.
        statements: What the server executed for them, values included, in the order of its log; empty unless asked for.
    """

    def __init__(
        self,
        server: ManagedServer,
        name: str,
        *,
        parameters: Mapping[str, int],
        transactions: int,
        rows: Mapping[str, int] | None = None,
        connections: int = 4,
        logged: bool = False,
    ) -> None:
        spec = StatementsSpec(
            name=name, file=name, text=reader(Path())(name), parameters=dict(parameters), rows=dict(rows or {})
        )
        keeper = DataKeeper(driver=LocalDriver(), data_sets=(spec,), changing=True)
        keeper.reset(server.target)
        self.counts: dict[str, Counter[str]] = {}
        self.statements: list[str] = []
        servers = sources({"x": server.target})
        line = trial_line(spec, servers, connections=connections, duration_s=HANGS_S, seed=3)
        line["groups"][0]["arrivals"]["closed"]["transactions_max"] = transactions
        if logged:
            with connect(server.target) as control, _log(control):
                self._drive(line)
                self.statements = _executed(control)
        else:
            self._drive(line)
        keeper.check(server.target)
        assert sum(self.completed.values()) == transactions

    def _drive(self, line: dict[str, object]) -> None:
        with LocalDriver().launch("trial", line) as engine:
            engine.ready(lambda warning: pytest.fail(str(warning)))
            engine.start()
            for message in engine.messages():
                if isinstance(message, Interval):
                    self._count(message)

    def _count(self, interval: Interval) -> None:
        for group in interval.groups:
            assert not group.snapshot.errors
            for name, transaction in group.snapshot.transactions.items():
                self.counts.setdefault(name, Counter()).update(transaction.counts.model_dump())

    @property
    def completed(self) -> dict[str, int]:
        """Transactions by type."""
        return {name: counts["completed"] for name, counts in self.counts.items()}


def _executed(control: ControlConnection) -> list[str]:
    """Without what the engine asks before the load: for the newest key."""
    logged = control.rows(
        "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE command_type = 'Execute'"
    )
    return [str(statement) for (statement,) in logged if not str(statement).startswith("SELECT MIN(")]


@contextmanager
def _log(control: ControlConnection) -> Iterator[None]:
    """Everything that the server executes goes into `mysql.general_log` meanwhile."""
    control.rows("TRUNCATE TABLE mysql.general_log")
    control.rows("SET GLOBAL log_output = 'TABLE'")
    control.rows("SET GLOBAL general_log = 1")
    try:
        yield
    finally:
        control.rows("SET GLOBAL general_log = 0")
