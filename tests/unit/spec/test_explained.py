"""Statements to explain are those that a workload sends."""

from __future__ import annotations

import pytest

from plimsoll.run.server_answers import drawn_statements
from plimsoll.spec.explain_statements import shipped_statements
from plimsoll.spec.oltp import KINDS, WorkloadSpec
from plimsoll.spec.tpcc import TpccSpec
from plimsoll.spec.workloads import StatementsSpec, shipped

READS = ["point_selects", "simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges"]
WRITES = ["index_updates", "non_index_updates", "deletes"]


@pytest.mark.parametrize(
    ("workload", "names"),
    [
        (WorkloadSpec(name="w", kind="oltp_read_write"), READS + WRITES),
        (WorkloadSpec(name="w", kind="oltp_read_only", range_selects=False), READS[:1]),
        (WorkloadSpec(name="w", kind="oltp_read_only", sum_ranges=0), [one for one in READS if one != "sum_ranges"]),
        (WorkloadSpec(name="w", kind="oltp_write_only", delete_inserts=0), WRITES[:2]),
        (WorkloadSpec(name="w", kind="oltp_update_index"), ["index_updates"]),
        (WorkloadSpec(name="w", kind="select_random_ranges"), ["random_ranges"]),
        (WorkloadSpec(name="w", kind="oltp_insert"), []),
    ],
)
def test_statements_of_an_oltp_workload(workload: WorkloadSpec, names: list[str]) -> None:
    assert [statement.name for statement in shipped_statements(workload)] == names


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "oltp_0.4_sp"])
def test_every_kind_can_be_asked(kind: str) -> None:
    workload = WorkloadSpec(name="w", kind=kind)  # type: ignore[arg-type]
    assert all("sbtest" in statement.sql and "?" not in statement.sql for statement in shipped_statements(workload))


def test_tpcc_is_asked_about_a_warehouse_that_it_has() -> None:
    assert all("= 7" in statement.sql for statement in shipped_statements(TpccSpec(first_warehouse=7, warehouses=1)))


@pytest.mark.parametrize("name", shipped())
def test_statements_of_workload_files_have_a_value_for_each_mark(name: str) -> None:
    workload = StatementsSpec(name=name, file=name, text=shipped()[name].read_text(encoding="utf-8"))
    found = list(drawn_statements(workload))
    assert len({one.name for one in found}) == len(found) > 0
    assert all(one.sql.count("?") == len(one.values) for one in found)
    assert found == list(drawn_statements(workload)), "the same for every system"
