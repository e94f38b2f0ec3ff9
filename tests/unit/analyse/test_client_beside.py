"""When a client on the server's host takes so much of the server's processors that it matters."""

from __future__ import annotations

import pytest

from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts, PlacementFacts
from support.made import telemetry_table
from unit.analyse.test_warnings import STEADY, one


@pytest.mark.parametrize(
    ("took", "cpus", "is_doubted"),
    [(0.001, (), False), (0.049, (), False), (0.051, (), True), (0.02, (0,), True), (0.002, (0, 1), False)],
)
def test_a_client_beside_the_server_is_doubted_from_a_share_of_its_processors_that_matters(
    took: float, cpus: tuple[int, ...], *, is_doubted: bool
) -> None:
    """Of all processors, or of those that the server could use: 2 % of eight CPUs are 16 % of one."""
    environment = Environment(
        host=HostFacts(cpu_threads=8, cpu_cores=8),
        instances=(InstanceFacts(name="one", placement=PlacementFacts(cpus=cpus)),),
        client=ClientFacts(on_server_host=True, cpus=tuple(range(8))),
    )
    shares = {"client_cpu_ratio": took, "cpu_idle_ratio": 0.5}
    found = one(environment, telemetry=telemetry_table(shares, seconds=len(STEADY)))
    assert ("client-on-server-host" in found) is is_doubted
