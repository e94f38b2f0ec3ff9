"""Times failovers of managed servers: the source is killed under load, a replica is promoted, clients go on there.

Each fault begins with all servers on data as it was before any load. Deliberately not here: the servers
(`replica_set`), the choice of the next source (`promotion`), what the instants mean (`plimsoll.analyse.failover`).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

from plimsoll.analyse.failover import Instants, Promotion, failover_outcome, with_outcomes
from plimsoll.analyse.lost_transactions import read_ledger, searched
from plimsoll.errors import SpecError, TargetError
from plimsoll.private_folder import PrivateFolder
from plimsoll.prose.phrases import counted
from plimsoll.record.failover import FailoverOutcome, FailoverRecord
from plimsoll.run.ledger_load import LedgerLoad, read_ledger_tables
from plimsoll.run.promotion import chosen, promoted, turned_round
from plimsoll.run.replica_set import LIMIT_S, Links, ReplicaSet
from plimsoll.servers.command import find_server
from plimsoll.servers.directory import default_base_dir
from plimsoll.servers.option_file import FlavourName
from plimsoll.servers.replication.links import dialect
from plimsoll.servers.sweep import sweep
from plimsoll.spec.failover import FailoverFault, FailoverSpec
from plimsoll.spec.server_options import checked_options

CUT_OFF_S = 0.5
"""With the fault `cut-off`: replicas receive nothing for so long before the source is killed."""

AFTER_S = 1.0
"""Load on the new source, which shows that it goes on."""

_LEAD_S = 0.5
_SERVER_S, _FAULT_S = 6.0, 8.0
"""About what making a server, and starting, stopping and searching for each fault take, for the forecast."""

_ANSWER_PAUSE_S = 0.01

Say = Callable[[str], None]
Keep = Callable[[FailoverRecord], None]


def duration_s(spec: FailoverSpec) -> float:
    """About how long a test takes, seconds."""
    each_s = _LEAD_S + spec.load_s + AFTER_S + _FAULT_S + 2 * spec.replicas
    return (spec.replicas + 1) * _SERVER_S + spec.faults * each_s


class FailoverTest:
    """One test. `run` may be interrupted: what is done by then was handed over."""

    def __init__(
        self, spec: FailoverSpec, *, server: str, data_dir: Path | None, ledger_dir: Path | None, say: Say
    ) -> None:
        """Nothing is started yet.

        Args:
            spec: What is to be tested.
            server: `mariadb`, `mysql`, or a full command.
            data_dir: Below which the servers' directories are made; None for the default.
            ledger_dir: Where the ledger is written; None for the system's temporary folder.
            say: Is told of each step.
        """
        self._spec, self._server_name, self._say = spec, server, say
        self._base_dir = data_dir or default_base_dir()
        self._ledger_dir = ledger_dir
        self._random = random.Random(spec.seed)  # noqa: S311  (instants of faults)

    def run(self, keep: Keep) -> FailoverRecord:
        """Tests each fault.

        Args:
            keep: Is handed what is known after each fault.

        Raises:
            SpecError: The options make no sense together.
            HookError: The promotion hook failed, or named no replica.
            HostError, TargetError: The servers cannot be had or do not replicate, or the ledger cannot be written.
        """
        spec = self._spec
        flavour = find_server(self._server_name).flavour
        own = set(dialect(flavour).options(1, is_semisync=True)) & set(checked_options(spec.options))
        if own:
            raise SpecError(
                *(f"--option {name}: replication needs its own value; leave it out" for name in sorted(own))
            )
        if faults := spec.faults_found(is_mariadb=flavour.name is FlavourName.MARIADB):
            raise SpecError(*faults)
        if self._ledger_dir is not None and not self._ledger_dir.is_dir():
            raise SpecError(f"--ledger-dir: {self._ledger_dir} is not a folder; create it, or correct the path")
        sweep(self._base_dir)
        self._say(f"a source and {counted(spec.replicas, 'replica')} are made")
        with (
            PrivateFolder("ledger", self._ledger_dir) as folder,
            ReplicaSet(spec, server=self._server_name, data_dir=self._base_dir) as servers,
        ):
            record = self._record(servers)
            each: list[FailoverOutcome] = []
            for index in range(spec.faults):
                outcome = self._befall(servers, folder / f"ledger-{index}", index)
                each.append(outcome)
                record = with_outcomes(record, each, is_complete=len(each) == spec.faults)
                self._say(_said(outcome, index + 1, spec.faults))
                keep(record)
        return record

    def _record(self, servers: ReplicaSet) -> FailoverRecord:
        spec = self._spec
        return FailoverRecord(
            fault=spec.fault,
            server=servers.source.command.version_text,
            storage=servers.source.storage,
            replicas=spec.replicas,
            replication=spec.replication,
            semisync_replicas=spec.acknowledging or None,
            replication_delay_s=spec.replication_delay_s,
            promote="most-advanced" if spec.promote is None else "hook",
            connections=spec.connections,
            seed=spec.seed,
        )

    def _befall(self, servers: ReplicaSet, ledger_file: Path, index: int) -> FailoverOutcome:
        """One fault, from servers that are started to the search for what was acknowledged."""
        seed = self._spec.seed + index
        with (
            servers.running() as links,
            LedgerLoad(servers.source.target, ledger_file, connections=self._spec.connections, seed=seed) as load,
        ):
            links.wait_until_applied()
            load.start()
            load.run_for(_LEAD_S + self._random.uniform(0.5, 1.0) * self._spec.load_s)
            if self._spec.fault is FailoverFault.CUT_OFF:
                links.cut_off()
                load.run_for(CUT_OFF_S)
            instants, promotion = self._fail_over(links, load, servers.source.name)
            load.run_for(AFTER_S)
            load.finish()
            ledger = read_ledger(load.read())
            tables, counters = read_ledger_tables(links.control(promotion.name))
        found = searched(ledger, tables, counters, seed=seed, fault_ns=instants.fault_ns)
        return failover_outcome(ledger, instants, promotion, found)

    def _fail_over(self, links: Links, load: LedgerLoad, source: str) -> tuple[Instants, Promotion]:
        """From the kill to the first transaction on the new source.

        Raises:
            TargetError: A step did not come about within its limit.
        """
        fault_ns = links.kill_source()
        if load.wait_until_lost(LIMIT_S) is None:
            raise TargetError(f"{source}: was killed, and no client has noticed that for {LIMIT_S:.0f} s")
        detected_ns = _gone(links, source)
        name, ahead = chosen(links, self._spec.promote, source)
        chosen_ns = time.monotonic_ns()
        applied_ns = promoted(links, name)
        promotion = turned_round(links, name, ahead)
        followed_ns = time.monotonic_ns()
        load.go_on_at(links.server(name).target)
        if load.wait_until_resumed(LIMIT_S) is None:
            raise TargetError(f"{name}: was promoted, and has acknowledged no transaction for {LIMIT_S:.0f} s")
        instants = Instants(
            fault_ns=fault_ns,
            detected_ns=detected_ns,
            chosen_ns=chosen_ns,
            applied_ns=applied_ns,
            followed_ns=followed_ns,
        )
        return instants, promotion


def _gone(links: Links, source: str) -> int:
    """Waits until no connection to the source comes about any more; returns when, monotonic nanoseconds."""
    until_s = time.monotonic() + LIMIT_S
    while links.source_answers():
        if time.monotonic() >= until_s:
            raise TargetError(f"{source}: was killed, and still answers after {LIMIT_S:.0f} s")
        time.sleep(_ANSWER_PAUSE_S)
    return time.monotonic_ns()


def _said(outcome: FailoverOutcome, number: int, count: int) -> str:
    lost = f"{outcome.lost} of {outcome.acknowledged} acknowledged transactions lost"
    worse = f"; {outcome.torn} torn, {outcome.foreign} rows that nobody sent" if outcome.is_corrupt else ""
    return (
        f"fault {number} of {count}: outage {outcome.outage.total_s:.2f} s, {outcome.promoted} promoted; {lost}{worse}"
    )
