"""The TPC-C-derived workload as users write it."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cli.options import workload_of
from plimsoll.cli.tpcc import tpcc_of
from plimsoll.errors import SpecError
from plimsoll.spec.tpcc import TpccSpec


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
