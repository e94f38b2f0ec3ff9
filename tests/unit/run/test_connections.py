"""Limits of connections, asked of servers that may not know them."""

from __future__ import annotations

import pytest

from plimsoll.run import running_servers
from plimsoll.servers.control import ControlConnection, Row
from plimsoll.spec.target import parse_target


class Saying(ControlConnection):
    """Answers every statement with one value."""

    def __init__(self, value: object) -> None:
        self._value = value

    def rows(self, statement: str, *arguments: object, columns: int = 1) -> list[Row]:
        return [] if self._value is Ellipsis else [(self._value,)]

    def close(self) -> None:
        pass


@pytest.mark.parametrize("value", [None, "", "many", "²", -1, 1.5, b"\xff", ...])
def test_a_limit_that_is_no_number_refuses_nobody(value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxies answer such questions with nothing, or with anything."""
    monkeypatch.setattr(running_servers, "connect", lambda target, read_limit_s: Saying(value))
    assert not list(running_servers.unready_targets(100, [parse_target("mysql://u@h/d")]))


@pytest.mark.parametrize("value", ["90", 90])
def test_a_limit_that_is_too_low_is_told(value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_servers, "connect", lambda target, read_limit_s: Saying(value))
    faults = list(running_servers.unready_targets(100, [parse_target("mysql://u@h/d")]))
    assert [fault.split(": ")[1].split(",")[0] for fault in faults] == [
        "max_connections is 90",
        "max_user_connections of the account is 90",
    ]
