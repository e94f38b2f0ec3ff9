"""CPUs of replicas: other ones than those of the source, divided or one entry for each."""

from __future__ import annotations

import pytest

from plimsoll.hosts.local import HERE
from plimsoll.run.replicas import replica_placements
from plimsoll.run.server_faults import not_permitted
from plimsoll.servers.placement import Topology, instance_placements
from plimsoll.spec.system import ServerSpec

EIGHT = frozenset(range(8))
MACHINE = Topology(present=EIGHT, online=EIGHT, allowed=EIGHT, cores={cpu: (cpu,) for cpu in sorted(EIGHT)})


def server(**keys: object) -> ServerSpec:
    return ServerSpec.model_validate({"managed": "mysql", "replicas": 2, **keys})


def cpus(spec: ServerSpec) -> list[tuple[int, ...] | None]:
    return [placement.cpus for placement in replica_placements(spec, MACHINE)]


@pytest.mark.parametrize(
    ("keys", "counts"),
    [
        ({"cpu_count": 2}, [2, 2]),
        ({"cpu_count": 1, "replica": {"cpu_count": 6}}, [3, 3]),
        ({"replica": {"cpu_count": [1, 3]}}, [1, 3]),
        ({"cpu_count": 4, "replica": {"cpu_count": [1, 3]}}, [1, 3]),
    ],
)
def test_chosen_cpus_are_nobody_elses(keys: dict[str, object], counts: list[int]) -> None:
    spec = server(**keys)
    (source,) = instance_placements(spec, 1, MACHINE)
    found = [cpu or () for cpu in cpus(spec)]
    assert [len(one) for one in found] == counts
    every = [*(source.cpus or ()), *(cpu for one in found for cpu in one)]
    assert len(every) == len(set(every))


def test_named_cpus_are_divided_or_as_they_are() -> None:
    assert cpus(server(replica={"cpus": "2-5"})) in ([(2, 3), (4, 5)], [(2, 4), (3, 5)])
    assert cpus(server(replica={"cpus": ["2", "3-4"]})) == [(2,), (3, 4)]
    assert cpus(server()) == [None, None]


def test_limits_are_repeated() -> None:
    found = replica_placements(server(memory_limit="1G", cpu_quota=2.0, replica={"memory_limit": "512M"}), MACHINE)
    assert [(one.share.memory_limit_bytes, one.share.cpu_quota) for one in found] == [(2**29, 2.0)] * 2


def test_more_cpus_than_there_are_is_told_before() -> None:
    faults = [str(fault) for fault in not_permitted(server(cpu_count=4), HERE, MACHINE)]
    assert faults == [
        "replica.cpu_count: 8 CPUs for 2 replicas, and beside the source this process may use 4; take fewer replicas"
        " or CPUs"
    ]
    of_replicas = not_permitted(server(replica={"cpus": ["9", "1"]}), HERE, MACHINE)
    assert ("replica", "cpus") in [fault.path for fault in of_replicas]
