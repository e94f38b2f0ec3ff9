"""Whatever keys a server has: rows of the learned tables differ in them, and refer to rows that are there."""

from __future__ import annotations

from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.learn.data_model import learned_tables
from plimsoll.learn.schema_model import ColumnFacts, ForeignKeyFacts, IndexFacts, SchemaFacts, TableFacts
from plimsoll.learn.table_keys import digits
from support.learned import domain, is_sound

counts = st.integers(1, 40)
TYPES = ("tinyint", "int unsigned", "bigint", "enum", "varchar(12)", "datetime", "date", "decimal(8,2)", "char(2)")


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 400), st.lists(st.tuples(counts, counts, counts), min_size=1, max_size=4))
def test_mixed_radix_repeats_no_row(rows: int, columns: list[tuple[int, int, int]]) -> None:
    sizes, spans, limits = zip(*columns, strict=True)
    there, found = digits(rows, sizes, spans, limits)
    assert there == min(rows, prod(limits))
    made = {tuple((row // one.each) % one.cycle for one in found) for row in range(there)}
    assert len(made) == there
    assert all(one.cycle <= limit for one, limit in zip(found, limits, strict=True))


@st.composite
def columns(draw: st.DrawFn, name: str) -> ColumnFacts:
    sql_type = draw(st.sampled_from(TYPES))
    is_number = "int" in sql_type
    low = draw(st.integers(0, 50))
    return ColumnFacts(
        name=name,
        sql_type=sql_type,
        members=("a", "b", "c") if sql_type == "enum" else (),
        is_nullable=False,
        distinct_count=draw(st.none() | st.integers(1, 500)),
        minimum=str(low) if is_number else None,
        maximum=str(low + draw(counts)) if is_number else None,
        length_mean=draw(st.none() | st.floats(0, 12)),
    )


@st.composite
def schemas(draw: st.DrawFn) -> SchemaFacts:
    """A parent with a key of some columns, and a child with keys of its own and of what it refers to."""
    parent_key = [draw(columns(f"p{at}")) for at in range(draw(st.integers(1, 3)))]
    own = [draw(columns(f"c{at}")) for at in range(draw(st.integers(1, 3)))]
    copied = [one.model_copy(update={"name": f"f{at}"}) for at, one in enumerate(parent_key)]
    child = [*copied, *own]
    names = [one.name for one in child]
    some = st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True)
    unique = [
        IndexFacts(name=f"u{at}", columns=tuple(draw(some)), is_unique=True) for at in range(draw(st.integers(0, 2)))
    ]
    key = IndexFacts(name="PRIMARY", columns=tuple(one.name for one in parent_key), is_unique=True)
    tables = (
        TableFacts(
            schema_name="s", name="p", rows=draw(st.integers(0, 300)), columns=tuple(parent_key), primary_key=key
        ),
        TableFacts(
            schema_name="s",
            name="c",
            rows=draw(st.integers(0, 300)),
            columns=tuple(child),
            primary_key=IndexFacts(name="PRIMARY", columns=tuple(draw(some)), is_unique=True),
            indexes=tuple(unique),
            foreign_keys=(
                ForeignKeyFacts(
                    columns=tuple(one.name for one in copied), schema_name="s", table="p", references=key.columns
                ),
            ),
        ),
    )
    return SchemaFacts(tables=tables)


@settings(max_examples=300, deadline=None)
@given(schemas(), st.sampled_from([0.1, 1.0, 1.7]))
def test_learned_tables_are_sound(schema: SchemaFacts, scale: float) -> None:
    learned = learned_tables(schema, scale=scale)
    assert is_sound(learned.tables)
    for table in schema.tables:
        for column in table.columns:
            assert domain(learned, table.key, column.name).size >= 1
