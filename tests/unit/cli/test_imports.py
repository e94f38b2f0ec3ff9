"""What a command has to import before it answers: packages that take long are left to the commands that need them."""

from __future__ import annotations

import subprocess
import sys

import pytest

DRAWING = {"altair", "jinja2", "vl_convert"}
ANALYSING = {"numpy", "polars", "scipy"}


@pytest.mark.parametrize(
    ("modules", "unwanted"),
    [
        ("plimsoll.cli.main", DRAWING | ANALYSING | {"pydantic"}),
        ("plimsoll.analyse.compare, plimsoll.guide.sides, plimsoll.guide.compare_page", DRAWING),
        ("plimsoll.guide.durability, plimsoll.guide.failover, plimsoll.guide.test_page", DRAWING),
    ],
    ids=["help", "compare", "tests of faults"],
)
def test_what_takes_long_is_not_imported(modules: str, unwanted: set[str]) -> None:
    code = f"import sys, {modules}; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    imported = set(done.stdout.split())
    assert set(modules.split(", ")) <= imported
    assert not unwanted & imported
