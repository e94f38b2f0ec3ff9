"""What a server answers to the statements of a user's own workload, recorded from a few real runs of each transaction.

It is for the fake server: as many rows, columns and bytes as the real one sends, so that the client has the same to do.
Each run is rolled back. Values are drawn evenly, whatever distribution the file has: the load engine draws, and here
only the size of the answers matters.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plimsoll.drive.plans import SimColumn, SimShape
from plimsoll.errors import TargetError
from plimsoll.run.drawn_values import draw_first, drawn_number, newest_name, sent
from plimsoll.servers.control import ControlConnection, Reply
from plimsoll.spec.counts import ONCE
from plimsoll.spec.explained import Explained
from plimsoll.spec.statements import StatementsSpec

RUNS = 20
"""Of each transaction: rows differ from value to value, and their mean is what is wanted."""

RUNS_PER_LENGTH = 3
"""Of a transaction with a statement that has many lengths."""

_RESULT_BYTES_MAX = 32_000_000
_COLUMN_BYTES = 10


def recorded_answers(workload: StatementsSpec, control: ControlConnection) -> tuple[SimShape, ...]:
    """The result sets of all statements that give one, the longest texts first: a shorter one may be part of them.

    A statement that no run gets to has none: what stands before it finds no row on the fake server either.

    Raises:
        TargetError: The server refuses a statement; the text names its place in the file.
    """
    replies: dict[str, list[Reply]] = {}
    refused: dict[str, TargetError] = {}
    chance = random.Random(1)  # noqa: S311 - a sample, not a secret
    line = workload.line()
    newest = {newest_name(at): _newest(control, **one) for at, one in enumerate(line["counters"])}
    for number, transaction in enumerate(line["transactions"]):
        for _ in range(_runs(transaction)):
            control.rows("BEGIN")
            for place, statement, reply in _run(transaction, control, chance, newest):
                if isinstance(reply, TargetError):
                    path = f"transaction[{number}].statement[{place}]"
                    refused.setdefault(statement, TargetError(f"{path}: {reply}", code=reply.code))
                else:
                    replies.setdefault(statement, []).append(reply)
            control.rows("ROLLBACK")
    for statement, error in refused.items():
        if statement not in replies:  # a duplicate key now and then is no reason to give up
            raise error
    _fill_lengths(workload, replies)
    shapes = [_shape(sql, found) for sql, found in replies.items() if found[0].columns]
    shapes += [SimShape(_ends_sql(**one), 1, _ENDS) for one in line["counters"]]
    return tuple(sorted(shapes, key=lambda shape: -len(shape.contains)))


_ENDS = (SimColumn("oldest", None), SimColumn("newest", None))


def _ends_sql(table: str, column: str) -> str:
    """What the load engine asks when a load begins."""
    names = [f"`{name.replace('`', '``')}`" for name in (table, column)]
    return f"SELECT MIN({names[1]}) AS oldest, MAX({names[1]}) AS newest FROM {names[0]}"  # noqa: S608


def _newest(control: ControlConnection, table: str, column: str) -> int:
    """The largest key; 0 where there is no row."""
    rows = control.reply(_ends_sql(table, column), ()).rows
    return int(rows[0][1] or 0) if rows else 0


def _runs(transaction: Mapping[str, Any]) -> int:
    longest = max((len(statement["variants"]) for statement in transaction["statements"]), default=0)
    return max(RUNS, RUNS_PER_LENGTH * longest)


def _fill_lengths(workload: StatementsSpec, replies: dict[str, list[Reply]]) -> None:
    """A length of a statement that no run came to is answered as the nearest that one came to."""
    for transaction in workload.line()["transactions"]:
        for statement in transaction["statements"]:
            seen = {len(sql): sql for sql in statement["variants"] if sql in replies}
            for sql in statement["variants"] if seen else ():
                nearest = min(seen, key=lambda size: abs(size - len(sql)))
                replies.setdefault(sql, replies[seen[nearest]])


def _run(
    transaction: Mapping[str, Any], control: ControlConnection, chance: random.Random, newest: dict[str, int]
) -> Iterator[tuple[int, str, Reply | TargetError]]:
    """One run: the place of each statement, its text and what the server said to it."""
    known: dict[str, Any] = dict(newest)
    draw_first(transaction, known, chance)
    for place, round_number in _places(transaction, known, chance):
        statement = transaction["statements"][place]
        is_repeated = statement["repeat"] != ONCE.line()
        for time in range(drawn_number(statement["repeat"], known, chance)):
            sql, values = sent(statement, known, chance, turn=time if is_repeated else round_number)
            try:
                reply = control.reply(sql, values)
                known |= _kept(statement, reply)
            except TargetError as error:
                yield place, sql, error
                return
            yield place, sql, reply
            if reply.count == 0 and statement["no_row"] != "continue":
                return


def _places(
    transaction: Mapping[str, Any], known: Mapping[str, Any], chance: random.Random
) -> Iterator[tuple[int, int]]:
    """The positions of statements in the order in which they run, and which round of their loop it is."""
    at = 0
    for loop in transaction["loops"]:
        yield from ((place, 0) for place in range(at, loop["first"]))
        at = loop["first"] + loop["count"]
        for number in range(drawn_number(loop["repeat"], known, chance)):
            yield from ((place, number) for place in range(loop["first"], at))
    yield from ((place, 0) for place in range(at, len(transaction["statements"])))


def drawn_statements(workload: StatementsSpec) -> Iterator[Explained]:
    """Every statement of a workload with values drawn once, always the same; names that rows would give are 1."""
    chance = random.Random(1)  # noqa: S311 - a sample, not a secret
    for transaction in workload.line()["transactions"]:
        known: dict[str, Any] = {}
        draw_first(transaction, known, chance)
        for place, statement in enumerate(transaction["statements"]):
            for value in statement["values"]:
                if "sum" in value["source"]:
                    known.setdefault(value["source"]["sum"]["value"], 1)
            sql, values = sent(statement, known, chance, absent=1)
            yield Explained(workload.name, f"{transaction['name']}[{place}]", sql, tuple(values))


def _kept(statement: Mapping[str, Any], reply: Reply) -> dict[str, Any]:
    """The values that later statements use; NULL where there is no row."""
    names = [name.lower() for name, _ in reply.columns]
    first = reply.rows[0] if reply.rows else [None] * len(names)
    found = dict(zip(names, first, strict=True))
    if missing := [keep["column"] for keep in statement["keep"] if keep["column"].lower() not in found]:
        raise TargetError(f"the result has no column {missing[0]!r} to keep; it has {', '.join(names) or 'none'}")
    kept = {keep["name"]: found[keep["column"].lower()] for keep in statement["keep"]}
    return {**kept, **({statement["keep_insert_id"]: reply.insert_id} if statement["keep_insert_id"] else {})}


def _shape(sql: str, replies: Sequence[Reply]) -> SimShape:
    rows = [row for reply in replies for row in reply.rows]
    columns = tuple(
        SimColumn(name, None if is_whole else _mean_bytes(rows, at))
        for at, (name, is_whole) in enumerate(replies[0].columns)
    )
    count = max(round(len(rows) / len(replies)), min(len(rows), 1))
    row_bytes = sum(_COLUMN_BYTES + (column.text_bytes or 0) for column in columns)
    return SimShape(sql, min(count, _RESULT_BYTES_MAX // row_bytes), columns)


def _mean_bytes(rows: Sequence[Sequence[Any]], at: int) -> int:
    values = [row[at] for row in rows if row[at] is not None]
    size_bytes = sum(len(value if isinstance(value, bytes) else str(value).encode()) for value in values)
    return round(size_bytes / max(len(rows), 1))
