"""What `plimsoll study plan` says of TPC-C-derived workloads before anything runs."""

from __future__ import annotations

from plimsoll.cli.plan_table import planned_sheets
from plimsoll.spec.study import parse_study

STUDY = """
[study]
name = "s"
levels = { connections = [2, 10] }
duration = "60s"
clients = { think_time = "1s" }

[[workload]]
kind = "tpcc"
name = "orders"
warehouses = 2
mix = { new_order = 9, payment = 1, order_status = 0, delivery = 0, stock_level = 0 }

[[workload]]
kind = "oltp_read_only"
name = "reads"
tables = 2

[[system]]
name = "a"
server = { managed = "mariadb", buffer_pool = "1G" }

[[system]]
name = "b"
server = { managed = "mariadb", buffer_pool = "1G", instances = 2 }
"""


def test_the_sheet_of_what_is_planned_is_told_for_tpcc_workloads_only() -> None:
    first, *others = planned_sheets(parse_study(STUDY))
    assert first.startswith("orders: no TPC-C result")
    told = {line.strip().split(": ")[0]: line for line in others}
    assert "2 to 10 terminals for 2 warehouses" in told["4.2.2"]
    assert "2 instances share the warehouses" in told["2.4.1.5, 2.5.1.2"]
    assert "a think time of 1.00 s on average" in told["5.2.5.2, 5.2.5.4"]
    assert "10.00 % payment, 0.00 % order_status" in told["5.2.3"]
    assert "measured for 1 min 00 s" in told["5.5.2.1"]
