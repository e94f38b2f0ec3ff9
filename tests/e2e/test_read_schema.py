"""Definitions and figures of tables are read from real servers of both flavours, by an account that may only read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from plimsoll.errors import TargetError
from plimsoll.learn.create_table import statements
from plimsoll.learn.data_model import learned_tables
from plimsoll.learn.names import Pseudonyms
from plimsoll.learn.schema_model import ColumnFacts, SchemaFacts, TableFacts
from plimsoll.learn.workload_text import schema_sql
from plimsoll.run.schema import read_schema, read_schema_file, tables_of, write_schema
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.managed_server import ManagedServer
from support.learned import domain
from support.servers import running_server

__all__ = ["running_server"]
pytestmark = pytest.mark.e2e

MADE = (
    "CREATE DATABASE `odd``shop` CHARACTER SET utf8mb4",
    "USE `odd``shop`",
    "CREATE TABLE users (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, `e``mail %s` VARCHAR(80) NOT NULL UNIQUE,"
    " kind ENUM('plain','it''s') NOT NULL DEFAULT 'plain', note TEXT NULL, born DATE NOT NULL,"
    " doubled INT GENERATED ALWAYS AS (YEAR(born) * 2) VIRTUAL, facts JSON, CHECK (born > '1900-01-01')) COMMENT='a;b'",
    "CREATE TABLE orders (user_id INT UNSIGNED NOT NULL, number INT NOT NULL, sum DECIMAL(10,2) NOT NULL,"
    " at DATETIME NOT NULL, PRIMARY KEY (user_id, number), KEY by_time (at),"
    " FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE)",
    "CREATE TABLE `Straße` (a VARCHAR(10) PRIMARY KEY)",
    "CREATE TABLE large (id BIGINT PRIMARY KEY, few INT NOT NULL, many INT NOT NULL)"
    " PARTITION BY HASH (id) PARTITIONS 2",
    "CREATE TABLE visits (place INT NOT NULL, number INT NOT NULL, guest INT NOT NULL, host INT NOT NULL,"
    " PRIMARY KEY (place, number), KEY by_guest (place, guest), KEY by_host (host))",
    "CREATE VIEW seen AS SELECT id FROM users",
)
USERS = (
    "INSERT INTO users (id, `e``mail %s`, kind, note, born, facts) SELECT n, CONCAT('user', n), 'plain',"
    " IF(n % 4 = 0, NULL, REPEAT('é', 10 + n % 11)), DATE_ADD('1970-01-01', INTERVAL n DAY), '{\"a\": 1}' FROM numbers"
    " WHERE n <= 200"
)
ORDERS = (
    "INSERT INTO orders SELECT 1 + (n - 1) DIV 5, 1 + (n - 1) % 5, n / 2,"
    " DATE_ADD('2026-01-01', INTERVAL n MINUTE) FROM numbers WHERE n <= 1000"
)
LARGE = "INSERT INTO large SELECT n * 10, n % 7, n FROM numbers"
VISITS = (
    "INSERT INTO visits SELECT (n - 1) DIV 150, 1 + (n - 1) % 150, n * 37 % 150, FLOOR(RAND(3) * 3000) FROM numbers"
    " WHERE n <= 3000"
)
NUMBERS = "CREATE TABLE numbers (n INT PRIMARY KEY)"
DOUBLING = "INSERT INTO numbers SELECT n + (SELECT MAX(n) FROM numbers AS largest) FROM numbers"

SHOP = "odd`shop"


@pytest.fixture(scope="module")
def control(running_server: ManagedServer) -> Iterator[ControlConnection]:
    """A connection of an account that may only read the shop, which has an odd name."""
    with connect(running_server.target) as root:
        for statement in MADE:
            root.rows(statement)
        root.rows(NUMBERS)
        root.rows("INSERT INTO numbers VALUES (1)")
        for _ in range(14):
            root.rows(DOUBLING)
        for statement in (USERS, ORDERS, LARGE, VISITS, "ANALYZE TABLE users, orders, large, visits"):
            root.rows(statement)
        root.rows("CREATE DATABASE hidden")
        root.rows("CREATE TABLE hidden.secrets (id INT PRIMARY KEY)")
        root.rows("CREATE USER reader@'%' IDENTIFIED BY 'a-word'")
        root.rows("GRANT SELECT ON `odd``shop`.* TO reader@'%'")
    reader = dataclasses.replace(running_server.target, user="reader", database=SHOP, password=SecretStr("a-word"))
    with connect(reader) as connection:
        yield connection


@pytest.fixture(scope="module")
def schema(control: ControlConnection) -> SchemaFacts:
    asked = {(SHOP, name) for name in ("users", "orders", "Straße", "large", "visits", "seen", "gone")}
    return read_schema(control, asked)


def table(schema: SchemaFacts, name: str) -> TableFacts:
    return next(one for one in schema.tables if one.name == name)


def column(schema: SchemaFacts, of: str, name: str) -> ColumnFacts:
    return next(one for one in table(schema, of).columns if one.name == name)


def test_definitions_of_odd_names_are_read_and_views_named(schema: SchemaFacts) -> None:
    assert {one.name for one in schema.tables} == {"users", "orders", "Straße", "large", "visits"}
    assert {(one.name, one.reason) for one in schema.left_out} == {("seen", "view"), ("gone", "missing")}
    users = table(schema, "users")
    assert [one.name for one in users.columns] == ["id", "e`mail %s", "kind", "note", "born", "doubled", "facts"]
    assert column(schema, "users", "kind").members == ("plain", "it's")
    assert column(schema, "users", "facts").sql_type == "json"
    assert column(schema, "users", "doubled").is_generated
    key = table(schema, "orders").foreign_keys[0]
    assert (key.table, key.references, key.on_delete) == ("users", ("id",), "cascade")


def test_small_tables_are_known_exactly(schema: SchemaFacts) -> None:
    orders = table(schema, "orders")
    assert (orders.rows, orders.rows_are) == (1000, "exact")
    user_id, number = column(schema, "orders", "user_id"), column(schema, "orders", "number")
    assert (user_id.minimum, user_id.maximum, user_id.distinct_count) == ("1", "200", 200)
    assert (number.minimum, number.maximum, number.distinct_count) == ("1", "5", 5)
    note = column(schema, "users", "note")
    assert note.null_ratio == pytest.approx(0.25)
    assert note.length_max == 20
    assert note.length_mean == pytest.approx(15, abs=1)
    assert column(schema, "users", "born").minimum == "1970-01-02"
    assert column(schema, "orders", "sum").maximum == "500.00"


def test_large_tables_are_sampled_all_over_the_key(schema: SchemaFacts) -> None:
    large = table(schema, "large")
    assert large.rows == 16_384
    assert column(schema, "large", "id").maximum == "163840"
    assert column(schema, "large", "few").distinct_count == 7
    many = column(schema, "large", "many")
    assert many.distinct_count == pytest.approx(16_384, rel=0.01)
    assert int(many.maximum or 0) > 15_900  # not of the first rows alone


def test_what_each_row_has_for_itself_is_counted_and_made_so(schema: SchemaFacts) -> None:
    by_guest, by_host = table(schema, "visits").indexes
    assert by_guest.prefix_counts == (20, 3000)
    assert by_host.prefix_counts[0] == pytest.approx(3000 * (1 - 1 / 2.718), rel=0.03)
    guest = column(schema, "visits", "guest")
    assert (guest.minimum, guest.maximum) == ("0", "149")
    made = next(one for one in learned_tables(schema, scale=1).tables if one["name"] == "visits")
    found = {one["name"]: one for one in made["column"]}
    assert (found["guest"]["generate"], found["guest"]["cycle"]) == ("sequence", 150)
    assert found["host"]["generate"] == "integer"


def test_no_text_of_a_row_is_fetched(schema: SchemaFacts) -> None:
    texts = schema.model_dump_json()
    assert "user1" not in texts
    assert "é" not in texts
    assert column(schema, "users", "e`mail %s").minimum is None


def test_an_empty_table_has_no_figures(schema: SchemaFacts) -> None:
    empty = table(schema, "Straße")
    assert (empty.rows, empty.columns[0].length_mean, empty.columns[0].null_ratio) == (0, None, None)


def test_what_the_account_may_not_read_names_the_grant(control: ControlConnection) -> None:
    with pytest.raises(TargetError, match=r"GRANT SELECT ON `hidden`\.\* TO 'reader'@'%'"):
        read_schema(control, {("hidden", "secrets"), (SHOP, "users")})


def test_the_session_only_reads(control: ControlConnection, schema: SchemaFacts) -> None:
    assert schema.tables
    found = control.rows("SHOW SESSION VARIABLES WHERE variable_name IN ('tx_read_only', 'transaction_read_only')")
    assert {row[1] for row in found} == {"ON"}


def test_all_tables_of_a_schema(control: ControlConnection) -> None:
    assert tables_of(control, SHOP) == {
        (SHOP, one) for one in ("users", "orders", "Straße", "large", "visits", "numbers")
    }


def test_the_learned_definitions_are_taken_by_the_server(schema: SchemaFacts, running_server: ManagedServer) -> None:
    learned = learned_tables(schema, scale=0.1, names=Pseudonyms())
    assert {one["rows"] for one in learned.tables} == {0, 100, 300, 1638}
    assert domain(learned, (SHOP, "orders"), "number").size == 5
    assert domain(learned, (SHOP, "orders"), "user_id").size == 20  # 5 orders for each, as on the server
    with connect(running_server.target) as root:
        root.rows("CREATE DATABASE learned")
        root.rows("USE learned")
        for statement in statements(schema_sql(learned.tables)):
            if statement.strip():
                root.rows(statement)
        names = {str(row[0]) for row in root.rows("SHOW TABLES")}
    assert names == {one["name"] for one in learned.tables}


def test_a_schema_goes_through_a_private_file(schema: SchemaFacts, tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    write_schema(file, schema)
    assert file.stat().st_mode & 0o777 == 0o600
    assert read_schema_file(file) == schema
