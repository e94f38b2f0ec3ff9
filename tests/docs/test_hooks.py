"""docs/hooks.md: its systems parse within a study, its scripts are shell, and it names every hook and variable."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from plimsoll.run import hooks as run_hooks
from plimsoll.spec.hooks import HooksSpec, StudyHooksSpec
from plimsoll.spec.study import parse_study
from support.repository import ROOT, blocks

PAGE = ROOT / "docs" / "hooks.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = list(blocks(PAGE))
REST = """
[study]
name = "s"
levels = { connections = [1] }

[[workload]]
name = "rw"
kind = "oltp_read_write"
"""


@pytest.mark.parametrize("text", [one.text for one in BLOCKS if one.language == "toml" and "[[system]]" in one.text])
def test_every_system_is_part_of_a_study_that_parses(text: str) -> None:
    spec = parse_study(text if "[study]" in text else REST + text)
    assert any(system.hooks is not None or system.environment is not None for system in spec.system)


@pytest.mark.parametrize("text", [one.text for one in BLOCKS if one.text.startswith("#!/bin/sh")])
def test_scripts_are_shell(text: str) -> None:
    checked = subprocess.run(["sh", "-n"], input=text, text=True, capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr
    cases = set(re.findall(r"^ {2}(\w+)\)", text, re.MULTILINE))
    assert cases <= set(HooksSpec.model_fields)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["guest", "FOLDER", "start"], "is no guest: make it with make-guest"),
        (["guest"], "say a folder and what to do"),
        (["make-guest"], "say the folder to make"),
        (["make-guest", "FOLDER", "CPU=2"], "CPU=2: no such setting"),
        (["make-guest", "FOLDER", "CPUS=$(id)"], "letters, digits, dots, commas and hyphens only"),
    ],
)
def test_scripts_of_the_guest_refuse_clearly(tmp_path: Path, words: list[str], told: str) -> None:
    program, *arguments = [str(tmp_path / "guest") if word == "FOLDER" else word for word in words]
    ran = subprocess.run(
        [ROOT / "examples/vm" / program, *arguments], capture_output=True, text=True, check=False, timeout=300
    )
    assert ran.returncode == 3
    assert told in ran.stderr
    assert not list(tmp_path.iterdir())


def test_there_are_four_whole_examples() -> None:
    assert sum(one.text.startswith("#!/bin/sh") for one in BLOCKS) == 4


def test_every_hook_and_variable_is_described() -> None:
    assert all(f"| `{name}` |" in TEXT for name in HooksSpec.model_fields)
    assert all(f"`hooks.{name}`" in TEXT or f"hooks.{name} =" in TEXT for name in StudyHooksSpec.model_fields)
    source = ROOT / "python" / "plimsoll" / "run"
    set_there = {
        name
        for file in ("hooks.py", "environments.py", "trial.py")
        for name in re.findall(r"PLIMSOLL_[A-Z_]+", (source / file).read_text(encoding="utf-8"))
    }
    assert run_hooks.__file__ == str(source / "hooks.py")
    shortened = {"PLIMSOLL_TARGET_PORT": "`_PORT`", "PLIMSOLL_TARGET_DATABASE": "`_DATABASE`"}
    missing = [name for name in set_there if shortened.get(name, f"`{name}").removesuffix("_") not in TEXT]
    assert not missing
