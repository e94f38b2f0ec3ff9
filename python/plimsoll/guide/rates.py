"""Load at a rate as tables: what was completed of what was wanted, how long it took, and whose fault delays were."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.rate_model import RateCell, RateCurve
from plimsoll.guide.numbers import NOT_KNOWN, per_unit, show_rate, show_share, show_statistic
from plimsoll.guide.tables import STALLED, Column, Entry, Table, cpu_busy_ratio, stalled_share
from plimsoll.units import format_exact

CARRIED = "carried"
UNFINISHED = "unfinished"
NOTE = (
    "Wanted is the rate that was asked for, whether or not a connection was free. Response time counts from when a "
    "transaction was due, service time from when it was sent, dispatch delay from when a connection was free until it "
    "was sent: that is the client's. Waiting is the longest backlog of an overload. Rates marked “carried” were, like "
    "every lower one, kept up with in all trials: nothing was dropped, and no overload lasted to the end."
)

_Shown = tuple[str, Callable[[RateCell], str]]
"""The heading of a column, and what stands in it."""

_COLUMNS: tuple[_Shown, ...] = (
    (STALLED, stalled_share),
    ("p50 ms", lambda cell: show_statistic(cell.response_ms, "p50")),
    ("p95 ms", lambda cell: show_statistic(cell.response_ms, "p95")),
    ("p99 ms", lambda cell: show_statistic(cell.response_ms, "p99")),
    ("service p99 ms", lambda cell: show_statistic(cell.service_ms, "p99")),
    ("dispatch p99 ms", lambda cell: show_statistic(cell.dispatch_delay_ms, "p99")),
    ("waiting", lambda cell: f"{cell.waiting_max:,}"),
    ("dropped", lambda cell: f"{cell.dropped_count:,}"),
    ("failed", lambda cell: f"{cell.failed_count:,}"),
    (UNFINISHED, lambda cell: f"{cell.unfinished_count:,}" if cell.unfinished_count else NOT_KNOWN),
    ("CPU %", lambda cell: show_share(cpu_busy_ratio(cell))),
)


_ONLY_WHERE_KNOWN = (STALLED, UNFINISHED)
"""Columns for what should not be: they are there only where it was."""

_NARROW = (STALLED, "p50 ms", "p95 ms", "p99 ms", "service p99 ms", "dispatch p99 ms", "dropped")


def rate_tables(analysis: Analysis, system: SystemSummary) -> tuple[Table, ...]:
    """One table for each workload that the system was driven with at rates."""
    found = (rate_table(analysis, system, workload) for workload in analysis.workloads)
    return tuple(table for table in found if table is not None)


def rate_table(
    analysis: Analysis, system: SystemSummary, workload: WorkloadSummary, *, is_narrow: bool = False
) -> Table | None:
    """One system under one workload: a row for each rate; None where it was not driven at rates.

    Args:
        analysis: Of the study.
        system: Whose table it is.
        workload: Under which workload.
        is_narrow: With fewer columns and without bounds, for a terminal.
    """
    curve = rate_curve(analysis, system.name, workload.name)
    if curve is None:
        return None
    unit = workload.rate_unit
    columns = [
        (heading, show)
        for heading, show in _COLUMNS
        if (not is_narrow or heading in _NARROW)
        and (heading not in _ONLY_WHERE_KNOWN or any(show(cell) != NOT_KNOWN for cell in curve.cells))
    ]
    headings = (f"wanted {unit}", f"completed {unit}", *(heading for heading, _ in columns))
    return Table(
        caption=f"{system.name}, {workload.name}: at rates, over {curve.connections:,} connections",
        columns=tuple(Column(heading=heading) for heading in headings),
        rows=tuple(_row(cell, curve, unit, columns, with_bounds=not is_narrow) for cell in curve.cells),
    )


def rate_curve(analysis: Analysis, system: str, workload: str) -> RateCurve | None:
    """The curve of a system under a workload; None where it was not driven at rates."""
    own = (one for one in analysis.rate_curves if (one.system, one.workload) == (system, workload))
    return next(own, None)


def _row(
    cell: RateCell, curve: RateCurve, unit: str, columns: Sequence[_Shown], *, with_bounds: bool
) -> tuple[Entry, ...]:
    completed = show_rate(cell.throughput_tps, unit)
    is_carried = curve.carried_tps is not None and cell.rate_tps <= curve.carried_tps
    return (
        Entry(format_exact(per_unit(cell.rate_tps, unit))),
        Entry(completed.value, completed.bounds if with_bounds else None, CARRIED if is_carried else None),
        *(Entry(show(cell)) for _, show in columns),
    )


def carried_entries(curve: RateCurve, unit: str) -> list[Entry]:
    """The highest rate that a system carries, and its response time there."""
    best = next((cell for cell in curve.cells if cell.rate_tps == curve.carried_tps), None)
    if best is None:
        return [Entry("none"), Entry(NOT_KNOWN)]
    more = "" if curve.bracketed else "at least "
    return [
        Entry(f"{more}{format_exact(per_unit(best.rate_tps, unit))}"),
        Entry(show_statistic(best.response_ms, "p99")),
    ]
