"""What `plimsoll trial` prints of its result, as JSON or as text, with types of transactions and TPC-C's demands."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.analyse.study.cell_model import ErrorTotal, TypeTotal
    from plimsoll.analyse.trial.tpcc_clauses import Deviation
    from plimsoll.analyse.trial.trial_summary import TrialSummary
    from plimsoll.spec.clients import OpenArrivals

OUTAGES_SHOWN = 10
"""As many have a line of their own in the text; `--json` has the first thousand."""

STALLS_SHOWN = 10
"""As many have a line of their own in the text; `--json` has all."""


def result_of(summary: TrialSummary, wanted: OpenArrivals | None = None) -> dict[str, Any]:
    """What `--json` prints: the keys are a promise to scripts."""
    from plimsoll.analyse.trial.percentiles import durations
    from plimsoll.analyse.trial.tpcc import totals_of
    from plimsoll.analyse.trial.types import error_totals

    counts, account, made = summary.counts, summary.outcome.account, summary.outcome.connections
    assert counts is not None, "a measured run has counts"
    assert account is not None, "a measured run has the engine's account"
    assert made is not None, "a measured run has connections"
    types = totals_of([summary])
    result = {
        "verdict": summary.outcome.verdict.value,
        "reason": summary.outcome.reason,
        "stalled_ratio": summary.quiet.stalled_ratio,
        "stalls": [
            {"from_s": one.from_s, "to_s": one.to_s, "transactions": one.completed} for one in summary.quiet.stalls
        ],
        "throughput_tps": summary.throughput_tps,
        "duration_s": counts.duration_s,
        "transactions": counts.completed,
        "failed": counts.failed,
        "retries": counts.retries,
        **_unfinished(summary),
        "statements": counts.statements,
        "rows_returned": counts.rows_returned,
        "rows_affected": counts.rows_affected,
        **_errors(error_totals([summary.errors])),
        "response_ms": durations(summary.histograms.get("response")).of_one_run(),
        "service_ms": durations(summary.histograms.get("service")).of_one_run(),
        "transaction_types": _types(types),
        "client": {
            "cpu_s": account.client_user_s + account.client_system_s,
            "cpu_user_s": account.client_user_s,
            "cpu_us_per_statement": summary.client_us_per_statement,
            "memory_mb_peak": account.client_memory_bytes_max / 1e6,
        },
        "connections": made.model_dump(),
        "outages": [outage.model_dump() for outage in summary.outcome.outages],
        "warnings": [warning.model_dump() for warning in summary.outcome.warnings],
    }
    if summary.drivers:
        result["drivers"] = [asdict(one) for one in summary.drivers]
    result |= _tpcc(summary, types)
    return result if wanted is None else {**result, "open_loop": _open_loop(summary, wanted)}


def _unfinished(summary: TrialSummary) -> dict[str, Any]:
    """What had not ended when the engine cut its connections, and how old the oldest was when the load ended."""
    account, response = summary.outcome.account, summary.histograms.get("response")
    assert account is not None, "a measured run has the engine's account"
    ages = None if response is None else response.in_flight
    oldest_ms = ages.max_ns / 1e6 if ages is not None and account.unfinished_count else None
    return {"unfinished": account.unfinished_count, "unfinished_ms_max": oldest_ms}


def _types(types: Sequence[TypeTotal]) -> dict[str, Any]:
    return {
        one.name: {
            "transactions": one.completed_count,
            "share_ratio": one.completed_ratio,
            "failed": one.failed_count,
            "retries": one.retries_count,
            "rolled_back": one.rolled_back_count,
            **_errors(one.errors),
            "throughput_tps": one.throughput_tps,
            "response_ms": one.response_ms.of_one_run(),
        }
        for one in types
    }


def _tpcc(summary: TrialSummary, types: Sequence[TypeTotal]) -> dict[str, Any]:
    """What is said about the TPC-C-derived workload alone; nothing for others."""
    from plimsoll.analyse.trial.tpcc import is_tpcc, tpcc_deviations, tpcc_figures

    if not is_tpcc([summary]):
        return {}
    figures = tpcc_figures([summary], types)
    found = {"deviations": [one.model_dump() for one in tpcc_deviations([summary])]}
    return {"tpcc": found} if figures is None else {"notpm": figures.notpm, "tpcc": {**figures.model_dump(), **found}}


def _errors(errors: Iterable[ErrorTotal]) -> dict[str, Any]:
    """How often each code was met, of all classes together and by class: 0 is whatever had no code."""
    by_code, by_class = Counter[str](), defaultdict[str, dict[str, int]](dict)
    for one in errors:
        by_code[str(one.code)] += one.count
        by_class[one.error_class][str(one.code)] = one.count
    return {"errors": dict(by_code), "errors_by_class": dict(by_class)}


def _open_loop(summary: TrialSummary, wanted: OpenArrivals) -> dict[str, Any]:
    """The account of the whole trial, warm-up included, and where the time went in the measured window."""
    from plimsoll.analyse.trial.percentiles import durations

    counts, account = summary.counts, summary.outcome.account
    assert counts is not None, "a measured run has counts"
    assert account is not None, "a measured run has the engine's account"
    return {
        "offered": account.offered_count,
        **counts.ended_of_trial,
        "unfinished": account.unfinished_count,
        "pool_wait_ms": durations(summary.histograms.get("pool_wait")).of_one_run(),
        "dispatch_delay_ms": durations(summary.histograms.get("dispatch_delay")).of_one_run(),
        "overloads": [
            {
                "from_s": one.from_s,
                "to_s": one.to_s,
                "backlog_max": one.waiting_max,
                "dropped": one.dropped,
                "recovery_s": one.recovery_s(wanted.falls_s()),
            }
            for one in summary.overloads
        ],
    }


def shown(result: dict[str, Any], *, as_json: bool, whole_sheet: bool = False) -> str:
    """The result as JSON, or as text for people: with all departures from TPC-C, or the list of their clauses."""
    return json.dumps(result, indent=2) if as_json else _as_text(result, whole_sheet=whole_sheet)


def _as_text(result: dict[str, Any], *, whole_sheet: bool) -> str:
    from plimsoll.units import format_ms, format_number, format_rate

    lines = ["interrupted       what follows was measured until then"] if result["verdict"] == "interrupted" else []
    lines += _stall_lines(result)
    lines += [
        f"throughput        {format_rate(result['throughput_tps'])}  ({result['transactions']:,} transactions"
        f" in {result['duration_s']:.1f} s, {result['statements']:,} statements)",
        f"failed            {result['failed']:,}, retries {result['retries']:,}",
    ]
    if result["unfinished"]:
        oldest = result["unfinished_ms_max"]
        age = "" if oldest is None else f", the oldest {format_ms(oldest)} old when the load ended"
        lines.append(f"unfinished        {result['unfinished']:,} never ended{age}")
    if "tpcc" in result:
        lines += tpcc_lines(result)
    for name in ("response", "service"):
        lines.append(f"{name + ' time':<18}{_times_text(result[f'{name}_ms'])}")
    if len(result["transaction_types"]) > 1:
        lines += type_lines(result)
    for kind, errors in result["errors_by_class"].items():
        lines += [f"error {code:<12}{count:,} ({kind})" for code, count in errors.items()]
    lines += _connection_lines(result)
    if "open_loop" in result:
        lines += _open_loop_text(result["open_loop"])
    client = result["client"]
    lines.append(
        f"client            {format_number(client['cpu_us_per_statement'] or 0)} us of processor time per statement,"
        f" {format_number(client['memory_mb_peak'])} MB at most"
    )
    lines += [_driver_line(one) for one in result.get("drivers", ())]
    agreed = {one["agreed"] or "none" for one in result["connections"]["encryptions"]}
    lines.append(f"encryption        {', '.join(sorted(agreed))}")
    lines += deviation_lines(result, whole=whole_sheet)
    lines += [f"warning: {w['code']}: {w['evidence'].rstrip('.')}. {w['advice']}" for w in result["warnings"]]
    lines.append(
        "One run says little about the next: plimsoll study run measures repetitions and confidence intervals."
    )
    return "\n".join(lines)


def _driver_line(one: dict[str, Any]) -> str:
    from plimsoll.units import format_ms, format_percent, format_rate

    late = "" if one["dispatch_ms_p99"] is None else f", dispatch delay p99 {format_ms(one['dispatch_ms_p99'])}"
    share = f"{format_percent(one['completed_ratio'])} (share {format_percent(one['expected_ratio'])})"
    return f"driver            {one['name']}: {format_rate(one['throughput_tps'])}, {share}{late}"


def _connection_lines(result: dict[str, Any]) -> list[str]:
    made, lines = result["connections"], []
    if made["opened_count"] < made["wanted_count"]:
        lines.append(f"connections       {made['opened_count']:,} of {made['wanted_count']:,}")
    for one in result["outages"][:OUTAGES_SHOWN]:
        end = "to the end" if one["to_s"] is None else f"for {one['to_s'] - one['from_s']:.1f} s"
        lines.append(
            f"outage            from {one['from_s']:.1f} s {end}: {one['connections_count']:,} connections and"
            f" {one['lost_count']:,} transactions lost"
        )
    return lines


def _stall_lines(result: dict[str, Any]) -> list[str]:
    """When nothing completed: before all figures, since none of them shows it."""
    from plimsoll.units import format_percent

    if not result["stalls"]:
        return []
    share = f"{format_percent(result['stalled_ratio'])} of the time"
    what = "hardly anything" if any(one["transactions"] for one in result["stalls"]) else "nothing"
    lines = [f"stalled           {what} completed for {share}"]
    for one in result["stalls"][:STALLS_SHOWN]:
        length_s = one["to_s"] - one["from_s"]
        completed = f"{one['transactions']:,} transactions completed"
        lines.append(f"                  from {one['from_s']:.1f} s for {length_s:.1f} s: {completed}")
    return lines


def _times_text(times: dict[str, Any]) -> str:
    """Statistics of a duration; a sign marks lower bounds."""
    from plimsoll.units import format_ms

    bounds = times["lower_bounds"]
    known = {name: value for name, value in times.items() if name != "lower_bounds" and value is not None}
    return ", ".join(f"{name} {'>= ' if name in bounds else ''}{format_ms(value)}" for name, value in known.items())


def _open_loop_text(loop: dict[str, Any]) -> list[str]:
    lines = [
        f"offered           {loop['offered']:,} with the warm-up: {loop['completed']:,} completed,"
        f" {loop['failed']:,} failed, {loop['dropped']:,} dropped, {loop['unfinished']:,} unfinished at the end"
    ]
    for name, words in (("pool_wait", "pool wait"), ("dispatch_delay", "dispatch delay")):
        lines.append(f"{words:<18}{_times_text(loop[f'{name}_ms'])}")
    for one in loop["overloads"]:
        end = "the end" if one["to_s"] is None else f"{one['to_s']:.0f} s"
        recovery = "" if one["recovery_s"] is None else f"; over {one['recovery_s']:.0f} s after the rate fell"
        lines.append(
            f"overload          from {one['from_s']:.0f} s to {end}: up to {one['backlog_max']:,} waiting,"
            f" {one['dropped']:,} dropped{recovery}"
        )
    return lines


UNKNOWN = "-"


def type_lines(result: dict[str, Any]) -> list[str]:
    """Two tables of the types: how often, and how long. What is asked of them stands beside where that is known."""
    types = result["transaction_types"]
    demands = {one["name"]: one for one in result.get("tpcc", {}).get("types", ())}
    counts = [_counts(one, demands.get(name)) for name, one in types.items()]
    times = [_times(one, demands.get(name)) for name, one in types.items()]
    return [*_table("types", list(types), counts), *_table("response time, ms", list(types), times)]


def tpcc_lines(result: dict[str, Any]) -> list[str]:
    """New orders per minute, how that compares with what terminals can enter, and every departure."""
    from plimsoll.analyse.trial.tpcc_clauses import NOTPM_PER_WAREHOUSE_MAX
    from plimsoll.units import format_number

    figures = result["tpcc"]
    lines = []
    if "notpm" in figures:
        lines.append(f"NOTPM             {format_number(figures['notpm'])}  (new orders per minute, TPC-C-derived)")
    if (each := figures.get("notpm_per_warehouse")) is not None:
        above = figures["is_above_maximum"]
        words = f", more than the {NOTPM_PER_WAREHOUSE_MAX} that the specification allows (clause 4.1)" if above else ""
        lines.append(f"  per warehouse   {format_number(each)}, {figures['warehouses_count']:,} in use{words}")
    if (efficiency := figures.get("efficiency_ratio")) is not None:
        lines.append(f"  efficiency      {efficiency * 100:.1f} % of {NOTPM_PER_WAREHOUSE_MAX} for each warehouse")
    return lines


def deviation_lines(result: dict[str, Any], *, whole: bool) -> list[str]:
    """The deviation sheet of a result, whole or as the list of its clauses; nothing where there is none."""
    from plimsoll.analyse.trial.tpcc_clauses import Deviation

    found = [Deviation.model_validate(one) for one in result.get("tpcc", {}).get("deviations", ())]
    if whole or not found:
        return sheet_lines(found)
    clauses = ", ".join(dict.fromkeys(one.clause for one in found))
    return [
        f"no TPC-C result: it deviates from the specification (revision 5.11) in {len(found)} places, clauses"
        f" {clauses}; --sheet lists them"
    ]


def sheet_lines(found: Sequence[Deviation]) -> list[str]:
    """What departs from the specification, a line for each; nothing where there is none."""
    if not found:
        return []
    told = [f"  {one.clause}: {one.chosen}; asked for: {one.asked}" for one in found]
    return ["no TPC-C result: it deviates from the specification (revision 5.11), clause by clause", *told]


def _counts(one: dict[str, Any], demands: dict[str, Any] | None) -> dict[str, str]:
    shown = {"count": f"{one['transactions']:,}", "share %": _percent(one["share_ratio"])}
    if demands is not None:
        shown["at least"] = _percent(demands["share_ratio_min"])
        shown[""] = _verdict(demands["has_share"], "too few")
    shown |= {name.replace("_", " "): _count(one[name]) for name in ("rolled_back", "retries", "failed")}
    return {**shown, "errors": _error_words(one["errors"].items())}


def _error_words(counts: Iterable[tuple[str, int]]) -> str:
    """Codes and how often each was met, as one cell of a table."""
    told = [f"{'no code' if code == '0' else code}: {count:,}" for code, count in counts]
    return ", ".join(told) or UNKNOWN


def _times(one: dict[str, Any], demands: dict[str, Any] | None) -> dict[str, str]:
    from plimsoll.units import format_number

    names = {"p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p999": "p99.9", "max": "max"}
    times, bounds = one["response_ms"], one["response_ms"]["lower_bounds"]
    shown = {
        name: UNKNOWN if times[key] is None else f"{'>= ' if key in bounds else ''}{format_number(times[key])}"
        for key, name in names.items()
    }
    if demands is not None:
        shown["p90 at most"] = f"{demands['response_ms_p90_max']:,.0f}"
        shown[""] = _verdict(demands["is_in_time"], "too slow")
    return shown


def _table(title: str, names: Sequence[str], rows: Sequence[dict[str, str]]) -> list[str]:
    """Names to the left, figures to the right; columns in which nothing is known are left out."""
    headings = [heading for heading in rows[0] if any(row[heading] != UNKNOWN for row in rows)]
    widths = [max(len(text) for text in (heading, *(row[heading] for row in rows))) for heading in headings]
    first = max(len(title), *(len(name) + 2 for name in names))
    lines = [
        (title, headings),
        *((f"  {name}", [row[one] for one in headings]) for name, row in zip(names, rows, strict=True)),
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
