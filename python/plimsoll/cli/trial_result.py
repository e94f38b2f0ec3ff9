"""What `plimsoll trial` prints of its result, as JSON or as text."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.analyse.duration_model import ErrorTotal, TypeTotal
    from plimsoll.analyse.trial_summary import TrialSummary
    from plimsoll.spec.arrivals import OpenArrivals

OUTAGES_SHOWN = 10
"""As many have a line of their own in the text; `--json` has the first thousand."""

STALLS_SHOWN = 10
"""As many have a line of their own in the text; `--json` has all."""


def result_of(summary: TrialSummary, wanted: OpenArrivals | None = None) -> dict[str, Any]:
    """What `--json` prints: the keys are a promise to scripts."""
    from plimsoll.analyse.durations import durations
    from plimsoll.analyse.tpcc import totals_of
    from plimsoll.analyse.types import error_totals

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
    from plimsoll.analyse.tpcc import is_tpcc, tpcc_deviations, tpcc_figures

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
    from plimsoll.analyse.durations import durations

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
    from plimsoll.cli.type_lines import deviation_lines, tpcc_lines, type_lines
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
