"""Tables of a log as the engine writes them, from any statements with any literals."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import polars as pl

from plimsoll.learn.event_log import DAMAGE, EVENTS, LITERALS, SCHEMAS, TEMPLATES, EventLog, open_event_log

Value = int | str | None | tuple[str, str]
"""A number, a text, NULL, or a kind and what was written."""


@dataclass(frozen=True, slots=True)
class Logged:
    """A statement.

    Attributes:
        text: Of its template.
        kind: As the engine calls it.
        values: By slot, a value; of `(...)` a list of them.
        rows_count: Of an INSERT whose one slot stands for rows; None for an IN list.
        schema: That it runs in; empty where the log does not say.
    """

    text: str
    kind: str
    values: tuple[Value | list[Value], ...] = ()
    rows_count: int | None = None
    rows_sent: int | None = 1
    schema: str = "s"


BEGIN, COMMIT, ROLLBACK = Logged("begin", "begin"), Logged("commit", "commit"), Logged("rollback", "rollback")


@dataclass(slots=True)
class _Tables:
    schemas: dict[str, int] = field(default_factory=dict)
    templates: dict[tuple[str, str, int | None], int] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    literals: list[dict[str, Any]] = field(default_factory=list)


def write_statements(folder: Path, transactions: Sequence[Sequence[Logged]], *, sessions: int = 2) -> EventLog:
    """Writes the tables and opens them. Each transaction gets a BEGIN and, where it has no other end, a COMMIT."""
    tables = _Tables()
    for number, transaction in enumerate(transactions):
        end = () if transaction and transaction[-1].kind in ("commit", "rollback") else (COMMIT,)
        for each in (BEGIN, *transaction, *end):
            _add(tables, each, number % sessions)
    rows = [
        {"template": number, "schema": schema, "kind": kind, "text": text, "slots": text.count("?") + text.count("...")}
        for (text, kind, schema), number in tables.templates.items()
    ]
    written = {
        "events": pl.DataFrame(tables.events, schema=EVENTS),
        "literals": pl.DataFrame(tables.literals, schema=LITERALS),
        "templates": pl.DataFrame(rows, schema=TEMPLATES),
        "damage": pl.DataFrame([], schema=DAMAGE),
        "schemas": pl.DataFrame({"schema": tables.schemas.values(), "name": tables.schemas.keys()}, schema=SCHEMAS),
    }
    for name, table in written.items():
        table.write_csv(folder / f"{name}.csv", quote_style="non_numeric")
    times = [event["start_us"] for event in tables.events]
    source = {
        "name": "slow.log",
        "format": "slow",
        "flavour": "mysql",
        "entries_count": len(times),
        "query_us_min": 100,
        "first_us": times[0],
        "last_us": times[-1],
    }
    (folder / "facts.json").write_text(json.dumps({"sources": [source]}))
    return open_event_log(folder)


def _add(tables: _Tables, one: Logged, session: int) -> None:
    schema = tables.schemas.setdefault(one.schema, len(tables.schemas)) if one.schema else None
    template = tables.templates.setdefault((one.text, one.kind, schema), len(tables.templates))
    number = len(tables.events)
    start_us = 1_700_000_000_000_000 + number * 1_000
    counts = {"rows_sent": one.rows_sent, "rows_examined": 1, "rows_affected": 0, "bytes_sent": 9, "errno": 0}
    where = {"source": 0, "line": number + 1, "session": session, "account": 0, "schema": schema, "template": template}
    times = {"start_us": start_us, "end_us": start_us + 100, "query_us": 100, "lock_us": 0}
    tables.events.append({"event": number, **where, **times, **counts, "trx": None, "pages": None, "weight": 1.0})
    for slot, value in enumerate(one.values):
        if isinstance(value, list):
            kind = "list" if one.rows_count is None else "rows"
            count = len(value) if one.rows_count is None else one.rows_count
            tables.literals.append(_literal(number, slot, kind, str(count), None))
        for each in value if isinstance(value, list) else [value]:
            tables.literals.append(_literal(number, slot, *_told(each)))


def _literal(event: int, slot: int, kind: str, value: str | None, length: int | None) -> dict[str, Any]:
    return {"event": event, "slot": slot, "kind": kind, "value": value, "length": length}


def _told(value: Value) -> Iterator[Any]:
    """Kind, value and length, as the engine has them."""
    match value:
        case None:
            return iter(("null", None, None))
        case int():
            return iter(("int", str(value), None))
        case str():
            return iter(("text", blake2b(value.encode(), digest_size=8).hexdigest(), len(value.encode())))
    return iter((*value, None))
