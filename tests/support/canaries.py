"""A log and a schema with strings that must not be in anything that may be shared: canaries.

Every one of them has the syllables of `TOKEN`, so that one search finds each. Numbers are told apart by `NUMBERS`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from support.slow_logs import Client, Ran, in_transaction

TOKEN = "kanarivogel"
NUMBERS = ("739184620517", "739184.620518", "7391846205")
"""A whole number, a decimal, and the first digits of other whole numbers."""

CLIENT = Client(schema=f"{TOKEN}db", user=f"{TOKEN}user", host=f"{TOKEN}.example")

SCHEMA = f"""
-- {TOKEN} remark
CREATE DATABASE `{TOKEN}db` COMMENT '{TOKEN}';
USE `{TOKEN}db`;
CREATE TABLE `{TOKEN}s` (
  `{TOKEN}id` bigint NOT NULL AUTO_INCREMENT COMMENT '{TOKEN}',
  `{TOKEN}name` varchar(64) NOT NULL DEFAULT '{TOKEN}',
  `{TOKEN}kind` enum('{TOKEN}a','{TOKEN}b') NOT NULL,
  `{TOKEN}flags` set('{TOKEN}x','{TOKEN}y') NOT NULL,
  `{TOKEN}json` json DEFAULT NULL,
  `{TOKEN}sum` decimal(20,6) DEFAULT '739184.620518',
  `{TOKEN}twice` bigint GENERATED ALWAYS AS (`{TOKEN}id` * 739184620517) VIRTUAL,
  PRIMARY KEY (`{TOKEN}id`),
  UNIQUE KEY `{TOKEN}unique` (`{TOKEN}name`),
  KEY `{TOKEN}index` (`{TOKEN}kind`),
  CONSTRAINT `{TOKEN}check` CHECK (`{TOKEN}name` <> '{TOKEN}')
) ENGINE=InnoDB AUTO_INCREMENT=501 COMMENT='{TOKEN}';
CREATE TABLE `{TOKEN}_children_1` (
  `{TOKEN}child` bigint NOT NULL, `{TOKEN}parent` bigint NOT NULL, `{TOKEN}text` text,
  PRIMARY KEY (`{TOKEN}child`),
  CONSTRAINT `{TOKEN}fk` FOREIGN KEY (`{TOKEN}parent`) REFERENCES `{TOKEN}s` (`{TOKEN}id`)
) ENGINE=InnoDB COMMENT '{TOKEN}' PARTITION BY HASH (`{TOKEN}child`) PARTITIONS 4;
CREATE TABLE `{TOKEN}_children_2` LIKE `{TOKEN}_children_1`;
"""

K, T, C = TOKEN, f"{TOKEN}s", f"{TOKEN}id"
TEXTS = (
    # literals in all of their forms
    f"SELECT {K}name FROM {T} WHERE {K}name = '{K} it''s \\'{K}\\' \\\\'",
    f'SELECT {K}name FROM {T} WHERE {K}name = "{K} ""x"""',
    f"SELECT {K}name FROM {T} WHERE {K}name LIKE '%{K}_' ESCAPE '|'",
    f"SELECT {K}name FROM {T} WHERE {K}name IN ('{K}1', '{K}2', '{K}3')",
    f"SELECT {K}name FROM {T} WHERE {K}name = x'{K.encode().hex()}' OR {C} = 0x{K.encode().hex()}",
    f"SELECT {K}name FROM {T} WHERE {K}name = _utf8mb4'{K}' COLLATE utf8mb4_bin OR {K}name = N'{K}'",
    f"SELECT {K}name FROM {T} WHERE {K}json->>'$.{K}' = '{K}'",
    f"SELECT JSON_EXTRACT({K}json, '$.{K}[0]') FROM {T} WHERE {C} = 739184620517",
    f"SELECT {K}name FROM {T} WHERE {C} BETWEEN 739184620517 AND 739184620519",
    f"SELECT {K}name FROM {T} WHERE {K}sum > 739184.620518 AND {C} = -739184620517",
    f"SELECT {K}name FROM {T} WHERE {C} IN (7391846205, 73918462051, 739184620517)",
    f"SELECT CONCAT({K}name, '{K}') FROM {T} WHERE {C} = 7391846205",
    f"SELECT GROUP_CONCAT({K}name SEPARATOR '{K}') FROM {T} WHERE {C} = 7391846205",
    f"SELECT DATE_FORMAT(NOW(), '{K} %Y') FROM {T} WHERE {C} = 7391846205 ORDER BY FIELD({K}kind, '{K}a')",
    f"INSERT INTO {T} ({C}, {K}name, {K}sum) VALUES (739184620517, '{K}', 739184.620518)",
    f"INSERT INTO {T} ({C}, {K}name) VALUES (739184620517, '{K}'), (739184620518, '{K}2')",
    f"UPDATE {T} SET {K}name = CONCAT('{K}', {K}name) WHERE {C} = 7391846205",
    # comments and hints
    f"/* {K} */ SELECT {K}name /* {K} */ FROM {T} WHERE {C} = 1 -- {K}",
    f"SELECT {K}name # {K}\n FROM {T} WHERE {C} = 1",
    f"SELECT /*+ INDEX({T} {K}index) QB_NAME({K}qb) */ {K}name FROM {T} WHERE {C} = 1",
    f"SELECT /*! STRAIGHT_JOIN */ {K}name FROM {T} /*!40000 USE INDEX ({K}index) */ WHERE {C} = 1",
    # names
    f"SELECT {K}o.{K}name AS {K}out FROM {K}db.{T} AS {K}o FORCE INDEX ({K}index) WHERE {C} = 1",
    f"SELECT 1 AS '{K}quoted', {K}name AS `{K} spaced` FROM {T} WHERE {C} = 1",
    f"WITH {K}cte AS (SELECT {C} FROM {T} WHERE {C} = 1) SELECT {C} FROM {K}cte",
    f"SELECT {K}sub.{C} FROM (SELECT {C} FROM {T} LIMIT 3) AS {K}sub",
    f"SELECT ROW_NUMBER() OVER {K}win FROM {T} WHERE {C} = 1 WINDOW {K}win AS (ORDER BY {C})",
    f"SELECT {K}function({C}) FROM {T} WHERE {C} = 1",
    f"SELECT {K}db.{K}function({C}) FROM {T} WHERE {C} = 1",
    f"SELECT @{K}variable, @@session.{K}setting FROM {T} WHERE {C} = 1",
    f"SELECT @{K}v := {C} FROM {T} WHERE {C} = 1",
    f"SELECT {C} INTO @{K}into FROM {T} WHERE {C} = 1",
    f"SELECT {C} FROM {T} PARTITION ({K}part) WHERE {C} = 1",
    f"SELECT CONVERT({K}name USING {K}charset), CAST({C} AS CHAR) FROM {T} WHERE {C} = 1",
    f"SELECT {K}name COLLATE {K}_collation FROM {T} WHERE {C} = 1",
    f"SELECT * FROM {T} JOIN {K}_children_1 AS {K}c USING ({C}) WHERE {C} = 1",
    f"SELECT {K}child FROM {K}_children_1 WHERE {K}child = 7",
    f"SELECT {K}child FROM {K}_children_2 WHERE {K}child = 7",
    f"INSERT INTO {T} VALUES (1, '{K}', '{K}a', '{K}x', '{{\"{K}\": 1}}', 2, DEFAULT)",
    f"INSERT INTO {T} SET {C} = 739184620517, {K}name = '{K}'",
    f"INSERT INTO {T} ({C}) VALUES (1) AS {K}new ON DUPLICATE KEY UPDATE {K}name = {K}new.{K}name",
    f"INSERT INTO {T} ({C}, {K}name) VALUES (1, '{K}') ON DUPLICATE KEY UPDATE {K}name = VALUES({K}name)",
    f"INSERT INTO {K}_children_1 SELECT {C}, {C}, '{K}' FROM {T} WHERE {C} = 1",
    f"UPDATE {T} AS {K}u SET {K}u.{K}kind = '{K}b' WHERE {K}u.{C} = 1",
    f"DELETE {K}d FROM {T} AS {K}d WHERE {K}d.{C} = 1",
    f"SELECT {C} FROM {T} WHERE MATCH ({K}name) AGAINST ('+{K}' IN BOOLEAN MODE)",
    f"SELECT {C} FROM {T} WHERE {C} = 1 INTO OUTFILE '/tmp/{K}'",
    f"SELECT {C} FROM {K}unknown WHERE {C} = 1",
    f"SELECT TIMESTAMPDIFF({K}unit, NOW(), NOW()), EXTRACT({K}unit FROM NOW()) FROM {T} WHERE {C} = 1",
    f"SELECT GET_LOCK('{K}', 1) FROM {T} WHERE {C} = 1",
    # what is no statement on rows, and what is no SQL
    f"CALL {K}procedure('{K}', 739184620517)",
    f"LOAD DATA INFILE '/{K}' INTO TABLE {T}",
    f"SET @{K} = '{K}'",
    f"DO {K}function('{K}')",
    f"SAVEPOINT {K}",
    f"PREPARE {K} FROM 'SELECT ''{K}'''",
    f"EXECUTE {K} USING @{K}",
    f"SHOW TABLES LIKE '{K}%'",
    f"HANDLER {T} OPEN AS {K}handler",
    f"CREATE TABLE {K}made (`{K}` ENUM('{K}'))",
    f"XA START '{K}', '{K}'",
    "KILL QUERY 739184620517",
    f"SELECT {K} FROM WHERE {K} ORDER GROUP '{K}",
    K,
)


def transactions(times: int) -> list[list[Ran]]:
    """Each text in a transaction of its own, and all with one statement more, so often."""
    found = []
    for _ in range(times):
        found += [
            in_transaction(Ran(text, 1), Ran(f"UPDATE {T} SET {TOKEN}kind = '{TOKEN}a' WHERE {C} = 7"))
            for text in TEXTS
        ]
    return found


def traces(content: bytes) -> Iterator[str]:
    """Where canaries are in a file: as they are, in hexadecimal digits, in base64, and within what is base64 there."""
    text = content.lower()
    for sought in (TOKEN, TOKEN.encode().hex(), *NUMBERS):
        if (at := text.find(sought.encode())) >= 0:
            yield f"{sought}: {text[max(at - 60, 0) : at + 60]!r}"
    for shift in range(3):
        coded = base64.b64encode(b"x" * shift + TOKEN.encode())[4 if shift else 0 : -4]
        if coded in content:
            yield f"{TOKEN} in base64"
    for block in re.findall(rb"[A-Za-z0-9+/]{200,}={0,2}", content):
        decoded = base64.b64decode(block[: len(block) // 4 * 4], validate=False).lower()
        if TOKEN.encode() in decoded:
            yield f"{TOKEN} within base64"
