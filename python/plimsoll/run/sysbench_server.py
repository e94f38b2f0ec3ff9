"""The servers that a command line of sysbench names: what they are called in a study, and what they say of themselves.

Nothing of them is changed, and a server that does not answer stops nothing: the engine will say so itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import polars as pl

from plimsoll.drive.engine_message import EngineMessage
from plimsoll.drive.protocol import Done, Interval, Ready
from plimsoll.errors import SpecError, TargetError
from plimsoll.record.environment import Environment, HostFacts, InstanceFacts
from plimsoll.record.model import SystemRecord
from plimsoll.run.environment import Surveyor
from plimsoll.run.instance import Instance, located
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.facts import instance_facts
from plimsoll.spec.sysbench_line import SysbenchLine
from plimsoll.spec.target import Target
from plimsoll.spec.workload import WorkloadSpec
from plimsoll.units import printable

CLIENT_ALONE = "client alone"
"""The system of a script that connects to no server."""

TABLES_MAX = 1000
"""So many tables are described at most."""

M = TypeVar("M", bound=EngineMessage)


@dataclass(frozen=True, slots=True)
class Servers:
    """One or more servers that the connections are spread over."""

    record: SystemRecord
    instances: tuple[Instance, ...]

    @property
    def targets(self) -> tuple[Target, ...]:
        """How they are reached."""
        return tuple(instance.target for instance in self.instances)

    def named(self, message: M) -> M:
        """A message of the engine, which names its one group as the test, with the instance's name in its place.

        Where connections go to several servers, nobody knows to which: the name is empty.
        """
        name = self.instances[0].name if len(self.instances) == 1 else ""
        parts = {Ready: ("failures", "encryptions"), Interval: ("groups",), Done: ("outages",)}.get(type(message), ())
        renamed = {
            part: [one.model_copy(update={"instance": name}) for one in getattr(message, part)] for part in parts
        }
        return message.model_copy(update=renamed)


def no_servers(named: Servers) -> Servers:
    """What a script ran on that opened no connection to the servers of its options. A name of the user's stays."""
    address = named.record.factors["target"]
    name = CLIENT_ALONE if named.record.name == address else named.record.name
    return Servers(SystemRecord(name=name, factors={"target": "none"}, instances=0), ())


def without_servers(environment: Environment) -> Environment:
    """An environment of this client alone."""
    client = environment.client.model_copy(update={"on_server_host": None, "limit_tps": None})
    return environment.model_copy(update={"host": HostFacts(), "instances": (), "client": client})


def of_no_server(table: pl.DataFrame) -> pl.DataFrame:
    """Rows that were taken for those of a server before it was known that there is none."""
    return table.with_columns(pl.lit("").alias("host"), pl.lit("").alias("instance"))


def servers_of(line: SysbenchLine, name: str | None) -> Servers:
    """The servers of a command line as one system; its name is their address where none is given."""
    targets = line.targets()
    address = printable(", ".join(target.endpoint for target in targets))
    factors = {"target": address, "tls": targets[0].tls.mode}
    record = SystemRecord(name=name or address, factors=factors, instances=len(targets))
    instances = tuple(Instance(name=f"{record.name}/{index}", target=target) for index, target in enumerate(targets))
    return Servers(record, instances)


def survey(
    surveyor: Surveyor, servers: Servers, workload: WorkloadSpec | None, connections: int
) -> tuple[Environment, tuple[Instance, ...], tuple[str, ...]]:
    """The environment, the servers with where they run, and what could not be found out about them.

    Args:
        surveyor: Knows this machine.
        servers: Whom to ask.
        workload: One of ours; None for a script, whose tables are taken to be all of its database.
        connections: Of the run.
    """
    facts, found, doubts = list[InstanceFacts](), list[Instance](), list[str]()
    for instance in servers.instances:
        try:
            with connect(instance.target) as control:
                found.append(located(instance, control))
                facts.append(_facts(control, found[-1], None if workload is None else workload.table_names))
        except (TargetError, SpecError) as error:
            doubts.append(str(error))
    limit_tps = None if workload is None else surveyor.limit_tps(workload, connections, servers.targets)
    places = tuple(found) if len(found) == len(servers.instances) else servers.instances
    return surveyor.described(places, tuple(facts), limit_tps), places, tuple(doubts)


def _facts(control: ControlConnection, instance: Instance, wanted: Sequence[str] | None) -> InstanceFacts:
    present = [str(row[0]) for row in control.rows("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")]
    tables = [name for name in present if wanted is None or name in wanted]
    return instance_facts(control, name=instance.name, tables=tables[:TABLES_MAX], storage=instance.storage)
