"""Each side's use over what it really had: CPUs of its own, shared ones, quotas; and what is told of it."""

from __future__ import annotations

import pytest

from plimsoll.analyse.findings.curves import check_cells
from plimsoll.analyse.study.cell_model import Cell, CpuShares, Estimate
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.environments import changes
from plimsoll.analyse.trial.processors import (
    Sides,
    cpus_of_sides,
    own_utilisation,
    servers_host,
    shares_processors,
    sides_of,
    with_own_processors,
)
from plimsoll.guide.facts import client_cpus, placement_facts
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts, PlacementFacts
from plimsoll.record.level import Level, LevelKind


def environment(*servers: PlacementFacts | None, client: tuple[int, ...] | None = None, cpus: int = 8) -> Environment:
    return Environment(
        host=HostFacts(cpu_threads=cpus),
        instances=tuple(InstanceFacts(name=f"s/{index}", placement=server) for index, server in enumerate(servers)),
        client=ClientFacts(on_server_host=True, cpus=client),
    )


def on(*cpus: int, **more: object) -> PlacementFacts:
    return PlacementFacts(cpus=cpus, **more)


@pytest.mark.parametrize(
    ("servers", "client", "server_processors", "client_processors"),
    [
        ((on(*range(8)),), tuple(range(8)), None, None),
        ((on(1, 2),), (0,), 2.0, 1.0),
        ((on(1, 2), on(3, 4)), (0,), 4.0, 1.0),
        ((on(1, 2, cpu_quota=0.5), on(3, 4, cpu_quota=0.5)), None, 1.0, None),
        ((on(1, cpu_quota=4.0),), None, 1.0, None),
        ((on(*range(8), cpu_quota=2.0),), None, 2.0, None),
        ((on(1), None), (0,), None, 1.0),
    ],
)
def test_processors_that_each_side_had(
    servers: tuple[PlacementFacts | None, ...],
    client: tuple[int, ...] | None,
    server_processors: float | None,
    client_processors: float | None,
) -> None:
    """None where it is the whole machine, or not known of all."""
    sides = sides_of(environment(*servers, client=client))
    assert (sides.server_processors, sides.client_processors) == (server_processors, client_processors)


def test_a_machine_of_its_own_says_nothing() -> None:
    apart = environment(on(1), client=(0,))
    elsewhere = apart.model_copy(update={"client": apart.client.model_copy(update={"on_server_host": False})})
    assert sides_of(elsewhere) == Sides()
    assert not shares_processors(elsewhere)


def test_use_is_divided_by_what_a_side_had() -> None:
    """A client that takes an eighth of eight CPUs is saturated where it has one of them."""
    sides = sides_of(environment(on(2, 3), client=(0,)))
    found = with_own_processors(CpuShares(server=0.125, client=0.12), sides)
    assert (found.server_of_own, found.client_of_own) == (pytest.approx(0.5), pytest.approx(0.96))
    whole = with_own_processors(CpuShares(server=0.5, client=0.12), sides_of(environment(on(*range(8)))))
    assert (whole.server_of_own, whole.client_of_own) == (None, None)


def test_cores_are_those_that_the_servers_could_use() -> None:
    two = environment(on(2, 3, cores=1), on(4, 5, cores=1), client=(0,))
    assert (servers_host(two).cpu_cores, servers_host(two).cpu_threads) == (2, 4)
    quota = environment(on(*range(8), cores=4, cpu_quota=2.0))
    assert (servers_host(quota).cpu_cores, servers_host(quota).cpu_threads) == (2, 2)
    assert servers_host(environment(on(1))).cpu_cores is None, "recorded without cores"
    whole = environment(on(*range(8), cores=4))
    assert servers_host(whole) == whole.host


def test_a_quota_counts_as_busy_though_the_cpus_are_idle() -> None:
    sides = Sides(server=frozenset({0, 1}), server_quota=0.5, client=frozenset({1}), cpu_count=4)
    busy = {0: 0.3, 1: 0.9, 2: 0.0, 3: 0.0}
    assert dict(own_utilisation(sides, busy, 0.48)) == {
        "server cpus": pytest.approx(0.96),
        "client cpus": pytest.approx(0.9),
    }
    assert dict(own_utilisation(Sides(), busy, 0.48)) == {}


def cell(cpu: CpuShares) -> Curve:
    level = Level(connections=8)
    one = Cell(level=level, throughput_tps=Estimate(value=100.0, trial_count=2), cpu=cpu)
    return Curve(system="s", workload="w", kind=LevelKind.CLOSED, cells=(one,), peak=None)


def test_a_client_on_one_cpu_of_many_is_doubted() -> None:
    (doubt,) = check_cells([cell(CpuShares(client=0.12, idle=0.5, client_of_own=0.96))])
    assert doubt.kind.code == "client-saturated"
    assert doubt.evidence.text == "the client took 96.0 % of the processors that it could use"
    assert list(check_cells([cell(CpuShares(client=0.12, idle=0.5, client_of_own=0.8))])) == []
    assert list(check_cells([cell(CpuShares(client=0.12, idle=0.5))])) == []


@pytest.mark.parametrize(
    ("server", "client", "told"),
    [
        ((1,), (0,), {"are_apart": True, "server_cpus": "1", "client_cpus": "0"}),
        ((0, 1), (0,), {"shared_cpus": "0"}),
        (tuple(range(8)), tuple(range(8)), {}),
    ],
)
def test_whether_they_share_cpus_is_told(
    server: tuple[int, ...], client: tuple[int, ...], told: dict[str, object]
) -> None:
    found = environment(on(*server), client=client)
    assert cpus_of_sides(sides_of(found)) == told
    assert shares_processors(found) == ("are_apart" not in told)


def test_what_is_in_effect_is_shown_and_a_change_of_it_is_another_environment() -> None:
    limits = {"8:0 write_iops": 500, "8:0 read_bps": 10 * 2**20}
    placed = on(1, cpus_by="cgroup", cpu_quota=0.5, memory_limit_bytes=2**30, io_limits=limits, scheduling="fifo:3")
    shown = {name: value for name, value in placement_facts(placed) if value is not None}
    assert shown == {
        "CPUs of the server": "1, held there by a control group",
        "CPU quota": "0.5 CPUs",
        "Memory limit": "1.00 GiB",
        "I/O limits": "500 writes per second on device 8:0; 10.0 MiB read per second on device 8:0",
        "Scheduling": "fifo:3",
    }
    usual = on(*range(8), scheduling="other", nice=0)
    assert [value for _, value in placement_facts(usual) if value is not None] == []
    assert dict(placement_facts(on(0, nice=5, nice_others=(-20,))))["Scheduling"] == "nice 5 (some threads -20)"
    assert client_cpus(environment(placed, client=(0, 1))) == "0-1"
    assert client_cpus(environment(placed, client=tuple(range(8)))) is None
    found = changes(environment(placed, client=(0,)), environment(usual, client=(1,)))
    assert [(one.what, one.before, one.after) for one in found][:3] == [
        ("CPUs of the client", "0", "1"),
        ("CPUs of the server", "1", "0-7"),
        ("CPU quota", "0.5", "none"),
    ]
    assert changes(environment(placed), environment(None)) == ()
