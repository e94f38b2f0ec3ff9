"""Runs a learned workload on a throwaway server that logs every statement, and compares that log with the learned one.

The log and its tables hold made-up values only; they are removed with the server. Deliberately not here: the comparison
(`plimsoll.learn.fidelity`), and words.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.protocol import EngineWarning, Interval, Progress
from plimsoll.errors import TargetError
from plimsoll.learn.demand import Demand
from plimsoll.learn.fidelity import ModelRun, fidelity_of, model_run
from plimsoll.learn.fidelity_model import CheckConditions, Fidelity
from plimsoll.record.model import Verdict
from plimsoll.run.instance import Instance
from plimsoll.run.learned_folder import LearnedFolder
from plimsoll.run.logs import read_logs
from plimsoll.run.single import SingleRun, run_single
from plimsoll.run.system_data import DataKeeper
from plimsoll.run.systems import throwaway_server
from plimsoll.servers.capture import CAPTURES
from plimsoll.servers.command import find_server
from plimsoll.servers.control import ControlConnection, connect

DEFAULT_CONNECTIONS = 4
"""Where the log has no times."""

_CONNECTIONS_MAX = 1_000

ConnectionsFrom = Literal["log", "given", "default"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """How a learned workload is checked.

    Attributes:
        server: `mariadb`, `mysql` or a full command.
        warm_up_s: Load runs so long before it counts.
        work_dir: Where the tables of the log are made; None for the system's temporary folder.
    """

    server: str
    connections: int
    connections_from: ConnectionsFrom
    warm_up_s: float
    duration_s: float
    seed: int
    work_dir: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Watcher:
    """Who is told how far a check is.

    Attributes:
        loads: How far the tables are.
        warns: Of what is odd about them.
        seen: Each interval of the load.
        reads: How far reading the log is.
    """

    loads: Callable[[Progress], None]
    warns: Callable[[EngineWarning], None]
    seen: Callable[[Interval], None]
    reads: Callable[[Progress], None]


def usual_connections(demand: Demand | None) -> tuple[int, ConnectionsFrom]:
    """As many as transactions were open at a time in the log, on average, and where that is from.

    In a closed loop without think time each connection is in a transaction all the time, so that locks meet as often.
    """
    mean = None if demand is None else demand.sessions.in_transaction_mean
    if mean is None:
        return DEFAULT_CONNECTIONS, "default"
    return min(max(1, round(mean)), _CONNECTIONS_MAX), "log"


def usual_server(folder: LearnedFolder) -> str:
    """The flavour that the log came from: MySQL for Percona Server, which is a fork of it; MariaDB if not known."""
    flavours = [source.flavour for source in folder.load.report.sources if source.flavour]
    return "mysql" if flavours and flavours[0] != "mariadb" else "mariadb"


def check_learned(folder: LearnedFolder, check: Check, watcher: Watcher) -> Fidelity:
    """Runs a learned workload on a server of its own and compares.

    Args:
        folder: What was learned.
        check: How to run it.
        watcher: Is told how far it is.

    Raises:
        HostError, TargetError, SpecError: It could not be run.
        InvalidTrialError: No transaction completed.
        Interrupted: Somebody ended it; nothing is kept.
    """
    spec = folder.workload
    keeper = DataKeeper(driver=LocalDriver(), data_sets=(spec,), progress=watcher.loads, warn=watcher.warns)
    with throwaway_server(check.server, keeper, connections=check.connections) as (server,):
        with connect(server.target) as control:
            path, version = _log_everything(control, check.server)
            outcome = run_single(_run_of(folder, check, server), watcher.seen).outcome
            if outcome.verdict is Verdict.FAILED:
                raise TargetError(outcome.reason or "")
            control.rows("SET GLOBAL slow_query_log = OFF")
        run = _read(path, folder, check, watcher)
    conditions = CheckConditions(
        checked_unix_s=int(time.time()),
        server=version,
        connections=check.connections,
        connections_from=check.connections_from,
        scale=folder.load.profile.scale,
        duration_s=check.duration_s,
        warm_up_s=check.warm_up_s,
    )
    return fidelity_of(folder.load, run, conditions)


def _run_of(folder: LearnedFolder, check: Check, server: Instance) -> SingleRun:
    return SingleRun(
        workload=folder.workload,
        target=server.target,
        managed=server,
        connections=check.connections,
        warm_up_s=check.warm_up_s,
        duration_s=check.duration_s,
        seed=check.seed,
    )


def _log_everything(control: ControlConnection, server: str) -> tuple[Path, str]:
    """Switches the log on; returns its path and what the server is. Sessions that begin later are logged."""
    kind = _kind(find_server(server).flavour.name.value, control.variables())
    for statement in CAPTURES[kind].on:
        control.rows(statement)
    variables = control.variables()
    title = {"mariadb": "MariaDB", "mysql": "MySQL", "percona": "Percona Server"}[kind]
    version = variables["version"].partition("-")[0]
    return Path(variables["datadir"]) / variables["slow_query_log_file"], f"{title} {version}"


def _kind(flavour: str, variables: Mapping[str, str]) -> str:
    """How the server logs: Percona Server is a MySQL whose log says more."""
    return "percona" if flavour == "mysql" and "slow_query_log_use_global_control" in variables else flavour


def _read(path: Path, folder: LearnedFolder, check: Check, watcher: Watcher) -> ModelRun:
    with read_logs([str(path)], form="slow", work_dir=check.work_dir, progress=watcher.reads) as log:
        run = model_run(log, folder.load.statements, warm_up_s=check.warm_up_s)
    if not run.counts:
        raise TargetError(
            f"the log of the server that ran the workload has none of its statements; it read {path.name}"
        )
    return run
