"""The rows of a workload on an instance: made, looked at, made again. The engine does the work.

Deliberately not here: copies of whole data directories, which only managed servers have (`systems`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from plimsoll.drive.engine import Driver, run_data_command
from plimsoll.drive.plans import data_line
from plimsoll.drive.protocol import Done, EngineWarning, Progress
from plimsoll.errors import DataError, TargetError
from plimsoll.servers.control import connect
from plimsoll.servers.settle import Asked
from plimsoll.spec.paths import AS_USUAL, TableOptions
from plimsoll.spec.shares import shares
from plimsoll.spec.statements import Workload
from plimsoll.spec.target import Target

DataCommand = Literal["prepare", "check", "verify", "foresee", "foresee-reset", "cleanup"]

ANSWER_LIMIT_S = 10.0
"""How long a server may take to greet."""

LOADERS = 2
"""Connections that load data at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataKeeper:
    """Keeps the rows of some workloads as they should be.

    Attributes:
        driver: Runs the engine.
        data_sets: Workloads that use them, one for each set of tables.
        changing: Workloads insert or delete rows, so that any number of them is right after a trial.
        table_options: Further options of CREATE TABLE, after those of a workload.
        progress: Is told how far loading is.
        warn: Is told of doubts.
    """

    driver: Driver
    data_sets: tuple[Workload, ...]
    changing: bool = False
    table_options: TableOptions = AS_USUAL
    progress: Callable[[Progress], None] = lambda _: None
    warn: Callable[[EngineWarning], None] = lambda _: None

    def divided(self, count: int) -> tuple[DataKeeper, ...]:
        """The keepers of so many instances, each of its share of the rows."""
        parts = zip(*(shares(data_set, count) for data_set in self.data_sets), strict=True)
        return tuple(replace(self, data_sets=data_sets) for data_sets in parts)

    def telling(self, progress: Callable[[Progress], None]) -> DataKeeper:
        """The same keeper, which tells somebody else how far loading is."""
        return replace(self, progress=progress)

    def ensure(self, target: Target) -> bool:
        """Takes tables that fit as they are, whoever made them, and makes them where there are none.

        A server that cannot be reached, lets nobody in or refuses a statement is told as such: only what the engine
        found itself, without an error of the server, is a reason to make tables.

        Returns:
            Whether all rows are as prepared, because nothing of them was there before.

        Raises:
            SpecError, TargetError, HostError: There are others of the same name, or they cannot be made.
        """
        with connect(target, read_limit_s=ANSWER_LIMIT_S) as control:
            is_new = not any(tables_there(control, data_set.table_names) for data_set in self.data_sets)
        for data_set in self.data_sets:
            try:
                self._run("check", data_set, target)
            except TargetError as error:
                if error.code is not None:
                    raise
                self._run("prepare", data_set, target)
        return is_new

    def foresee(self, target: Target, *, resets: bool) -> bool:
        """Looks for what `ensure` would meet, and with `resets` what `reset` would; changes nothing.

        Returns:
            Whether tables are to be made.

        Raises:
            SpecError, TargetError, HostError: It would be refused.
        """
        command: DataCommand = "foresee-reset" if resets else "foresee"
        rows = [self._run(command, data_set, target).rows_count for data_set in self.data_sets]
        return 0 in rows

    def reset(self, target: Target) -> None:
        """Drops the tables, which must be Plimsoll's own, and makes them again. Raises as `ensure`."""
        for data_set in self.data_sets:
            self._run("cleanup", data_set, target)
            self._run("prepare", data_set, target)

    def check(self, target: Target) -> int:
        """Counts the rows; returns how many there are.

        Raises:
            TargetError: Tables or rows are missing.
        """
        return sum(self._run("check", data_set, target).rows_count for data_set in self.data_sets)

    def verify(self, target: Target, when: str) -> None:
        """Looks at what is in the rows; of a TPC-C-derived workload at its conditions, which hold after load too.

        Args:
            target: Where the rows are.
            when: What a fault's message begins with.

        Raises:
            DataError: Rows are not as they should be; the text says which.
            TargetError, HostError: They cannot be looked at.
        """
        for data_set in self.data_sets:
            try:
                self._run("verify", data_set, target)
            except DataError as error:
                raise DataError(f"{when}: {error}", code=error.code, sqlstate=error.sqlstate) from None

    def _run(self, command: DataCommand, data_set: Workload, target: Target) -> Done:
        line = data_line(data_set, target, loaders=LOADERS, changing=self.changing, table_options=self.table_options)
        return run_data_command(self.driver, command, line, progress=self.progress, warn=self.warn)


def tables_there(control: Asked, names: Sequence[str]) -> list[str]:
    """Which of these tables are in the connection's database."""
    if not names:
        return []
    places = ", ".join(["%s"] * len(names))
    rows = control.rows(
        "SELECT table_name FROM information_schema.tables "  # noqa: S608
        f"WHERE table_schema = DATABASE() AND table_name IN ({places})",
        *names,
    )
    return [str(row[0]) for row in rows]
