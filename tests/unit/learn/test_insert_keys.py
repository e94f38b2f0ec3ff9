"""What an INSERT must know of its table."""

from __future__ import annotations

from plimsoll.learn.create_table import read_create_tables
from plimsoll.learn.schema_model import InsertKeys

KEYS = InsertKeys(
    read_create_tables(
        """
        CREATE TABLE Parents (Id int NOT NULL AUTO_INCREMENT PRIMARY KEY, Name varchar(9) NOT NULL UNIQUE);
        CREATE TABLE children (
          a int NOT NULL, b int NOT NULL, c int, d int NOT NULL DEFAULT 0, e int AS (a + b) STORED NOT NULL,
          F int NOT NULL, PRIMARY KEY (a, b), UNIQUE KEY (c, F), KEY (d), FULLTEXT KEY (e),
          FOREIGN KEY (F) REFERENCES Parents (Id), FOREIGN KEY (a, b) REFERENCES others (x, y)
        );
        """,
        "s",
    )
)
PARENTS, CHILDREN = ("s", "parents"), ("s", "children")


def test_columns_that_need_a_value() -> None:
    assert KEYS.required(CHILDREN) == ("a", "b", "f")
    assert KEYS.required(PARENTS) == ("name",)


def test_columns_in_which_no_two_rows_are_alike() -> None:
    assert KEYS.unique(CHILDREN) == (("a", "b"), ("c", "f"))
    assert KEYS.unique(PARENTS) == (("id",), ("name",))


def test_references_of_one_column() -> None:
    assert KEYS.references() == {(CHILDREN, "f"): (PARENTS, "id")}


def test_the_catalog_finds_columns_in_any_case() -> None:
    catalog = KEYS.catalog()
    assert catalog.table("S", "PARENTS") == PARENTS
    assert catalog.has(PARENTS, "NAME")
    assert not catalog.has(PARENTS, "f")
    assert catalog.columns(PARENTS) == ("id", "name")
