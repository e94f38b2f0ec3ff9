"""What the TPC-C specification (revision 5.11) asks of a measurement, as numbers.

Deliberately not here: what was measured (`tpcc`), and what departs from the specification (`deviations`).
"""

from __future__ import annotations

NEW_ORDER = "new_order"
DELIVERY_DEFERRED = "delivery_deferred"
"""Deliveries that were queued, as they are carried out; `delivery` is then putting one into the queue."""

TYPES = (NEW_ORDER, "payment", "order_status", "delivery", "stock_level")

SHARES_MIN = {"payment": 0.43, "order_status": 0.04, "delivery": 0.04, "stock_level": 0.04}
"""Clause 5.2.3: the least share of all transactions, 0..1."""

RESPONSE_S_P90_MAX = {**dict.fromkeys(TYPES, 5.0), "stock_level": 20.0, DELIVERY_DEFERRED: 80.0}
"""Clauses 5.2.5.3 and 2.7.2: nine of ten transactions take at most so long, seconds."""

KEYING_S = (18, 3, 2, 2, 2)
"""Clause 5.2.5.2, by type: the least time for keying in, seconds."""

THINKING_S = (12, 12, 10, 5, 5)
"""Clause 5.2.5.4, by type: the least mean time for thinking, seconds."""

TERMINALS_PER_WAREHOUSE = 10
"""Clause 4.2.2."""

NOTPM_PER_WAREHOUSE_MAX = 12.86
"""Clause 4.1: new orders per minute that the terminals of a warehouse can enter when the server takes no time."""

MEASURED_S_MIN = 7200.0
"""Clause 5.5.2.1: the shortest measurement, seconds."""
