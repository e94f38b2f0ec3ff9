"""What the servers of a system hold before its first trial, asked once: tables, rows, plans, chosen variables.

It is asked before any trial, so that counting rows warms no cache of a measurement. Nothing here ends a study.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.errors import TargetError
from plimsoll.record.data_facts import DataFacts
from plimsoll.record.environment import InstanceFacts
from plimsoll.run.answers import drawn_statements
from plimsoll.run.instance import Instance, parts_of
from plimsoll.servers.control import connect
from plimsoll.servers.data_facts import data_facts, variables_set
from plimsoll.spec.explained import Explained, shipped_statements
from plimsoll.spec.statements import StatementsSpec, Workload


@dataclass(frozen=True, slots=True)
class _Surveyed:
    data: DataFacts
    variables_set: tuple[str, ...] | None


class DataSurvey:
    """Remembers what was found by the name of the instance."""

    def __init__(self) -> None:
        self._found: dict[str, _Surveyed] = {}

    def look(self, instances: Sequence[Instance], workloads: Sequence[Workload]) -> None:
        """Asks servers that were not asked before; one that does not answer stays unknown."""
        for number, instance in enumerate(instances):
            if instance.name in self._found:
                continue
            own = [parts_of(instances, workload)[number] for workload in workloads]
            try:
                self._found[instance.name] = _asked(instance, own)
            except TargetError:
                continue

    def added_to(self, facts: InstanceFacts) -> InstanceFacts:
        """What is known of an instance, with what was found."""
        found = self._found.get(facts.name)
        if found is None:
            return facts
        return facts.model_copy(update={"data": found.data, "variables_set": found.variables_set})


def _asked(instance: Instance, workloads: Sequence[Workload]) -> _Surveyed:
    tables = [name for workload in workloads for name in workload.table_names]
    with connect(instance.target) as control:
        return _Surveyed(data_facts(control, tables, _statements(workloads)), variables_set(control))


def _statements(workloads: Iterable[Workload]) -> Iterator[Explained]:
    for workload in workloads:
        if isinstance(workload, StatementsSpec):
            yield from drawn_statements(workload)
        else:
            yield from shipped_statements(workload)
