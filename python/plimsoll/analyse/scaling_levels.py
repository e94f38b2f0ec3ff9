"""The levels of a curve, one by one: scale factor, efficiency and throughput per processor.

The scale factor is throughput over that of the lowest level, efficiency is the scale factor over the factor of
connections. Throughput per processor is over the processors that were kept busy, by the server alone where its
processor time is known: a client on the same machine is then left out.

Deliberately not here: laws (`scaling_fit`), what is concluded (`scalability`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from plimsoll.analyse.cell_model import Bounds, Cell, Estimate
from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.own_processors import servers_host
from plimsoll.analyse.scaling_fit import Floats
from plimsoll.analyse.scaling_model import Region, ScalingLevel
from plimsoll.record.environment import HostFacts


def scaling_levels(cells: Sequence[MeasuredCell], described: Sequence[Cell], lines: Floats) -> tuple[ScalingLevel, ...]:
    """Each level of one curve.

    Args:
        cells: By rising level.
        described: What is said about each.
        lines: Throughput by the law and the edges of its band, (3, levels); NaN where none was fitted.
    """
    environment = cells[0].trials[0].environment
    servers = servers_host(environment)
    takes_turns = any(trial.turns is not None for one in cells for trial in one.trials)
    cpus = None if takes_turns else environment.host.cpu_threads  # of systems in turn, the processors are of all
    shown = [[None if math.isnan(value) else float(value) for value in line] for line in lines]
    return tuple(
        ScalingLevel(
            level=cell.level,
            region=region_of(cell.level.connections, servers),
            scale_factor=_scale_factor(cell, described[0]),
            efficiency=_efficiency(cell, described[0]),
            tps_per_server_cpu=_per_cpu(cell, cell.cpu.server, cpus),
            tps_per_busy_cpu=_per_cpu(cell, _busy_ratio(cell), cpus),
            fitted_tps=shown[0][index],
            low_tps=shown[1][index],
            high_tps=shown[2][index],
        )
        for index, cell in enumerate(described)
    )


def region_of(connections: int, host: HostFacts) -> Region:
    """Whether a host has a core, or at least a hardware thread, for each connection."""
    if not host.cpu_cores:
        return Region.UNKNOWN
    if connections <= host.cpu_cores:
        return Region.CORES
    return Region.SIBLINGS if connections <= (host.cpu_threads or 0) else Region.BEYOND


def _scale_factor(cell: Cell, lowest: Cell) -> Estimate:
    """The curve's own, unless that is over a level at which nothing completed."""
    if cell.scale_factor is not None and lowest.scale_factor is not None and lowest.scale_factor.value == 1.0:
        return cell.scale_factor
    return Estimate(value=cell.throughput_tps.value / lowest.throughput_tps.value)


def _efficiency(cell: Cell, lowest: Cell) -> Estimate:
    """The scale factor over the factor of connections, with the interval of the former."""
    factor = cell.level.connections / lowest.level.connections
    scale = _scale_factor(cell, lowest)
    bounds = scale.bounds
    if bounds is not None:
        bounds = Bounds(**{**bounds.model_dump(), "low": bounds.low / factor, "high": bounds.high / factor})
    return Estimate(value=scale.value / factor, bounds=bounds, trial_count=scale.trial_count)


def _busy_ratio(cell: Cell) -> float | None:
    """Share of the host's processor time in which something ran, 0..1."""
    return None if cell.cpu.idle is None else 1 - cell.cpu.idle - (cell.cpu.iowait or 0.0)


def _per_cpu(cell: Cell, share: float | None, cpus: int | None) -> float | None:
    """Throughput over so large a share of the host's CPUs."""
    return cell.throughput_tps.value / (share * cpus) if share and share > 0 and cpus else None
