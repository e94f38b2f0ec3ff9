"""The TPC-C-derived workload as users write it: its scale, the shape of its tables, and its mix of transactions."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from plimsoll.spec.fields import Name, Written

TPCC = "tpcc"
"""What it is called in study files and on the command line; people read "TPC-C-derived"."""

TABLES = (
    "warehouse",
    "district",
    "customer",
    "history",
    "item",
    "stock",
    "orders",
    "new_orders",
    "order_line",
)


DATA_SEED = 1
"""The same rows in every study, so that systems measured in different studies can be compared. Names of customers are
drawn as these rows have them."""

Weight = Annotated[int, Field(ge=0, le=1_000_000)]
"""How often a type of transaction is chosen, beside the others."""


ROWS_EACH = 499_011
"""Rows of a warehouse, with ten lines for each order."""

ITEMS = 100_000
"""Rows of item."""


class Mix(Written):
    """Weights of the five types of transactions."""

    new_order: Weight = 45
    payment: Weight = 43
    order_status: Weight = 4
    delivery: Weight = 4
    stock_level: Weight = 4

    @model_validator(mode="after")
    def _any(self) -> Self:
        if not any(self.model_dump().values()):
            raise ValueError("all weights are 0; give one of them more")
        return self


class TpccSpec(Written):
    """The TPC-C-derived workload.

    Attributes:
        warehouses: The scale; each has about 500,000 rows, 90 MB.
        first_warehouse: Number of the first; the others follow.
        partitions: Partitions of all tables but item, by warehouse; 0 for none.
        foreign_keys: The ten foreign keys of the specification.
        mix: How often each type of transaction is chosen.
        isolation: Isolation level of all connections.
        prepared: Statements are prepared once for each connection; otherwise they are sent as text.
    """

    name: Name = TPCC
    kind: Literal["tpcc"] = "tpcc"
    warehouses: Annotated[int, Field(gt=0, le=100_000)] = 1
    first_warehouse: Annotated[int, Field(gt=0, le=2_000_000_000)] = 1
    partitions: Annotated[int, Field(ge=0, le=8_192)] = 0
    foreign_keys: bool = False
    storage_engine: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,64}$")] = "innodb"
    mix: Mix = Mix()
    isolation: Literal["server_default", "read_uncommitted", "read_committed", "repeatable_read", "serializable"] = (
        "server_default"
    )
    prepared: bool | None = None

    @model_validator(mode="after")
    def _sense(self) -> Self:
        if self.partitions and self.foreign_keys:
            raise ValueError("foreign_keys: tables with partitions have none; leave one of them out")
        return self

    @property
    def table_names(self) -> list[str]:
        """Its tables."""
        return list(TABLES)

    @property
    def rows_count(self) -> int:
        """Rows of all tables together once they are made, about: how many lines orders have is drawn."""
        return self.warehouses * ROWS_EACH + ITEMS

    @property
    def writes(self) -> bool:
        """It changes rows, unless its mix has no transaction that does."""
        return bool(self.mix.new_order or self.mix.payment or self.mix.delivery)

    @property
    def changes_row_count(self) -> bool:
        """Orders and payments come, and new orders go."""
        return self.writes

    def options(self) -> dict[str, Any]:
        """All options, defaults included, without name and kind."""
        prepared = {"prepared": self.prepared is not False}
        return {**self.model_dump(mode="json", exclude={"name", "kind"}), **prepared}

    def identity(self) -> dict[str, Any]:
        """What makes it this workload and no other."""
        return {"name": self.name, "kind": self.kind, **self.options()}

    def line(self) -> dict[str, Any]:
        """As the load engine reads it, to run it."""
        return {
            "kind": self.kind,
            "warehouses": self.warehouses,
            "first_warehouse": self.first_warehouse,
            "data_seed": DATA_SEED,
            "mix": self.mix.model_dump(),
            "isolation": self.isolation,
            "prepared": self.prepared is not False,
        }

    def data_line(self) -> dict[str, Any]:
        """As the load engine reads it, to make its rows; without the seed."""
        return {
            "kind": self.kind,
            "warehouses": self.warehouses,
            "first_warehouse": self.first_warehouse,
            "partitions": self.partitions,
            "foreign_keys": self.foreign_keys,
            "storage_engine": self.storage_engine,
        }
