"""Settling against a server that pays its debts on a made-up clock."""

from __future__ import annotations

import pytest

from plimsoll.errors import TargetError
from plimsoll.servers.control import Row
from plimsoll.servers.settle import STUCK_S, Calm, settle


class DebtorServer:
    """Has a history list and dirty pages that shrink with time; knows its variables."""

    def __init__(
        self, *, history: int = 50_000, dirty: int = 2_000, per_s: int = 10_000, flavour: str = "mariadb"
    ) -> None:
        self.now_s = 100.0
        self.history, self.dirty, self.per_s, self.flavour = history, dirty, per_s, flavour
        self.variables = {"innodb_max_dirty_pages_pct": 90.0, "innodb_max_dirty_pages_pct_lwm": 10.0}
        self.dies_at_s = 1e9

    def clock(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        self.history = max(self.history - int(self.per_s * seconds), 0)
        if not any(self.variables.values()):
            self.dirty = max(self.dirty - int(self.per_s * seconds), 0)

    def status(self) -> dict[str, str]:
        if self.now_s >= self.dies_at_s:
            raise TargetError("gone", code=2013)
        status = {"innodb_buffer_pool_pages_dirty": str(self.dirty)}
        return status | ({"innodb_history_list_length": str(self.history)} if self.flavour == "mariadb" else {})

    def rows(self, statement: str, *arguments: object) -> list[Row]:
        if "innodb_metrics" in statement:
            if self.flavour == "nobody":
                raise TargetError("PROCESS privilege", code=1227)
            return [(self.history,)]
        if statement.startswith("SELECT @@GLOBAL."):
            return [(self.variables[statement.rpartition(".")[2]],)]
        name, _, value = statement.removeprefix("SET GLOBAL ").partition(" = ")
        self.variables[name] = float(value)
        return []


@pytest.mark.parametrize("flavour", ["mariadb", "mysql"])
def test_waits_until_debts_are_paid(flavour: str) -> None:
    server = DebtorServer(flavour=flavour)
    settled = settle(server, limit_s=60, may_set_variables=True, clock=server.clock, sleep=server.sleep)
    assert settled.reached
    assert settled.waited_s == pytest.approx(5.0, abs=0.3)
    assert settled.history_length is not None
    assert settled.history_length <= 1000
    assert settled.dirty_pages == 0
    assert settled.note.startswith("settled within 5 s: history list length ")
    assert server.variables == {"innodb_max_dirty_pages_pct": 90.0, "innodb_max_dirty_pages_pct_lwm": 10.0}


def test_variables_of_others_are_not_touched() -> None:
    server = DebtorServer(history=0)
    settled = settle(server, limit_s=2, clock=server.clock, sleep=server.sleep)
    assert not settled.reached, "an idle server keeps its dirty pages"
    assert settled.note == "did not settle within 2 s: history list length 0, 2,000 dirty pages"


def test_a_busy_device_is_waited_for() -> None:
    server = DebtorServer(history=0, dirty=0)
    busy = iter([None, 0.9, 0.5, 0.05])
    settled = settle(
        server, limit_s=60, device_busy_ratio=lambda: next(busy), clock=server.clock, sleep=server.sleep, poll_s=1
    )
    assert settled.reached
    assert settled.device_busy_ratio == 0.05
    assert settled.waited_s == 3.0


def test_unknown_debts_are_not_waited_for() -> None:
    server = DebtorServer(flavour="nobody", dirty=0)
    settled = settle(server, limit_s=60, clock=server.clock, sleep=server.sleep)
    assert settled.reached
    assert settled.history_length is None
    assert settled.note == "settled within 0 s: 0 dirty pages"


def test_a_server_that_says_nothing_is_not_called_settled() -> None:
    class Silent(DebtorServer):
        def status(self) -> dict[str, str]:
            return {}

    server = Silent(flavour="nobody")
    settled = settle(server, limit_s=60, clock=server.clock, sleep=server.sleep)
    assert settled.note.startswith("nothing to settle by")


def test_a_variable_that_is_no_number_is_no_debt() -> None:
    class Odd(DebtorServer):
        def status(self) -> dict[str, str]:
            return {"innodb_history_list_length": "", "innodb_buffer_pool_pages_dirty": "<b>"}

    server = Odd()
    settled = settle(server, limit_s=60, clock=server.clock, sleep=server.sleep)
    assert (settled.history_length, settled.dirty_pages) == (None, None)


def test_limits_are_the_callers() -> None:
    server = DebtorServer(history=5_000, per_s=0, dirty=0)
    calm = Calm(history_length_max=10_000)
    assert settle(server, limit_s=1, calm=calm, clock=server.clock, sleep=server.sleep).reached


def test_a_server_that_dies_is_told() -> None:
    server = DebtorServer()
    server.dies_at_s = 101.0
    with pytest.raises(TargetError, match="gone"):
        settle(server, limit_s=60, clock=server.clock, sleep=server.sleep)


def test_what_does_not_fall_is_not_waited_for_on_a_server_of_others() -> None:
    server = DebtorServer(history=0)
    settled = settle(server, limit_s=60, clock=server.clock, sleep=server.sleep)
    assert not settled.reached
    assert settled.waited_s == pytest.approx(STUCK_S, abs=0.3)
    assert settled.stuck == ("dirty pages",)
    assert settled.note.endswith("2,000 dirty pages; not waited for, since it does not fall: dirty pages")


def test_what_falls_slowly_is_waited_for() -> None:
    server = DebtorServer(history=3_000, dirty=0, per_s=100)
    settled = settle(server, limit_s=60, clock=server.clock, sleep=server.sleep)
    assert settled.reached
    assert settled.waited_s == pytest.approx(20, abs=1)
    assert settled.stuck == ()


def test_history_that_falls_is_waited_for_though_dirty_pages_do_not() -> None:
    server = DebtorServer(history=10_000, dirty=2_000, per_s=1_000)
    settled = settle(server, limit_s=60, clock=server.clock, sleep=server.sleep)
    assert settled.waited_s == pytest.approx(9, abs=0.5)
    assert settled.history_length is not None
    assert settled.history_length <= 1_000
    assert settled.stuck == ("dirty pages",)


def test_a_busy_device_is_waited_for_though_dirty_pages_do_not_fall() -> None:
    server = DebtorServer(history=0)
    settled = settle(
        server, limit_s=20, device_busy_ratio=lambda: 0.9 if server.now_s < 110 else 0.0, clock=server.clock,
        sleep=server.sleep,
    )  # fmt: skip
    assert settled.waited_s == pytest.approx(10, abs=0.5)


def test_an_own_server_is_waited_for_until_the_limit() -> None:
    server = DebtorServer(history=0)
    server.variables["innodb_max_dirty_pages_pct"] = 1.0
    server.rows = lambda statement, *_: [(1.0,)] if statement.startswith("SELECT") else []  # type: ignore[method-assign]
    settled = settle(server, limit_s=20, may_set_variables=True, clock=server.clock, sleep=server.sleep)
    assert settled.waited_s == pytest.approx(20, abs=0.5)
    assert settled.stuck == ()
