"""What the engine reads out of a log: the tables and their columns. They are private: they hold names and literals.

Statements that differ in one number of a name only, such as those on `orders_01` to `orders_16`, are one family.
Applications that split tables run the same statement on any of them; told one by one they make as many types of
transactions as there are combinations. A text is stood for by its hash, the same as the engine's (`plimsoll-logs`,
`hash64`): values of rows that are hashed in the same way can be told to be those of the log, without either being kept.
Deliberately not here: reading logs (the engine's `read-logs`), anything that is concluded from the tables, and which
member of a family a transaction uses (`relations`).
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from pydantic import ValidationError

from plimsoll.errors import RecordError
from plimsoll.learn.report_model import SourceFacts

EVENTS: dict[str, pl.DataType] = {
    "event": pl.UInt64(),  # 0, 1, 2, … in the order of the log
    "source": pl.UInt32(),  # which of the files
    "line": pl.UInt64(),  # where the entry begins, from 1
    "session": pl.UInt64(),  # one connection; unique, although servers use numbers again after a restart
    "account": pl.UInt32(),
    "schema": pl.UInt32(),
    "start_us": pl.Int64(),  # microseconds since 1970; empty where the source does not say
    "end_us": pl.Int64(),
    "query_us": pl.UInt64(),  # how long it took, microseconds
    "lock_us": pl.UInt64(),
    "rows_sent": pl.UInt64(),
    "rows_examined": pl.UInt64(),
    "rows_affected": pl.UInt64(),
    "bytes_sent": pl.UInt64(),
    "errno": pl.UInt32(),
    "trx": pl.UInt64(),  # InnoDB's transaction, where the source says
    "pages": pl.UInt64(),  # of InnoDB that it accessed
    "handler_reads": pl.UInt64(),  # rows that storage engines were asked for: the sum of MySQL's Handler_read counters
    "template": pl.UInt32(),
    "weight": pl.Float64(),  # statements that this one stands for, where the server logged a sample
}
"""`events.csv`: a row for each statement."""

TEMPLATES: dict[str, pl.DataType] = {
    "template": pl.UInt32(),
    "schema": pl.UInt32(),
    "kind": pl.String(),
    "text": pl.String(),  # with ? for each literal
    "slots": pl.UInt32(),  # how many literals it has
}
"""`templates.csv`: statements that differ in literals only."""

LITERALS: dict[str, pl.DataType] = {
    "event": pl.UInt64(),
    "slot": pl.UInt32(),
    "kind": pl.String(),  # int, decimal, text, date, null, list, rows
    "value": pl.String(),  # of text a hash; of list and rows how many
    "length": pl.UInt32(),  # of text, characters
}
"""`literals.csv`: the literals of statements."""

SCHEMAS: dict[str, pl.DataType] = {"schema": pl.UInt32(), "name": pl.String()}
"""`schemas.csv`: the schemas that statements ran in."""

DAMAGE: dict[str, pl.DataType] = {"source": pl.UInt32(), "line": pl.UInt64(), "reason": pl.String()}
"""`damage.csv`: entries that could not be read."""

PARTITION_EVENTS = 4_000_000
"""Sessions are looked at in parts of about so many statements, so that memory does not grow with the log."""

_READ_OFTEN = {"events": EVENTS, "literals": LITERALS}
"""Tables that are looked at many times, and are turned into Parquet once."""

FILES = (
    "facts.json",
    *(f"{name}.csv" for name in ("events", "templates", "literals", "accounts", "schemas", "damage")),
    *(f"{name}.parquet" for name in _READ_OFTEN),
)
"""All that there is of a log at any time."""


@dataclass(frozen=True, slots=True)
class EventLog:
    """What was read from the logs of one server, as tables on disk.

    Attributes:
        folder: Where the tables are.
        sources: The files, in order.
        templates: All of them.
        events_count: How many statements there are.
        chosen: Which of them count; None for all.
    """

    folder: Path
    sources: tuple[SourceFacts, ...]
    templates: pl.DataFrame
    events_count: int
    chosen: pl.Expr | None = None

    def events(self) -> pl.LazyFrame:
        """All statements that count."""
        all_events = pl.scan_parquet(self.folder / "events.parquet")
        return all_events if self.chosen is None else all_events.filter(self.chosen)

    def literals(self) -> pl.LazyFrame:
        """All literals."""
        return pl.scan_parquet(self.folder / "literals.parquet")

    def damage(self) -> pl.DataFrame:
        """The first entries that could not be read."""
        return pl.read_csv(self.folder / "damage.csv", schema=DAMAGE)

    def template_schemas(self) -> dict[int, str]:
        """By template, the schema that its statements ran in; without those of which the log does not say that."""
        names = pl.read_csv(self.folder / "schemas.csv", schema=SCHEMAS)
        return dict(self.templates.join(names, on="schema").select("template", "name").iter_rows())

    def by_sessions(self, columns: tuple[str, ...]) -> Iterator[pl.DataFrame]:
        """Statements with the kind of their template, part after part; all statements of a session are in one part.

        Args:
            columns: Of `EVENTS`, besides event, session and template.
        """
        parts = max(1, -(-self.events_count // PARTITION_EVENTS))
        kinds = self.templates.lazy().select("template", "kind")
        chosen = self.events().select("event", "session", "template", *columns).join(kinds, on="template")
        for part in range(parts):
            yield chosen.filter(pl.col("session") % parts == part).sort("session", "event").collect()


def open_event_log(folder: Path) -> EventLog:
    """The tables that the engine wrote into a folder; the large ones become Parquet there.

    Raises:
        RecordError: They are missing or not what the engine writes.
    """
    try:
        facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
        sources = tuple(SourceFacts.model_validate(source) for source in facts["sources"])
        templates = pl.read_csv(folder / "templates.csv", schema=TEMPLATES)
        for name, schema in _READ_OFTEN.items():
            (folder / f"{name}.parquet").touch(mode=0o600)  # as the engine's files are; its content keeps the mode
            pl.scan_csv(folder / f"{name}.csv", schema=schema).sink_parquet(folder / f"{name}.parquet")
            os.truncate(folder / f"{name}.csv", 0)  # it may have no name of its own: its space is free now
            (folder / f"{name}.csv").unlink()
        count = pl.scan_parquet(folder / "events.parquet").select(pl.len()).collect().item()
    except (OSError, ValueError, KeyError, TypeError, ValidationError, pl.exceptions.PolarsError) as error:
        raise RecordError(f"{folder}: holds no tables of a log: {str(error).splitlines()[0]}") from error
    return EventLog(folder, sources, templates, int(count))


_NUMBER = re.compile(r"(?<=[^\W\d])\d+\b")
"""Digits at the end of a name. Literals are no part of templates."""

MEMBERS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Families:
    """Which templates belong together.

    Attributes:
        of_template: By template, the family: the smallest number of its templates.
        members: By family of more than one template, its templates in the order of their numbers.
    """

    of_template: dict[int, int]
    members: dict[int, tuple[int, ...]]

    def member(self, template: int) -> int:
        """Which of its family it is, from 1."""
        return self.members.get(self.of_template[template], (template,)).index(template) + 1

    def templates(self, family: int) -> tuple[int, ...]:
        """The members of a family, in order."""
        return self.members.get(family, (family,))


def families_of(templates: pl.DataFrame) -> Families:
    """The families of all templates.

    Args:
        templates: Columns template, schema, kind, text.
    """
    alike: dict[tuple[object, ...], list[tuple[int, list[str]]]] = defaultdict(list)
    for template, schema, kind, text in templates.select("template", "schema", "kind", "text").iter_rows():
        numbers = _NUMBER.findall(text)
        key = (schema, kind, _NUMBER.sub("#", text)) if numbers else (template,)
        alike[key].append((template, numbers))
    of_template: dict[int, int] = {}
    members: dict[int, tuple[int, ...]] = {}
    for group in alike.values():
        ordered = _ordered(group)
        if ordered is None:
            of_template |= {template: template for template, _ in group}
            continue
        family = min(ordered)
        of_template |= dict.fromkeys(ordered, family)
        if len(ordered) > 1:
            members[family] = ordered
    return Families(of_template, members)


def _ordered(group: list[tuple[int, list[str]]]) -> tuple[int, ...] | None:
    """Templates by their number; None where they differ in more than one, or are too many."""
    if len(group) > MEMBERS_MAX:
        return None
    columns = zip(*(numbers for _, numbers in group), strict=True)
    varying = [place for place, seen in enumerate(columns) if len(set(seen)) > 1]
    by_number: dict[int, int] = {}
    for template, numbers in group:
        distinct = {int(numbers[place]) for place in varying}
        number = distinct.pop() if distinct else 0
        if distinct or number in by_number:
            return None
        by_number[number] = template
    return tuple(by_number[number] for number in sorted(by_number))


_SEED = 0x243F6A8885A308D3
_FIRST = 0x9E3779B97F4A7C15
_SECOND = 0xC2B2AE3D27D4EB4F
_MASK = 2**64 - 1


def text_hash(text: bytes) -> str:
    """Of the bytes of a text, 16 hexadecimal digits.

    >>> text_hash(b"abc")
    '9f59f5da0c823c49'
    """
    state, whole = _SEED ^ len(text), len(text) // 16 * 16
    last = text[whole:].ljust(16, b"\0")
    for begin in range(0, whole, 16):
        state = _folded(state ^ _word(text, begin), _FIRST ^ _word(text, begin + 8))
    state = _folded(state ^ _word(last, 0), _FIRST ^ _word(last, 8))
    return f"{_folded(state ^ _SECOND, _FIRST):016x}"


def _word(text: bytes, begin: int) -> int:
    return int.from_bytes(text[begin : begin + 8], "little")


def _folded(left: int, right: int) -> int:
    product = left * right
    return (product ^ (product >> 64)) & _MASK
