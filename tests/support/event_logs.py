"""Tables of a log as the engine writes them, from a few words for each statement."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from plimsoll.learn.event_log import DAMAGE, EVENTS, LITERALS, TEMPLATES, EventLog, open_event_log

TEXTS = {
    "begin": "begin",
    "commit": "commit",
    "read": "select c from secrettable where secretcolumn = ?",
    "write": "update secrettable set k = k + ? where secretcolumn = ?",
    "insert": "insert into secrettable (a, b) values (...)",
    "set": "set names ?",
}
KINDS = {"read": "select", "write": "update"}


@dataclass(frozen=True, slots=True)
class Said:
    """A statement: of which session, when (seconds), how long (microseconds), with which literals."""

    session: int
    at_s: float
    what: str
    query_us: int | None = 100
    literals: tuple[int, ...] = ()
    errno: int = 0


def write_log(folder: Path, said: list[Said], **facts: Any) -> EventLog:
    """Writes the tables and opens them."""
    names = list(TEXTS)
    events = [
        {
            "event": number,
            "source": 0,
            "line": 4 * number + 1,
            "session": one.session,
            "account": 0,
            "schema": 0,
            "start_us": 1_700_000_000_000_000 + round(one.at_s * 1e6),
            "end_us": 1_700_000_000_000_000 + round(one.at_s * 1e6) + (one.query_us or 0),
            "query_us": one.query_us,
            "lock_us": 1,
            "rows_sent": 1 if one.what == "read" else 0,
            "rows_examined": 10 if one.what == "read" else 1,
            "rows_affected": 0 if one.what == "read" else 1,
            "bytes_sent": 100,
            "errno": one.errno,
            "trx": None,
            "pages": None,
            "handler_reads": None,
            "template": names.index(one.what),
            "weight": 1.0,
        }
        for number, one in enumerate(said)
    ]
    literals = [
        {"event": number, "slot": slot, "kind": "int", "value": str(value), "length": None}
        for number, one in enumerate(said)
        for slot, value in enumerate(one.literals)
    ]
    templates = [
        {"template": number, "schema": 0, "kind": KINDS.get(name, name), "text": text, "slots": text.count("?")}
        for number, (name, text) in enumerate(TEXTS.items())
    ]
    pl.DataFrame(events, schema=EVENTS).write_csv(folder / "events.csv")
    pl.DataFrame(literals, schema=LITERALS).write_csv(folder / "literals.csv")
    pl.DataFrame(templates, schema=TEMPLATES).write_csv(folder / "templates.csv")
    pl.DataFrame([], schema=DAMAGE).write_csv(folder / "damage.csv")
    timed = [one.query_us for one in said if one.query_us is not None]
    source = {
        "name": "secretslow.log",
        "format": "slow",
        "flavour": "mysql",
        "entries_count": len(said),
        "query_us_min": min(timed) if timed else None,
        "first_us": events[0]["start_us"] if events else None,
        "last_us": events[-1]["start_us"] if events else None,
        **facts,
    }
    (folder / "facts.json").write_text(json.dumps({"sources": [source]}))
    return open_event_log(folder)
