"""Facts of a server's tables become tables of a workload: keys, references, values, names, and nothing private."""

from __future__ import annotations

import json
from typing import Any

from plimsoll.learn.create_table import read_create_tables
from plimsoll.learn.data_model import LearnedTables, learned_tables
from plimsoll.learn.names import OwnNames, Pseudonyms
from plimsoll.learn.schema_model import FEW_VALUES_MAX, ColumnFacts, IndexFacts, SchemaFacts, TableFacts
from plimsoll.learn.workload_text import schema_sql
from plimsoll.spec.workload_tables import ColumnSpec
from support.learned import column, domain, is_sound

TPCC = """
CREATE TABLE `warehouse` (`w_id` int NOT NULL, `w_name` varchar(10) NOT NULL, PRIMARY KEY (`w_id`));
CREATE TABLE `district` (`d_id` tinyint NOT NULL, `d_w_id` int NOT NULL, PRIMARY KEY (`d_w_id`,`d_id`),
  CONSTRAINT `d` FOREIGN KEY (`d_w_id`) REFERENCES `warehouse` (`w_id`));
CREATE TABLE `customer` (`c_id` int NOT NULL, `c_d_id` tinyint NOT NULL, `c_w_id` int NOT NULL, `c_last` varchar(16),
  PRIMARY KEY (`c_w_id`,`c_d_id`,`c_id`), KEY `by_name` (`c_w_id`,`c_d_id`,`c_last`),
  CONSTRAINT `c` FOREIGN KEY (`c_w_id`,`c_d_id`) REFERENCES `district` (`d_w_id`,`d_id`));
CREATE TABLE `orders` (`o_id` int NOT NULL, `o_d_id` tinyint NOT NULL, `o_w_id` int NOT NULL, `o_c_id` int NOT NULL,
  PRIMARY KEY (`o_w_id`,`o_d_id`,`o_id`),
  CONSTRAINT `o` FOREIGN KEY (`o_w_id`,`o_d_id`,`o_c_id`) REFERENCES `customer` (`c_w_id`,`c_d_id`,`c_id`));
CREATE TABLE `new_orders` (`no_o_id` int NOT NULL, `no_d_id` tinyint NOT NULL, `no_w_id` int NOT NULL,
  PRIMARY KEY (`no_w_id`,`no_d_id`,`no_o_id`),
  CONSTRAINT `n` FOREIGN KEY (`no_w_id`,`no_d_id`,`no_o_id`) REFERENCES `orders` (`o_w_id`,`o_d_id`,`o_id`));
"""
COUNTS = {"w_id": 4, "d_w_id": 4, "d_id": 10, "c_w_id": 4, "c_d_id": 10, "c_id": 300, "c_last": 1000}
COUNTS |= {"o_w_id": 4, "o_d_id": 10, "o_id": 300, "no_w_id": 4, "no_d_id": 10, "no_o_id": 90}
ROWS = {"warehouse": 4, "district": 40, "customer": 12_000, "orders": 12_000, "new_orders": 3_600}


def tpcc() -> SchemaFacts:
    """Five tables of TPC-C as a server with 4 small warehouses would tell of them."""
    tables = []
    for table in read_create_tables(TPCC, "tpcc").tables:
        columns = tuple(
            one.model_copy(
                update={
                    "distinct_count": COUNTS.get(one.name),
                    "minimum": "211" if one.name == "no_o_id" else "1" if one.name.endswith("_id") else None,
                    "maximum": str(COUNTS.get(one.name, 300)) if one.name.endswith("_id") else None,
                    "length_mean": 12.0 if one.name == "c_last" else None,
                }
            )
            for one in table.columns
        )
        update = {"columns": columns, "rows": ROWS[table.name], "rows_are": "exact"}
        tables.append(table.model_copy(update=update))
    return SchemaFacts(tables=tuple(tables))


def named(learned: LearnedTables, name: str) -> dict[str, Any]:
    return next(table for table in learned.tables if table["name"] == name)


def facts(sql: str, **figures: dict[str, object]) -> SchemaFacts:
    """Tables of SQL; figures of tables by name, of columns by `table__column`."""
    tables = []
    for table in read_create_tables(sql).tables:
        columns = tuple(one.model_copy(update=figures.get(f"{table.name}__{one.name}", {})) for one in table.columns)
        update = {"columns": columns, "rows_are": "exact", **figures.get(table.name, {})}
        tables.append(table.model_copy(update=update))
    return SchemaFacts(tables=tuple(tables))


def test_composite_keys_of_tpcc_shrink_by_orders_and_stay_sound() -> None:
    learned = learned_tables(tpcc(), scale=0.1)
    rows = {table["name"]: table["rows"] for table in learned.tables}
    assert rows == {"warehouse": 4, "district": 40, "customer": 1200, "orders": 1200, "new_orders": 360}
    customer = named(learned, "customer")
    assert column(customer, "c_w_id")["each"] == 300
    assert column(customer, "c_d_id") | {"cycle": 10, "each": 30} == column(customer, "c_d_id")
    assert column(customer, "c_id")["cycle"] == 30
    assert column(named(learned, "new_orders"), "no_o_id")["start"] == 1  # within the orders that there are
    assert column(named(learned, "orders"), "o_c_id")["generate"] == "reference"
    assert [len(table.get("foreign_key", ())) for table in learned.tables] == [0, 1, 1, 1, 1]
    assert is_sound(learned.tables)
    assert not [note for note in learned.notes if note.code in ("rows-cut", "foreign-key-left-out", "unique-left-out")]


def test_names_stay_unless_others_are_given() -> None:
    kept, own = learned_tables(tpcc(), scale=1), learned_tables(tpcc(), scale=1, names=OwnNames())
    assert (kept.tables, kept.notes) == (own.tables, own.notes)
    assert {table["name"] for table in kept.tables} == set(ROWS)


def test_a_domain_finds_rows() -> None:
    learned = learned_tables(tpcc(), scale=0.1, names=Pseudonyms())
    warehouse, customer, orders = (("tpcc", one) for one in ("warehouse", "customer", "orders"))
    assert domain(learned, customer, "c_id").size == 30
    assert domain(learned, customer, "c_id").generator["table"] == learned.table_name(customer)
    assert domain(learned, orders, "o_c_id").generator == domain(learned, customer, "c_id").generator
    assert domain(learned, warehouse, "w_id").generator == {
        "generate": "reference",
        "table": learned.table_name(warehouse),
    }
    assert domain(learned, warehouse, "w_id").is_unique
    last = domain(learned, customer, "c_last")
    assert last.generator["template"].startswith("{integer:1-1000}")  # 8 % of the rows: they do not grow with them
    assert learned.domain((("tpcc", "nowhere"), "c_id")) is None
    assert learned.domain((customer, "unknown")) is None


def test_tables_of_sysbench() -> None:
    sql = (
        "CREATE TABLE `sbtest1` (`id` int NOT NULL AUTO_INCREMENT, `k` int NOT NULL DEFAULT '0',"
        " `c` char(120) NOT NULL DEFAULT '', `pad` char(60) NOT NULL DEFAULT '', PRIMARY KEY (`id`), KEY `k_1` (`k`))"
        " ENGINE=InnoDB AUTO_INCREMENT=100001 DEFAULT CHARSET=utf8mb4"
    )
    figures = {"minimum": "3", "maximum": "99000", "distinct_count": 60_000}
    learned = learned_tables(
        facts(sql, sbtest1={"rows": 100_000}, sbtest1__k=figures, sbtest1__c={"length_mean": 119.0}), scale=0.5
    )
    table = learned.tables[0]
    assert table["rows"] == 50_000
    assert column(table, "id") == {
        "name": "id", "generate": "sequence", "start": 1, "type": "INT", "auto_increment": True
    }  # fmt: skip
    assert column(table, "k")["from"] == 3
    assert column(table, "k")["nullable"]  # it has a default: an insert may leave it out
    assert column(table, "c")["length"] == [119, 119]
    assert table["index"] == [{"columns": ["k"], "name": "k_1"}]


def test_columns_refer_by_name_where_no_foreign_key_says_so() -> None:
    sql = (
        "CREATE TABLE users (id INT PRIMARY KEY); CREATE TABLE categories (id INT PRIMARY KEY);"
        "CREATE TABLE items (item_id BIGINT PRIMARY KEY, user_id INT, category_id INT, x_id INT);"
        "CREATE TABLE seen (id INT PRIMARY KEY, item_id BIGINT, user_id BIGINT)"
    )
    learned = learned_tables(facts(sql), scale=1)
    assumed = {(note.table, note.column, note.figures["table"]) for note in learned.notes if "table" in note.figures}
    assert assumed == {
        ("items", "user_id", "users"),
        ("items", "category_id", "categories"),
        ("seen", "item_id", "items"),
    }


def test_values_keep_their_shape_and_not_their_content() -> None:
    sql = (
        "CREATE TABLE t (id INT PRIMARY KEY, few VARCHAR(9), flag CHAR(1), state ENUM('a','b','c'), d DATE,"
        " at TIMESTAMP NULL, price DECIMAL(6,2), big INT, doc JSON, raw VARBINARY(99),"
        " mail VARCHAR(40) NOT NULL UNIQUE, weighted VARCHAR(10))"
    )
    learned = learned_tables(
        facts(
            sql,
            t={"rows": 1000},
            t__few={"distinct_count": 3, "length_mean": 5.0, "null_ratio": 0.25},
            t__flag={"distinct_count": 2},
            t__d={"minimum": "2026-01-01", "maximum": "2026-01-10", "distinct_count": 10},
            t__at={"minimum": "2026-01-01 10:00:00.5", "maximum": "2026-02-01 00:00:00"},
            t__price={"minimum": "-5.50", "maximum": "99.90"},
            t__big={"minimum": "100", "maximum": "1000000", "distinct_count": 20},
            t__raw={"length_mean": 30.0, "length_max": 40},
            t__mail={"length_mean": 24.0},
        ),
        scale=1,
        choices={(("", "t"), "weighted"): [5, 3, 2]},
    )
    table = learned.tables[0]
    assert column(table, "few")["values"] == ["v1abc", "v2abc", "v3abc"]
    assert column(table, "few")["null_ratio"] == 0.25
    assert column(table, "flag")["values"] == ["a", "b"]
    assert column(table, "state") | {"values": ["v1", "v2", "v3"], "type": "VARCHAR(16)"} == column(table, "state")
    assert len(column(table, "d")["values"]) == 10
    assert column(table, "at")["from"] == "2026-01-01T10:00:00"
    assert column(table, "at")["type"] == "DATETIME"
    assert (column(table, "price")["from"], column(table, "price")["to"]) == (-5.5, 99.9)
    assert (column(table, "big")["from"], column(table, "big")["to"]) == (100, 119)
    assert column(table, "raw")["length"] == [20, 40]
    assert len(column(table, "mail")["template"].replace("{row}", "1000")) == 24
    assert column(table, "weighted")["weights"] == [5, 3, 2]
    assert domain(learned, ("", "t"), "weighted").generator == {
        "generate": "choice",
        "values": column(table, "weighted")["values"],
    }
    made = [ColumnSpec.model_validate(one) for one in table["column"]]
    assert not [fault for one in made for fault in one.generator.faults(in_rows=True)]


def test_texts_with_few_different_values_are_told_one_by_one() -> None:
    sql = "CREATE TABLE t (id INT PRIMARY KEY, few VARCHAR(9), many VARCHAR(9))"
    counts = {"few": FEW_VALUES_MAX, "many": FEW_VALUES_MAX + 1}
    learned = learned_tables(
        facts(sql, **{f"t__{one}": {"distinct_count": count} for one, count in counts.items()}), scale=1
    )
    assert len(column(learned.tables[0], "few")["values"]) == FEW_VALUES_MAX
    assert column(learned.tables[0], "many")["generate"] == "letters"


def test_types_that_cannot_be_filled_get_their_nearest() -> None:
    sql = (
        "CREATE TABLE t (id INT PRIMARY KEY, few BIT(1), many BIT(20), p POINT, u UUID, l VARCHAR(9),"
        " w INT(9) ZEROFILL) DEFAULT CHARSET=cp1250"
    )
    learned = learned_tables(facts(sql), scale=1)
    types = {table["name"]: table["type"] for table in learned.tables[0]["column"]}
    assert types == {
        "id": "INT", "few": "TINYINT UNSIGNED", "many": "INT UNSIGNED", "p": "BLOB", "u": "CHAR(36)",
        "l": "VARCHAR(9) CHARACTER SET latin1", "w": "INT UNSIGNED",
    }  # fmt: skip
    assert {note.column for note in learned.notes if note.code == "type-replaced"} == {"few", "many", "p", "u"}


def test_keys_of_decimals_are_integers_so_that_inserts_can_go_on() -> None:
    sql = (
        "CREATE TABLE bills (no DECIMAL(20,0) PRIMARY KEY);"
        "CREATE TABLE paid (no DECIMAL(20,0) PRIMARY KEY, FOREIGN KEY (no) REFERENCES bills (no))"
    )
    learned = learned_tables(facts(sql, bills={"rows": 50}, paid={"rows": 20}), scale=1)
    assert [column(named(learned, name), "no")["type"] for name in ("bills", "paid")] == ["BIGINT", "BIGINT"]
    assert len(named(learned, "paid")["foreign_key"]) == 1
    assert {note.table for note in learned.notes if note.code == "type-replaced"} == {"bills", "paid"}


def test_keys_that_a_workload_cannot_have_are_noted() -> None:
    sql = (
        "CREATE TABLE nokey (a VARCHAR(5), b INT, KEY (b)); CREATE TABLE kinds (id TINYINT UNSIGNED PRIMARY KEY);"
        "CREATE TABLE long_key (t TEXT, PRIMARY KEY (t(30))); CREATE TABLE self (id INT PRIMARY KEY, parent_id INT,"
        " FOREIGN KEY (parent_id) REFERENCES self (id) ON DELETE SET NULL)"
    )
    learned = learned_tables(facts(sql, kinds={"rows": 5000}, nokey={"rows": 50}), scale=1)
    codes = {(note.table, note.code) for note in learned.notes}
    assert {("nokey", "primary-key-added"), ("kinds", "rows-cut")} <= codes
    assert named(learned, "kinds")["rows"] == 256
    assert named(learned, "nokey")["primary_key"] == ["plimsoll_row"]
    assert column(named(learned, "long_key"), "t")["type"] == "VARCHAR(30)"
    assert named(learned, "self")["foreign_key"] == [
        {"columns": ["parent_id"], "table": "self", "references": ["id"], "on_delete": "set_null"}
    ]


def test_tables_of_one_name_in_two_schemas_get_two_names() -> None:
    key = IndexFacts(name="PRIMARY", columns=("id",), is_unique=True)
    tables = tuple(
        TableFacts(
            schema_name=one, name="users", rows=5, columns=(ColumnFacts(name="id", sql_type="int"),), primary_key=key
        )
        for one in ("a", "b")
    )
    learned = learned_tables(SchemaFacts(tables=tables), scale=1)
    assert [learned.table_name((one, "users")) for one in ("a", "b")] == ["users", "b_users"]
    shared = learned_tables(SchemaFacts(tables=tables), scale=1, names=Pseudonyms())
    assert [shared.table_name((one, "users")) for one in ("a", "b")] == ["t1", "t2"]


CANARY = "Xanthippe"
SECRETS = f"""
CREATE TABLE `{CANARY}_parent` (`{CANARY}_id` int NOT NULL PRIMARY KEY COMMENT '{CANARY}') COMMENT='{CANARY}';
CREATE TABLE `{CANARY}_1` (
  `{CANARY}_key` varchar(40) CHARACTER SET {CANARY.lower()} NOT NULL DEFAULT '{CANARY}' COMMENT '{CANARY}',
  `{CANARY}_state` enum('{CANARY}','b{CANARY}') NOT NULL,
  `{CANARY}_id` int NOT NULL, `{CANARY}_odd` {CANARY}('{CANARY}'),
  `{CANARY}_g` varchar(9) GENERATED ALWAYS AS (concat('{CANARY}', `{CANARY}_key`)),
  PRIMARY KEY (`{CANARY}_key`), UNIQUE KEY `{CANARY}_u` (`{CANARY}_state`, `{CANARY}_id`),
  KEY `{CANARY}_i` (`{CANARY}_g`),
  CONSTRAINT `{CANARY}_c` CHECK (`{CANARY}_state` <> '{CANARY}'),
  CONSTRAINT `{CANARY}_f` FOREIGN KEY (`{CANARY}_id`) REFERENCES `{CANARY}_parent` (`{CANARY}_id`)
) COMMENT='{CANARY}';
CREATE TABLE `{CANARY}_broken` LIKE `{CANARY}_1`;
"""


def test_nothing_private_is_in_what_is_shared() -> None:
    schema = read_create_tables(SECRETS, f"{CANARY}_schema")
    hostile = [
        table.model_copy(
            update={
                "columns": tuple(
                    one.model_copy(update={"minimum": CANARY, "maximum": CANARY, "length_mean": 9.0})
                    for one in table.columns
                )
            }
        )
        for table in schema.tables
    ]
    learned = learned_tables(schema.model_copy(update={"tables": tuple(hostile)}), scale=0.1, names=Pseudonyms())
    assert len(learned.tables) == 2
    shared = (
        json.dumps(learned.tables) + schema_sql(learned.tables) + str([note.model_dump() for note in learned.notes])
    )
    shared += str(
        [learned.domain((one.key, c.name.lower())) for one in hostile for c in one.columns if not c.is_generated]
    )
    assert CANARY.lower() not in shared.lower()
    assert {"table-left-out", "generated-left-out", "index-left-out", "reference-assumed"} & {
        note.code for note in learned.notes
    }
