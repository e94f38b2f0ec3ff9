"""Who used the processors during the measured window: the host's modes, the server, the client.

Means over the samples of the window; each sample speaks for the second before it. Where the client runs on a machine of
its own, or it is unknown where the server runs, the modes of the client's machine say nothing about the server and are
left out; the client's share is then of its own.

Deliberately not here: what follows from them (`trial_checks`, `curve_checks`).
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from plimsoll.analyse.cell_model import CpuShares
from plimsoll.record.model import EngineAccount, Environment, Outcome

_MODES = ("user", "system", "iowait", "idle", "steal")
_HOST_METRICS = {f"cpu_{mode}_ratio": mode for mode in _MODES}
_PROCESS_METRICS = {"server_cpu_ratio": "server", "client_cpu_ratio": "client"}
_LATE_S = 0.5
"""A sample that was taken late still belongs to the second before it."""


def reported_shares(host_cpu: Mapping[str, float]) -> CpuShares:
    """What a published source states."""
    return CpuShares(**{mode: host_cpu.get(mode) for mode in _MODES})


def _within(telemetry: pl.DataFrame, measured: pl.DataFrame, account: EngineAccount) -> pl.DataFrame:
    """The samples that belong to the measured intervals."""
    first_s, last_s = measured.select(pl.col("from_s").min(), pl.col("to_s").max()).row(0)
    return telemetry.filter(
        (pl.col("unix_s") > account.started_unix_s + first_s + _LATE_S)
        & (pl.col("unix_s") <= account.started_unix_s + last_s + _LATE_S)
    )


def engine_mean(telemetry: pl.DataFrame | None, measured: pl.DataFrame, outcome: Outcome, metric: str) -> float | None:
    """Mean of something that the load engine says of itself, over the measured window; None where it does not.

    Args:
        telemetry: All of the trial (`frames.TELEMETRY`).
        measured: The intervals of its window.
        outcome: Says when interval 0 began on the wall clock.
        metric: Its name.
    """
    if telemetry is None or outcome.account is None or measured.is_empty():
        return None
    rows = _within(telemetry, measured, outcome.account).filter(
        (pl.col("source") == "engine") & (pl.col("metric") == metric)
    )
    return None if rows.is_empty() else float(rows["value"].to_numpy().mean())


def processor_shares(
    telemetry: pl.DataFrame | None, measured: pl.DataFrame, outcome: Outcome, environment: Environment
) -> CpuShares:
    """Shares of the whole host, 0..1; None where telemetry does not say.

    Args:
        telemetry: All of the trial (`frames.TELEMETRY`).
        measured: The intervals of its window.
        outcome: Says when interval 0 began on the wall clock.
        environment: Says whether client and server share a machine.
    """
    if telemetry is None or outcome.account is None or measured.is_empty():
        return CpuShares()
    in_window = _within(telemetry, measured, outcome.account).filter(pl.col("source").is_in(["host", "process"]))
    means = in_window.group_by("driver", "host", "source", "metric").agg(
        pl.col("value").mean(), pl.col("instance").n_unique().alias("instances")
    )
    shares: dict[str, list[float]] = {}
    for driver, host, source, metric, value, instances in means.iter_rows():
        if metric == "server_cpu_ratio" and instances < len(environment.instances):
            continue  # of the others nobody knows, and they would pass for something else that ran there
        if source == "process" and metric in _PROCESS_METRICS:
            shares.setdefault(_PROCESS_METRICS[metric], []).append(value * instances)
        elif metric in _HOST_METRICS and (environment.client.on_server_host or host != driver):
            shares.setdefault(_HOST_METRICS[metric], []).append(value)
    return CpuShares(**{name: sum(values) / len(values) for name, values in shares.items()})
