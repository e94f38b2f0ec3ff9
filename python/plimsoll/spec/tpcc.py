"""The TPC-C-derived workload as users write it: its scale, the shape of its tables, and its mix of transactions.

Also here: what known kits do otherwise than the TPC-C specification (revision 5.11) asks, and the load engine with
them. The engine's `quirks` does it; docs/tpcc.md shows this table, and so does the sheet of departures of a run.
Deliberately not here: what of a kit is not reproduced, which docs/tpcc.md says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from plimsoll.spec.fields import DurationS, Name, Written

Kit = Literal["sysbench-tpcc", "tpcc-mysql", "dbt2", "go-tpc"]

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


SYSBENCH: Kit = "sysbench-tpcc"
MYSQL: Kit = "tpcc-mysql"
DBT2: Kit = "dbt2"
GO: Kit = "go-tpc"
KITS = (SYSBENCH, MYSQL, DBT2, GO)


@dataclass(frozen=True, slots=True)
class Quirk:
    """One departure.

    Attributes:
        clause: Where the specification asks for something else; several with commas between them.
        chosen: What is done.
        asked: What is asked for.
        kits: Who does it.
    """

    clause: str
    chosen: str
    asked: str
    kits: frozenset[Kit]


def _quirk(clause: str, chosen: str, asked: str, *kits: Kit) -> Quirk:
    return Quirk(clause, chosen, asked, frozenset(kits))


_COUNTED = "they count each order line"

QUIRKS = (
    _quirk(
        "2.1.6",
        "a constant of NURand is drawn anew for each number, so that customers and items are nearly uniform",
        "constants for the whole run",
        SYSBENCH,
    ),
    _quirk("2.1.6", "NURand without constants", "constants for the whole run", DBT2),
    _quirk(
        "2.1.6",
        "constants of items and customers are exchanged, items have 8190 for 8191",
        "constants from 0 to 1023 for customers and to 8191 for items",
        GO,
    ),
    _quirk("2.1.6.1", "the constant of last names is that of loading", "one that is 65 to 119 away from it", GO),
    _quirk(
        "2.4.1.1, 2.5.1.1, 2.6.1.1, 2.7.1.1, 2.8.1.1",
        "warehouses, and the districts of Stock-Level, are drawn for each transaction",
        "each terminal has one warehouse, and one district for Stock-Level, for good",
        *KITS,
    ),
    _quirk("2.4.1.3", "orders have 6 to 15 lines", "5 to 15", DBT2),
    _quirk("2.4.1.4", "the item that is not there is in the line before the last", "in the last line", SYSBENCH),
    _quirk(
        "2.4.1.5, 2.5.1.2",
        "nothing is remote",
        "1 % of lines and 15 % of payments are, where there are several warehouses",
        SYSBENCH,
        DBT2,
    ),
    _quirk("2.4.2.2", "o_all_local is 0 for orders that would have a remote line, and have none", "1", SYSBENCH),
    _quirk("2.4.2.2", "s_ytd, s_order_cnt and s_remote_cnt stay as they are", _COUNTED, SYSBENCH, MYSQL, DBT2),
    _quirk("2.4.2.2", "a stock is filled up when nothing would be left", "when fewer than 10 would", SYSBENCH),
    _quirk("2.4.2.2", "remote lines take the stock of the home warehouse", "that of the one that supplies", GO),
    _quirk("2.4.2.2", "ol_amount is with tax and discount", "price times quantity", SYSBENCH, GO),
    _quirk("2.4.2.2", "ol_amount without its cents", "with them", SYSBENCH),
    _quirk("2.4.2.2", "ol_amount is rounded", "with its cents", DBT2),
    _quirk("2.5.1.3", "payments of 1 to 5000", "of 1.00 to 5000.00", MYSQL),
    _quirk("2.5.1.3", "payments of 1.01 to 5001.00, rounded", "of 1.00 to 5000.00", DBT2),
    _quirk("2.5.2.2", "c_payment_cnt stays as it is", "it counts payments", SYSBENCH, MYSQL, DBT2),
    _quirk("2.5.2.2", "c_ytd_payment stays as it is", "it sums up payments", MYSQL),
    _quirk("2.5.2.2", "c_ytd_payment counts payments", "it sums them up", DBT2),
    _quirk("2.5.2.2, 2.6.2.2", "of customers with one name the first", "the one in the middle", DBT2),
    _quirk(
        "2.6.2.2",
        "Order-Status shows the lines of the order whose number is that of the district",
        "those of the customer's last order",
        SYSBENCH,
    ),
    _quirk(
        "2.7.4.2",
        "the oldest order of a district is read without a lock, so that two deliveries can take the same one",
        "each is delivered once",
        MYSQL,
        DBT2,
    ),
    _quirk(
        "2.7.4.2", "Delivery adds the sum of amounts times quantities, in whole numbers", "the sum of amounts", DBT2
    ),
    _quirk("2.8.2.2", "Stock-Level counts lines", "it counts items", DBT2),
)
"""By clause."""

_CARDS = {"new_order": 10, "payment": 10, "order_status": 1, "delivery": 1, "stock_level": 1}
_PERCENT = {"new_order": 45, "payment": 43, "order_status": 4, "delivery": 4, "stock_level": 4}

USUAL: dict[Kit, dict[str, Any]] = {
    SYSBENCH: {"mix": _CARDS, "choice": "weighted"},
    MYSQL: {"mix": _CARDS, "choice": "deck"},
    DBT2: {"mix": _PERCENT, "choice": "weighted"},
    GO: {"mix": _PERCENT, "choice": "weighted"},
}
"""What stands for keys that are not given."""


def quirks_of(kit: str) -> tuple[Quirk, ...]:
    """Those of a kit, by clause."""
    return tuple(quirk for quirk in QUIRKS if kit in quirk.kits)
