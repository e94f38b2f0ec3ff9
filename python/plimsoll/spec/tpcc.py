"""The TPC-C-derived workload as users write it: its scale, the shape of its tables, and its mix of transactions."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from plimsoll.spec.fields import DurationS, Name, Written
from plimsoll.spec.tpcc_quirks import KITS, USUAL, Kit

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


CARDS_MAX = 1_000
"""Of a deck; the load engine takes no more."""

ROWS_EACH = 499_011
"""Rows of a warehouse, with ten lines for each order."""

ITEMS = 100_000
"""Rows of item."""


class Mix(Written):
    """Weights of the five types of transactions."""

    new_order: Weight = 10
    payment: Weight = 10
    order_status: Weight = 1
    delivery: Weight = 1
    stock_level: Weight = 1

    @model_validator(mode="after")
    def _any(self) -> Self:
        if not any(self.model_dump().values()):
            raise ValueError("all weights are 0; give one of them more")
        return self

    @property
    def cards_count(self) -> int:
        """Cards of the smallest deck of this mix."""
        weights: list[int] = list(self.model_dump().values())
        return sum(weights) // math.gcd(*weights)


class TpccSpec(Written):
    """The TPC-C-derived workload.

    Attributes:
        warehouses: The scale; each has about 500,000 rows, 90 MB.
        first_warehouse: Number of the first; the others follow.
        partitions: Partitions of all tables but item, by warehouse; 0 for none.
        foreign_keys: The ten foreign keys of the specification.
        order_names: What the table of new orders is called: `new_orders`; or `new_order`, as go-tpc has it, whose check
            then runs on the tables, with the index on `history` that it needs.
        mode: Transactions go statement by statement, or each as one call of a stored procedure.
        mix: How often each type of transaction is chosen.
        choice: From a shuffled deck of each terminal, with as many cards as the mix says; or each by itself, by weight.
        terminals: How many there are; None for one each connection. With more of them connections are a pool.
        all_warehouses: Terminals that are fewer than warehouses go around their share of them; or each stays in one.
        times: Scale of keying and think times: 1 as the specification has them, 0 for none.
        ramp_up: Terminals begin one after the other over so long, seconds; 0 for all at once, each as if it had been
            there for long.
        delivery_connections: Connections besides those of the level that carry out queued deliveries; 0: at once.
        quirks: The kit whose departures from the specification are reproduced, with its mix unless one is given.
        isolation: Isolation level of all connections.
        prepared: Statements are prepared once for each connection; otherwise they are sent as text.
        consistency: Whether the twelve conditions are looked at before and after the load of each trial.
    """

    name: Name = TPCC
    kind: Literal["tpcc"] = "tpcc"
    warehouses: Annotated[int, Field(gt=0, le=100_000)] = 1
    first_warehouse: Annotated[int, Field(gt=0, le=2_000_000_000)] = 1
    partitions: Annotated[int, Field(ge=0, le=8_192)] = 0
    foreign_keys: bool = False
    order_names: Literal["usual", "tpc"] = "usual"
    storage_engine: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,64}$")] = "innodb"
    mode: Literal["statements", "procedures"] = "statements"
    mix: Mix = Mix()
    choice: Literal["deck", "weighted"] = "deck"
    terminals: Annotated[int, Field(gt=0, le=10_000_000)] | None = None
    all_warehouses: bool = True
    times: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)] = 0.0
    ramp_up: DurationS = 0.0
    delivery_connections: Annotated[int, Field(ge=0, le=1_000)] = 0
    quirks: Kit | None = None
    isolation: Literal["server_default", "read_uncommitted", "read_committed", "repeatable_read", "serializable"] = (
        "server_default"
    )
    prepared: bool | None = None
    consistency: Literal["never", "each_trial"] = "never"

    @model_validator(mode="before")
    @classmethod
    def _usual_of_kit(cls, written: Any) -> Any:
        kit = written.get("quirks") if isinstance(written, dict) else None
        return {**USUAL[kit], **written} if kit in KITS else written

    @model_validator(mode="after")
    def _sense(self) -> Self:
        if self.quirks and self.mode == "procedures":
            raise ValueError(
                "quirks: are those of statements, and procedures do what the specification asks; leave one of them out"
            )
        if self.quirks and self.checks_each_trial:
            raise ValueError("consistency: need not hold after load with quirks; leave one of them out")
        if self.partitions and self.foreign_keys:
            raise ValueError("foreign_keys: tables with partitions have none; leave one of them out")
        if self.choice == "deck" and (cards := self.mix.cards_count) > CARDS_MAX:
            raise ValueError(
                f"mix: makes a deck of {cards:,} cards, of at most {CARDS_MAX:,}; choose smaller weights, or choice ="
                ' "weighted"'
            )
        return self

    @property
    def has_own_pace(self) -> bool:
        """Whether terminals, and not connections, say when transactions are wanted."""
        return self.terminals is not None or self.times > 0 or self.ramp_up > 0 or self.delivery_connections > 0

    @property
    def table_names(self) -> list[str]:
        """Its tables."""
        return [self._new_orders if name == "new_orders" else name for name in TABLES]

    @property
    def _new_orders(self) -> str:
        return "new_order" if self.order_names == "tpc" else "new_orders"

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

    @property
    def checks_each_trial(self) -> bool:
        """Whether its conditions are looked at before and after the load of each trial."""
        return self.consistency == "each_trial"

    def options(self) -> dict[str, Any]:
        """All options, defaults included, without name and kind.

        Usual names are left out: recordings that were made before there were others are of the same workload.
        """
        prepared = {"prepared": self.prepared is not False}
        left_out = {"name", "kind", *(("order_names",) if self.order_names == "usual" else ())}
        return {**self.model_dump(mode="json", exclude=left_out), **prepared}

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
            "order_names": self.order_names,
            "mode": self.mode,
            "mix": self.mix.model_dump(),
            "choice": self.choice,
            "terminals": self.terminals,
            "all_warehouses": self.all_warehouses,
            "times": self.times,
            "ramp_up_ms": round(self.ramp_up * 1000),
            "delivery_connections": self.delivery_connections,
            "quirks": self.quirks,
            "isolation": self.isolation,
            "prepared": self.prepared is not False,
        }

    def data_line(self) -> dict[str, Any]:
        """As the load engine reads it, to make its rows and procedures; without the seed."""
        return {**self.tables_line(), "procedures": self.mode == "procedures"}

    def tables_line(self) -> dict[str, Any]:
        """What its tables follow from: workloads with the same can share them, whether they call procedures or not."""
        return {
            "kind": self.kind,
            "warehouses": self.warehouses,
            "first_warehouse": self.first_warehouse,
            "partitions": self.partitions,
            "foreign_keys": self.foreign_keys,
            "order_names": self.order_names,
            "storage_engine": self.storage_engine,
        }
