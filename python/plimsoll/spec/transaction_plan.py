"""Transactions and generated values in the form that the engine reads (`TransactionPlan` of its protocol)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from plimsoll.spec.counts import Times
from plimsoll.spec.distribution import DistributionSpec
from plimsoll.spec.generator_plan import generator_plan, null_ratio
from plimsoll.spec.generators import GeneratorSpec
from plimsoll.spec.key_counters import counter_of, counters_of, given_to
from plimsoll.spec.references import referred_keys
from plimsoll.spec.sql_text import read_sql
from plimsoll.spec.transactions import StatementSpec, TransactionSpec, Values, ValueSpec
from plimsoll.spec.variants import Group, Lists, group_of, lists_of, variants
from plimsoll.spec.workload_file import WorkloadFile


def generated(spec: GeneratorSpec, file: WorkloadFile) -> dict[str, Any]:
    """A generator without faults, and how many of its values are NULL."""
    plan = generator_plan(spec, referred_keys(spec, file.tables))
    return {"generator": plan, "null_ratio": null_ratio(spec)}


def transaction_line(spec: TransactionSpec, file: WorkloadFile) -> dict[str, Any]:
    """A transaction without faults."""
    think = spec.think_time
    lists = lists_of(spec.values)
    statements = []
    for one in spec.statement:
        for name, value in one.values.items():
            lists = lists.after(name, value)
        statements.append(_statement(one, file, lists))
    return {
        "name": spec.name,
        "weight": spec.weight,
        "begin": spec.begin,
        "on_source": spec.on_source,
        "isolation": spec.isolation or "server_default",
        "values": _values(spec.values, file),
        "statements": statements,
        "loops": [*_loops(spec)],
        "rollback_ratio": spec.rollback_ratio,
        "think_time": None if think is None else {"min_ms": think[0] * 1000, "max_ms": think[1] * 1000},
    }


def _loops(spec: TransactionSpec) -> Iterator[dict[str, Any]]:
    first = 0
    for name, group in groupby(spec.statement, key=lambda one: one.loop):
        count = len([*group])
        if name is not None:
            yield {"first": first, "count": count, "repeat": spec.loops[name].line()}
        first += count


def _statement(spec: StatementSpec, file: WorkloadFile, lists: Lists) -> dict[str, Any]:
    texts = [read_sql(text) for text in spec.texts]
    sql, each = texts[0], [variants(spec, text, lists) for text in texts]
    if spec.by is not None:
        each = [found or [text.sql] for found, text in zip(each, texts, strict=True)]
    given = given_to(sql, file) if spec.by is None else None
    group = group_of(sql) if spec.rows is not None else None
    return {
        "sql": sql.sql,
        "parameters": list(sql.names),
        "values": _values(spec.values, file),
        "keep": [{"column": column, "name": name} for name, column in spec.keep.items()],
        "keep_insert_id": spec.keep_insert_id,
        "given": None if given is None else counters_of(file).index(given),
        "no_row": spec.when_no_row,
        "repeat": spec.repeat.line(),
        "rows": _rows(spec.rows, group),
        "variants": [text for found in each for text in found],
        "by": None if spec.by is None else {"value": spec.by, "choices": len(texts)},
    }


def _rows(rows: Times | None, group: Group | None) -> dict[str, Any] | None:
    if rows is None or group is None:
        return None
    return {"first": group.first, "count": group.count, "rows": rows.line()}


def _values(values: Values, file: WorkloadFile) -> list[dict[str, Any]]:
    return [_value(name, value, file) for name, value in values.items()]


def _value(name: str, value: ValueSpec, file: WorkloadFile) -> dict[str, Any]:
    items: dict[str, Any] = {} if value.items is None else {"items": value.items.line()}
    items |= {key: True for key in ("sorted", "distinct") if getattr(value, key)}
    same = {} if value.same_as is None else {"same": {"value": value.same_as, "ratio": value.same_ratio}}
    return {"name": name, "source": _source(value, file), **same, **items}


def _source(value: ValueSpec, file: WorkloadFile) -> dict[str, Any]:
    if value.row_number:
        return {"row_number": {}}
    if value.item_of is not None:
        return {"item_of": {"list": value.item_of}}
    if value.sum_of is not None:
        return {"sum": {"value": value.sum_of, "add": value.add or 0}}
    if value.generate in ("next", "recent"):
        counter = counters_of(file).index(counter_of(value, file))
        if value.generate == "next":
            return {"next": {"counter": counter}}
        distribution = (value.distribution or DistributionSpec()).line()
        ordered = {"scattered": False} if "scattered" in distribution else {}
        return {"recent": {"counter": counter, "within": value.within, "distribution": {**distribution, **ordered}}}
    return {"drawn": generated(value, file)}
