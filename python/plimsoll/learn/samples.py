"""A sample of whole transactions of each type, with the values of their statements. It is private: it holds literals.

Transactions are chosen by a hash of where they stand, whole ones always: parts of them would tell nothing of what
belongs together. Deliberately not here: what is concluded from them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from plimsoll.learn.event_log import EventLog
from plimsoll.learn.families import Families
from plimsoll.learn.transaction_types import Templates, folded
from plimsoll.learn.transactions import DATA_KINDS, TRANSACTION_COLUMNS, with_transactions

SAMPLE_MAX = 2_000
"""Transactions of a type that are looked at one by one."""

Value = tuple[str, int | str]
"""Kind (`int`, `decimal`, `text`, `date`, `null`) and the literal; of a text the hash of it."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """One statement of a sampled transaction.

    Attributes:
        event: Its number in the log, by which statements of all sessions are in the order of their ends.
        template: As the log has it.
        rows_sent: None where the log does not say.
        values: By slot; of a list or of several rows its items, of every other slot one value.
        lengths: By slot: characters of a text, or how many items a list or how many rows an INSERT has.
    """

    event: int
    template: int
    rows_sent: int | None
    values: Mapping[int, Sequence[Value]]
    lengths: Mapping[int, int]


Transaction = tuple[Sampled, ...]


def sampled(log: EventLog, families: Families, counts: Mapping[Templates, float]) -> dict[Templates, list[Transaction]]:
    """Transactions of each type that is asked for, in the order of the log.

    Args:
        log: All of it.
        families: Of its templates.
        counts: By type, how many transactions it has.
    """
    wanted = {one: min(1.0, SAMPLE_MAX / max(count, 1.0)) for one, count in counts.items()}
    chosen = [_chosen(part, families, wanted) for part in log.by_sessions(TRANSACTION_COLUMNS)]
    statements = pl.concat(chosen) if chosen else pl.DataFrame()
    if statements.is_empty():
        return {}
    values, lengths = _values(log, statements.select("event"))
    order = list(wanted)
    found: dict[Templates, list[Transaction]] = {one: [] for one in order}
    keys = ["type", "session", "transaction"]
    grouped = statements.sort("event").group_by(keys, maintain_order=True).agg("event", "template", "rows_sent")
    for row in grouped.iter_rows(named=True):
        transaction = tuple(
            Sampled(event, template, sent, values.get(event, {}), lengths.get(event, {}))
            for event, template, sent in zip(row["event"], row["template"], row["rows_sent"], strict=True)
        )
        found[order[row["type"]]].append(transaction)
    return found


def _chosen(part: pl.DataFrame, families: Families, wanted: Mapping[Templates, float]) -> pl.DataFrame:
    """The statements of chosen transactions, with the number of their type."""
    marked = with_transactions(part).filter(pl.col("kind").is_in(DATA_KINDS))
    number = {one: place for place, one in enumerate(wanted)}
    known: dict[Templates, Templates] = {}

    def type_of(templates: pl.Series) -> int:
        key = tuple(families.of_template[one] for one in templates)
        return number.get(known.setdefault(key, folded(key)), -1)

    transactions = marked.group_by("session", "transaction", maintain_order=True).agg("template")
    kinds = [type_of(one) for one in transactions["template"]]
    shares = [wanted[one] for one in number] + [0.0]  # the last is that of types which are not asked for
    found = transactions.with_columns(
        type=pl.Series(kinds, dtype=pl.Int32), share=pl.Series([shares[one] for one in kinds], dtype=pl.Float64)
    )
    lot = pl.struct("session", "transaction").hash(seed=1).cast(pl.Float64) / 2.0**64
    found = found.filter((pl.col("type") >= 0) & (lot < pl.col("share"))).select("session", "transaction", "type")
    columns = ("type", "session", "transaction", "event", "template", "rows_sent")
    return marked.join(found, on=("session", "transaction")).select(columns)


def _values(log: EventLog, events: pl.DataFrame) -> tuple[dict[int, dict[int, list[Value]]], dict[int, dict[int, int]]]:
    """Of statements: values by slot, and lengths by slot."""
    values: dict[int, dict[int, list[Value]]] = defaultdict(lambda: defaultdict(list))
    lengths: dict[int, dict[int, int]] = defaultdict(dict)
    rows = log.literals().join(events.lazy(), on="event", how="semi").collect(engine="streaming").sort("event")
    for event, slot, kind, value, length in rows.iter_rows():
        if kind in ("list", "rows"):
            lengths[event][slot] = int(value)
            continue
        values[event][slot].append((kind, int(value) if kind == "int" else value or ""))
        if kind == "text" and length is not None:
            lengths[event].setdefault(slot, length)
    return values, lengths
