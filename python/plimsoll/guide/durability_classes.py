"""The section "Speed against safety": classes of durability with their throughput and what a test of them lost.

Deliberately not here: how it is found (`plimsoll.analyse.durability_classes`), and the test itself (`durability`).
"""

from __future__ import annotations

from plimsoll.analyse.durability_model import DurabilityClass
from plimsoll.analyse.model import Analysis
from plimsoll.guide.numbers import NOT_KNOWN, show_rate
from plimsoll.guide.sections import Section
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.units import format_ms, format_percent

_NOTE = (
    "Promise is what the settings of the source say that may be lost, if storage does as it is told. A semi-synchronous"
    " commit is on another machine as well before it is answered, unless the source fell back to asynchronous."
)
_MEASURED_NOTE = (
    "Measured: after how many faults of plimsoll durability something was lost under the same settings; limit is the"
    " upper end of the one-sided 95 % confidence interval of their share. That server was {server}, fault {fault}."
)
_UNMEASURED_NOTE = (
    "No loss was measured. plimsoll durability --json > STUDY/durability.json measures it, and the guide then shows it"
    " here."
)


def durability_section(analysis: Analysis) -> Section | None:
    """The whole section; None where systems do not differ in durability."""
    found = analysis.durability_classes
    if not found:
        return None
    loss = next((one.measured for one in found if one.measured is not None), None)
    measured = _UNMEASURED_NOTE if loss is None else _MEASURED_NOTE.format(server=loss.server, fault=loss.fault)
    broken = [one for one in found if one.measured is not None and not one.measured.is_kept]
    return Section(
        anchor="durability",
        title="Speed against safety",
        sentences=tuple(f"{one.system} did not keep what its settings promise: see the table." for one in broken),
        tables=tuple(
            _table([one for one in found if one.workload == workload], analysis, has_losses=loss is not None)
            for workload in dict.fromkeys(one.workload for one in found)
        ),
        notes=(_NOTE, measured),
    )


def _table(found: list[DurabilityClass], analysis: Analysis, *, has_losses: bool) -> Table:
    unit = next((one.rate_unit for one in analysis.workloads if one.name == found[0].workload), "tps")
    columns = [
        Column(heading="system", numeric=False),
        *(Column(heading=heading) for heading in ("flush at commit", "sync_binlog")),
        *(Column(heading=heading, numeric=False) for heading in ("doublewrite", "replication")),
        Column(heading=unit),
        Column(heading="promise", numeric=False),
    ]
    if has_losses:
        columns += [Column(heading=heading) for heading in ("faults with loss", "limit", "lost ms", "corrupt")]
    rows = tuple(_row(one, unit, has_losses=has_losses) for one in found)
    return Table(caption=f"{found[0].workload}: classes of durability", columns=tuple(columns), rows=rows)


def _row(one: DurabilityClass, unit: str, *, has_losses: bool) -> tuple[Entry, ...]:
    shown, loss = show_rate(one.throughput_tps, unit), one.measured
    entries = [
        Entry(one.system),
        Entry(str(one.flush_log_at_trx_commit)),
        Entry("no binary log" if one.sync_binlog is None else str(one.sync_binlog)),
        Entry("on" if one.doublewrite else "off"),
        Entry(one.replication),
        Entry(shown.value, shown.bounds, sources=one.trials),
        Entry(one.promise or NOT_KNOWN),
    ]
    if has_losses and loss is None:
        entries += [Entry(NOT_KNOWN)] * 4
    elif loss is not None:
        limit = NOT_KNOWN if loss.loss_ratio_max == 1 else f"< {format_percent(loss.loss_ratio_max)}"
        entries += [
            Entry(f"{loss.faults_with_loss} of {loss.faults}", mark=None if loss.is_kept else "BROKEN"),
            Entry(limit),
            Entry(NOT_KNOWN if loss.lost_ms is None else format_ms(loss.lost_ms)),
            Entry(str(loss.corrupt)),
        ]
    return tuple(entries)
