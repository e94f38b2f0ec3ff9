"""Who used the processors during the measured window, and which processors the server and the client each had.

The processors that the server and the client each had, where that is fewer than their machine has. A client on one of
eight CPUs is saturated at an eighth of the machine's processor time. So the use of each side is divided by what it
really had: the CPUs that its threads may run on, or the quota of its control group where that is less. CPUs may be
busy with something else, too: their own busy time says that.

Who used the processors during the measured window: the host's modes, the server, the client. Means over the samples of
the window; each sample speaks for the second before it. Where the client runs on a machine of its own, or it is
unknown where the server runs, the modes of the client's machine say nothing about the server and are left out; the
client's share is then of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from plimsoll.analyse.study.cell_model import CpuShares
from plimsoll.analyse.trial.instances import replicas_of
from plimsoll.analyse.trial.samples import MetricSum, Samples, mean_of_sums
from plimsoll.record.environment import Environment, HostFacts
from plimsoll.record.model import DriverRecord, Outcome
from plimsoll.spec.placement import format_cpus

SERVER_CPUS, CLIENT_CPUS = "server cpus", "client cpus"
"""As resources: utilisation of the processors of each side."""

CPUS_OF = "cpus of "
"""Begins the name of the resource that is the CPUs of one server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Which processors of one machine each side could use.

    Attributes:
        server: CPUs of all instances together; None where unknown.
        client: CPUs of the load engine, where it is on the servers' machine; None where unknown.
        server_quota: Processor time per second of all instances together, in CPUs; None for no limit.
        cpu_count: CPUs of the machine; None where unknown.
    """

    server: frozenset[int] | None = None
    client: frozenset[int] | None = None
    server_quota: float | None = None
    cpu_count: int | None = None

    @property
    def shared(self) -> frozenset[int] | None:
        """CPUs that both could use; None where unknown."""
        return None if self.server is None or self.client is None else self.server & self.client

    @property
    def are_apart(self) -> bool:
        """Whether each side is known to have CPUs of its own."""
        return self.shared is not None and not self.shared

    @property
    def server_processors(self) -> float | None:
        """How many CPUs the servers could use at once, where that is fewer than the machine has; else None."""
        if self.server is None or self.cpu_count is None:
            return None
        had = min(float(len(self.server)), self.server_quota or float(len(self.server)))
        return had if had < self.cpu_count else None

    @property
    def client_processors(self) -> float | None:
        """The same of the client."""
        if self.client is None or self.cpu_count is None:
            return None
        return float(len(self.client)) if len(self.client) < self.cpu_count else None


def sides_of(environment: Environment) -> Sides:
    """What each side could use; nothing where they are not known to be on one machine."""
    if not environment.client.on_server_host:
        return Sides()
    client = environment.client.cpus
    return replace(_servers_side(environment), client=None if client is None else frozenset(client))


def _servers_side(environment: Environment) -> Sides:
    """What all instances together could use, where they are on one machine."""
    placements = [instance.placement for instance in environment.instances]
    cpus = [placement.cpus for placement in placements if placement is not None and placement.cpus]
    limits = [
        placement.processors for placement in placements if placement is not None and placement.cpu_quota is not None
    ]
    is_known = bool(placements) and len(cpus) == len(placements)
    return Sides(
        server=frozenset(cpu for instance_cpus in cpus for cpu in instance_cpus) if is_known else None,
        server_quota=sum(limit or 0.0 for limit in limits) if limits and len(limits) == len(placements) else None,
        cpu_count=environment.host.cpu_threads,
    )


def servers_host(environment: Environment) -> HostFacts:
    """The servers' machine with as many cores and hardware threads as they could use of it.

    Of several instances away from the client nobody knows whether they are on one machine.
    """
    is_one_machine = bool(environment.client.on_server_host) or len(environment.instances) == 1
    sides, host = _servers_side(environment) if is_one_machine else Sides(), environment.host
    if sides.server_processors is None:
        return host
    known = [
        instance.placement.cores
        for instance in environment.instances
        if instance.placement is not None and instance.placement.cores
    ]
    most = max(round(sides.server_processors), 1)
    cores = min(sum(known), most) if len(known) == len(environment.instances) else None
    return host.model_copy(update={"cpu_cores": cores, "cpu_threads": most})


def shares_processors(environment: Environment) -> bool:
    """Whether the client takes processors from the server: it runs beside it, and not on CPUs of its own."""
    return bool(environment.client.on_server_host) and not sides_of(environment).are_apart


class CpusOfSides(TypedDict, total=False):
    """Figures of an observation: which logical CPUs the client and the servers could use."""

    are_apart: bool
    server_cpus: str
    client_cpus: str
    shared_cpus: str


def cpus_of_sides(sides: Sides) -> CpusOfSides:
    """CPUs of both sides where they are apart, or those that they share where either has few.

    Nothing where both could use the whole machine, as they usually can.
    """
    if sides.server is None or sides.client is None or sides.shared is None:
        return {}
    if sides.are_apart:
        server, client = (format_cpus(tuple(cpus)) for cpus in (sides.server, sides.client))
        return {"are_apart": True, "server_cpus": server, "client_cpus": client}
    is_whole = sides.cpu_count is None or min(len(sides.server), len(sides.client)) >= sides.cpu_count
    return {} if is_whole else {"shared_cpus": format_cpus(tuple(sides.shared))}


def with_own_processors(shares: CpuShares, sides: Sides) -> CpuShares:
    """Adds to shares of the machine what each side took of its own processors, where those are fewer."""
    return shares.model_copy(
        update={
            "server_of_own": _of_own(shares.server, sides.server_processors, sides.cpu_count),
            "client_of_own": _of_own(shares.client, sides.client_processors, sides.cpu_count),
        }
    )


def client_of_servers(share: float | None, environment: Environment) -> float | None:
    """What the client took of the processors that the servers could use, 0..1; None where it is not known.

    Args:
        share: Of the client, of the whole host's processor time.
        environment: Of a trial whose client ran on the servers' host.
    """
    sides = sides_of(environment)
    ratio = _of_own(share, sides.server_processors, sides.cpu_count)
    return share if ratio is None else ratio


def _of_own(share: float | None, processors: float | None, cpu_count: int | None) -> float | None:
    if share is None or processors is None or cpu_count is None:
        return None
    return min(share * cpu_count / processors, 1.0)


def own_utilisation(sides: Sides, busy: Mapping[int, float], server_cpu_s: float | None) -> Iterator[tuple[str, float]]:
    """How busy the processors of each side were, 0..1, where they are fewer than the machine has.

    Args:
        sides: Which they are.
        busy: Share of time that each CPU was busy.
        server_cpu_s: Processor time of all servers in each second; it counts against a quota.
    """
    if sides.server is not None and sides.server_processors is not None:
        of_cpus = _mean(busy[cpu] for cpu in sides.server if cpu in busy) if len(sides.server) < len(busy) else None
        of_quota = server_cpu_s / sides.server_quota if sides.server_quota and server_cpu_s is not None else None
        known = [ratio for ratio in (of_cpus, of_quota) if ratio is not None]
        if known:
            yield SERVER_CPUS, min(max(known), 1.0)
    if sides.client is not None and sides.client_processors is not None:
        of_cpus = _mean(busy[cpu] for cpu in sides.client if cpu in busy)
        if of_cpus is not None:
            yield CLIENT_CPUS, min(of_cpus, 1.0)


def cpus_by_server(environment: Environment) -> dict[str, frozenset[int]]:
    """The CPUs of each server by its name, where a source and its replicas each have their own; empty otherwise.

    Together they would pass for one: a source that is busy beside idle replicas is a bottleneck that a mean hides.
    """
    if not environment.client.on_server_host or not replicas_of(environment):
        return {}
    placed = {
        instance.name: instance.placement.cpus for instance in environment.instances if instance.placement is not None
    }
    known = {name: frozenset(cpus) for name, cpus in placed.items() if cpus}
    are_apart = sum(map(len, known.values())) == len(frozenset().union(*known.values()))
    return known if len(known) == len(environment.instances) and are_apart else {}


def utilisation_by_server(environment: Environment, busy: Mapping[int, float]) -> Iterator[tuple[str, float]]:
    """How busy the CPUs of each of these servers were, 0..1."""
    for name, cpus in cpus_by_server(environment).items():
        if (ratio := _mean(busy[cpu] for cpu in cpus if cpu in busy)) is not None:
            yield f"{CPUS_OF}{name}", min(ratio, 1.0)


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return sum(known) / len(known) if known else None


_MODES = ("user", "system", "iowait", "idle", "steal")
_HOST_METRICS = {f"cpu_{mode}_ratio": mode for mode in _MODES}
_ENGINE_METRICS = ("cpu_user_s_per_s", "cpu_system_s_per_s")
_PROCESS_METRICS = {"server_cpu_ratio": "server", "client_cpu_ratio": "client"}


def reported_shares(host_cpu: Mapping[str, float]) -> CpuShares:
    """What a published source states."""
    return CpuShares(**{mode: host_cpu.get(mode) for mode in _MODES})


def other_ratio(shares: CpuShares, outcome: Outcome, environment: Environment) -> float | None:
    """Processor time of processes that are neither the server, nor the client, nor Plimsoll, 0..1; None where unknown.

    What Plimsoll used is known from before the warm-up until after the measurement.
    """
    known = (shares.user, shares.system, shares.client, shares.server)
    if any(share is None for share in known):
        return None
    user, system, client, server = (share or 0.0 for share in known)
    weather, own_ratio = outcome.weather, 0.0
    if weather is not None and weather.after is not None:
        elapsed_s = max(weather.after.at_unix_s - weather.before.at_unix_s, 1.0)
        cpus = environment.host.cpu_threads or 1
        own_ratio = (weather.after.own_cpu_s - weather.before.own_cpu_s) / elapsed_s / cpus
    return max(user + system - client - server - own_ratio, 0.0)


def processor_shares(
    samples: Samples | None, environment: Environment, drivers: Sequence[DriverRecord] = ()
) -> CpuShares:
    """Shares of the whole host, 0..1; None where telemetry does not say.

    Args:
        samples: Of the measured window.
        environment: Says whether client and server share a machine.
        drivers: Those that shared the load, if it was not one engine.
    """
    places: dict[tuple[str, str, str, str], list[MetricSum]] = defaultdict(list)
    for metric_sum in () if samples is None else samples.sums:
        if (metric_sum.source == "host" and metric_sum.metric in _HOST_METRICS) or metric_sum.source == "process":
            places[metric_sum.driver, metric_sum.host, metric_sum.source, metric_sum.metric].append(metric_sum)
    shares: dict[str, list[float]] = defaultdict(list)
    for (driver, host, source, metric), metric_sums in places.items():
        if metric == "server_cpu_ratio" and len(metric_sums) < len(environment.instances):
            continue  # of the others nobody knows, and they would pass for something else that ran there
        value = mean_of_sums(metric_sums)
        if source == "process" and metric in _PROCESS_METRICS:
            shares[_PROCESS_METRICS[metric]].append(value * len(metric_sums))
        elif metric in _HOST_METRICS and (environment.client.on_server_host or host != driver):
            shares[_HOST_METRICS[metric]].append(value)
    means = {name: sum(values) / len(values) for name, values in shares.items()}
    if "client" in means:
        means["client"] *= _engines_here(samples, drivers)
    return CpuShares(**means)


def _engines_here(samples: Samples | None, drivers: Sequence[DriverRecord]) -> float:
    """Processor time of all engines on this machine over that of the first, which is the one that was sampled."""
    here = [driver.name for driver in drivers if driver.is_here]
    used = dict.fromkeys(here, 0.0)
    for metric_sum in () if samples is None else samples.sums:
        if metric_sum.source == "engine" and metric_sum.metric in _ENGINE_METRICS and metric_sum.driver in used:
            used[metric_sum.driver] += metric_sum.total / metric_sum.size
    first = used[here[0]] if here else 0.0
    return sum(used.values()) / first if first > 0 else 1.0
