"""One spelling for what servers of different flavours and versions write differently but mean alike.

Deliberately not here: names and values of variables (`plimsoll.analyse.variable_names`).
"""

from __future__ import annotations

import re

from plimsoll.record.data_facts import ColumnFacts

_DISPLAY_WIDTH = re.compile(r"\b(tinyint|smallint|mediumint|int|bigint)\(\d+\)")
_OWN_EXTRAS = re.compile(r"\bdefault_generated\b ?|\(\)")


def column_words(column: ColumnFacts) -> str:
    """Type, NULL, default and what else a column has.

    MySQL 8.0.19 and later write integers without a display width. MariaDB 10.2.7 and later write defaults as
    expressions, in quotes.

    >>> column_words(ColumnFacts(type="int(11)", default="'0'")), column_words(ColumnFacts(type="int", default="0"))
    ('int not null default 0', 'int not null default 0')
    """
    kind = _DISPLAY_WIDTH.sub(r"\1", column.type.lower())
    default = None if column.default in (None, "NULL") else str(column.default).strip("'").replace("()", "")
    parts = [kind, "null" if column.nullable else "not null"]
    parts += [f"default {default.lower()}"] if default is not None else []
    parts += [extra] if (extra := _OWN_EXTRAS.sub("", column.extra.lower()).strip()) else []
    return " ".join(parts)


def collation_words(collation: str | None) -> str | None:
    """MySQL 8 and MariaDB 10.6 call utf8 what it is: utf8mb3.

    >>> collation_words("utf8_general_ci")
    'utf8mb3_general_ci'
    """
    return collation if collation is None else re.sub(r"^utf8(?=_|$)", "utf8mb3", collation)


def options_words(options: str) -> str:
    """Options of a table without those that say what is compared elsewhere; in one order."""
    parts = [part for part in options.lower().split() if not part.startswith(("row_format=", "partitioned"))]
    return " ".join(sorted([*parts, *(["partitioned"] if "partitioned" in options.lower() else [])]))
