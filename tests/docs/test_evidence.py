"""docs/evidence.md has the tables that tools/write_evidence.py writes, and they are of this code."""

from __future__ import annotations

import re

import pytest
import write_evidence

from support.repository import ROOT

TEXT = write_evidence.PAGE.read_text(encoding="utf-8")
QUICK = ("within-a-run", "lag")
"""Tables that take a second; `make evidence` simulates the others too."""


def test_every_table_has_its_place_and_no_other_is_there() -> None:
    places = re.findall(r"^<!-- ([\w-]+) -->\n.+?\n<!-- /\1 -->$", TEXT, re.MULTILINE | re.DOTALL)
    assert sorted(places) == sorted(write_evidence.PARTS)
    outside = re.sub(r"^<!-- ([\w-]+) -->\n.*?^<!-- /\1 -->$", "", TEXT, flags=re.MULTILINE | re.DOTALL)
    assert "|" not in outside, "a table that nothing generates"


@pytest.mark.parametrize("name", QUICK)
def test_simulated_again_a_table_is_the_same(name: str) -> None:
    assert f"<!-- {name} -->\n{write_evidence.part_of(name)}<!-- /{name} -->" in TEXT, f"make evidence: {name} changed"


def test_every_table_names_tests_that_exist() -> None:
    for name in write_evidence.PARTS:
        part = TEXT.partition(f"<!-- {name} -->\n")[2].partition(f"<!-- /{name} -->")[0]
        tests = re.findall(r"`(tests/\S+)`", part)
        assert tests, name
        assert "seed" in part, f"{name}: which figures these are, nobody can see"
        assert all((ROOT / path).is_file() for path in tests), f"{name}: {tests}"
