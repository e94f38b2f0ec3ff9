"""What the engine reads out of a log: the tables and their columns. They are private: they hold names and literals.

Deliberately not here: reading logs (the engine's `read-logs`), and anything that is concluded from the tables.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from pydantic import ValidationError

from plimsoll.errors import RecordError
from plimsoll.learn.source_model import SourceFacts

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
        found = pl.scan_parquet(self.folder / "events.parquet")
        return found if self.chosen is None else found.filter(self.chosen)

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
        sources = tuple(SourceFacts.model_validate(one) for one in facts["sources"])
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
