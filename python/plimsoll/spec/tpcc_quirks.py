"""What known kits do otherwise than the TPC-C specification (revision 5.11) asks, and the load engine with them.

The engine's `quirks` does it; docs/tpcc.md shows this table, and so does the sheet of departures of a run.
Deliberately not here: what of a kit is not reproduced, which docs/tpcc.md says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kit = Literal["sysbench-tpcc", "tpcc-mysql", "dbt2", "go-tpc"]

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
    return tuple(one for one in QUIRKS if kit in one.kits)
