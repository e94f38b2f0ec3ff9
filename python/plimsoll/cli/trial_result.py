"""What `plimsoll trial` prints of its result for people, with types of transactions and TPC-C's demands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.analyse.answers.trial_result import (
        OpenLoopResult,
        StallResult,
        Times,
        TpccResult,
        TrialResult,
        TypeResult,
    )
    from plimsoll.analyse.trial.drivers import DriverFigures
    from plimsoll.analyse.trial.tpcc_clauses import Deviation, TypeDemands
    from plimsoll.record.model import ConnectionsRecord, OutageRecord

OUTAGES_SHOWN = 10
"""As many have a line of their own in the text; `--json` has the first thousand."""

STALLS_SHOWN = 10
"""As many have a line of their own in the text; `--json` has all."""


def result_text(result: TrialResult, *, whole_sheet: bool = False) -> str:
    """The result for people: with all departures from TPC-C, or the list of their clauses."""
    from plimsoll.record.model import Verdict
    from plimsoll.units import format_ms, format_number, format_rate

    is_interrupted = result.verdict is Verdict.INTERRUPTED
    lines = ["interrupted       what follows was measured until then"] if is_interrupted else []
    lines += stall_lines(result.stalls, result.stalled_ratio)
    lines += [
        f"throughput        {format_rate(result.throughput_tps)}  ({result.transactions:,} transactions"
        f" in {result.duration_s:.1f} s, {result.statements:,} statements)",
        f"failed            {result.failed:,}, retries {result.retries:,}",
    ]
    if result.unfinished:
        oldest = result.unfinished_ms_max
        age = "" if oldest is None else f", the oldest {format_ms(oldest)} old when the load ended"
        lines.append(f"unfinished        {result.unfinished:,} never ended{age}")
    if result.tpcc is not None:
        lines += tpcc_lines(result.tpcc)
    for name, times in (("response", result.response_ms), ("service", result.service_ms)):
        lines.append(f"{name + ' time':<18}{times_text(times)}")
    if len(result.transaction_types) > 1:
        lines += type_lines(result.transaction_types, () if result.tpcc is None else result.tpcc.types)
    for kind, errors in result.errors_by_class.items():
        lines += [f"error {code:<12}{count:,} ({kind})" for code, count in errors.items()]
    lines += connection_lines(result.connections, result.outages)
    if result.open_loop is not None:
        lines += _open_loop_text(result.open_loop)
    lines.append(
        f"client            {format_number(result.client.cpu_us_per_statement or 0)} us of processor time per"
        f" statement, {format_number(result.client.memory_mb_peak)} MB at most"
    )
    lines += [_driver_line(driver) for driver in result.drivers]
    agreed = {encryption.agreed or "none" for encryption in result.connections.encryptions}
    lines.append(f"encryption        {', '.join(sorted(agreed))}")
    lines += deviation_lines(() if result.tpcc is None else result.tpcc.deviations, whole=whole_sheet)
    lines += [
        f"warning: {warning.code}: {warning.evidence.rstrip('.')}. {warning.advice}" for warning in result.warnings
    ]
    lines.append(
        "One run says little about the next: plimsoll study run measures repetitions and confidence intervals."
    )
    return "\n".join(lines)


def _driver_line(driver_figures: DriverFigures) -> str:
    from plimsoll.units import format_ms, format_percent, format_rate

    late = (
        ""
        if driver_figures.dispatch_ms_p99 is None
        else f", dispatch delay p99 {format_ms(driver_figures.dispatch_ms_p99)}"
    )
    share = f"{format_percent(driver_figures.completed_ratio)} (share {format_percent(driver_figures.expected_ratio)})"
    return f"driver            {driver_figures.name}: {format_rate(driver_figures.throughput_tps)}, {share}{late}"


def connection_lines(made: ConnectionsRecord, outages: Sequence[OutageRecord]) -> list[str]:
    """What did not come, or did not stay; nothing where all came and stayed."""
    lines = []
    if made.opened_count < made.wanted_count:
        lines.append(f"connections       {made.opened_count:,} of {made.wanted_count:,}")
    for outage in outages[:OUTAGES_SHOWN]:
        end = "to the end" if outage.to_s is None else f"for {outage.to_s - outage.from_s:.1f} s"
        lines.append(
            f"outage            from {outage.from_s:.1f} s {end}: {outage.connections_count:,} connections and"
            f" {outage.lost_count:,} transactions lost"
        )
    return lines


def stall_lines(stalls: Sequence[StallResult], stalled_ratio: float) -> list[str]:
    """When nothing completed: before all figures, since none of them shows it."""
    from plimsoll.units import format_percent
    from plimsoll.wording import counted

    if not stalls:
        return []
    what = "hardly anything" if any(stall.transactions for stall in stalls) else "nothing"
    lines = [f"stalled           {what} completed for {format_percent(stalled_ratio)} of the time"]
    for stall in stalls[:STALLS_SHOWN]:
        completed = f"{counted(stall.transactions, 'transaction')} completed"
        lines.append(f"                  from {stall.from_s:.1f} s for {stall.to_s - stall.from_s:.1f} s: {completed}")
    return lines


def times_text(times: Times) -> str:
    """Statistics of a duration; a sign marks lower bounds."""
    from plimsoll.units import format_ms

    known = {name: value for name, value in _statistics(times).items() if value is not None}
    bounds = times.lower_bounds
    return ", ".join(f"{name} {'>= ' if name in bounds else ''}{format_ms(value)}" for name, value in known.items())


def _statistics(times: Times) -> dict[str, float | None]:
    statistics: dict[str, float | None] = times.model_dump(exclude={"lower_bounds"})
    return statistics


def _open_loop_text(loop: OpenLoopResult) -> list[str]:
    lines = [
        f"offered           {loop.offered:,} with the warm-up: {loop.completed:,} completed,"
        f" {loop.failed:,} failed, {loop.dropped:,} dropped, {loop.unfinished:,} unfinished at the end"
    ]
    for words, times in (("pool wait", loop.pool_wait_ms), ("dispatch delay", loop.dispatch_delay_ms)):
        lines.append(f"{words:<18}{times_text(times)}")
    for overload in loop.overloads:
        end = "the end" if overload.to_s is None else f"{overload.to_s:.0f} s"
        recovery = "" if overload.recovery_s is None else f"; over {overload.recovery_s:.0f} s after the rate fell"
        lines.append(
            f"overload          from {overload.from_s:.0f} s to {end}: up to {overload.backlog_max:,} waiting,"
            f" {overload.dropped:,} dropped{recovery}"
        )
    return lines


UNKNOWN = "-"


def type_lines(types: Mapping[str, TypeResult], asked: Sequence[TypeDemands] = ()) -> list[str]:
    """Two tables of the types: how often, and how long. What is asked of them stands beside where that is known."""
    demands = {demand.name: demand for demand in asked}
    counts = [_counts(type_result, demands.get(name)) for name, type_result in types.items()]
    times = [_times(type_result, demands.get(name)) for name, type_result in types.items()]
    return [*_table("types", list(types), counts), *_table("response time, ms", list(types), times)]


def tpcc_lines(figures: TpccResult) -> list[str]:
    """New orders per minute, how that compares with what terminals can enter, and every departure."""
    from plimsoll.analyse.trial.tpcc_clauses import NOTPM_PER_WAREHOUSE_MAX
    from plimsoll.units import format_number

    lines = []
    if figures.notpm is not None:
        lines.append(f"NOTPM             {format_number(figures.notpm)}  (new orders per minute, TPC-C-derived)")
    if (each := figures.notpm_per_warehouse) is not None:
        above = figures.is_above_maximum
        words = f", more than the {NOTPM_PER_WAREHOUSE_MAX} that the specification allows (clause 4.1)" if above else ""
        lines.append(f"  per warehouse   {format_number(each)}, {figures.warehouses_count:,} in use{words}")
    if (efficiency := figures.efficiency_ratio) is not None:
        lines.append(f"  efficiency      {efficiency * 100:.1f} % of {NOTPM_PER_WAREHOUSE_MAX} for each warehouse")
    return lines


def deviation_lines(deviations: Sequence[Deviation], *, whole: bool) -> list[str]:
    """The deviation sheet of a result, whole or as the list of its clauses; nothing where there is none."""
    if whole or not deviations:
        return sheet_lines(deviations)
    clauses = ", ".join(dict.fromkeys(deviation.clause for deviation in deviations))
    return [
        f"no TPC-C result: it deviates from the specification (revision 5.11) in {len(deviations)} places, clauses"
        f" {clauses}; --sheet lists them"
    ]


def sheet_lines(deviations: Sequence[Deviation]) -> list[str]:
    """What departs from the specification, a line for each; nothing where there is none."""
    if not deviations:
        return []
    lines = [f"  {deviation.clause}: {deviation.chosen}; asked for: {deviation.asked}" for deviation in deviations]
    return ["no TPC-C result: it deviates from the specification (revision 5.11), clause by clause", *lines]


def _counts(type_result: TypeResult, demands: TypeDemands | None) -> dict[str, str]:
    shown = {"count": f"{type_result.transactions:,}", "share %": _percent(type_result.share_ratio)}
    if demands is not None:
        shown["at least"] = _percent(demands.share_ratio_min)
        shown[""] = _verdict(demands.has_share, "too few")
    shown |= {
        "rolled back": _count(type_result.rolled_back),
        "retries": _count(type_result.retries),
        "failed": _count(type_result.failed),
    }
    return {**shown, "errors": _error_words(type_result.errors.items())}


def _error_words(counts: Iterable[tuple[str, int]]) -> str:
    """Codes and how often each was met, as one cell of a table."""
    parts = [f"{'no code' if code == '0' else code}: {count:,}" for code, count in counts]
    return ", ".join(parts) or UNKNOWN


def _times(type_result: TypeResult, demands: TypeDemands | None) -> dict[str, str]:
    from plimsoll.units import format_number

    bounds, shown = type_result.response_ms.lower_bounds, {}
    for key, value in _statistics(type_result.response_ms).items():
        if key != "mean":
            sign = ">= " if key in bounds else ""
            shown[_HEADINGS.get(key, key)] = UNKNOWN if value is None else f"{sign}{format_number(value)}"
    if demands is not None:
        shown["p90 at most"] = f"{demands.response_ms_p90_max:,.0f}"
        shown[""] = _verdict(demands.is_in_time, "too slow")
    return shown


_HEADINGS = {"p999": "p99.9"}


def _table(title: str, names: Sequence[str], rows: Sequence[dict[str, str]]) -> list[str]:
    """Names to the left, figures to the right; columns in which nothing is known are left out."""
    headings = [heading for heading in rows[0] if any(row[heading] != UNKNOWN for row in rows)]
    widths = [max(len(text) for text in (heading, *(row[heading] for row in rows))) for heading in headings]
    first = max(len(title), *(len(name) + 2 for name in names))
    lines = [
        (title, headings),
        *((f"  {name}", [row[heading] for heading in headings]) for name, row in zip(names, rows, strict=True)),
    ]
    return [
        f"{name:<{first}}" + "".join(f"  {text:>{width}}" for text, width in zip(texts, widths, strict=True)).rstrip()
        for name, texts in lines
    ]


def _percent(ratio: float | None) -> str:
    return UNKNOWN if ratio is None else f"{ratio * 100:.1f}"


def _count(count: int | None) -> str:
    return UNKNOWN if count is None else f"{count:,}"


def _verdict(is_met: bool | None, otherwise: str) -> str:
    return "" if is_met is None else "ok" if is_met else otherwise
