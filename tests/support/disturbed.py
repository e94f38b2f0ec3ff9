"""Telemetry of a machine with two CPUs, of which other programs take a part in some seconds."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from plimsoll.record import frames
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts
from support.made import PLACE, STARTED_UNIX_S, source_of

SHARED = Environment(
    host=HostFacts(name="here", cpu_cores=2, cpu_threads=2),
    instances=(InstanceFacts(name="one", version="10.11.14", flavour="mariadb"),),
    client=ClientFacts(on_server_host=True),
)
"""Server and client on one machine of two CPUs."""

QUIET = {
    "server_cpu_user_s_per_s": 1.0,
    "server_cpu_system_s_per_s": 0.2,
    "server_run_delay_s_per_s": 0.6,
    "cpu_user_s_per_s": 0.2,
    "cpu_system_s_per_s": 0.1,
    "run_delay_s_per_s": 0.1,
    "cpu_idle_ratio": 0.24,
    "cpu_iowait_ratio": 0.0,
    "cpu_steal_ratio": 0.0,
}
"""A second in which nobody else runs: 1.5 s of processor time, and waits among server and client themselves."""

DISTURBED = QUIET | {
    "server_cpu_user_s_per_s": 0.5,
    "server_cpu_system_s_per_s": 0.1,
    "server_run_delay_s_per_s": 2.0,
    "cpu_user_s_per_s": 0.1,
    "cpu_system_s_per_s": 0.05,
    "run_delay_s_per_s": 0.4,
    "cpu_idle_ratio": 0.0,
}
"""A second in which other programs keep them from half of what they used."""


def machine_table(seconds: Sequence[dict[str, float]], *, warm_count: int = 2) -> pl.DataFrame:
    """A sample of each metric in each second; the seconds of the warm-up are like the first one."""
    rows = [
        {
            **PLACE,
            "unix_s": STARTED_UNIX_S + second + 1.01,
            "source": "engine" if metric.startswith(("cpu_user_s", "cpu_system_s")) else source_of(metric),
            "metric": metric,
            "value": value,
        }
        for second, values in enumerate([seconds[0]] * warm_count + list(seconds))
        for metric, value in values.items()
    ]
    return pl.DataFrame(rows, schema=frames.TELEMETRY)
