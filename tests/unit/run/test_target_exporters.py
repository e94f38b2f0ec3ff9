"""Tokens of exporters: taken from the environment, all faults at once, and never shown."""

from __future__ import annotations

import os

import pytest

from plimsoll.errors import SpecError
from plimsoll.run.target_system import exporters_of
from plimsoll.spec.study import parse_study
from plimsoll.spec.system import SystemSpec

STUDY = """
[study]
name = "s"
levels = { connections = [1] }
reset = "never"
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "a"
target = "mysql://u@db1/d"
exporters = [
  { url = "https://db1/a", bearer_env = "PLIMSOLL_TEST_TOKEN_A" },
  { url = "https://db1/b", bearer_env = "PLIMSOLL_TEST_TOKEN_B" },
]
"""


def system() -> SystemSpec:
    return parse_study(STUDY).system[0]


def test_tokens_are_taken_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIMSOLL_TEST_TOKEN_A", "first-token\n")
    monkeypatch.setenv("PLIMSOLL_TEST_TOKEN_B", "second-token")
    found = exporters_of(system())
    assert [one.token.get_secret_value() for one in found if one.token] == ["first-token", "second-token"]
    assert "first-token" not in repr(found)
    assert "PLIMSOLL_TEST_TOKEN_A" not in os.environ, "no child process inherits it"
    assert exporters_of(system()) == found


def test_every_missing_or_broken_token_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIMSOLL_TEST_TOKEN_A", "two words")
    monkeypatch.setattr("plimsoll.spec.target._TAKEN", {})
    with pytest.raises(SpecError) as raised:
        exporters_of(system())
    first, second = raised.value.lines
    assert first.startswith("exporters[0].bearer_env: the variable must hold a token")
    assert second.startswith("exporters[1].bearer_env: the environment has no variable")
    assert "two words" not in str(raised.value)
