"""What a command line of sysbench makes clients do: one of our workloads where it names one, else its own options.

Deliberately not here: anything about how it is run, such as threads, time, rate and the server.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from plimsoll.spec.oltp import OPTIONS, layout_of
from plimsoll.spec.sysbench_line import SysbenchLine
from plimsoll.spec.workload import WorkloadSpec

MODULES = frozenset(kind for kind in OPTIONS if layout_of(kind) == "sysbench-1")
"""sysbench's modules that are workloads of ours, too."""

_COUNTS = (
    *("tables", "table_size", "range_size", "point_selects", "simple_ranges", "sum_ranges", "order_ranges"),
    *("distinct_ranges", "index_updates", "non_index_updates", "delete_inserts", "random_points", "number_of_ranges"),
    "delta",
)
_SWITCHES = {
    "range_selects": "range-selects",
    "skip_transaction": "skip-trx",
    "auto_increment": "auto-inc",
    "secondary": "secondary",
    "create_secondary": "create-secondary",
}
_TEXTS = {"storage_engine": "mysql-storage-engine", "table_options": "create-table-options"}

_OF_THE_RUN = frozenset(
    {
        *("threads", "events", "time", "warmup-time", "forced-shutdown", "thread-stack-size", "thread-init-timeout"),
        *("rate", "report-interval", "report-checkpoints", "debug", "validate", "help", "version"),
        *("num-threads", "max-requests", "max-time", "tx-rate", "plimsoll-compat", "plimsoll-report-json"),
        *(
            "init-rng",
            "rand-init",
            "seed-rng",
            "luajit-cmd",
            "rand-seed",
            "verbosity",
            "percentile",
            "histogram",
            "db-driver",
        ),
        *("db-debug", "mysql-debug", "mysql-dry-run", "mysql-host", "mysql-port", "mysql-socket", "mysql-user"),
        *("mysql-db", "mysql-ssl", "mysql-ssl-key", "mysql-ssl-ca", "mysql-ssl-cert", "mysql-ssl-cipher"),
        *("mysql-compression", "mysql-compression-algorithms"),
        *("pgsql-host", "pgsql-port", "pgsql-user", "pgsql-db"),
    }
)
"""Options that say how a workload is run and told, and where."""


def workload_of(line: SysbenchLine, *, compat: str) -> WorkloadSpec | None:
    """The workload of ours that a module of sysbench is; None for scripts, and for options that it does not know.

    Args:
        line: What was typed.
        compat: Whose defaults: `1.0` or `1.1`.
    """
    kind = line.test
    if kind is None or kind not in MODULES or Path(kind).is_file():  # a file of that name takes its place
        return None
    written = {name: value for name, value in _written(line, compat) if name in OPTIONS[kind]}
    try:
        return WorkloadSpec.model_validate({"name": kind, "kind": kind, **written})
    except ValidationError:
        return None


def given_options(line: SysbenchLine, *, compat: str) -> dict[str, Any]:
    """Options of a script as they were given, without those of the run. Passwords are no part of it.

    Args:
        line: What was typed.
        compat: Whose defaults; kept, since a script draws by it.
    """
    return {"plimsoll_compat": compat} | {
        name.replace("-", "_"): "on" if value is None else value
        for name, value in sorted(line.options.items())
        if name not in _OF_THE_RUN and "password" not in name
    }


def _written(line: SysbenchLine, compat: str) -> Iterator[tuple[str, Any]]:
    """Keys and values as a study file has them."""
    yield "distribution", _distribution(line, compat)
    yield "reconnect_after", line.whole("reconnect", 0)
    if line.text("db-ps-mode") == "disable":
        yield "prepared", False
    for name in _COUNTS:
        option = name.replace("_", "-")
        if option in line.options:
            yield name, _count(line.number(option))
    for name, option in _SWITCHES.items():
        if option in line.options:
            yield name, line.is_on(option)
    for name, option in _TEXTS.items():
        if line.text(option):
            yield name, line.text(option)


def _count(number: float) -> float:
    """A whole number where it is one: what has a fraction is no count."""
    return int(number) if number.is_integer() else number


def _distribution(line: SysbenchLine, compat: str) -> dict[str, Any]:
    draws = {"draws": line.whole("rand-spec-iter", 12)}
    match line.text("rand-type", "uniform" if compat == "1.1" else "special"):
        case "special":
            hot = {
                "hot_rows_percent": line.whole("rand-spec-pct", 1),
                "hot_accesses_percent": line.whole("rand-spec-res", 75),
            }
            return {"kind": "special-1.0", **hot, **draws}
        case "gaussian":
            return {"kind": "gaussian", **draws}
        case "pareto":
            return {"kind": "pareto", "h": _fraction(line, "rand-pareto-h", 0.2)}
        case "zipfian":
            return {"kind": "zipfian", "exponent": _fraction(line, "rand-zipfian-exp", 0.8)}
        case other:
            return {"kind": other}


def _fraction(line: SysbenchLine, name: str, default: float) -> float:
    try:
        return float(line.text(name) or default)
    except ValueError:
        return default
