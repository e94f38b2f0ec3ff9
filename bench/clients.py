"""The two clients that drive the same load on the same tables: Plimsoll's engine and sysbench.

Each is one child process, measured whole: connecting and preparing statements are in, for both alike.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bench.children import Beside, ChildError, Used, run_child
from plimsoll.drive.executable import find_engine
from plimsoll.drive.plans import data_line, sources, trial_line
from plimsoll.drive.protocol import MESSAGE, Done, Interval
from plimsoll.spec.clients import OpenArrivals
from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.target import Target
from plimsoll.spec.workloads import Workload

LOADERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is driven.

    Attributes:
        seed: Of the engine; sysbench takes the time of day.
        arrivals: The target rate, of the engine only; None for a closed loop.
    """

    workload: Workload
    connections: int
    duration_s: float
    seed: int = 1
    arrivals: OpenArrivals | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """What a client did, and what it used for it."""

    transactions: int
    statements: int
    duration_s: float
    used: Used

    @property
    def throughput_tps(self) -> float:
        """Transactions per second of load, connecting left out."""
        return self.transactions / self.duration_s

    @property
    def cpu_us_per_statement(self) -> float:
        """Processor time of the client, user space and kernel."""
        return (self.used.user_s + self.used.system_s) * 1e6 / self.statements

    @property
    def cpu_us_per_transaction(self) -> float:
        """The same for each transaction."""
        return (self.used.user_s + self.used.system_s) * 1e6 / self.transactions

    @property
    def user_us_per_statement(self) -> float:
        """Processor time of the client in user space."""
        return self.used.user_s * 1e6 / self.statements


class Engine:
    """Plimsoll's load engine, spoken to in its own protocol."""

    name = "plimsoll-engine"

    def __init__(self, target: Target) -> None:
        self._target = target

    def drive(self, load: Load, *, watch_memory: bool = False, beside: Beside = lambda _: None) -> Driven:
        """Drives a load.

        Raises:
            ChildError: It could not.
        """
        used, messages = self.intervals(load, watch_memory=watch_memory, beside=beside)
        done = messages[-1]
        assert isinstance(done, Done), "an engine that ends well says so last"
        counts = [
            transaction.counts
            for message in messages
            if isinstance(message, Interval)
            for group in message.groups
            for transaction in group.snapshot.transactions.values()
        ]
        return Driven(
            transactions=sum(count.completed for count in counts),
            statements=sum(count.reads + count.writes + count.others for count in counts),
            duration_s=done.duration_ns / 1e9,
            used=used,
        )

    def intervals(
        self,
        load: Load,
        *,
        at_unix_ns: int | None = None,
        watch_memory: bool = False,
        beside: Beside = lambda _: None,
    ) -> tuple[Used, list[Any]]:
        """Drives a load, and gives every message of the engine."""
        plan = trial_line(
            load.workload,
            sources({"bench": self._target}),
            connections=load.connections,
            duration_s=load.duration_s,
            seed=load.seed,
            arrivals=load.arrivals,
        )
        lines = ({**plan, "stop_at_stdin_end": False}, {"type": "start", "at_unix_ns": at_unix_ns})
        used = self._run("trial", *lines, watch_memory=watch_memory, beside=beside)
        return used, [MESSAGE.validate_json(line) for line in used.output.splitlines()]

    def prepare(
        self,
        workload: Workload,
        *,
        loaders: int = LOADERS,
        method: Literal["auto", "inserts"] = "auto",
        watch_memory: bool = False,
    ) -> Used:
        """Makes the tables, with their indexes and ANALYZE."""
        line = data_line(workload, self._target, loaders=loaders, method=method)
        return self._run("prepare", line, watch_memory=watch_memory)

    def verify(self, workload: Workload) -> Used:
        """Holds the tables against what they should be, row by row or by their conditions."""
        return self._run("verify", data_line(workload, self._target, loaders=LOADERS))

    def cleanup(self, workload: Workload) -> None:
        """Drops the tables, whoever made them."""
        self._run("cleanup", data_line(workload, self._target, loaders=1, drop_foreign=True))

    def _run(
        self, command: str, *lines: dict[str, Any], watch_memory: bool = False, beside: Beside = lambda _: None
    ) -> Used:
        given = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        try:
            return run_child([find_engine(), command], given=given, watch_memory=watch_memory, beside=beside)
        except ChildError as error:
            raise ChildError(str(error).replace(self._target.password.get_secret_value(), "***")) from None


def front_door() -> list[str]:
    """Plimsoll in the place of sysbench."""
    return [str(find_engine()), "sysbench"]


class Sysbench:
    """sysbench, with the options that mean the same as ours."""

    name = "sysbench"

    def __init__(self, target: Target, folder: Path, program: Sequence[str] = ("sysbench",)) -> None:
        """Writes what it needs to log in to a file in a folder that only we may read.

        Args:
            target: The server.
            folder: Where the file goes.
            program: sysbench, or what stands in its place.
        """
        self._program = program
        self._config = folder / "sysbench.cnf"
        self._config.touch(mode=0o600)
        lines = {
            "db-driver": "mysql",
            "mysql-host": target.host,
            "mysql-port": target.port,
            "mysql-user": target.user,
            "mysql-password": target.password.get_secret_value(),
            "mysql-db": target.database,
        }
        self._config.write_text("".join(f"{name}={value}\n" for name, value in lines.items()), encoding="utf-8")

    @staticmethod
    def version() -> str | None:
        """What `sysbench --version` says; None where there is none."""
        if shutil.which("sysbench") is None:
            return None
        ran = subprocess.run(["sysbench", "--version"], capture_output=True, text=True, check=False)
        return ran.stdout.strip() or None

    def drive(self, load: Load, *, watch_memory: bool = False, script: str | None = None) -> Driven:
        """Drives a load, by a script where one is given in the place of the workload's name.

        Raises:
            ChildError: It could not.
        """
        words = [f"--threads={load.connections}", f"--time={load.duration_s:g}", "--percentile=0", "run"]
        used = run_child(self._words(load.workload, words, script), watch_memory=watch_memory)
        transactions, statements = (_count(used.output, name) for name in ("transactions", "queries"))
        total = re.search(r"total time:\s+([\d.]+)s", used.output)
        assert total is not None, used.output
        return Driven(transactions=transactions, statements=statements, duration_s=float(total[1]), used=used)

    def prepare(self, workload: WorkloadSpec) -> float:
        """Makes the tables with their index; gives the seconds it took."""
        return run_child(self._words(workload, ["prepare"])).wall_s

    def _words(self, workload: WorkloadSpec, last: Sequence[str], script: str | None = None) -> list[str]:
        return [
            *self._program,
            f"--config-file={self._config}",
            script or workload.kind,
            f"--tables={workload.tables}",
            f"--table-size={workload.table_size}",
            "--rand-type=uniform",
            *last,
        ]


def _count(report: str, name: str) -> int:
    found = re.search(rf"^\s*{name}:\s+(\d+)", report, re.MULTILINE)
    assert found is not None, report
    return int(found[1])
