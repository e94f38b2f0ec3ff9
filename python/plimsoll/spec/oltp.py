"""The OLTP workloads: which kinds there are, which options mean something to each, and what they do to the rows.

Names and defaults of options are those of the load engine (`OltpOptions` of the engine protocol); a test compares.
"""

from __future__ import annotations

from typing import Literal, get_args

OltpKind = Literal[
    "oltp_read_only",
    "oltp_read_write",
    "oltp_write_only",
    "oltp_point_select",
    "oltp_insert",
    "oltp_delete",
    "oltp_update_index",
    "oltp_update_non_index",
    "select_random_points",
    "select_random_ranges",
    "bulk_insert",
    "oltp_0.4_simple",
    "oltp_0.4_complex",
    "oltp_0.4_nontrx",
    "oltp_0.4_sp",
]

KINDS: tuple[str, ...] = get_args(OltpKind)

_READING = frozenset(
    {
        "oltp_read_only",
        "oltp_point_select",
        "select_random_points",
        "select_random_ranges",
        "oltp_0.4_simple",
    }
)
"""Kinds that never change a row."""

_COUNT_CHANGING = frozenset({"oltp_insert", "oltp_delete", "bulk_insert", "oltp_0.4_sp"})
"""Kinds after which there are, or for all we know may be, more or fewer rows."""

_CONNECTION = ("isolation", "reconnect_after", "user_delay")
_TABLE = ("storage_engine", "table_options")
_KEYS = ("secondary", "create_secondary", "auto_increment")
_POINTS_04 = ("point_select_handler", "point_select_all_columns")
_ROWS = ("table_size", "distribution", "prepared", *_CONNECTION, *_TABLE, *_KEYS)
_NUMBERED = ("tables", "k_distribution", *_ROWS)
_RANGES = ("range_size", "range_selects", "simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges")
_READS = ("point_selects", *_RANGES)
_WRITES = ("index_updates", "non_index_updates", "delete_inserts")

OPTIONS: dict[str, frozenset[str]] = {
    kind: frozenset(names)
    for kind, names in {
        "oltp_read_only": (*_NUMBERED, "skip_transaction", *_READS),
        "oltp_read_write": (*_NUMBERED, "skip_transaction", *_READS, *_WRITES),
        "oltp_write_only": (*_NUMBERED, "skip_transaction", *_WRITES),
        "oltp_point_select": _NUMBERED,
        "oltp_insert": _NUMBERED,
        "oltp_delete": _NUMBERED,
        "oltp_update_index": (*_NUMBERED, "index_updates"),
        "oltp_update_non_index": (*_NUMBERED, "non_index_updates"),
        "select_random_points": (*_NUMBERED, "random_points"),
        "select_random_ranges": (*_NUMBERED, "number_of_ranges", "delta"),
        "bulk_insert": ("tables", *_CONNECTION, *_TABLE),
        "oltp_0.4_simple": (*_ROWS, "reconnect_mode", *_POINTS_04),
        "oltp_0.4_complex": (
            *(*_ROWS, "reconnect_mode", *_POINTS_04, "skip_transaction", *_READS, *_WRITES),
            *("read_only", "write_only"),
        ),
        "oltp_0.4_nontrx": (*_ROWS, "reconnect_mode", "nontrx_mode"),
        "oltp_0.4_sp": ("table_size", "prepared", "reconnect_mode", "procedure", *_CONNECTION, *_TABLE, *_KEYS),
    }.items()
}
"""By kind the options that mean something to it; others are refused where they are written."""

DATA_ONLY = frozenset({"k_distribution", "secondary", "create_secondary", "table_options"})
"""Options that shape tables and mean nothing to who only runs statements on them."""

SENT_AS_TEXT = frozenset({"oltp_insert", "bulk_insert"})
"""Kinds whose statements sysbench does not prepare, so that it is the default here too."""

Layout = Literal["sysbench-1", "sysbench-0.4", "bulk"]


def layout_of(kind: str) -> Layout:
    """Names and columns of a kind's tables."""
    if kind == "bulk_insert":
        return "bulk"
    return "sysbench-0.4" if kind.startswith("oltp_0.4_") else "sysbench-1"


def reads_only(kind: str, *, read_only: bool, nontrx_mode: str) -> bool:
    """Whether a workload never changes a row."""
    if kind == "oltp_0.4_nontrx":
        return nontrx_mode == "select"
    return kind in _READING or (kind == "oltp_0.4_complex" and read_only)


def changes_row_count(kind: str, *, nontrx_mode: str) -> bool:
    """Whether there are more or fewer rows after a workload."""
    return kind in _COUNT_CHANGING or (kind == "oltp_0.4_nontrx" and nontrx_mode in ("insert", "delete"))


def begins_empty(kind: str, *, auto_increment: bool, nontrx_mode: str) -> bool:
    """Whether the tables of a workload have no rows before it, since it brings its own."""
    if kind == "oltp_0.4_nontrx":
        return nontrx_mode == "insert"
    return kind == "bulk_insert" or (kind == "oltp_insert" and not auto_increment)
