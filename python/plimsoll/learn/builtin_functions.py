"""Words of MySQL and MariaDB that sqlglot takes for names: functions, units of time, character sets, modifiers.

Any other unknown function, collation and so on may be the user's own.

Sources: MySQL 9 Reference Manual, chapter 14 (functions and operators); MariaDB documentation, built-in functions.
"""

from __future__ import annotations

BUILTIN_FUNCTIONS = frozenset(
    [
        "ADDTIME",
        "AES_DECRYPT",
        "AES_ENCRYPT",
        "ANY_VALUE",
        "ATAN2",
        "BENCHMARK",
        "BIN",
        "BIN_TO_UUID",
        "BIT_COUNT",
        "CHARSET",
        "COERCIBILITY",
        "COMPRESS",
        "CONNECTION_ID",
        "CONV",
        "CONVERT_TZ",
        "CRC32",
        "CURTIME",
        "DEFAULT",
        "ELT",
        "EXPORT_SET",
        "EXTRACTVALUE",
        "FIELD",
        "FIND_IN_SET",
        "FOUND_ROWS",
        "FROM_BASE64",
        "FROM_DAYS",
        "GET_FORMAT",
        "GET_LOCK",
        "GREATEST",
        "INET6_ATON",
        "INET6_NTOA",
        "INET_ATON",
        "INET_NTOA",
        "INTERVAL",
        "IS_FREE_LOCK",
        "IS_IPV4",
        "IS_IPV4_COMPAT",
        "IS_IPV4_MAPPED",
        "IS_IPV6",
        "IS_USED_LOCK",
        "IS_UUID",
        "JSON_APPEND",
        "JSON_ARRAYAGG",
        "JSON_ARRAY_APPEND",
        "JSON_ARRAY_INSERT",
        "JSON_COMPACT",
        "JSON_CONTAINS",
        "JSON_CONTAINS_PATH",
        "JSON_DEPTH",
        "JSON_DETAILED",
        "JSON_EXISTS",
        "JSON_INSERT",
        "JSON_KEYS",
        "JSON_LENGTH",
        "JSON_LOOSE",
        "JSON_MERGE",
        "JSON_MERGE_PATCH",
        "JSON_MERGE_PRESERVE",
        "JSON_OBJECTAGG",
        "JSON_OVERLAPS",
        "JSON_PRETTY",
        "JSON_QUERY",
        "JSON_QUOTE",
        "JSON_REMOVE",
        "JSON_REPLACE",
        "JSON_SCHEMA_VALID",
        "JSON_SEARCH",
        "JSON_SET",
        "JSON_STORAGE_SIZE",
        "JSON_TYPE",
        "JSON_UNQUOTE",
        "JSON_VALID",
        "JSON_VALUE",
        "LASTVAL",
        "LAST_INSERT_ID",
        "LINESTRING",
        "LOAD_FILE",
        "LOCALTIME",
        "LOCALTIMESTAMP",
        "LOCATE",
        "MAKEDATE",
        "MAKETIME",
        "MAKE_SET",
        "MASTER_POS_WAIT",
        "MATCH",
        "MBRCONTAINS",
        "MBRWITHIN",
        "MICROSECOND",
        "MID",
        "NAME_CONST",
        "NEXTVAL",
        "NOW",
        "OCT",
        "OCTET_LENGTH",
        "ORD",
        "PERIOD_ADD",
        "PERIOD_DIFF",
        "POINT",
        "POLYGON",
        "POSITION",
        "PREVIOUS_GTIDS",
        "QUOTE",
        "RANDOM_BYTES",
        "RELEASE_ALL_LOCKS",
        "RELEASE_LOCK",
        "ROW_COUNT",
        "SEC_TO_TIME",
        "SLEEP",
        "SOUNDEX",
        "STATEMENT_DIGEST",
        "STATEMENT_DIGEST_TEXT",
        "STRCMP",
        "ST_ASGEOJSON",
        "ST_ASTEXT",
        "ST_BUFFER",
        "ST_CONTAINS",
        "ST_DISTANCE",
        "ST_DISTANCE_SPHERE",
        "ST_GEOMFROMTEXT",
        "ST_INTERSECTS",
        "ST_SRID",
        "ST_WITHIN",
        "ST_X",
        "ST_Y",
        "SUBTIME",
        "SYSDATE",
        "TIMEDIFF",
        "TIME_FORMAT",
        "TIME_TO_SEC",
        "TO_DAYS",
        "TO_SECONDS",
        "UNCOMPRESS",
        "UNCOMPRESSED_LENGTH",
        "UNIX_TIMESTAMP",
        "UPDATEXML",
        "UTC_DATE",
        "UTC_TIME",
        "UTC_TIMESTAMP",
        "UUID_SHORT",
        "UUID_TO_BIN",
        "VALIDATE_PASSWORD_STRENGTH",
        "VALUES",
        "VEC_DISTANCE",
        "WEEKDAY",
        "WEIGHT_STRING",
        "YEARWEEK",
    ]
)
"""In upper case."""

UNITS = frozenset(
    ["MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"]
    + [f"{large}_MICROSECOND" for large in ("SECOND", "MINUTE", "HOUR", "DAY")]
    + ["MINUTE_SECOND", "HOUR_SECOND", "HOUR_MINUTE", "DAY_SECOND", "DAY_MINUTE", "DAY_HOUR", "YEAR_MONTH"]
)
"""Of INTERVAL and of functions of times."""

MODIFIERS = frozenset(
    ["HIGH_PRIORITY", "SQL_SMALL_RESULT", "SQL_BIG_RESULT", "SQL_BUFFER_RESULT", "SQL_NO_CACHE", "SQL_CALC_FOUND_ROWS"]
)
"""After SELECT."""

_CHARACTER_SETS = "ASCII BINARY LATIN1 LATIN2 UCS2 UTF16 UTF32 UTF8 UTF8MB3 UTF8MB4"
_COLLATIONS = (
    "BIN GENERAL_CI UNICODE_CI UNICODE_520_CI SWEDISH_CI GENERAL_CS 0900_AI_CI 0900_AS_CI 0900_AS_CS 0900_BIN"
    " UCA1400_AI_CI UCA1400_AS_CI UCA1400_AS_CS"
)
CHARACTER_SETS = frozenset(
    [*_CHARACTER_SETS.split(), *(f"{one}_{other}" for one in _CHARACTER_SETS.split() for other in _COLLATIONS.split())]
)
"""And their collations."""
