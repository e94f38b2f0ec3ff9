"""Machines of environments are compared before they are measured: with this machine, and with what was recorded."""

from __future__ import annotations

import os

import pytest

from plimsoll.errors import HostError
from plimsoll.hosts.local import HERE
from plimsoll.record.environment import Environment, InstanceFacts, PlacementFacts
from plimsoll.run.preflight import EqualMachines, foreseen_environment
from plimsoll.run.session import History, LastTrial
from plimsoll.servers.facts import host_facts, usable_memory_bytes
from plimsoll.servers.placement import read_topology
from plimsoll.spec.study import StudySpec, parse_study

STUDY = """
[study]
name = "s"
levels = { connections = [1] }
repetitions = 2
reset = "per_system"
switch = "hand"

[[workload]]
name = "w"
kind = "oltp_read_only"

[[system]]
name = "machine"
environment = "metal"
server = { managed = "mariadb" ON_METAL }

[[system]]
name = "guest"
environment = "virtual"
server = { managed = "mariadb" IN_GUEST }
"""

MEMORY_BYTES = usable_memory_bytes()
CPU_COUNT = len(os.sched_getaffinity(0))


def spec_of(*, on_metal: str = "", in_guest: str = "") -> StudySpec:
    """The study with more keys of its servers, or of their systems after a line break."""
    return parse_study(STUDY.replace("ON_METAL", on_metal).replace("IN_GUEST", in_guest))


def equal(spec: StudySpec, guest_cpus: int, guest_bytes: int = MEMORY_BYTES) -> EqualMachines:
    """This machine against a recorded guest."""
    host = host_facts().model_copy(update={"cpu_threads": guest_cpus, "memory_bytes": guest_bytes})
    measured = Environment(host=host, instances=(InstanceFacts(name="guest/0"),))
    one = EqualMachines(spec, History(last={"guest": LastTrial("t", measured, 0.0)}))
    one.add(spec.system[0], HERE)
    return one


def placement_of(spec: StudySpec) -> PlacementFacts | None:
    """What the server on the machine is foreseen to be able to use."""
    found = foreseen_environment(spec.system[0], HERE)
    assert found is not None
    assert found.host == host_facts()
    (instance,) = found.instances
    return instance.placement


def test_what_a_server_will_be_able_to_use_is_foreseen() -> None:
    limited = placement_of(spec_of(on_metal=', cpu_count = 1, memory_limit = "1G"'))
    assert limited is not None
    assert (limited.processors, limited.memory_limit_bytes) == (1, 2**30)
    topology = read_topology()
    inherited = None if topology.allowed == topology.online else tuple(sorted(topology.allowed))
    limit = None if host_facts().memory_bytes == MEMORY_BYTES else MEMORY_BYTES
    assert placement_of(spec_of()) == PlacementFacts(cpus=inherited, memory_limit_bytes=limit)


def test_a_guest_that_is_equal_is_taken() -> None:
    equal(spec_of(), CPU_COUNT).refuse_unequal()
    equal(spec_of(on_metal=", cpu_count = 1"), 1).refuse_unequal()


def test_a_guest_with_one_cpu_fewer_is_refused_with_the_cure() -> None:
    """A number of CPUs that only the machine states is no statement that they are unequal."""
    told = rf"not equal: CPUs is {CPU_COUNT} \(machine\), {CPU_COUNT - 1} \(guest\)\. Give both the same: .*state it"
    for limit in ("", f", cpu_count = {CPU_COUNT}"):
        with pytest.raises(HostError, match=told):
            equal(spec_of(on_metal=limit), CPU_COUNT - 1).refuse_unequal()


def test_a_guest_with_less_memory_is_refused() -> None:
    with pytest.raises(HostError, match=r"not equal: memory is .* \(machine\), .* \(guest\)"):
        equal(spec_of(), CPU_COUNT, MEMORY_BYTES // 2).refuse_unequal()


def test_what_every_system_states_is_compared_on_purpose() -> None:
    spec = spec_of(on_metal=", cpu_count = 1 }\nparameters = { cpus = 1", in_guest="}\nparameters = { cpus = 4")
    equal(spec, 4).refuse_unequal()


def test_targets_are_not_judged_before_they_run() -> None:
    text = STUDY.replace('server = { managed = "mariadb" ON_METAL }', 'target = "mysql://u@h/d"')
    assert foreseen_environment(parse_study(text.replace("IN_GUEST", "")).system[0], HERE) is None
