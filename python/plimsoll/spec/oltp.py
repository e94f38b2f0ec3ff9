"""The OLTP workloads as users write them: what clients do, and the rows they do it on.

Which kinds there are, which options mean something to each, and what they do to the rows. Names and defaults of options
are those of the load engine (`OltpOptions` of the engine protocol); a test compares.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, model_validator

from plimsoll.spec.fields import Count, DurationS, Name, Written
from plimsoll.spec.generators import DistributionSpec, TableDistribution

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

MixCount = Annotated[int, Field(ge=0, le=1_000_000)]
"""How often a statement occurs in a transaction."""


class UserDelay(Written):
    """How long a user takes before each statement, evenly distributed; part of the transaction."""

    min: DurationS = 0.0
    max: DurationS = 0.0

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.min <= self.max <= 3600:
            raise ValueError(f"max must be from min to an hour, is {self.max:g} s with a min of {self.min:g} s")
        return self

    def line(self) -> dict[str, float]:
        """As the load engine reads it."""
        return {"min_ms": self.min * 1000, "max_ms": self.max * 1000}


WrittenDelay = Annotated[
    UserDelay, BeforeValidator(lambda value: {"min": value, "max": value} if isinstance(value, str) else value)
]
"""Written as "20ms" or as { min = "0s", max = "50ms" }."""


class WorkloadSpec(Written):
    """One `[[workload]]`. An option that means nothing to the kind is refused.

    Attributes:
        table_size: Rows in each table.
        distribution: How rows are chosen; `special-1.0` is sysbench 1.0's default, `uniform` that of 1.1.
        k_distribution: How column k of the rows is filled; as `distribution` when not given.
        range_selects: Whether there are range selects at all.
        random_points: Values of k in the list of select_random_points.
        number_of_ranges: Ranges of k in select_random_ranges.
        delta: Width of each of them.
        read_only: oltp_0.4_complex without its writes.
        write_only: oltp_0.4_complex without its reads.
        nontrx_mode: Which statement oltp_0.4_nontrx runs.
        point_select_handler: Point selects of sysbench 0.4's modes go by HANDLER.
        point_select_all_columns: They ask for all columns.
        procedure: The stored procedure that oltp_0.4_sp calls.
        prepared: Statements are prepared once for each connection; otherwise they are sent as text. When not given it
            is as sysbench does it.
        isolation: Isolation level of all connections.
        reconnect_after: A connection is closed and opened again after so many transactions; 0 for never.
        reconnect_mode: The same in the words of sysbench 0.4; after each statement (query) breaks transactions.
        secondary: Column id has an index `xid` in place of the primary key.
        create_secondary: Column k has an index.
        auto_increment: The server gives the ids of new rows.
        table_options: Further options of CREATE TABLE.
    """

    name: Name
    kind: OltpKind
    tables: Annotated[int, Field(gt=0, le=100_000)] = 1
    table_size: Count = 10_000
    distribution: TableDistribution = DistributionSpec()
    k_distribution: TableDistribution | None = None
    range_size: Count = 100
    range_selects: bool = True
    point_selects: MixCount = 10
    simple_ranges: MixCount = 1
    sum_ranges: MixCount = 1
    order_ranges: MixCount = 1
    distinct_ranges: MixCount = 1
    index_updates: MixCount = 1
    non_index_updates: MixCount = 1
    delete_inserts: MixCount = 1
    random_points: Annotated[int, Field(gt=0, le=65_535)] = 10
    number_of_ranges: Annotated[int, Field(gt=0, le=32_767)] = 10
    delta: Annotated[int, Field(ge=0, le=2**31 - 2)] = 5
    read_only: bool = False
    write_only: bool = False
    nontrx_mode: Literal["select", "update_key", "update_nokey", "insert", "delete"] = "select"
    point_select_handler: bool = False
    point_select_all_columns: bool = False
    procedure: Annotated[str, Field(pattern=r"^[A-Za-z0-9_$.]{0,129}$")] = ""
    skip_transaction: bool = False
    prepared: bool | None = None
    isolation: Literal["server_default", "read_uncommitted", "read_committed", "repeatable_read", "serializable"] = (
        "server_default"
    )
    reconnect_after: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    reconnect_mode: Literal["session", "query", "transaction", "random"] = "session"
    user_delay: WrittenDelay = UserDelay()
    secondary: bool = False
    create_secondary: bool = True
    auto_increment: bool = True
    storage_engine: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,64}$")] = "innodb"
    table_options: Annotated[str, Field(max_length=1000, pattern=r"^[^\x00-\x1f\x7f;]*$")] = ""

    @model_validator(mode="after")
    def _sense(self) -> Self:
        strange = sorted(self.model_fields_set - OPTIONS[self.kind] - {"name", "kind"})
        if strange:
            raise ValueError(f"{', '.join(strange)}: means nothing to {self.kind}; leave it out")
        if self.read_only and self.write_only:
            raise ValueError("is read_only and write_only at once; leave one of them out")
        if self.layout == "sysbench-0.4" and self.secondary and self.auto_increment:
            raise ValueError("secondary: sysbench 0.4 has it only with auto_increment = false")
        if self.point_select_handler and (self.point_select_all_columns or self.secondary):
            raise ValueError("point_select_handler: reads all columns by the primary key; leave the other option out")
        if self.reconnect_after and self.reconnect_mode != "session":
            raise ValueError("reconnect_mode and reconnect_after: leave one of them out")
        if self.kind == "oltp_0.4_sp" and not self.procedure:
            raise ValueError('procedure: name the stored procedure to call, such as procedure = "mine"')
        return self

    @property
    def layout(self) -> Layout:
        """Names and columns of its tables."""
        return layout_of(self.kind)

    @property
    def table_names(self) -> list[str]:
        """Its tables."""
        if self.layout == "sysbench-0.4":
            return ["sbtest"]
        return [f"sbtest{number}" for number in range(1, self.tables + 1)]

    @property
    def rows_count(self) -> int:
        """Rows of all tables together once they are made."""
        return 0 if self._begins_empty else self.tables * self.table_size

    @property
    def writes(self) -> bool:
        """Whether it changes rows, so that data must be reset between trials to stay the same."""
        return not reads_only(self.kind, read_only=self.read_only, nontrx_mode=self.nontrx_mode)

    @property
    def changes_row_count(self) -> bool:
        """Whether there are more or fewer rows after it."""
        return changes_row_count(self.kind, nontrx_mode=self.nontrx_mode)

    @property
    def _filling(self) -> DistributionSpec:
        """How column k is filled; other layouts than that of sysbench 1 have no choice."""
        return (self.k_distribution or self.distribution) if self.layout == "sysbench-1" else DistributionSpec()

    @property
    def _begins_empty(self) -> bool:
        return begins_empty(self.kind, auto_increment=self.auto_increment, nontrx_mode=self.nontrx_mode)

    def options(self) -> dict[str, Any]:
        """All options that are in force, defaults included, without name and kind."""
        names = [name for name in type(self).model_fields if name in OPTIONS[self.kind]]
        special = {
            "distribution": self.distribution.plain(),
            "k_distribution": (self.k_distribution or self.distribution).plain(),
            "user_delay": self.user_delay.line(),
            "prepared": self.kind not in SENT_AS_TEXT if self.prepared is None else self.prepared,
        }
        return {name: special.get(name, getattr(self, name)) for name in names}

    def identity(self) -> dict[str, Any]:
        """What makes it this workload and no other."""
        return {"name": self.name, "kind": self.kind, **self.options()}

    def line(self) -> dict[str, Any]:
        """As the load engine reads it, to run it."""
        options = {name: value for name, value in self.options().items() if name not in DATA_ONLY}
        if "distribution" in options:
            options["distribution"] = self.distribution.line()
        return {"kind": self.kind, **options}

    def data_line(self) -> dict[str, Any]:
        """As the load engine reads it, to make its rows; without the seed."""
        return {
            "kind": "oltp",
            "tables": self.tables,
            "table_size": self.table_size,
            "layout": self.layout,
            "empty": self._begins_empty,
            "distribution": self._filling.line(),
            "secondary": self.secondary,
            "create_secondary": self.create_secondary,
            "auto_increment": self.auto_increment,
            "storage_engine": self.storage_engine,
            "table_options": self.table_options,
        }


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
