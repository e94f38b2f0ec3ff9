"""Pre-flight checks of a machine and of servers: finds the facts out, has them judged, refuses if that is wanted.

Nothing is changed anywhere. Deliberately not here: what keeps a study from running at all (`preflight`), and from which
value on there is a doubt (`plimsoll.analyse.readiness`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll.analyse.doubts import Code, Doubt
from plimsoll.analyse.readiness.checks import readiness_doubts
from plimsoll.analyse.readiness.model import Demand, Readiness, SharedCpus
from plimsoll.errors import HostError
from plimsoll.hosts.host import Host
from plimsoll.hosts.local import HERE
from plimsoll.prose.evidence import recorded_warning
from plimsoll.prose.readiness import CONSEQUENCE
from plimsoll.prose.severity import Severity, severity_of
from plimsoll.record.environment import HostFacts, InstanceFacts
from plimsoll.record.model import TrialWarning
from plimsoll.run.instance import Instance, located
from plimsoll.servers.control import connect
from plimsoll.servers.directory import nearest_existing
from plimsoll.servers.facts import host_facts, instance_facts
from plimsoll.servers.moment import machine_moment, open_files_max
from plimsoll.servers.placement_facts import placement_facts
from plimsoll.servers.storage import storage_facts
from plimsoll.spec.target import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessFinding:
    """A finding in words.

    Attributes:
        code: As warnings have it.
        severity: `grave`, `uncertain` or `context`.
        evidence: What was seen.
        consequence: What it does to figures.
        cure: What to do about it.
    """

    code: str
    severity: str
    evidence: str
    consequence: str
    cure: str

    @property
    def is_refused(self) -> bool:
        """`--strict` does not measure with it."""
        return self.severity != Severity.CONTEXT.name.lower()

    def as_warning(self) -> TrialWarning:
        """The same as events hold it."""
        return TrialWarning(code=self.code, evidence=self.evidence, advice=self.cure)


def machine_readiness(folders: Iterable[Path], demand: Demand | None = None, host: Host = HERE) -> Readiness:
    """What is known of a machine; takes half a second to see what else runs.

    Args:
        folders: Where data and recordings will lie; they need not exist.
        demand: What will be wanted.
        host: The machine.
    """
    return Readiness(
        host=host.call(host_facts),
        moment=host.call(machine_moment),
        storage=tuple(host.call(storage_facts, host.call(nearest_existing, folder)) for folder in folders),
        open_files_max=host.call(open_files_max),
        demand=demand,
    )


def servers_readiness(
    instances: Sequence[Instance],
    demand: Demand | None = None,
    host: HostFacts | None = None,
    *,
    client_cpus: Iterable[int] | None = None,
) -> Readiness:
    """What is known of running servers.

    Args:
        instances: They answer.
        demand: What will be wanted of each of them.
        host: This machine, where they share it.
        client_cpus: That the client is bound to; None for those that this process may use.

    Raises:
        TargetError: One does not answer.
    """
    here = [one for one in instances if one.is_here or not one.host.is_here]
    client = os.sched_getaffinity(0) if client_cpus is None else set(client_cpus)
    memory = host.memory_bytes if host is not None and len(here) == len(instances) else None
    return Readiness(
        host=HostFacts(memory_bytes=memory),
        servers=tuple(_variables_of(one) for one in instances),
        demand=demand,
        placements=tuple(
            found for one in instances if one.is_here if (found := shared_cpus_of(one, client)) is not None
        ),
    )


def target_instance(name: str, target: Target, host: Host = HERE) -> Instance:
    """A running server, with where it runs.

    Raises:
        TargetError: It does not answer.
    """
    instance = Instance(name=name, target=target, host=host)
    with connect(target) as control:
        return located(instance, control)


def judged(facts: Readiness) -> tuple[ReadinessFinding, ...]:
    """Everything that is not as it should be, in words; the gravest first."""
    order = list(Code)
    doubts = sorted(readiness_doubts(facts), key=lambda doubt: order.index(Code(doubt.code)))
    return tuple(in_words(doubt) for doubt in doubts)


def in_words(doubt: Doubt) -> ReadinessFinding:
    """A doubt in words."""
    said = recorded_warning(doubt)
    return ReadinessFinding(
        code=said.code,
        severity=severity_of(said.code).name.lower(),
        evidence=said.evidence,
        consequence=CONSEQUENCE[Code(doubt.code)],
        cure=said.advice,
    )


def refuse_strictly(findings: Iterable[ReadinessFinding]) -> None:
    """Refuses to measure with findings that make figures wrong or uncertain.

    Raises:
        HostError: There are some; all of them at once, with the cures.
    """
    refused = [f"{one.code}: {one.evidence}. {one.cure}" for one in findings if one.is_refused]
    if refused:
        raise HostError("\n".join(["--strict refuses to measure:", *dict.fromkeys(refused)]))


def _variables_of(instance: Instance) -> InstanceFacts:
    """With the size of the whole database that the connection leads to: what a server holds competes for its memory."""
    size = "SELECT SUM(data_length + index_length) FROM information_schema.tables WHERE table_schema = DATABASE()"
    with connect(instance.target) as control:
        facts = instance_facts(control, name=instance.name, storage=instance.storage)
        pid = instance.pid
        placement = None if pid is None else instance.host.call(placement_facts, pid)
        return facts.model_copy(
            update={"role": instance.role, "data_bytes": control.count(size), "placement": placement}
        )


def shared_cpus_of(instance: Instance, client: set[int]) -> SharedCpus | None:
    """CPUs that the server's process and the client may both run on; None when not shown."""
    if instance.pid is None:
        return None
    with contextlib.suppress(OSError):
        shared = os.sched_getaffinity(instance.pid) & client
        return SharedCpus(instance=instance.name, shared_cpus=tuple(sorted(shared)))
    return None
