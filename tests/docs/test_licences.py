"""The crates in Cargo.lock are under licences that deny.toml allows. cargo-deny checks more, where it is installed.

An expression is one of SPDX: names, `AND`, `OR`, parentheses, an exception after `WITH`. Old crates write `/` for `OR`.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib

import pytest

from support.repository import ROOT

ALLOWED = frozenset(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])


def is_allowed(expression: str, allowed: frozenset[str]) -> bool:
    """Whether a crate under these licences may be used under allowed ones alone."""
    words = re.findall(r"[()]|[^\s()/]+|/", re.sub(r"\s+WITH\s+\S+", "", expression))

    def any_of() -> bool:
        result = all_of()
        while words and words[0] in ("OR", "/"):
            words.pop(0)
            result = all_of() or result
        return result

    def all_of() -> bool:
        result = one()
        while words and words[0] == "AND":
            words.pop(0)
            result = one() and result
        return result

    def one() -> bool:
        word = words.pop(0)
        if word != "(":
            return word in allowed
        result = any_of()
        assert words.pop(0) == ")", expression
        return result

    result = any_of()
    assert not words, expression
    return result


def test_crates_are_under_allowed_licences() -> None:
    command = ["cargo", "metadata", "--locked", "--format-version=1"]
    packages = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)["packages"]
    faults = [
        f"{package['name']} {package['version']}: {package['license'] or 'says none'}"
        for package in packages
        if not is_allowed(package["license"] or "none", ALLOWED)
    ]
    assert len(packages) > 100
    assert not faults, "deny.toml does not allow:\n" + "\n".join(faults)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("MIT/GPL-3.0", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR GPL-3.0-only) AND ISC", True),
        ("MIT AND (ISC AND (GPL-3.0-only OR LGPL-2.1))", False),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0-only", True),
        ("GPL-2.0-only AND MIT OR GPL-3.0-only", False),
    ],
)
def test_expressions_are_read_as_spdx_means_them(expression: str, *, expected: bool) -> None:
    assert is_allowed(expression, frozenset({"MIT", "ISC", "Apache-2.0"})) is expected
