"""`plimsoll size`: the exit code by grade, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from plimsoll.cli.main import command_line
from plimsoll.errors import SpecError
from plimsoll.record.store import write_recording
from support.made import measured


def study(folder: Path, repetitions: int) -> Path:
    """1,000 tps at 4 connections."""
    random = np.random.default_rng(1)
    for repetition in range(repetitions):
        made = measured(1000 * random.normal(1, 0.01) * random.normal(1, 0.02, 20), repetition=repetition)
        write_recording(folder, made.trial, made.environment, made.outcome, **made.tables)
    return folder


def size(*arguments: object) -> Result:
    return CliRunner().invoke(command_line(), ["size", *map(str, arguments)], env={"COLUMNS": "160"})


@pytest.mark.parametrize(("repetitions", "grade", "code"), [(1, "indicated", 1), (4, "measured", 0)])
def test_a_measured_answer_can_be_required(tmp_path: Path, repetitions: int, grade: str, code: int) -> None:
    folder = study(tmp_path, repetitions)
    ran = size(folder, "--tps", 500, "--json")
    found = json.loads(ran.stdout)
    assert (ran.exit_code, found["fits"], found["grade"], found["systems"][0]["grade"]) == (0, True, grade, grade)
    assert size(folder, "--tps", 500, "--require", "measured").exit_code == code
    assert size(folder, "--tps", 5000, "--require", "measured").exit_code == 1


def test_one_run_is_said_to_be_one(tmp_path: Path) -> None:
    text = " ".join(size(study(tmp_path, 1), "--tps", 900, "--headroom", 0).stdout.split())
    assert text.startswith("Indicated for 900 tps of read-write: a, by 1")
    assert "; measured once, so without a margin for variation: keep 20 % or measure." in text


@pytest.mark.parametrize(
    ("words", "part"),
    [(["--require", "sure"], "must be measured, is 'sure'"), (["--require", "measured", "--confirm"], "not confirmed")],
)
def test_misuse_is_named(tmp_path: Path, words: list[str], part: str) -> None:
    ran = size(study(tmp_path, 1), "--tps", 500, *words)
    assert isinstance(ran.exception, SpecError)
    assert part in str(ran.exception)
