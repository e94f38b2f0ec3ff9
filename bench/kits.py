"""TPC-C kits that a user may have on the PATH, on a server of the bench: go-tpc, and sysbench-tpcc as `tpcc.lua`.

Each is one child process, measured whole. The account they use has no password, since go-tpc takes one from its command
line only; the server is on the loopback address and gone when the bench ends.
"""

from __future__ import annotations

import re
import shutil
from typing import ClassVar, Protocol

from bench.children import ChildError, Used, run_child
from bench.clients import LOADERS
from plimsoll.spec.target import Target


class Kit(Protocol):
    """A kit on one database of its own."""

    name: ClassVar[str]

    def prepare(self, warehouses: int) -> Used:
        """Makes its tables with two loaders."""

    def drive(self, warehouses: int, connections: int, seconds: float) -> float:
        """Drives its mix without keying and think times; gives its processor time per transaction, microseconds."""


class GoTpc:
    """`go-tpc`, as its documentation shows its options."""

    name = "go-tpc"

    def __init__(self, target: Target) -> None:
        self._to = ["-H", target.host, "-P", str(target.port), "-U", target.user, "-D", target.database]

    def prepare(self, warehouses: int) -> Used:
        """Makes its tables; its own check is left out."""
        return run_child([*self._words(warehouses, LOADERS), "prepare", "--no-check"])

    def drive(self, warehouses: int, connections: int, seconds: float) -> float:
        """Counts what its summary says of each type; errors have rows of their own."""
        words = [*self._words(warehouses, connections), "run", "--time", f"{seconds:g}s", "--interval", f"{seconds:g}s"]
        used = run_child(words)
        counts = re.findall(r"^\[Summary\] (?!\w+_ERR)\w+ - .*?Count: (\d+)", used.output, re.MULTILINE)
        return _cpu_us(self.name, used, sum(map(int, counts)))

    def _words(self, warehouses: int, threads: int) -> list[str]:
        return [self.name, "tpcc", *self._to, "--warehouses", str(warehouses), "-T", str(threads)]


class SysbenchTpcc:
    """sysbench-tpcc, whose script is a program where its shebang line finds sysbench."""

    name = "tpcc.lua"

    def __init__(self, target: Target) -> None:
        self._to = [
            "--db-driver=mysql",
            f"--mysql-host={target.host}",
            f"--mysql-port={target.port}",
            f"--mysql-user={target.user}",
            f"--mysql-db={target.database}",
        ]

    def prepare(self, warehouses: int) -> Used:
        """Makes its tables."""
        return run_child([*self._words(warehouses, LOADERS), "prepare"])

    def drive(self, warehouses: int, connections: int, seconds: float) -> float:
        """Counts what sysbench's report says."""
        used = run_child([*self._words(warehouses, connections), f"--time={seconds:g}", "run"])
        found = re.search(r"^\s*transactions:\s+(\d+)", used.output, re.MULTILINE)
        return _cpu_us(self.name, used, int(found[1]) if found else 0)

    def _words(self, warehouses: int, threads: int) -> list[str]:
        return [self.name, *self._to, "--tables=1", f"--scale={warehouses}", f"--threads={threads}"]


KITS: tuple[type[GoTpc | SysbenchTpcc], ...] = (GoTpc, SysbenchTpcc)


def installed() -> list[type[GoTpc | SysbenchTpcc]]:
    """Those on the PATH."""
    return [kit for kit in KITS if shutil.which(kit.name)]


def _cpu_us(name: str, used: Used, transactions: int) -> float:
    """Processor time of the client for each transaction, user space and kernel.

    Raises:
        ChildError: There was none.
    """
    if transactions == 0:
        raise ChildError(f"{name} tells of no transaction")
    return (used.user_s + used.system_s) * 1e6 / transactions
