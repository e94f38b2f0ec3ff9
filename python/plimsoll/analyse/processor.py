"""Who used the processors during the measured window: the host's modes, the server, the client.

Means over the samples of the window; each sample speaks for the second before it. Where the client runs on a machine of
its own, or it is unknown where the server runs, the modes of the client's machine say nothing about the server and are
left out; the client's share is then of its own.

Deliberately not here: what follows from them (`trial_checks`, `curve_checks`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from plimsoll.analyse.cell_model import CpuShares
from plimsoll.analyse.samples import MetricSum, Samples, mean_of_sums
from plimsoll.record.drivers import DriverRecord
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome

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
    weather, own = outcome.weather, 0.0
    if weather is not None and weather.after is not None:
        elapsed_s = max(weather.after.at_unix_s - weather.before.at_unix_s, 1.0)
        cpus = environment.host.cpu_threads or 1
        own = (weather.after.own_cpu_s - weather.before.own_cpu_s) / elapsed_s / cpus
    return max(user + system - client - server - own, 0.0)


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
    for one in () if samples is None else samples.sums:
        if (one.source == "host" and one.metric in _HOST_METRICS) or one.source == "process":
            places[one.driver, one.host, one.source, one.metric].append(one)
    shares: dict[str, list[float]] = defaultdict(list)
    for (driver, host, source, metric), found in places.items():
        if metric == "server_cpu_ratio" and len(found) < len(environment.instances):
            continue  # of the others nobody knows, and they would pass for something else that ran there
        value = mean_of_sums(found)
        if source == "process" and metric in _PROCESS_METRICS:
            shares[_PROCESS_METRICS[metric]].append(value * len(found))
        elif metric in _HOST_METRICS and (environment.client.on_server_host or host != driver):
            shares[_HOST_METRICS[metric]].append(value)
    means = {name: sum(values) / len(values) for name, values in shares.items()}
    if "client" in means:
        means["client"] *= _engines_here(samples, drivers)
    return CpuShares(**means)


def _engines_here(samples: Samples | None, drivers: Sequence[DriverRecord]) -> float:
    """Processor time of all engines on this machine over that of the first, which is the one that was sampled."""
    here = [one.name for one in drivers if one.is_here]
    used = dict.fromkeys(here, 0.0)
    for one in () if samples is None else samples.sums:
        if one.source == "engine" and one.metric in _ENGINE_METRICS and one.driver in used:
            used[one.driver] += one.total / one.size
    first = used[here[0]] if here else 0.0
    return sum(used.values()) / first if first > 0 else 1.0
