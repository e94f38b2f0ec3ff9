"""What each instance of a system has of a workload: together exactly what was written, or a refusal with its reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import SpecError
from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.study import parse_study
from plimsoll.spec.system import shares, spread
from plimsoll.spec.tpcc import TpccSpec

STUDY = """
[study]
name = "s"
levels = { connections = [4, 8] }

[[workload]]
name = "orders"
kind = "tpcc"
warehouses = 8

[[system]]
name = "a"
server = { managed = "mariadb", buffer_pool = "1G", instances = 4 }
"""


@given(each=st.integers(1, 500), count=st.integers(1, 64), first=st.integers(1, 1_000_000))
def test_every_warehouse_is_on_one_instance(each: int, count: int, first: int) -> None:
    parts = shares(TpccSpec(warehouses=each * count, first_warehouse=first), count)
    assert len(parts) == count
    assert all(isinstance(part, TpccSpec) for part in parts)
    blocks = [(part.first_warehouse, part.warehouses) for part in parts if isinstance(part, TpccSpec)]
    numbers = [number for start, size in blocks for number in range(start, start + size)]
    assert numbers == list(range(first, first + each * count))


def test_terminals_and_connections_for_deliveries_are_spread() -> None:
    parts = shares(TpccSpec(warehouses=6, terminals=50, delivery_connections=4), 3)
    told = [(part.line()["terminals"], part.line()["delivery_connections"]) for part in parts]
    assert told == [(17, 2), (17, 1), (16, 1)]
    assert {part.line()["terminals"] for part in shares(TpccSpec(warehouses=6), 3)} == {None}


@given(connections=st.integers(64, 10_000), more=st.integers(0, 10_000), count=st.integers(1, 64))
def test_no_instance_has_fewer_terminals_than_connections(connections: int, more: int, count: int) -> None:
    each = zip(spread(connections, count), spread(connections + more, count), strict=True)
    assert all(own <= terminals for own, terminals in each)


def test_tables_are_numbered_from_1_on_every_instance() -> None:
    whole = WorkloadSpec(name="rw", kind="oltp_read_write", tables=6, table_size=100)
    parts = shares(whole, 3)
    assert [part.table_names for part in parts] == [["sbtest1", "sbtest2"]] * 3
    assert sum(part.rows_count for part in parts) == whole.rows_count


def test_one_instance_has_everything() -> None:
    whole = TpccSpec(warehouses=7)
    assert shares(whole, 1) == (whole,)


def test_what_divides_is_taken() -> None:
    (system,) = parse_study(STUDY).system
    assert system.server is not None
    assert system.server.instances == 4


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("warehouses = 8", "warehouses = 6", "workload[0] has warehouses = 6, which it does not divide; take a"),
        (
            "warehouses = 8",
            "warehouses = 8\ndelivery_connections = 3",
            "workload[0] has delivery_connections = 3; take at least one for each instance, or 0 to deliver at once",
        ),
        ('kind = "tpcc"\nwarehouses = 8', 'kind = "oltp_read_only"\ntables = 2', "workload[0] has tables = 2, which"),
        ('kind = "tpcc"\nwarehouses = 8', 'kind = "oltp_0.4_simple"', "workload[0] has tables = 1, which it does not"),
        ('kind = "tpcc"\nwarehouses = 8', 'file = "key-value"', "workload[0] is from a workload file: how its rows"),
        ("[4, 8]", "[8, 1]", "study.levels has 1 connection for all instances together; begin with at least 4"),
        ('"1G"', '"20M"', "which leaves each 5.00 MiB of buffer_pool; give it at least 32.0 MiB"),
    ],
)
def test_what_cannot_be_divided_is_refused_with_the_reason(old: str, new: str, fault: str) -> None:
    assert old in STUDY
    with pytest.raises(SpecError) as caught:
        parse_study(STUDY.replace(old, new))
    (told,) = caught.value.lines
    assert told.startswith(f"system[0].server.instances: is 4, {'but ' if 'buffer_pool' not in fault else ''}{fault}")
    parse_study(STUDY.replace(old, new).replace(", instances = 4", ""))


@pytest.mark.parametrize("count", [0, 65, "2"])
def test_numbers_that_nobody_means_are_refused(count: object) -> None:
    with pytest.raises(SpecError, match=r"system\[0\].server.instances"):
        parse_study(STUDY.replace("instances = 4", f"instances = {count!r}"))


def test_a_target_is_one_instance() -> None:
    target = 'target = "mysql://u@h/d"\ninstances = 4'
    with pytest.raises(SpecError) as caught:
        parse_study(STUDY.replace('server = { managed = "mariadb", buffer_pool = "1G", instances = 4 }', target))
    assert any(fault.startswith("system[0].instances: belongs into server") for fault in caught.value.lines)
