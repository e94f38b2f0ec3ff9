"""Workloads: which options mean something, how distributions are written, and what follows for rows and resets."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.spec.fields import faults_of
from plimsoll.spec.generators import DistributionSpec
from plimsoll.spec.oltp import KINDS, OPTIONS, WorkloadSpec


def workload(kind: str, **options: Any) -> WorkloadSpec:
    return WorkloadSpec.model_validate({"name": "x", "kind": kind, **options})


def fault(kind: str, **options: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        workload(kind, **options)
    (only,) = faults_of(caught.value)
    return str(only)


@pytest.mark.parametrize("kind", KINDS)
def test_what_means_nothing_to_a_kind_is_refused(kind: str) -> None:
    written = {"tables": 2, "range_size": 5, "random_points": 3, "nontrx_mode": "insert", "skip_transaction": True}
    for name, value in written.items():
        needed = {"procedure": "mine"} if kind == "oltp_0.4_sp" else {}
        if name in OPTIONS[kind]:
            assert name in workload(kind, **{name: value}, **needed).options()
        else:
            assert f"{name}: means nothing to {kind}" in fault(kind, **{name: value}, **needed)


def test_a_distribution_is_a_name_or_a_table_with_its_own_parameters() -> None:
    named = workload("oltp_read_only", distribution="zipfian")
    assert named.options()["distribution"] == {"kind": "zipfian", "exponent": 0.8}
    table = workload("oltp_read_only", distribution={"kind": "zipfian", "exponent": 1})
    assert table.line()["distribution"] == {"kind": "zipfian", "exponent": 1.0}
    assert workload("oltp_read_only").options()["distribution"] == "uniform"
    assert workload("oltp_read_only").line()["distribution"] == {"kind": "uniform"}
    wrong = fault("oltp_read_only", distribution={"kind": "pareto", "exponent": 1.0})
    assert wrong == "distribution: pareto has no exponent; its parameters are h"
    assert "must be < 1" in fault("oltp_read_only", distribution={"kind": "pareto", "h": 1.0})
    assert "'gaussian'" in fault("oltp_read_only", distribution="normal")


def test_k_is_filled_as_rows_are_chosen_unless_it_is_said_otherwise() -> None:
    same = workload("oltp_read_only", distribution="pareto")
    assert same.data_line()["distribution"] == {"kind": "pareto", "h": 0.2}
    other = workload("oltp_read_only", distribution="pareto", k_distribution="uniform")
    assert other.data_line()["distribution"] == {"kind": "uniform"}
    assert workload("oltp_0.4_simple", distribution="special-0.4").data_line()["distribution"] == {"kind": "uniform"}
    assert DistributionSpec() == same.model_copy(update={"distribution": DistributionSpec()}).distribution


@pytest.mark.parametrize(
    ("kind", "options", "writes", "changes_row_count", "rows"),
    [
        ("oltp_read_only", {}, False, False, 10_000),
        ("oltp_read_write", {"tables": 3}, True, False, 30_000),
        ("oltp_insert", {}, True, True, 10_000),
        ("oltp_insert", {"auto_increment": False}, True, True, 0),
        ("oltp_delete", {}, True, True, 10_000),
        ("select_random_ranges", {}, False, False, 10_000),
        ("bulk_insert", {"tables": 4}, True, True, 0),
        ("oltp_0.4_complex", {}, True, False, 10_000),
        ("oltp_0.4_complex", {"read_only": True}, False, False, 10_000),
        ("oltp_0.4_nontrx", {}, False, False, 10_000),
        ("oltp_0.4_nontrx", {"nontrx_mode": "update_key"}, True, False, 10_000),
        ("oltp_0.4_nontrx", {"nontrx_mode": "insert"}, True, True, 0),
        ("oltp_0.4_nontrx", {"nontrx_mode": "delete"}, True, True, 10_000),
        ("oltp_0.4_sp", {"procedure": "mine"}, True, True, 10_000),
    ],
)
def test_what_a_kind_does_to_the_rows(
    kind: str, options: dict[str, Any], *, writes: bool, changes_row_count: bool, rows: int
) -> None:
    spec = workload(kind, **options)
    assert (spec.writes, spec.changes_row_count, spec.rows_count) == (writes, changes_row_count, rows)


def test_tables_have_the_names_of_their_layout() -> None:
    assert workload("oltp_read_only", tables=2).table_names == ["sbtest1", "sbtest2"]
    assert workload("oltp_0.4_complex").table_names == ["sbtest"]
    assert workload("bulk_insert", tables=2).data_line()["layout"] == "bulk"


def test_statements_are_prepared_where_sysbench_prepares_them() -> None:
    assert workload("oltp_delete").line()["prepared"] is True
    assert workload("oltp_insert").line()["prepared"] is False
    assert workload("oltp_insert", prepared=True).line()["prepared"] is True


def test_a_delay_is_one_time_or_two() -> None:
    assert workload("oltp_read_only", user_delay="20ms").line()["user_delay"] == {"min_ms": 20.0, "max_ms": 20.0}
    both = workload("oltp_read_only", user_delay={"min": "1ms", "max": "2s"})
    assert both.options()["user_delay"] == {"min_ms": 1.0, "max_ms": 2000.0}
    assert "max must be from min" in fault("oltp_read_only", user_delay={"min": "2s", "max": "1s"})


def test_contradictions_are_refused() -> None:
    assert "read_only and write_only" in fault("oltp_0.4_complex", read_only=True, write_only=True)
    assert "leave the other option out" in fault(
        "oltp_0.4_simple", point_select_handler=True, secondary=True, auto_increment=False
    )
    assert "leave one of them out" in fault("oltp_0.4_simple", reconnect_mode="query", reconnect_after=2)
    assert "name the stored procedure" in fault("oltp_0.4_sp")
    assert "procedure" in fault("oltp_0.4_sp", procedure="p(); DROP")
    assert "only with auto_increment = false" in fault("oltp_0.4_simple", secondary=True)
    assert "storage_engine" in fault("oltp_read_only", storage_engine="innodb; drop")
