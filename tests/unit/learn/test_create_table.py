"""Definitions as both servers write them become facts."""

from __future__ import annotations

from plimsoll.learn.create_table import read_create_tables
from plimsoll.learn.schema_model import ColumnFacts, SchemaFacts, TableFacts

MARIADB = r"""
-- MariaDB dump 10.19; Distrib 10.11
/*!40101 SET NAMES utf8mb4 */;
USE `shop`;
DROP TABLE IF EXISTS `or``ders`;
/*!40101 SET character_set_client = utf8 */;
CREATE TABLE `or``ders` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT COMMENT 'x; it''s \' (a, b)',
  `state` enum('new','it''s; done') NOT NULL DEFAULT 'new',
  `sum` decimal(10,2) unsigned zerofill DEFAULT 0.00,
  `note` varchar(20) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT 'a'',''b',
  `at` timestamp(6) NOT NULL DEFAULT current_timestamp(6) ON UPDATE current_timestamp(6),
  `twice` int(11) GENERATED ALWAYS AS (`id` * 2) STORED,
  `facts` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`facts`)),
  `user_id` int(11) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `once` (`note`(10),`user_id`) USING BTREE COMMENT 'k',
  KEY `by_user` (`user_id` DESC),
  FULLTEXT KEY `words` (`note`),
  CONSTRAINT `belongs` FOREIGN KEY (`user_id`) REFERENCES `other`.`users` (`id`) ON DELETE CASCADE ON UPDATE SET NULL,
  CONSTRAINT `positive` CHECK (`sum` > 0)
) ENGINE=InnoDB AUTO_INCREMENT=1234 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='a;''b'
 PARTITION BY HASH (`id`)
PARTITIONS 4;
INSERT INTO `or``ders` VALUES (1,'CREATE TABLE no (a int);');
"""

MYSQL = """
CREATE DATABASE /*!32312 IF NOT EXISTS*/ `geo`;
USE `geo`;
CREATE TABLE `places` (
  `id` bigint NOT NULL,
  `part` int NOT NULL,
  `p` point NOT NULL /*!80003 SRID 4326 */,
  `hidden` int DEFAULT NULL /*!80023 INVISIBLE */,
  `flags` bit(3) DEFAULT b'0',
  `upper` varchar(9) GENERATED ALWAYS AS (upper(`part`)) VIRTUAL,
  PRIMARY KEY (`id`,`part`),
  KEY `half` ((`id` + 1)),
  SPATIAL KEY `near` (`p`),
  CONSTRAINT `c1` CHECK ((`id` > 0)) /*!80016 NOT ENFORCED */
) ENGINE=InnoDB DEFAULT CHARSET=latin1
/*!50100 PARTITION BY RANGE (`id`)
(PARTITION p0 VALUES LESS THAN (10) ENGINE = InnoDB) */;
CREATE TABLE `copy` LIKE `places`;
/*!50001 CREATE VIEW `seen` AS SELECT 1 AS `id` */;
CREATE TABLE `empty
"""


def one(schema: SchemaFacts) -> TableFacts:
    assert len(schema.tables) == 1
    return schema.tables[0]


def column(table: TableFacts, name: str) -> ColumnFacts:
    return next(one for one in table.columns if one.name == name)


def test_a_dump_of_mariadb() -> None:
    table = one(read_create_tables(MARIADB))
    assert (table.schema_name, table.name) == ("shop", "or`ders")
    assert (table.rows, table.rows_are) == (1233, "numbered")
    assert column(table, "id").sql_type == "int(10) unsigned"
    assert column(table, "id").is_auto_increment
    assert not column(table, "id").is_nullable
    assert column(table, "state").members == ("new", "it's; done")
    assert column(table, "state").has_default
    assert column(table, "note").character_set == "latin1"
    assert column(table, "at").has_default
    assert column(table, "twice").is_generated
    assert not column(table, "twice").has_default
    assert column(table, "facts").sql_type == "json"
    assert not column(table, "facts").has_default
    assert [(index.name, index.kind, index.columns, index.lengths, index.is_unique) for index in table.indexes] == [
        ("once", "btree", ("note", "user_id"), (10, 0), True),
        ("by_user", "btree", ("user_id",), (0,), False),
        ("words", "fulltext", ("note",), (0,), False),
    ]
    foreign = table.foreign_keys[0]
    assert (foreign.schema_name, foreign.table, foreign.on_delete) == ("other", "users", "cascade")


def test_a_dump_of_mysql_with_what_cannot_be_understood() -> None:
    schema = read_create_tables(MYSQL)
    table = one(schema)
    assert table.primary_key is not None
    assert table.primary_key.columns == ("id", "part")
    assert [(index.name, index.kind) for index in table.indexes] == [("half", "functional"), ("near", "spatial")]
    assert column(table, "p").sql_type == "point"
    assert column(table, "upper").is_generated
    assert [(left.name, left.reason) for left in schema.left_out] == [("copy", "not-parsed"), ("", "not-parsed")]


def test_keys_that_stand_behind_a_column() -> None:
    table = one(read_create_tables("CREATE TABLE t (a INT PRIMARY KEY REFERENCES `b` (`c`), d VARCHAR(5) UNIQUE)", "s"))
    assert table.primary_key is not None
    assert table.primary_key.columns == ("a",)
    assert table.indexes[0].columns == ("d",)
    assert table.foreign_keys[0].references == ("c",)
    assert table.schema_name == "s"
