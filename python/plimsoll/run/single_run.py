"""What a measured run without a study is, and how recordings name it.

Deliberately not here: how it runs (`single`).
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass, replace

from plimsoll.drive.executable import engine_version
from plimsoll.drive.plans import GroupServers, sources
from plimsoll.record.capacity import RunRole
from plimsoll.record.environment import ClientFacts
from plimsoll.record.level import Level
from plimsoll.record.model import SystemRecord, TrialRecord
from plimsoll.record.origin import Origin
from plimsoll.run.client_limits import known_limit_tps
from plimsoll.run.instance import Instance
from plimsoll.run.joined import RecordingWanted
from plimsoll.run.load_servers import load_servers
from plimsoll.run.progressing import INTERVAL_S, workload_record
from plimsoll.servers.facts import host_facts
from plimsoll.spec.arrivals import BACKLOG_MAX, OpenArrivals
from plimsoll.spec.clients import CLIENTS, Clients
from plimsoll.spec.drivers import ONE_HERE, DriverSpec
from plimsoll.spec.reads import Reads, reads_words
from plimsoll.spec.statements import Workload
from plimsoll.spec.target import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleRun:
    """What to run.

    Attributes:
        warm_up_s: Load runs so long before it counts.
        duration_s: Load counts for so long.
        arrivals: The target rate; None for a closed loop.
        clients: How they connect, how long they think, and what they do about errors.
        drivers: The machines that share the load.
        look_first: Whether the engine looks at tables and limits before it connects.
        managed: The server behind the target, where Plimsoll started it.
        replicas: Servers that repeat it; they take the transactions that only read.
        search: The search for a capacity that it is a run of, and what it is for; None for neither.
    """

    workload: Workload
    target: Target
    connections: int
    warm_up_s: float
    duration_s: float
    seed: int
    arrivals: OpenArrivals | None = None
    clients: Clients = CLIENTS
    drivers: tuple[DriverSpec, ...] = ONE_HERE
    look_first: bool = True
    managed: Instance | None = None
    replicas: tuple[Instance, ...] = ()
    search: tuple[str, RunRole] | None = None


def client_facts(run: SingleRun) -> ClientFacts:
    """What is known of this load generator's own limit."""
    limit_tps = known_limit_tps(host_facts(), engine_version(), run.workload, run.connections, [run.target])
    return ClientFacts(limit_tps=limit_tps)


def system_record(run: SingleRun, wanted: RecordingWanted) -> SystemRecord:
    """The server as recordings name it: by its address, or by what Plimsoll started."""
    if run.managed is None:
        factors = {"target": run.target.endpoint, "tls": run.target.tls.mode}
        return SystemRecord(name=wanted.system or run.target.endpoint, factors=factors)
    factors = {"server": run.managed.name}
    if run.replicas:
        factors |= {"replicas": str(len(run.replicas)), "reads": reads_words(Reads())}
    return SystemRecord(name=wanted.system or run.managed.name, factors=factors)


def named_instances(run: SingleRun, name: str, source: Instance) -> tuple[Instance, ...]:
    """The servers of a run, by the name of its system."""
    replicas = (replace(one, name=f"{name}/{number}") for number, one in enumerate(run.replicas, start=1))
    return (replace(source, name=f"{name}/0"), *replicas)


def group_servers(run: SingleRun, name: str) -> list[GroupServers]:
    """The servers as the load engine gets them; results of one alone carry the name `target`."""
    if not run.replicas:
        return sources({"target": run.target})
    return load_servers(named_instances(run, name, Instance(name="", target=run.target)), Reads())


def _stated(arrivals: OpenArrivals | None) -> dict[str, object]:
    """What of the arrivals is not as a study has it."""
    usual = {"arrivals": "poisson", "backlog": BACKLOG_MAX}
    said = {} if arrivals is None else {"arrivals": arrivals.process, "backlog": arrivals.backlog_max}
    return {name: value for name, value in said.items() if value != usual[name]}


def trial_record(run: SingleRun, system: SystemRecord, wanted: RecordingWanted | None = None) -> TrialRecord:
    """What the recording says the trial was; its place among the others of its folder is not known yet."""
    workload = workload_record(run.workload, {**run.clients.stated(), **_stated(run.arrivals)})
    inputs = (system.factors, workload.options, run.connections, run.arrivals, run.seed, time.time(), os.getpid())
    rate_tps = None if run.arrivals is None else run.arrivals.steady_tps
    return TrialRecord(
        trial_id=hashlib.sha256(repr(inputs).encode(errors="surrogateescape")).hexdigest()[:32],
        study="single" if wanted is None else wanted.study.resolve().name,
        system=system,
        workload=workload.model_copy(update={"name": (wanted and wanted.workload) or workload.name}),
        level=Level(connections=run.connections, rate_tps=rate_tps),
        repetition=0,
        seed=run.seed,
        interval_s=INTERVAL_S,
        duration_s=run.duration_s,
        origin=Origin(detail="plimsoll trial" if run.search is None else "plimsoll capacity"),
        search_id=None if run.search is None else run.search[0],
        search_role=None if run.search is None else run.search[1],
    )
