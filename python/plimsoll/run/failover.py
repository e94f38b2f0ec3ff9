"""Times failovers of managed servers: the source is killed under load, a replica is promoted, clients go on there.

Each fault begins with all servers on data as it was before any load: a source with its replicas, set up from empty
data, and turned round to another source. Plimsoll chooses the replica, or a hook: it is told of the replicas by its
environment, and names one in the last line that it writes. Deliberately not here: load (`ledger_load`), the SQL of
replication (`servers.replication`), what the instants mean (`plimsoll.analyse.answers.fault_tests`).
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Self

from plimsoll.analyse.answers.fault_tests import (
    Instants,
    Promotion,
    failover_outcome,
    read_ledger,
    searched,
    with_outcomes,
)
from plimsoll.drive.engine import delayed
from plimsoll.errors import HookError, SpecError, TargetError
from plimsoll.private_folder import PrivateFolder
from plimsoll.record.fault_tests import FailoverOutcome, FailoverRecord, NotFollowing
from plimsoll.run.hooks import HookPlace, run_hook
from plimsoll.run.ledger_load import LedgerLoad, read_ledger_tables
from plimsoll.servers.command import find_server
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.directory import default_base_dir, sweep
from plimsoll.servers.managed_server import ManagedServer, ManagedSpec
from plimsoll.servers.option_file import FlavourName
from plimsoll.servers.replication.links import (
    dialect,
    promote,
    replica_status,
    start_replica,
    use_semisync,
    wait_until_applied,
)
from plimsoll.servers.replication.model import ReplicaStatus, ReplicationAccount, place_of
from plimsoll.spec.fault_tests import FailoverFault, FailoverSpec
from plimsoll.spec.hooks import HookSpec
from plimsoll.spec.server_options import OptionValue
from plimsoll.units import printable
from plimsoll.wording import counted

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
        reserved = set(dialect(flavour).options(1, is_semisync=True)) & spec.options.keys()
        if reserved:
            raise SpecError(
                *(f"--option {name}: replication needs its own value; leave it out" for name in sorted(reserved))
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
                self._say(_outcome_line(outcome, index + 1, spec.faults))
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
        search = searched(ledger, tables, counters, seed=seed, fault_ns=instants.fault_ns)
        return failover_outcome(ledger, instants, promotion, search)

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


def _outcome_line(outcome: FailoverOutcome, number: int, count: int) -> str:
    lost = f"{outcome.lost} of {outcome.acknowledged} acknowledged transactions lost"
    worse = f"; {outcome.torn} torn, {outcome.foreign} rows that nobody sent" if outcome.is_corrupt else ""
    return (
        f"fault {number} of {count}: outage {outcome.outage.total_s:.2f} s, {outcome.promoted} promoted; {lost}{worse}"
    )


_NAME_MAX = 80
"""Characters of a wrong name that are repeated."""


def chosen(links: Links, hook: HookSpec | None, source: str) -> tuple[str, tuple[str, ...]]:
    """The replica that is to be the source, and those that have received more.

    Args:
        links: Of the servers; the source is gone.
        hook: Chooses; None for the replica that has received most.
        source: Name of the old source.

    Raises:
        HookError: The hook failed, took too long, or named no replica.
        TargetError: A replica does not answer.
    """
    statuses = links.statuses()
    name = max(statuses, key=lambda replica: statuses[replica].received)  # of equals the first
    if hook is not None:
        name = _chosen_by_hook(links, hook, source, statuses)
    return name, tuple(replica for replica in statuses if statuses[replica].received > statuses[name].received)


def promoted(links: Links, name: str) -> int:
    """Makes a replica the source; returns since when it takes writes, monotonic nanoseconds.

    Raises:
        TargetError: It has not applied what it received within the limit.
    """
    promote(links.control(name), LIMIT_S)
    return time.monotonic_ns()


def turned_round(links: Links, name: str, ahead: tuple[str, ...]) -> Promotion:
    """Lets the other replicas follow. Raises TargetError where semi-synchronous replication cannot be had again."""
    return Promotion(name=name, is_behind=bool(ahead), not_following=links.turn_round(name, ahead))


def _chosen_by_hook(links: Links, hook: HookSpec, source: str, statuses: Mapping[str, ReplicaStatus]) -> str:
    variables = {"PLIMSOLL_SOURCE": source, "PLIMSOLL_REPLICAS": " ".join(statuses)}
    variables["PLIMSOLL_REPLICA_STATUS"] = json.dumps(
        {name: _replica_facts(links, name, status) for name, status in statuses.items()}
    )
    kept, fault = run_hook(HookPlace(study="failover", folder=Path.cwd()), "promote", hook, variables)
    if fault is not None:
        raise HookError(f"{fault}. No replica was promoted")
    lines = [line.strip() for line in kept.text.splitlines() if line.strip()]
    if not lines:
        raise HookError(f"hook promote: wrote nothing; its last line must be one of {', '.join(statuses)}")
    if lines[-1] not in statuses:
        raise HookError(
            f"hook promote: its last line must be one of {', '.join(statuses)}, is"
            f" {printable(lines[-1])[:_NAME_MAX]!r}. No replica was promoted"
        )
    return lines[-1]


def _replica_facts(links: Links, name: str, status: ReplicaStatus) -> dict[str, object]:
    """What a hook may know of a replica: no password is among it."""
    target = links.server(name).target
    return {
        "host": target.host,
        "port": target.port,
        **{key: value for key, value in asdict(status).items() if key in _TOLD},
    }


_TOLD = ("executed", "received", "waits_for_more", "behind_s", "applier", "error_code", "error")

LIMIT_S = 60.0
"""What replication may take for each step."""

_NAME = "failover"

_SEMISYNC_TIMEOUT_MS = 10 * 60 * 1000
"""A source that waited for replicas so long goes on without them; by default after 10 s, and would then lose data."""


class ReplicaSet:
    """Servers `failover/0`, the source, to `failover/N`. Use it as a context to have them removed at the end.

    Attributes:
        servers: The source first.
    """

    def __init__(self, spec: FailoverSpec, *, server: str, data_dir: Path) -> None:
        """Nothing is made yet.

        Args:
            spec: Replicas, replication and options.
            server: `mariadb`, `mysql`, or a full command.
            data_dir: Below which the servers' directories are made.
        """
        self._spec, self._server_name, self._base_dir = spec, server, data_dir
        self._stack = ExitStack()
        self.servers: list[ManagedServer] = []
        self._account = ReplicationAccount()

    def __enter__(self) -> Self:
        """Makes the servers and keeps their data as it is before any load. Raises as `ManagedServer.create`."""
        try:
            for number in range(self._spec.replicas + 1):
                server = ManagedServer.create(name=f"{_NAME}/{number}", spec=self._managed_spec(number))
                self.servers.append(self._stack.enter_context(server))
                server.start()
                server.stop()
                server.save_data()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Removes the servers with their directories."""
        self._stack.close()

    @property
    def source(self) -> ManagedServer:
        """The server that clients write to at first."""
        return self.servers[0]

    @property
    def replicas(self) -> Sequence[ManagedServer]:
        """The others."""
        return self.servers[1:]

    @contextmanager
    def running(self) -> Iterator[Links]:
        """All servers run on empty data, and the replicas follow the source; at the end all are killed.

        Raises:
            HostError, TargetError: They cannot be started, or do not replicate.
        """
        for server in self.servers:
            server.restore_data()
        try:
            with ExitStack() as stack:
                for server in self.servers:
                    server.start()
                yield Links(self, self._spec, self._account, stack)
        finally:
            for server in self.servers:
                server.kill()  # the data is put back or removed: nothing need be written

    def _managed_spec(self, number: int) -> ManagedSpec:
        flavour = find_server(self._server_name).flavour
        derived = {**dialect(flavour).options(number + 1, is_semisync=self._spec.is_semisync)}
        if self._spec.is_semisync:
            derived |= _semisync_timeout(flavour.name)
        return ManagedSpec(
            server=self._server_name,
            profile="server-defaults",
            data_dir=self._base_dir,
            options=self._spec.options,
            derived=derived,
        )


def _semisync_timeout(flavour: FlavourName) -> dict[str, OptionValue]:
    """MySQL makes its data without the plugin, and then does not know the option."""
    name = "rpl_semi_sync_master_timeout" if flavour is FlavourName.MARIADB else "loose_rpl_semi_sync_source_timeout"
    return {name: _SEMISYNC_TIMEOUT_MS}


class Links:
    """Replication between the running servers, as long as they run."""

    def __init__(
        self, replica_set: ReplicaSet, spec: FailoverSpec, account: ReplicationAccount, stack: ExitStack
    ) -> None:
        """Lets the replicas follow the source. Raises as `start_replica`."""
        self._spec, self._account, self._stack = spec, account, stack
        self.controls = {server.name: stack.enter_context(connect(server.target)) for server in replica_set.servers}
        self._servers = {server.name: server for server in replica_set.servers}
        self._replicas = [server.name for server in replica_set.replicas]
        self._source = replica_set.source.name
        self._follow(self._source, self._replicas)
        self._acknowledge(self._source, len(self._replicas))

    def wait_until_applied(self) -> None:
        """Waits until all replicas have what the source has committed by now. Raises TargetError after the limit."""
        for name in self._replicas:
            wait_until_applied(self.controls[self._source], self.controls[name], LIMIT_S)

    def cut_off(self) -> None:
        """Ends receiving on all replicas, as a network does that fails; what was received is still applied."""
        for name in self._replicas:
            control = self.controls[name]
            dialect(self._servers[name].flavour).stop_receiver(control)

    def kill_source(self) -> int:
        """Sends SIGKILL to the source; returns when, monotonic nanoseconds."""
        at_ns = time.monotonic_ns()
        os.kill(self._servers[self._source].pid, signal.SIGKILL)
        return at_ns

    def source_answers(self) -> bool:
        """Whether a new connection to the source comes about."""
        try:
            connect(self._servers[self._source].target).close()
        except TargetError:
            return False
        return True

    def statuses(self) -> dict[str, ReplicaStatus]:
        """What each replica says of itself. Raises TargetError where one does not answer, or is no replica."""
        by_replica = {}
        for name in self._replicas:
            status = replica_status(self.controls[name])
            if status is None:
                raise TargetError(f"{name}: is no replica any more")
            by_replica[name] = status
        return by_replica

    def server(self, name: str) -> ManagedServer:
        """A server by its name."""
        return self._servers[name]

    def control(self, name: str) -> ControlConnection:
        """The control connection to a server."""
        return self.controls[name]

    def turn_round(self, name: str, ahead: Sequence[str]) -> tuple[NotFollowing, ...]:
        """Lets the other replicas follow a promoted one; returns those that could not.

        Args:
            name: The promoted one.
            ahead: Replicas that have received more: what they have, their new source has not.

        Raises:
            TargetError: Too few replicas are left to wait for.
        """
        others = [replica for replica in self._replicas if replica != name]
        not_following = [
            NotFollowing(name=replica, reason=f"it has transactions that {name} lacks; it must be made again")
            for replica in ahead
        ]
        following = 0
        for other in others:
            if other in ahead:
                continue
            try:
                self._follow(name, [other])
                following += 1
            except TargetError as error:
                not_following.append(NotFollowing(name=other, reason=printable(str(error).splitlines()[0])))
        self._acknowledge(name, following)
        return tuple(not_following)

    def _follow(self, source: str, replicas: Sequence[str]) -> None:
        """Lets replicas follow a source, through a network delay where one is wanted."""
        target, port = self._servers[source].target, None
        if replicas and self._spec.replication_delay_s:
            port = self._stack.enter_context(delayed(target, delay_s=self._spec.replication_delay_s))
        for name in replicas:
            start_replica(
                self.controls[name],
                self.controls[source],
                place_of(target, port=port),
                self._account,
                is_semisync=self._spec.is_semisync,
                limit_s=LIMIT_S,
            )

    def _acknowledge(self, source: str, following: int) -> None:
        """Lets commits wait for as many replicas as are wanted and there."""
        if self._spec.is_semisync:
            use_semisync(self.controls[source], min(self._spec.acknowledging, following), LIMIT_S)
