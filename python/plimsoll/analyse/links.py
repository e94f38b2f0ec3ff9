"""How much of the network's links was used, and whether enough of them is known to say that none is full.

The kernel tells the speed of network cards only, and of virtual ones mostly not. The network of a machine is known
where the links with a speed carried at least half of what its busiest interface carried: a bridge or a bond repeats the
bytes of the cards below it, a tunnel most of them. Switches, and limits that a cloud sets below the speed of a link,
are not seen.

Deliberately not here: reading counters (`plimsoll.telemetry.network`), verdicts (`where_time`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from plimsoll.analyse.samples import MetricSum, mean_of_sums
from plimsoll.record.environment import Environment

NETWORK = "network "
"""Begins the name of the resource that is a link."""

OF_CLIENT = " of the client"
"""Ends it where the link is that of a client on a machine of its own."""

_CARRIED_RATIO = 0.5
_USED = re.compile(r"network_(.+)_used_ratio")
_BYTES = re.compile(r"network_(.+)_(?:received|sent)_bytes_per_s")


def is_of_clients_machine(one: MetricSum, environment: Environment) -> bool:
    """Whether a sample is of a machine that only the client has, which says nothing about the server."""
    return one.source == "host" and one.host == one.driver and not environment.client.on_server_host


def link_utilisation(sums: Iterable[MetricSum], environment: Environment) -> Iterator[tuple[str, float]]:
    """How much of each link was used, 0..1; of several drivers the one that used most of it."""
    used: dict[str, float] = {}
    for (is_clients, _), metrics in _by_machine(sums, environment).items():
        for metric, value in metrics.items():
            if match := _USED.fullmatch(metric):
                name = f"{NETWORK}{match[1]}{OF_CLIENT if is_clients else ''}"
                used[name] = max(used.get(name, 0.0), value)
    yield from sorted(used.items())


def is_network_known(sums: Iterable[MetricSum], environment: Environment) -> bool:
    """Whether a full link would have been seen: transactions use none, or the links at both ends have a speed."""
    if environment.client.on_server_host:
        return True
    machines = _by_machine(sums, environment)
    return {is_clients for is_clients, _ in machines} == {True, False} and all(map(_is_known, machines.values()))


_Machine = tuple[bool, str]
"""Whether it is the client's, and its name."""


def _by_machine(sums: Iterable[MetricSum], environment: Environment) -> dict[_Machine, dict[str, float]]:
    """Means of the metrics of the network."""
    found: dict[tuple[_Machine, str], list[MetricSum]] = defaultdict(list)
    for one in sums:
        if one.source == "host" and one.metric.startswith("network_"):
            found[(is_of_clients_machine(one, environment), one.host), one.metric].append(one)
    machines: dict[_Machine, dict[str, float]] = defaultdict(dict)
    for (machine, metric), own in found.items():
        machines[machine][metric] = mean_of_sums(own)
    return machines


def _is_known(metrics: Mapping[str, float]) -> bool:
    carried: dict[str, float] = defaultdict(float)
    for metric, value in metrics.items():
        if (match := _BYTES.fullmatch(metric)) and match[1] != "lo":
            carried[match[1]] += value
    known = sum(value for name, value in carried.items() if f"network_{name}_used_ratio" in metrics)
    return known > 0 and known >= _CARRIED_RATIO * max(carried.values())
