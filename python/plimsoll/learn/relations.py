"""What values of a transaction have to do with each other: the same again, that plus a constant, the number of the row.

They are found on a sample of transactions of each type, by how often they hold, against how often they would by chance.
Transactions are chosen by a hash of where they stand, whole ones always: parts of them would tell nothing of what
belongs together. The sample is private: it holds literals. The idea of parameter dependencies within a transaction is
that of Lauca (Li et al., TKDE 36(7), 2024).

Other values often, but not always, are an earlier value of their transaction: the customer's own warehouse, mostly.
Values that have nothing to do with each other are equal by chance, too. What lies above that is the share in which the
later one is the earlier one again: for equal values in a share h, and in a share c by chance, (h - c) / (1 - c), as
Cohen's kappa has it (Educational and Psychological Measurement 20, 1960). In all other transactions it is drawn by
itself, so that each value of it stays as frequent as it was.

Deliberately not here: items of lists (`item_relations`), and values that come out of rows which a statement read; no
log shows those (`key_counters`).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import polars as pl

from plimsoll.learn.event_log import EventLog, Families
from plimsoll.learn.transactions import (
    DATA_KINDS,
    TRANSACTION_COLUMNS,
    Placed,
    Structure,
    Templates,
    folded,
    with_transactions,
)

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

MEMBER = -1
"""In place of the number of a slot: which member of its family a statement is."""

HOLDS_MIN = 0.97
"""Of the transactions, in which a relation must hold."""

CHANCE_MAX = 0.8
"""Two values that are equal by chance more often than that tell nothing by being equal."""

TRANSACTIONS_MIN = 20
TRANSACTIONS_MAX = 600
"""That are compared."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """One value of a transaction type.

    Attributes:
        statement: Place in the folded sequence.
        slot: Of the template, or `MEMBER`.
        part: Of the literals in a row of an INSERT with several rows; 0 of every other slot.
    """

    statement: int
    slot: int
    part: int = 0


@dataclass(frozen=True, slots=True)
class Relation:
    """Where the value of a place comes from, if it is not drawn.

    Attributes:
        kind: `same` as that of another place; `sum` of that and `add`; `row`: number of the row in its INSERT; `item`
            of the list that another place has, or takes first; `once`: the same in all rounds or rows.
        of: The other place; None for a row, and for what is chosen once.
        add: The constant.
        holds: In which share of the observations it held.
    """

    kind: Literal["same", "sum", "row", "item", "once"]
    of: Place | None = None
    add: int = 0
    holds: float = 1.0


PlacedTransaction = tuple[Transaction, Sequence[Placed]]

Rounds = tuple[int, ...]
Observed = dict[Rounds, list[Value]]
"""By round of the loops around it: a value, or of an INSERT of several rows one for each row."""


def observed_of(
    structure: Structure, transactions: Sequence[PlacedTransaction], families: Families, widths: Mapping[int, int]
) -> list[dict[Place, Observed]]:
    """The values of transactions by place.

    Args:
        structure: Of the type.
        transactions: A sample, with the places of its statements.
        families: Of templates.
        widths: By place of a statement whose first literal stands for several rows, the literals of each row.
    """
    observed = []
    for transaction, at in transactions:
        values: dict[Place, Observed] = {}
        for placed in at:
            statement = transaction[placed.index]
            if len(families.templates(structure.templates[placed.place])) > 1:
                member = families.member(statement.template)
                values.setdefault(Place(placed.place, MEMBER), {})[placed.rounds] = [("int", member)]
            width = widths.get(placed.place, 1)
            for slot, seen in statement.values.items():
                for part in range(width):
                    values.setdefault(Place(placed.place, slot, part), {})[placed.rounds] = list(seen[part::width])
        observed.append(values)
    return observed


def relations_of(
    structure: Structure, seen: Sequence[Mapping[Place, Observed]], lists: frozenset[Place]
) -> dict[Place, Relation]:
    """The places whose values follow from others.

    Args:
        structure: Of the type.
        seen: From `observed_of`.
        lists: Places whose values are items of an IN list; they are in no relation.
    """
    looked_at = seen[:TRANSACTIONS_MAX]
    places = sorted({place for transaction in looked_at for place in transaction} - lists)
    relations: dict[Place, Relation] = {}
    for later in places:
        if all_rows := _row_numbers(looked_at, later):
            relations[later] = all_rows
            continue
        earlier = [place for place in places if place < later and is_before(structure, place, later, relations)]
        if (relation := _relation(looked_at, earlier, later)) is not None:
            relations[later] = relation
    return relations


def is_before(structure: Structure, earlier: Place, later: Place, relations: Mapping[Place, Relation]) -> bool:
    """Whether a value is known when the later one is needed: once, or in the same round; and is no copy itself."""
    if (earlier.slot == MEMBER) != (later.slot == MEMBER) or earlier.part > 0:
        return False
    around = structure.inside(later.statement)
    is_known = set(structure.inside(earlier.statement)) <= set(around)
    relation = relations.get(earlier)
    return is_known and (relation is None or relation.kind == "sum")


def chance_of(values: Sequence[object]) -> float:
    """How often two values are equal by chance."""
    return sum(count**2 for count in Counter(values).values()) / max(len(values), 1) ** 2


def _relation(seen: Sequence[Mapping[Place, Observed]], earlier: Sequence[Place], later: Place) -> Relation | None:
    values = [value for transaction in seen for values in transaction.get(later, {}).values() for value in values]
    if len(values) < TRANSACTIONS_MIN:
        return None
    chance = chance_of(values)
    if chance > CHANCE_MAX:
        return None
    best: Relation | None = None
    for place in earlier:
        pairs = value_pairs(seen, place, later)
        if len(pairs) < HOLDS_MIN * len(values):
            continue
        relation = _between(pairs, place, chance)
        if relation is not None and (best is None or _better(relation, best, later)):
            best = relation
    return best


def _between(pairs: Sequence[tuple[Value, Value]], place: Place, chance: float) -> Relation | None:
    same = sum(earlier == later for earlier, later in pairs) / len(pairs)
    if same >= HOLDS_MIN:
        return Relation("same", place, holds=same)
    steps = Counter(
        later[1] - earlier[1]
        for earlier, later in pairs
        if isinstance(earlier[1], int) and isinstance(later[1], int) and earlier[0] == later[0] == "int"
    )
    if not steps:
        return None
    add, count = steps.most_common(1)[0]
    holds = count / len(pairs)
    return Relation("sum", place, add, holds) if holds >= max(HOLDS_MIN, chance) else None


def _better(relation: Relation, other: Relation, later: Place) -> bool:
    """Equality before a sum; a sum within the statement before one with another; else the first that was found."""
    if relation.kind != other.kind:
        return relation.kind == "same"
    assert relation.of is not None, "it is no number of a row"
    assert other.of is not None, "it is no number of a row"
    near = relation.of.statement == later.statement
    return relation.kind == "sum" and near and other.of.statement != later.statement


def value_pairs(seen: Sequence[Mapping[Place, Observed]], earlier: Place, later: Place) -> list[tuple[Value, Value]]:
    """The values of a place, each with what an earlier one had in its transaction, or in the same round."""
    pairs = []
    for transaction in seen:
        before = transaction.get(earlier)
        if before is None:
            continue
        for rounds, values in transaction.get(later, {}).items():
            known = next(
                (before[rounds[:depth]] for depth in range(len(rounds), -1, -1) if rounds[:depth] in before), None
            )
            if known:
                pairs += [(known[0], value) for value in values]
    return pairs


def _row_numbers(seen: Sequence[Mapping[Place, Observed]], place: Place) -> Relation | None:
    """Whether the values of several rows are 1, 2, 3 and so on."""
    all_rows = [values for transaction in seen for values in transaction.get(place, {}).values()]
    if not any(len(values) > 1 for values in all_rows):
        return None
    hits = sum([value[1] for value in values] == list(range(1, len(values) + 1)) for values in all_rows)
    holds = hits / len(all_rows)
    return Relation("row", holds=holds) if holds >= HOLDS_MIN else None


SAMPLE_MAX = 2_000
"""Transactions of a type that are looked at one by one."""


def sampled(log: EventLog, families: Families, counts: Mapping[Templates, float]) -> dict[Templates, list[Transaction]]:
    """Transactions of each type that is asked for, in the order of the log.

    Args:
        log: All of it.
        families: Of its templates.
        counts: By type, how many transactions it has.
    """
    wanted = {templates: min(1.0, SAMPLE_MAX / max(count, 1.0)) for templates, count in counts.items()}
    chosen = [_chosen(part, families, wanted) for part in log.by_sessions(TRANSACTION_COLUMNS)]
    statements = pl.concat(chosen) if chosen else pl.DataFrame()
    if statements.is_empty():
        return {}
    values, lengths = _values(log, statements.select("event"))
    order = list(wanted)
    transactions: dict[Templates, list[Transaction]] = {templates: [] for templates in order}
    keys = ["type", "session", "transaction"]
    grouped = statements.sort("event").group_by(keys, maintain_order=True).agg("event", "template", "rows_sent")
    for row in grouped.iter_rows(named=True):
        transaction = tuple(
            Sampled(event, template, sent, values.get(event, {}), lengths.get(event, {}))
            for event, template, sent in zip(row["event"], row["template"], row["rows_sent"], strict=True)
        )
        transactions[order[row["type"]]].append(transaction)
    return transactions


def _chosen(part: pl.DataFrame, families: Families, wanted: Mapping[Templates, float]) -> pl.DataFrame:
    """The statements of chosen transactions, with the number of their type."""
    marked = with_transactions(part).filter(pl.col("kind").is_in(DATA_KINDS))
    number = {type_key: place for place, type_key in enumerate(wanted)}
    known: dict[Templates, Templates] = {}

    def type_of(templates: pl.Series) -> int:
        key = tuple(families.of_template[template] for template in templates)
        return number.get(known.setdefault(key, folded(key)), -1)

    transactions = marked.group_by("session", "transaction", maintain_order=True).agg("template")
    kinds = [type_of(transaction) for transaction in transactions["template"]]
    shares = [wanted[type_key] for type_key in number] + [0.0]  # the last is that of types which are not asked for
    chosen = transactions.with_columns(
        type=pl.Series(kinds, dtype=pl.Int32), share=pl.Series([shares[kind] for kind in kinds], dtype=pl.Float64)
    )
    lot = pl.struct("session", "transaction").hash(seed=1).cast(pl.Float64) / 2.0**64
    chosen = chosen.filter((pl.col("type") >= 0) & (lot < pl.col("share"))).select("session", "transaction", "type")
    columns = ("type", "session", "transaction", "event", "template", "rows_sent")
    return marked.join(chosen, on=("session", "transaction")).select(columns)


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


RATIO_MIN = 0.2
"""A smaller share changes hardly anything."""

PAIRS_MIN = 100
STANDARD_ERRORS_MIN = 5
"""So far above chance: any two of many places are compared."""


ListPairs = Sequence[tuple[frozenset[Value], frozenset[Value]]]
"""The items of an earlier list, and those of a later one each time that it was there."""


@dataclass(frozen=True, slots=True)
class OftenSame:
    """What a value often is.

    Attributes:
        of: The earlier place.
        ratio: In which share of its draws it is that value, however likely they are to be equal otherwise.
        holds: In which share of the observations they were equal.
        lengths: Of a list: how often it had so many items where it was not the other one.
    """

    of: Place
    ratio: float
    holds: float
    lengths: Counter[int] = field(default_factory=Counter)


def often_same(
    structure: Structure,
    seen: Sequence[Mapping[Place, Observed]],
    *,
    relations: Mapping[Place, Relation],
    lists: Collection[Place],
    known: Collection[Place],
) -> dict[Place, OftenSame]:
    """The places whose values often are earlier ones.

    Args:
        structure: Of the type.
        seen: Values of transactions by place.
        relations: Of places that follow from others.
        lists: Places whose values are items of an IN list.
        known: Places whose values come from somewhere else.
    """
    looked_at = seen[:TRANSACTIONS_MAX]
    places = sorted({place for transaction in looked_at for place in transaction if place.slot != MEMBER} - set(lists))
    values = {place: [_all_values(transaction.get(place, {})) for transaction in looked_at] for place in places}
    distinct = {place: [frozenset(each) for each in value] for place, value in values.items()}
    best: dict[Place, OftenSame] = {}
    for later in places:
        if later in relations or later in known:
            continue
        counts = [len(each) for each in values[later]]
        for earlier in places:
            if earlier >= later or not is_before(structure, earlier, later, relations):
                continue
            if not _may_be_same(distinct[earlier], distinct[later], counts):
                continue
            pairs = value_pairs(looked_at, earlier, later)
            candidate = often(pairs, earlier) if len(pairs) >= HOLDS_MIN * sum(counts) else None
            if candidate is not None and (later not in best or candidate.ratio > best[later].ratio):
                best[later] = candidate
    return best


def _all_values(observed: Observed) -> list[Value]:
    return [value for values in observed.values() for value in values]


def _may_be_same(earlier: Sequence[frozenset[Value]], later: Sequence[frozenset[Value]], counts: Sequence[int]) -> bool:
    """Whether enough transactions have a value in common: pairing all values takes twenty times as long."""
    shared = sum(
        count for before, after, count in zip(earlier, later, counts, strict=True) if not before.isdisjoint(after)
    )
    return shared >= RATIO_MIN * HOLDS_MIN * sum(counts)


def often(pairs: Sequence[tuple[Hashable, Hashable]], earlier: Place) -> OftenSame | None:
    """How often the second of a pair is the first; None where that may be chance, or changes hardly anything.

    >>> often([(n, n if n % 4 else -n - 1) for n in range(400)], Place(0, 0))
    OftenSame(of=Place(statement=0, slot=0, part=0), ratio=0.75, holds=0.75, lengths=Counter())
    """
    count = len(pairs)
    if count < PAIRS_MIN:
        return None
    holds = sum(first == second for first, second in pairs) / count
    firsts, seconds = Counter(first for first, _ in pairs), Counter(second for _, second in pairs)
    chance = sum(many * seconds[value] for value, many in firsts.items()) / count**2
    if chance > CHANCE_MAX:
        return None
    ratio = (holds - chance) / (1 - chance)
    is_chance = holds - chance < STANDARD_ERRORS_MIN * math.sqrt(chance * (1 - chance) / count)
    return None if is_chance or ratio < RATIO_MIN else OftenSame(earlier, round(ratio, 4), round(holds, 4))


def often_same_list(
    pairs: Iterable[tuple[Place, Sequence[tuple[frozenset[Value], frozenset[Value]]]]],
) -> OftenSame | None:
    """The list that another one often is, in any order; None for none.

    Args:
        pairs: By the place of an earlier list, its items each time and those of the later one.
    """
    best: OftenSame | None = None
    for head, each in pairs:
        candidate = often(each, head)
        if candidate is not None and (best is None or candidate.ratio > best.ratio):
            best = replace(candidate, lengths=Counter(len(later) for earlier, later in each if earlier != later))
    return best
