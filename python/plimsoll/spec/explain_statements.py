"""Statements of a workload with values in them, for EXPLAIN: what a connection sends, by name.

Tables of an OLTP workload are alike, so its statements are those on its first table. Statements whose plan cannot
differ (INSERT of values, BEGIN, COMMIT) are left out.
"""

# ruff: noqa: S608 - nothing but numbers and names of our own tables goes into these texts

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.tpcc import TpccSpec
from plimsoll.spec.workloads import Workload

_RANGES = ("simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges")
_MIXED = ("oltp_read_only", "oltp_read_write", "oltp_0.4_complex")
_CHANGING = ("oltp_read_write", "oltp_write_only", "oltp_0.4_complex")


@dataclass(frozen=True, slots=True)
class Explained:
    """A statement to explain.

    Attributes:
        workload: Whose it is.
        name: Unique within the workload.
        sql: With a `?` for each value.
    """

    workload: str
    name: str
    sql: str
    values: tuple[Any, ...] = ()


def shipped_statements(workload: Workload) -> Iterator[Explained]:
    """Those of OLTP and TPC-C-derived workloads; none for workloads of users, whose values are drawn elsewhere."""
    texts: dict[str, str] = {}
    if isinstance(workload, WorkloadSpec):
        texts = _oltp(workload)
    elif isinstance(workload, TpccSpec):
        texts = _tpcc(workload)
    return (Explained(workload.name, name, sql) for name, sql in texts.items())


def _tpcc(workload: TpccSpec) -> dict[str, str]:
    """Those that read several rows, or find one by other columns than the primary key."""
    home = workload.first_warehouse
    order = f"ol_w_id = {home} AND ol_d_id = 1 AND ol_o_id"
    return {
        "customer_by_name": f"SELECT c_id FROM customer WHERE c_w_id = {home} AND c_d_id = 1 AND c_last = 'BARBARBAR'"
        " ORDER BY c_first",
        "last_order": f"SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = {home} AND o_d_id = 1 AND"
        " o_c_id = 1 ORDER BY o_id DESC LIMIT 1",
        "order_lines": f"SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE"
        f" {order} = 1",
        "sum_of_order": f"SELECT SUM(ol_amount) FROM order_line WHERE {order} = 1",
        "stock_level": "SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id ="
        f" ol_i_id WHERE {order} >= 2981 AND ol_o_id < 3001 AND s_quantity < 15",
        "new_order_customer": "SELECT c_discount, c_last, c_credit, w_tax FROM customer JOIN warehouse ON w_id = c_w_id"
        f" WHERE w_id = {home} AND c_d_id = 1 AND c_id = 1",
    }


def _oltp(workload: WorkloadSpec) -> dict[str, str]:
    if not workload.table_names:
        return {}
    table, kind = workload.table_names[0], workload.kind
    middle = max(workload.table_size // 2, 1)
    until = middle + workload.range_size - 1
    texts = {
        "point_selects": f"SELECT c FROM {table} WHERE id = {middle}",
        "simple_ranges": f"SELECT c FROM {table} WHERE id BETWEEN {middle} AND {until}",
        "sum_ranges": f"SELECT SUM(k) FROM {table} WHERE id BETWEEN {middle} AND {until}",
        "order_ranges": f"SELECT c FROM {table} WHERE id BETWEEN {middle} AND {until} ORDER BY c",
        "distinct_ranges": f"SELECT DISTINCT c FROM {table} WHERE id BETWEEN {middle} AND {until} ORDER BY c",
        "index_updates": f"UPDATE {table} SET k = k + 1 WHERE id = {middle}",
        "non_index_updates": f"UPDATE {table} SET c = 'x' WHERE id = {middle}",
        "deletes": f"DELETE FROM {table} WHERE id = {middle}",
        "random_points": f"SELECT id, k, c, pad FROM {table} WHERE k IN ({middle}, {middle + 1}, {middle + 2})",
        "random_ranges": f"SELECT COUNT(k) FROM {table} WHERE k BETWEEN {middle} AND {middle + workload.delta}",
    }
    return {name: texts[name] for name in _names_of(workload, kind)}


def _names_of(workload: WorkloadSpec, kind: str) -> list[str]:
    alone = {
        "oltp_point_select": "point_selects",
        "oltp_0.4_simple": "point_selects",
        "oltp_delete": "deletes",
        "oltp_update_index": "index_updates",
        "oltp_update_non_index": "non_index_updates",
        "select_random_points": "random_points",
        "select_random_ranges": "random_ranges",
    }
    if kind in alone:
        return [alone[kind]]
    names: list[str] = []
    if kind in _MIXED and not workload.write_only:
        names += ["point_selects"] if workload.point_selects else []
        names += [name for name in _RANGES if workload.range_selects and getattr(workload, name)]
    if kind in _CHANGING and not workload.read_only:
        names += [name for name in ("index_updates", "non_index_updates") if getattr(workload, name)]
        names += ["deletes"] if workload.delete_inserts else []
    return names
