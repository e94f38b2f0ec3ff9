"""Tables are made only where they are missing: a server that says no is told as what it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from plimsoll.drive.protocol import ClientCpu, Done
from plimsoll.errors import TargetError
from plimsoll.run import system_data as keeper_module
from plimsoll.run.system_data import DataKeeper
from plimsoll.run.target_system import TargetSystem
from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.system import SystemSpec
from plimsoll.spec.target import Target
from plimsoll.spec.tpcc import TpccSpec

TARGET = Target(user="u", database="d", host="127.0.0.1", port=1)
DONE = Done(
    type="done", reason="completed", started_unix_ns=1, duration_ns=1, offered_count=0, unfinished_count=0,
    client=ClientCpu(user_ns=0, system_ns=0), memory_bytes_max=1, rows_count=7, outages=[], outages_count=0,
)  # fmt: skip


class Connected:
    """A control connection to a server that has these of the tables that it is asked for."""

    def __init__(self, *tables: str) -> None:
        self.tables = tables

    def __enter__(self) -> Connected:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing."""

    def rows(self, _statement: str, *names: object) -> list[tuple[object]]:
        return [(name,) for name in names if name in self.tables]


def keep(monkeypatch: pytest.MonkeyPatch, check: TargetError | None) -> list[str]:
    """Ensures a data set whose check ends so; returns the commands of the engine."""
    ran: list[str] = []

    def run(_driver: object, command: str, _line: dict[str, Any], **_: object) -> Done:
        ran.append(command)
        if command == "check" and check:
            raise check
        return DONE

    monkeypatch.setattr(keeper_module, "run_data_command", run)
    monkeypatch.setattr(keeper_module, "connect", lambda *_, **__: Connected())
    workload = WorkloadSpec(name="w", kind="oltp_read_only")
    try:
        DataKeeper(driver=None, data_sets=(workload,)).ensure(TARGET)  # type: ignore[arg-type]
    except TargetError:
        ran.append("raised")
    return ran


def test_each_instance_has_its_share_of_every_data_set() -> None:
    sets = (WorkloadSpec(name="w", kind="oltp_read_only", tables=4), TpccSpec(warehouses=2))
    first, second = DataKeeper(driver=None, data_sets=sets).divided(2)  # type: ignore[arg-type]
    assert [data_set.table_names for data_set in first.data_sets[:1]] == [["sbtest1", "sbtest2"]]
    assert [one.data_line()["first_warehouse"] for one in (first.data_sets[1], second.data_sets[1])] == [1, 2]


@pytest.mark.parametrize(
    ("check", "ran"),
    [
        (None, ["check"]),
        (TargetError("sbtest1 does not exist"), ["check", "prepare"]),
        (TargetError("SELECT command denied", code=1142, sqlstate="42000"), ["check", "raised"]),
        (TargetError("too many connections", code=1040, sqlstate="08004"), ["check", "raised"]),
    ],
)
def test_tables_are_made_where_they_are_missing_only(
    monkeypatch: pytest.MonkeyPatch, check: TargetError | None, ran: Sequence[str]
) -> None:
    assert keep(monkeypatch, check) == ran


def test_a_server_that_is_down_is_not_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper_module, "run_data_command", lambda *_, **__: pytest.fail("the engine was started"))
    workload = WorkloadSpec(name="w", kind="oltp_read_only")
    with pytest.raises(TargetError, match="nothing listens there"):
        DataKeeper(driver=None, data_sets=(workload,)).ensure(TARGET)  # type: ignore[arg-type]


class Keeper:
    """Notes what it is asked for; says that tables were made."""

    def __init__(self, *, makes: bool) -> None:
        self.makes, self.asked = makes, list[str]()

    def ensure(self, _: Target) -> bool:
        self.asked.append("ensure")
        made, self.makes = self.makes, False
        return made

    def reset(self, _: Target) -> None:
        self.asked.append("reset")


@pytest.mark.parametrize(
    ("makes", "asked"),
    [
        (True, ["ensure", "reset", "ensure", "reset"]),
        (False, ["ensure", "reset", "reset", "ensure", "reset"]),
    ],
)
def test_tables_that_were_just_made_are_not_made_again(makes: bool, asked: list[str]) -> None:
    keeper = Keeper(makes=makes)
    spec = SystemSpec(name="a", target="mysql://u@h/d")
    system = TargetSystem(spec, TARGET, keeper)  # type: ignore[arg-type]
    system.start()
    system.reset()
    system.reset()
    system.start()
    system.reset()
    assert keeper.asked == asked


def test_rows_are_as_prepared_only_where_no_table_was_there_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper_module, "run_data_command", lambda *_, **__: DONE)
    sets = (WorkloadSpec(name="w", kind="oltp_read_only", tables=2), TpccSpec())
    keeper = DataKeeper(driver=None, data_sets=sets)  # type: ignore[arg-type]
    for tables, is_new in (((), True), (("sbtest2",), False), (("stock",), False), (("others",), True)):
        monkeypatch.setattr(keeper_module, "connect", lambda *_, tables=tables, **__: Connected(*tables))
        assert keeper.ensure(TARGET) is is_new
