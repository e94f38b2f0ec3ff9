"""tools/write_licenses.py: a wheel carries the licence of everything that its engine is made of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.repository import ROOT


def test_every_package_that_the_engine_links_is_named_and_luajit_with_its_own_licence(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "tools/write_licenses.py", tmp_path / "licences"], check=True, timeout=600)
    text = (tmp_path / "licences").read_text(encoding="utf-8")
    command = "cargo tree --locked --package plimsoll-engine-cli --edges normal,build --prefix none --format {p}"
    tree = subprocess.run(command.split(), cwd=ROOT, capture_output=True, text=True, check=True, timeout=600).stdout
    linked = {tuple(line.split()[:2]) for line in tree.splitlines() if line and not line.startswith("plimsoll-")}
    assert len(linked) > 50
    missing = [name for name, version in linked if f"{name} {version.removeprefix('v')} (" not in text]
    assert not missing, sorted(missing)
    assert "Mike Pall" in text
