"""The TPC-C-derived workload as users write it: its scale and the shape of its nine tables."""

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


class TpccSpec(Written):
    """The TPC-C-derived workload.

    Attributes:
        warehouses: The scale; each has about 500,000 rows, 90 MB.
        first_warehouse: Number of the first; the others follow.
        partitions: Partitions of all tables but item, by warehouse; 0 for none.
        foreign_keys: The ten foreign keys of the specification.
    """

    name: Name = TPCC
    kind: Literal["tpcc"] = "tpcc"
    warehouses: Annotated[int, Field(gt=0, le=100_000)] = 1
    first_warehouse: Annotated[int, Field(gt=0, le=2_000_000_000)] = 1
    partitions: Annotated[int, Field(ge=0, le=8_192)] = 0
    foreign_keys: bool = False
    storage_engine: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,64}$")] = "innodb"

    @model_validator(mode="after")
    def _sense(self) -> Self:
        if self.partitions and self.foreign_keys:
            raise ValueError("foreign_keys: tables with partitions have none; leave one of them out")
        return self

    @property
    def table_names(self) -> list[str]:
        """Its tables."""
        return list(TABLES)

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
