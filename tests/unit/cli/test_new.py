"""`plimsoll new`: a short study file that fits the time, is commented, and never takes the place of another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import command_line
from plimsoll.errors import PlimsollError
from plimsoll.run.planning import total_s
from plimsoll.spec.new_study import Question
from plimsoll.spec.study import read_study

LINES_MAX = 26
"""Of a file with headings, blank lines and two systems."""


def run(*arguments: object, answers: str | None = None) -> str:
    ran = CliRunner().invoke(command_line("new"), ["new", *map(str, arguments)], input=answers)
    if ran.exception is not None:
        raise ran.exception
    return ran.stdout


@pytest.mark.parametrize("question", Question)
@pytest.mark.parametrize("time", ["5m", "10m", "45m", "3h"])
def test_the_study_asks_the_question_and_fits_the_time(tmp_path: Path, question: Question, time: str) -> None:
    file = tmp_path / "s.toml"
    told = run(file, "--question", question, "--time", time)
    spec = read_study(file)
    assert spec.study.budget is not None
    assert total_s(spec) <= spec.study.budget or spec.study.is_until_decided
    assert spec.study.is_duet == (question is Question.COMPARE)
    assert (spec.study.levels.capacity is not None) == (question is Question.CAPACITY)
    assert f"plimsoll study run {file}" in told
    text = file.read_text()
    assert len(text.splitlines()) <= LINES_MAX
    assert all(len(line) <= 120 for line in text.splitlines())


def test_more_time_makes_longer_measurements(tmp_path: Path) -> None:
    short, long = tmp_path / "short.toml", tmp_path / "long.toml"
    run(short, "--time", "5m")
    run(long, "--time", "3h")
    durations = [read_study(file).study.duration for file in (short, long)]
    assert durations == [10.0, 120.0]


def test_a_running_server_is_named_by_its_url_and_its_password_by_a_variable(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    run(file, "--server", "mysql://bench@db/sbtest", "--question", "capacity", "--time", "1h")
    (system,) = read_study(file).system
    assert (system.target, system.password_env) == ("mysql://bench@db/sbtest", "PLIMSOLL_PASSWORD")


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("--time", "30s"), "--time: the shortest such study takes about"),
        (("--question", "compare", "--time", "30s"), "--time: the shortest such study takes about"),
        (("--time", "soon"), "--time: must be a duration"),
        (("--question", "why"), "--question: must be one of throughput, capacity, compare"),
        (("--question", "compare", "--server", "mysql://a@b/c"), "plimsoll ab --target"),
        (("--server", "mysql://a:hunter2@b/c"), "the URL holds a password"),
        (("--server", "/nowhere/mysqld"), "/nowhere/mysqld"),
    ],
)
def test_what_cannot_become_a_study_is_refused_and_leaves_no_file(
    tmp_path: Path, arguments: tuple[str, ...], fault: str
) -> None:
    file = tmp_path / "s.toml"
    with pytest.raises(PlimsollError, match=fault) as refused:
        run(file, *arguments)
    assert "hunter2" not in str(refused.value)
    assert not file.exists()


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("mine")
    with pytest.raises(PlimsollError, match="is not overwritten"):
        run(file)
    assert file.read_text() == "mine"


def test_on_a_terminal_what_was_not_given_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.cli.new._is_somebody_there", lambda: True)
    file = tmp_path / "s.toml"
    run(file, "--server", "mysql", answers="capacity\n1h\n")
    spec = read_study(file)
    assert spec.study.levels.capacity is not None
    assert spec.study.budget == 3600.0
    assert spec.system[0].server is not None
    assert spec.system[0].server.managed == "mysql"
