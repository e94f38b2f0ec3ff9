"""What `plimsoll trial` prints about types of transactions, and about the TPC-C-derived workload: lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.analyse.tpcc_model import Deviation

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
    from plimsoll.analyse.tpcc_clauses import NOTPM_PER_WAREHOUSE_MAX
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
    from plimsoll.analyse.tpcc_model import Deviation

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
    return {**shown, "errors": _errors(one["errors"].items())}


def _errors(counts: Iterable[tuple[str, int]]) -> str:
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
