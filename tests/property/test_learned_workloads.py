"""Whatever tables a server has and whatever simple statements its log has: the workload that is learned is valid."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.learn.learned_load import learned, summary_of
from plimsoll.learn.schema_model import ColumnFacts, IndexFacts, SchemaFacts, TableFacts
from plimsoll.spec.workload_file import parse_workload
from support.endure import draws
from support.logged import Logged, Value, write_statements

TYPES = (
    "tinyint",
    "int unsigned",
    "bigint",
    "varchar(12)",
    "datetime",
    "date",
    "decimal(8,2)",
    "enum",
    "text",
    "double",
)


@st.composite
def schemas(draw: st.DrawFn) -> SchemaFacts:
    tables = []
    for number in range(draw(st.integers(1, 3))):
        names = [f"x{at}" for at in range(draw(st.integers(1, 4)))]
        columns = [
            ColumnFacts(
                name=name,
                sql_type="int" if at == 0 else (kind := draw(st.sampled_from(TYPES))),
                members=("a", "b") if at and kind == "enum" else (),
                is_nullable=at > 0 and draw(st.booleans()),
                has_default=at > 0 and draw(st.booleans()),
                is_auto_increment=at == 0 and draw(st.booleans()),
            )
            for at, name in enumerate(names)
        ]
        key = IndexFacts(name="PRIMARY", columns=(names[0],), is_unique=True) if draw(st.booleans()) else None
        unique = IndexFacts(name="u", columns=(names[-1],), is_unique=draw(st.booleans()))
        indexes = (unique,) if columns[-1].sql_type != "text" else ()
        rows = draw(st.none() | st.integers(0, 5_000))
        tables.append(
            TableFacts(
                schema_name="s",
                name=f"t{number}",
                rows=rows,
                rows_are="unknown" if rows is None else "exact",
                columns=tuple(columns),
                primary_key=key,
                indexes=indexes,
            )
        )
    return SchemaFacts(tables=tuple(tables))


values: st.SearchStrategy[Value] = (
    st.integers(-5, 2**40)
    | st.text(max_size=8)
    | st.none()
    | st.just(("decimal", "12.50"))
    | st.just(("date", "2026-01-02"))
)


@st.composite
def statements(draw: st.DrawFn, schema: SchemaFacts) -> tuple[str, str, list[Value | list[Value]]]:
    """Kind, text, and the literals of one run."""
    table = draw(st.sampled_from(schema.tables))
    names = [column.name for column in table.columns]
    first, last = draw(st.sampled_from(names)), draw(st.sampled_from(names))
    some = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    marks = ", ".join("?" for _ in some)
    name = table.name
    several: list[Value | list[Value]] = [draw(st.lists(values, min_size=1, max_size=3))]
    one: list[Value | list[Value]] = [draw(values)]
    each: list[Value | list[Value]] = [draw(values) for _ in some]
    found: tuple[str, str, list[Value | list[Value]]] = draw(
        st.sampled_from(
            [
                ("select", f"select {last} from {name} where {first} = ?", one),
                ("select", f"select {last} from {name} where {first} in (...)", several),
                ("select", f"select count(*) from {name} where {first} between ? and ?", one * 2),
                ("select", f"select {last} as y from {name} as q where q.{first} > ? limit ?", [*one, 5]),
                ("select_locking", f"select {last} from {name} where {first} = ? for update", one),
                ("update", f"update {name} set {last} = ? where {first} = ?", one * 2),
                ("update", f"update {name} set {last} = {last} + ? where {first} = ?", [3, *one]),
                ("delete", f"delete from {name} where {first} = ?", one),
                ("insert", f"insert into {name} ({', '.join(some)}) values ({marks})", each),
                (
                    "insert",
                    f"insert into {name} values ({', '.join('?' for _ in names)})",
                    [draw(values) for _ in names],
                ),
            ]
        )
    )
    return found


@st.composite
def worlds(draw: st.DrawFn) -> tuple[SchemaFacts, list[list[Logged]], float, bool]:
    """A schema, transactions, a scale, and whether names are kept."""
    schema = draw(schemas())
    kinds = draw(st.lists(st.lists(statements(schema), min_size=1, max_size=4), min_size=1, max_size=3))
    transactions = []
    for place in draw(st.lists(st.integers(0, len(kinds) - 1), min_size=1, max_size=40)):
        rounds = draw(st.integers(1, 3))
        transactions.append([Logged(text, kind, tuple(given)) for kind, text, given in kinds[place] * rounds])
    return schema, transactions, draw(st.sampled_from([0.1, 1.0, 3.0])), draw(st.booleans())


@settings(
    max_examples=draws(25, 60), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(worlds())
def test_learned_workload_files_are_valid(world: tuple[SchemaFacts, list[list[Logged]], float, bool]) -> None:
    schema, transactions, scale, keep_names = world
    with tempfile.TemporaryDirectory() as folder:
        log = write_statements(Path(folder), transactions)
        found = learned(summary_of(log), schema, scale=scale, keep_names=keep_names)
    assert found.workload is not None
    assert parse_workload(found.workload).transaction
