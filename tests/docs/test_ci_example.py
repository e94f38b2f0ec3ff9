"""The job of docs/gate-a-merge.md: its script does its steps, and its workflow trusts no more than it must."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from plimsoll.spec.study import parse_study
from support.command import COMMAND
from support.repository import ROOT
from unit.cli.test_compare import write

CI = ROOT / "examples" / "ci"
STUB = """#!/bin/sh
# Measuring takes minutes: here it copies what was measured before.
echo "$*" >> "{log}"
case "$1 $2" in
"study plan") ;;
"study run") mkdir -p "$5" && cp -r "{prepared}/." "$5" && exit "${{RUN_ENDS:-0}}" ;;
*) exec "{command}" "$@" ;;
esac
"""


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """A study of a base and a candidate that is 20 % slower."""
    study = tmp_path / "study"
    write(study, "base", 1000.0)
    write(study, "candidate", 800.0)
    return study


def gate(prepared: Path, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    bin_folder = folder.parent / "bin"
    bin_folder.mkdir(exist_ok=True)
    stub = bin_folder / "plimsoll"
    stub.write_text(STUB.format(log=folder.parent / "log", prepared=prepared, command=COMMAND))
    stub.chmod(0o755)
    env = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", **more}
    words = [str(CI / "gate.sh"), str(CI / "gate.toml"), str(folder)]
    return subprocess.run(words, capture_output=True, text=True, env=env, check=False)


def test_the_script_ends_as_its_gate_and_leaves_its_files(measured: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    # `study run` ends with 4 where a trial failed: the others were measured, and the gate judges them.
    more = {"GITHUB_STEP_SUMMARY": str(summary), "COMMIT": "3f2a91c", "RUN_ENDS": "4"}
    failed = gate(measured, tmp_path / "slower", **more)
    assert failed.returncode == 1, failed.stderr
    assert "Regression" in summary.read_text()
    assert "<failure" in (tmp_path / "slower" / "junit.xml").read_text()
    assert len(json.loads((tmp_path / "slower" / "bencher.json").read_text())) == 4
    log = (tmp_path / "log").read_text().splitlines()
    assert log[0].startswith("study plan")
    assert log[1].endswith("--quiet --label commit=3f2a91c")


def test_a_study_that_could_not_run_ends_the_script_as_it_ended(measured: Path, tmp_path: Path) -> None:
    nothing = gate(measured, tmp_path / "nothing", RUN_ENDS="3")
    assert nothing.returncode == 3
    assert not (tmp_path / "nothing" / "junit.xml").exists()


def test_the_study_has_the_two_systems_that_the_script_compares() -> None:
    spec = parse_study((CI / "gate.toml").read_text())
    assert [system.name for system in spec.system] == ["base", "candidate"]
    assert spec.study.is_until_decided


def test_the_workflow_pins_its_actions_and_can_only_read() -> None:
    text = (CI / "github-actions.yml").read_text()
    uses = re.findall(r"uses: (\S+)(.*)", text)
    assert uses
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", action) for action, _ in uses), uses
    assert all(re.fullmatch(r" # v\d+\.\d+\.\d+", comment) for _, comment in uses), "which release that is"
    assert re.search(r"^permissions:\n  contents: read\n\n", text, re.MULTILINE)
    assert text.count("permissions:") == 1
    assert "pull_request_target" not in text
    assert "secrets." not in text
    assert "timeout-minutes:" in text
    for name in re.findall(r"ci/([a-z.]+\.(?:sh|toml))", text):
        assert (CI / name).is_file(), name
