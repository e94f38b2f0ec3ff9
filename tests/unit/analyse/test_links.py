"""When the network of both ends is known well enough to say that no link is full."""

from __future__ import annotations

import pytest

from plimsoll.analyse.trial.resources import is_network_known, link_utilisation
from plimsoll.analyse.trial.samples import MetricSum
from plimsoll.record.environment import ClientFacts, Environment

ELSEWHERE = Environment(client=ClientFacts(on_server_host=False))
HERE = Environment(client=ClientFacts(on_server_host=True))


def machine(host: str, sent: dict[str, float], used: dict[str, float], *, driver: str = "load") -> list[MetricSum]:
    """Two samples of each figure of a machine; `load` is the client's."""
    figures = {f"network_{name}_sent_bytes_per_s": value for name, value in sent.items()}
    figures |= {f"network_{name}_used_ratio": value for name, value in used.items()}
    return [MetricSum(driver, host, "", "host", metric, 2 * value, 2) for metric, value in figures.items()]


@pytest.mark.parametrize(
    ("sent", "used", "is_known"),
    [
        ({"eth0": 100.0}, {"eth0": 0.1}, True),
        ({"eth0": 100.0}, {}, False),
        ({"eth0": 100.0, "br0": 100.0, "lo": 1e9}, {"eth0": 0.1}, True),
        ({"bond0": 100.0, "eth0": 50.0, "eth1": 50.0}, {"eth0": 0.1, "eth1": 0.1}, True),
        ({"eth0": 100.0, "eth1": 1.0}, {"eth1": 0.1}, False),
        ({}, {}, False),
    ],
    ids=["a card", "no speed", "a bridge", "a bond", "another card", "nothing"],
)
def test_the_links_that_carried_the_load_must_have_a_speed(
    sent: dict[str, float], used: dict[str, float], is_known: bool
) -> None:
    server = machine("db", sent, used)
    client = machine("load", {"eth0": 100.0}, {"eth0": 0.1})
    assert is_network_known(server + client, ELSEWHERE) is is_known
    assert is_network_known(machine("load", sent, used) + machine("db", {"eth0": 1.0}, {"eth0": 0.1}), ELSEWHERE) is (
        is_known
    )
    assert not is_network_known(server, ELSEWHERE), "nothing is known of the client's machine"
    assert is_network_known(server, HERE), "transactions do not leave the machine"


def test_links_of_both_ends_are_resources_and_the_fullest_driver_counts() -> None:
    sums = [
        *machine("db", {"eth0": 1.0}, {"eth0": 0.3}),
        *machine("load", {"eth0": 1.0}, {"eth0": 0.5}),
        *machine("load2", {"eth0": 1.0}, {"eth0": 0.9}, driver="load2"),
    ]
    assert dict(link_utilisation(sums, ELSEWHERE)) == {"network eth0": 0.3, "network eth0 of the client": 0.9}
