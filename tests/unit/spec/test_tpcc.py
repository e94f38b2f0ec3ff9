"""The TPC-C-derived workload as users write it."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cli.options import workload_of
from plimsoll.cli.tpcc import tpcc_of
from plimsoll.errors import SpecError
from plimsoll.run.calibrate import shapes_of
from plimsoll.spec.study import parse_study
from plimsoll.spec.tpcc import Mix, TpccSpec


def test_options_of_the_command_line_become_tables() -> None:
    spec = tpcc_of(["partitions=8", "first_warehouse=101"], {"warehouses": 50})
    assert spec == TpccSpec(warehouses=50, partitions=8, first_warehouse=101)
    assert spec.data_line()["partitions"] == 8


@pytest.mark.parametrize(
    ("written", "given", "expected"),
    [
        ([], {"warehouses": 0}, "--warehouses: must be > 0, is 0"),
        ([], {"table_size": 5}, "--table-size: is not a known key"),
        (["warehouses=3"], {"warehouses": 2}, "--option warehouses: has an option of its own"),
        (["partitions=2", "foreign_keys=true"], {}, "foreign_keys: tables with partitions have none"),
    ],
)
def test_faults_name_the_option(written: list[str], given: dict[str, Any], expected: str) -> None:
    with pytest.raises(SpecError, match=expected):
        tpcc_of(written, given)


def test_warehouses_mean_nothing_to_others() -> None:
    with pytest.raises(SpecError, match="--warehouses: is not a known key"):
        workload_of("oltp_read_write", warehouses=2)


STUDY = """
[study]
name = "orders"
levels = {{ connections = [4] }}
[[workload]]
name = "orders"
kind = "tpcc"
{}
[[system]]
name = "here"
server = {{ managed = "mariadb" }}
"""


def test_a_study_file_names_scale_and_mix() -> None:
    (spec,) = parse_study(STUDY.format("warehouses = 20\nmix = { new_order = 50, payment = 50 }")).workload
    assert isinstance(spec, TpccSpec)
    assert (spec.warehouses, spec.mix) == (20, Mix(new_order=50, payment=50))
    assert (spec.writes, spec.changes_row_count, spec.rows_count) == (True, True, 20 * 499_011 + 100_000)
    assert spec.identity()["mix"]["delivery"] == 4


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("warehouse = 3", "workload\\[0\\].warehouse: is not a known key.*warehouses"),
        ("mix = { neworder = 1 }", "workload\\[0\\].mix.neworder: is not a known key.*new_order"),
        (
            "mix = { new_order = 0, payment = 0, order_status = 0, delivery = 0, stock_level = 0 }",
            "workload\\[0\\].mix: all weights are 0",
        ),
    ],
)
def test_faults_of_a_study_file_say_where(written: str, expected: str) -> None:
    with pytest.raises(SpecError, match=expected):
        parse_study(STUDY.format(written))


def test_workloads_of_one_study_share_their_tables() -> None:
    other = '[[workload]]\nname = "more"\nkind = "tpcc"\nwarehouses = 2'
    with pytest.raises(SpecError, match="describes the table 'warehouse' otherwise"):
        parse_study(STUDY.format("") + other)


def test_the_fake_server_refuses_it() -> None:
    with pytest.raises(SpecError, match="no rows that tpcc could work on"):
        shapes_of(TpccSpec())
