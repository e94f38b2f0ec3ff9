"""A crate may only depend on crates below it; ARCHITECTURE.md shows the order. Python's is held by import-linter."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from support.repository import ROOT, shown

ORDER = (
    {"plimsoll-engine-cli"},
    {"plimsoll-sysbench"},
    {"plimsoll-host-tests", "plimsoll-forgetful", "plimsoll-relay", "plimsoll-logs"},
    {"plimsoll-workloads"},
    {"plimsoll-session"},
    {"plimsoll-engine", "plimsoll-wire"},
    {"plimsoll-core"},
)
"""From the top down; those of one line are siblings that do not know each other."""
BESIDE = "plimsoll-sim"
"""Stands beside them: the executable serves it, others use it in tests only."""
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}
MANIFESTS = sorted(ROOT.glob("crates/*/Cargo.toml"))


def ours(manifest: Path, section: str) -> list[str]:
    """Crates of this workspace in a section of a manifest."""
    return [name for name in tomllib.loads(manifest.read_text()).get(section, {}) if name.startswith("plimsoll-")]


def name_of(manifest: Path) -> str:
    name: str = tomllib.loads(manifest.read_text())["package"]["name"]
    return name


def test_every_crate_has_its_place() -> None:
    assert {name_of(manifest) for manifest in MANIFESTS} == {*LEVEL, BESIDE}
    assert all(name_of(manifest) == f"plimsoll-{manifest.parent.name}" for manifest in MANIFESTS)


@pytest.mark.parametrize("manifest", MANIFESTS, ids=shown)
def test_dependencies_point_down(manifest: Path) -> None:
    name = name_of(manifest)
    used = [*ours(manifest, "dependencies"), *ours(manifest, "build-dependencies")]
    assert BESIDE not in used or name in ORDER[0], f"{name} uses {BESIDE} outside of tests"
    if name == BESIDE:
        assert set(used) <= {"plimsoll-core"}, f"{name} must not depend on what it is a test of"
        return
    in_tests = [one for one in ours(manifest, "dev-dependencies") if one != BESIDE]
    upward = [one for one in [*used, *in_tests] if one != BESIDE and LEVEL[one] <= LEVEL[name]]
    assert not upward, f"{name} may not depend on {', '.join(upward)}: they do not stand below it"


@pytest.mark.parametrize("manifest", MANIFESTS, ids=shown)
def test_workspace_lints_hold_everywhere(manifest: Path) -> None:
    assert tomllib.loads(manifest.read_text()).get("lints") == {"workspace": True}


@pytest.mark.parametrize("manifest", MANIFESTS, ids=shown)
def test_unsafe_code_is_forbidden_where_there_is_none(manifest: Path) -> None:
    """The workspace denies it; who allows it for a module by name cannot forbid it as well."""
    texts = [path.read_text() for path in sorted((manifest.parent / "src").rglob("*.rs"))]
    is_forbidden = any("#![forbid(unsafe_code)]" in text for text in texts)
    assert is_forbidden != any("allow(unsafe_code)" in text for text in texts)
