"""docs/oltp.md names every kind, every option with its default, and every distribution with its parameters."""

from __future__ import annotations

import re

import pytest

from plimsoll.spec.generators import OF_TABLES, PARAMETERS
from plimsoll.spec.oltp import KINDS, OPTIONS, WorkloadSpec
from support.repository import ROOT

TEXT = (ROOT / "docs" / "oltp.md").read_text(encoding="utf-8")
ROWS = [line.split("|")[1:-1] for line in TEXT.splitlines() if line.startswith("| `")]


def row_of(name: str) -> list[str]:
    """The cells of the table row that is about a name."""
    return next(row for row in ROWS if f"`{name}`" in row[0])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_described(kind: str) -> None:
    assert row_of(kind)[1].strip()


@pytest.mark.parametrize("option", sorted(frozenset().union(*OPTIONS.values())))
def test_every_option_is_described_with_its_default(option: str) -> None:
    default = WorkloadSpec.model_fields[option].default
    stated = row_of(option)[1].strip()
    if isinstance(default, bool):
        assert stated == str(default).lower()
    elif isinstance(default, int):
        assert str(default) in re.findall(r"\d+", stated)
    else:
        assert stated


@pytest.mark.parametrize("name", OF_TABLES)
def test_every_distribution_is_described_with_its_parameters(name: str) -> None:
    stated = row_of(name)[1]
    if name == "special-0.4":
        assert PARAMETERS[name] == PARAMETERS["special-1.0"]
        return
    for parameter, default in PARAMETERS[name].items():
        assert f"`{parameter}` = {default}" in stated
