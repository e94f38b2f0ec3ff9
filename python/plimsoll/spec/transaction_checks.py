"""What must hold between the parts of a transaction: values come before their use, loops are of one piece."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from plimsoll.spec.counts import ItemsOf, Times
from plimsoll.spec.generator_reach import reach_faults
from plimsoll.spec.key_counters import counted_faults
from plimsoll.spec.list_items import list_faults
from plimsoll.spec.references import Tables, reference_faults
from plimsoll.spec.sql_text import SqlText, read_sql
from plimsoll.spec.transactions import PARAMETERS_MAX, StatementSpec, TransactionSpec, Values, ValueSpec
from plimsoll.spec.variants import Lists, variant_faults

CHOICES_MAX = 1_000
"""Most statements of which a value chooses one."""


class TransactionCheck:
    """One transaction: values are known from where they are made on."""

    def __init__(self, transaction: TransactionSpec, tables: Tables) -> None:
        self._transaction, self._tables = transaction, tables
        self._known: set[str] = set()
        self._used: set[str] = set()
        self._lists = Lists()

    def faults(self) -> Iterator[str]:
        """All of them; what is made and never used comes last."""
        transaction = self._transaction
        if transaction.isolation is not None and not transaction.begin:
            yield "isolation: belongs to a transaction with begin = true"
        if transaction.rollback_ratio is not None and not transaction.begin:
            yield "rollback_ratio: belongs to a transaction with begin = true"
        yield from self._loops()
        yield from self._values("values", transaction.values, is_first=True)
        for name, times in transaction.loops.items():
            yield from self._times(f"loops.{name}", times)
        for index, statement in enumerate(transaction.statement):
            yield from self._statement(f"statement[{index}]", statement)
        yield from (f"{path}: is used by no statement" for path, name in self._made() if name not in self._used)

    def _loops(self) -> Iterator[str]:
        """Statements of one loop stand together."""
        loops = self._transaction.loops
        names = [one.loop for one in self._transaction.statement]
        for index, name in enumerate(names):
            if name is None:
                continue
            if name not in loops:
                yield f"statement[{index}].loop: there is no loop {name!r}; known are {', '.join(loops) or 'none'}"
            if name in names[:index] and names[index - 1] != name:
                yield f"statement[{index}].loop: the statements of loop {name!r} must stand one after the other"
        yield from (f"loops.{name}: is used by no statement" for name in loops if name not in names)

    def _made(self) -> Iterator[tuple[str, str]]:
        yield from ((f"values.{name}", name) for name in self._transaction.values)
        for index, statement in enumerate(self._transaction.statement):
            place = f"statement[{index}]"
            yield from ((f"{place}.values.{name}", name) for name in statement.values)
            yield from ((f"{place}.keep.{name}", name) for name in statement.keep)
            if statement.keep_insert_id:
                yield f"{place}.keep_insert_id", statement.keep_insert_id

    def _statement(self, place: str, statement: StatementSpec) -> Iterator[str]:
        yield from self._values(f"{place}.values", statement.values, is_several=statement.is_several)
        if statement.rows is None:
            numbered = [name for name, value in statement.values.items() if value.row_number]
            yield from (f"{place}.values.{name}.row_number: belongs to a statement with rows" for name in numbered)
        yield from self._times(f"{place}.repeat", statement.repeat)
        yield from self._times(f"{place}.rows", statement.rows)
        yield from (f"{place}.{fault}" for fault in self._choice(statement))
        for index, text in enumerate(statement.texts):
            path = f"{place}.sql" if isinstance(statement.sql, str) else f"{place}.sql[{index}]"
            try:
                sql = read_sql(text)
            except ValueError as error:
                yield f"{path}: {error}, is {text[:60]!r}"
            else:
                yield from self._sql(path, sql)
                yield from (f"{place}.{fault}" for fault in variant_faults(statement, sql, self._lists))
        if statement.rows is not None:
            self._known -= statement.values.keys()
        self._known |= statement.keep.keys()
        if statement.keep_insert_id:
            self._known.add(statement.keep_insert_id)

    def _times(self, path: str, times: Times | None) -> Iterator[str]:
        """What runs as often as a list has items."""
        if isinstance(times, ItemsOf):
            yield from (f"{path}: {fault}" for fault in self._list(times.items_of))

    def _list(self, name: str) -> Iterator[str]:
        """A list whose items are counted, or taken one by one."""
        self._used.add(name)
        if name not in self._lists.of_transaction:
            known = ", ".join(self._lists.of_transaction) or "none"
            yield f"there is no list {name!r} among the values of the transaction; known are {known}"

    def _item(self, value: ValueSpec, *, is_several: bool) -> Iterator[str]:
        strange = value.model_fields_set - {"item_of"}
        yield from (f"{_key(key)}: does not belong to item_of" for key in sorted(strange))
        if not is_several:
            yield "item_of: belongs to a statement of a loop, with repeat or with rows"
        else:
            yield from (f"item_of: {fault}" for fault in self._list(value.item_of or ""))

    def _choice(self, statement: StatementSpec) -> Iterator[str]:
        """Several statements, and the value that says which of them runs."""
        if (statement.by is None) != isinstance(statement.sql, str):
            yield "by: belongs to a list of statements in sql, and such a list needs it"
        if statement.by is None:
            return
        self._used.add(statement.by)
        if statement.by not in self._known:
            yield f"by: there is no value {statement.by!r} before it"
        if not 1 <= len(statement.texts) <= CHOICES_MAX:
            yield f"sql: must be 1 to {CHOICES_MAX} statements, are {len(statement.texts)}"
        with contextlib.suppress(ValueError):  # told where the text stands
            if len({read_sql(text).names for text in statement.texts}) > 1:
                yield "sql: must all have the same values in the same order"

    def _sql(self, place: str, sql: SqlText) -> Iterator[str]:
        self._used.update(sql.names)
        for name in dict.fromkeys(sql.names):
            if name not in self._known:
                known = ", ".join(f":{one}" for one in sorted(self._known))
                yield f"{place}: there is no value :{name} before it; known are {known or 'none'}"
        if len(sql.names) > PARAMETERS_MAX:
            yield f"{place}: must have at most {PARAMETERS_MAX} values, has {len(sql.names)}"

    def _values(self, place: str, values: Values, *, is_first: bool = False, is_several: bool = False) -> Iterator[str]:
        for name, value in values.items():
            found = self._value(value) if value.item_of is None else self._item(value, is_several=is_several)
            yield from (f"{place}.{name}.{fault}" for fault in found)
            yield from self._times(f"{place}.{name}.list", value.items)
            self._known.add(name)
            self._lists = self._lists.after(name, value, is_first=is_first)

    def _value(self, value: ValueSpec) -> Iterator[str]:
        if value.row_number:
            strange = value.model_fields_set - {"row_number"}
            yield from (f"{_key(key)}: does not belong to row_number" for key in sorted(strange))
            return
        if value.sum_of is None:
            if value.add is not None:
                yield "add: belongs to sum_of"
            found = list(value.faults(in_rows=False))
            known = self._tables
            counted = counted_faults(value, known)
            found = found or [*reference_faults(value, known), *counted, *reach_faults(value, None)]
            yield from found or list_faults(value, self._lists, known)
            yield from self._same(value)
            return
        self._used.add(value.sum_of)
        if value.sum_of not in self._known:
            yield f"sum_of: there is no value {value.sum_of!r} before it"
        elif value.sum_of in self._lists.known:
            yield f"sum_of: {value.sum_of!r} is a list; draw the list from other numbers instead"
        others = (_key(key) for key in value.model_fields_set - {"sum_of", "add"})
        yield from (f"{key}: does not belong to sum_of" for key in sorted(others))

    def _same(self, value: ValueSpec) -> Iterator[str]:
        """An earlier value that this one often is."""
        if (value.same_as is None) != (value.same_ratio is None):
            yield "same_as: needs same_ratio, and that needs same_as"
        if value.same_as is None:
            return
        self._used.add(value.same_as)
        if value.items is not None:
            yield from (f"same_as: {fault}" for fault in self._list(value.same_as))
            own, others = self._lists.counts(value.items), self._lists.of_transaction.get(value.same_as)
            if own and others and (lacking := sorted(set(others.numbers) - set(own.numbers))):
                counts = ", ".join(map(str, lacking))
                yield f"list: must be able to have as many items as {value.same_as!r}; add {counts}"
        elif value.same_as not in self._known:
            yield f"same_as: there is no value {value.same_as!r} before it"
        elif value.same_as in self._lists.known:
            yield f"same_as: {value.same_as!r} is a list; take its items with item_of"


def _key(field: str) -> str:
    """A key of a value as users write it."""
    return ValueSpec.model_fields[field].alias or field
