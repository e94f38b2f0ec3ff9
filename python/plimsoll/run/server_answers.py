"""What a server answers to the statements of a user's own workload, recorded from a few real runs of each transaction.

It is for the fake server: as many rows, columns and bytes as the real one sends, so that the client has the same to do.
Each run is rolled back. Values are drawn evenly from the generators of the engine's protocol, whatever distribution the
file has: the load engine draws, and here only the size of the answers matters.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from plimsoll.drive.plans import SimColumn, SimShape
from plimsoll.errors import TargetError
from plimsoll.servers.control import ControlConnection, Reply
from plimsoll.spec.explain_statements import Explained
from plimsoll.spec.transactions import ONCE
from plimsoll.spec.workloads import StatementsSpec

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
    newest = {newest_name(at): _newest(control, **counter) for at, counter in enumerate(line["counters"])}
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
    shapes = [_shape(sql, reply) for sql, reply in replies.items() if reply[0].columns]
    shapes += [SimShape(_ends_sql(**counter), 1, _ENDS) for counter in line["counters"]]
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
    row = dict(zip(names, first, strict=True))
    if missing := [keep["column"] for keep in statement["keep"] if keep["column"].lower() not in row]:
        raise TargetError(f"the result has no column {missing[0]!r} to keep; it has {', '.join(names) or 'none'}")
    kept = {keep["name"]: row[keep["column"].lower()] for keep in statement["keep"]}
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


_ALPHABETS = {"digits": string.digits, "letters": string.ascii_lowercase, "hexadecimal": "0123456789abcdef"}
_AGAIN_MAX = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Items:
    """A list that was drawn.

    Attributes:
        values: All of it.
        lengths: All lengths that it may have, rising.
    """

    values: list[Any]
    lengths: Sequence[int]

    @property
    def position(self) -> int:
        """That of its length among all that it may have."""
        return self.lengths.index(len(self.values))


def sent(
    statement: Mapping[str, Any], known: dict[str, Any], chance: random.Random, absent: Any = None, *, turn: int = 0
) -> tuple[str, list[Any]]:
    """The text that is sent for a statement of the engine's plan, and its values.

    Args:
        statement: Its rows and values are drawn.
        known: Values by name; gets those that are drawn.
        chance: What is drawn from.
        absent: Stands for values that are not known.
        turn: Which repetition of it this is, or which round of its loop, from 0.
    """
    names, rows = statement["parameters"], statement["rows"]
    variant, before, inside = 0, [*names], list[Any]()
    if rows is None:
        draw(statement["values"], known, chance, turn=turn)
    else:
        before, group = names[: rows["first"]], names[rows["first"] : rows["first"] + rows["count"]]
        count = drawn_number(rows["rows"], known, chance)
        variant = _numbers(rows["rows"], known).index(count)
        for row in range(count):
            draw(statement["values"], known, chance, turn=row)
            inside += _flat(group, known, absent)
    behind = names[rows["first"] + rows["count"] :] if rows else []
    for name in dict.fromkeys(names):
        if isinstance(items := known.get(name), Items):
            variant = variant * len(items.lengths) + items.position
    if statement["by"] is not None:
        by, each = statement["by"], len(statement["variants"]) // statement["by"]["choices"]
        variant += each * min(max(int(known.get(by["value"]) or 1) - 1, 0), by["choices"] - 1)
    sql = statement["variants"][variant] if statement["variants"] else statement["sql"]
    return sql, [*_flat(before, known, absent), *inside, *_flat(behind, known, absent)]


def newest_name(counter: int) -> str:
    """Under which the newest key of a counter is known; no value of a file has such a name."""
    return f"newest of {counter}"


def list_name(name: str) -> str:
    """Under which a list of the transaction is known, whatever statements call by its name later."""
    return f"list {name}"


def draw_first(transaction: Mapping[str, Any], known: dict[str, Any], chance: random.Random) -> None:
    """Draws the values of a transaction of the engine's plan before its first statement."""
    for value in transaction["values"]:
        draw([value], known, chance)
        if isinstance(items := known[value["name"]], Items):
            known[list_name(value["name"])] = items


def draw(values: Iterable[Mapping[str, Any]], known: dict[str, Any], chance: random.Random, *, turn: int = 0) -> None:
    """Draws values of the engine's plan, which become known.

    Args:
        values: The values.
        known: Values by name; gets these.
        chance: What is drawn from.
        turn: Which row, repetition or round this is, from 0.
    """
    for value in values:
        if "row_number" in value["source"]:
            known[value["name"]] = turn + 1
        elif "item_of" in value["source"]:
            items = known[list_name(value["source"]["item_of"]["list"])].values
            known[value["name"]] = items[turn % len(items)]
        elif value.get("items") is None:
            again = _again(value, chance)
            known[value["name"]] = known[again] if again else _value(value["source"], known, chance)
        else:
            known[value["name"]] = _list(value, known, chance)


def _again(value: Mapping[str, Any], chance: random.Random) -> str | None:
    """The earlier value that this one is, this time."""
    same = value.get("same")
    return same["value"] if same and chance.random() < same["ratio"] else None


def _list(value: Mapping[str, Any], known: dict[str, Any], chance: random.Random) -> Items:
    again = _again(value, chance)
    if again is None:
        items = _items(value, drawn_number(value["items"], known, chance), known, chance)
    else:
        items = [*known[list_name(again)].values]
    if value.get("sorted"):
        items.sort(key=lambda item: (item is not None, item))
    return Items(items, _numbers(value["items"], known))


def _items(value: Mapping[str, Any], count: int, known: dict[str, Any], chance: random.Random) -> list[Any]:
    items: list[Any] = []
    for _ in range(count):
        item = _value(value["source"], known, chance)
        for _ in range(_AGAIN_MAX if value.get("distinct") else 0):
            if item not in items:
                break
            item = _value(value["source"], known, chance)
        items.append(item)
    return items


def drawn_number(times: Mapping[str, Any], known: Mapping[str, Any], chance: random.Random) -> int:
    """How often something runs: drawn as the load engine draws it, or as many as a list that is known has items."""
    if "items_of" in times:
        return len(known[list_name(times["items_of"])].values)
    numbers = _numbers(times, known)
    return chance.choices(numbers, times["weighted"]["weights"] if "weighted" in times else None)[0]


def _numbers(times: Mapping[str, Any], known: Mapping[str, Any]) -> Sequence[int]:
    """All numbers that there may be, rising."""
    if "items_of" in times:
        items: Items = known[list_name(times["items_of"])]
        return items.lengths
    if "range" in times:
        return range(times["range"]["min"], times["range"]["max"] + 1)
    counts: list[int] = times["weighted"]["counts"]
    return counts


def _flat(names: Iterable[str], known: Mapping[str, Any], absent: Any) -> list[Any]:
    values: list[Any] = []
    for name in names:
        value = known.get(name, absent)
        values += value.values if isinstance(value, Items) else [value]
    return values


def _value(source: Mapping[str, Any], known: dict[str, Any], chance: random.Random) -> Any:
    if "sum" in source:
        return int(known[source["sum"]["value"]] or 0) + source["sum"]["add"]
    if "next" in source:
        newest = newest_name(source["next"]["counter"])
        known[newest] = known.get(newest, 0) + 1
        return known[newest]
    if "recent" in source:
        last = int(known.get(newest_name(source["recent"]["counter"]), 1))
        return last - chance.randrange(max(min(source["recent"]["within"] or last, last), 1))
    is_null = chance.random() < source["drawn"]["null_ratio"]
    return None if is_null else _drawn(source["drawn"]["generator"], chance)


def _drawn(generator: Mapping[str, Any], chance: random.Random) -> Any:
    """A value of a generator of the engine's protocol; those that follow rows make none for statements."""
    match generator["kind"]:
        case "integer":
            return generator["first"] + generator["step"] * chance.randrange(generator["count"])
        case "decimal":
            return Decimal(generator["first"] + chance.randrange(generator["count"])).scaleb(-generator["scale"])
        case "timestamp":
            at_us = generator["first_us"] + generator["step_us"] * chance.randrange(generator["count"])
            return (_EPOCH + timedelta(microseconds=at_us)).replace(tzinfo=None)
        case "choice":
            return chance.choices(generator["values"], generator["weights"])[0]
        case "characters":
            length = chance.randint(generator["length_min"], generator["length_max"])
            return "".join(chance.choices(_ALPHABETS[generator["alphabet"]], k=length))
        case _:
            parts = generator["parts"]
            return "".join(part["text"] if "text" in part else str(_drawn(part["generated"], chance)) for part in parts)
