"""What went wrong becomes one message and the exit code of its class."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import typer

from plimsoll.cli.failures import exit_code_of
from plimsoll.errors import (
    EngineBugError,
    HostError,
    InvalidTrialError,
    PlimsollError,
    RecordError,
    SpecError,
    TargetError,
)
from support.command import plimsoll


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SpecError("a: wrong", "b: wrong"), 2),
        (TargetError("no", code=1045, sqlstate="28000"), 3),
        (HostError("full"), 3),
        (InvalidTrialError("nothing completed"), 4),
        (RecordError("cut short"), 5),
        (EngineBugError("panic"), 70),
    ],
)
def test_each_class_has_its_exit_code(error: PlimsollError, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        raise error

    assert exit_code_of(command) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    for line in str(error).splitlines():
        assert line in shown.err


def test_what_nobody_expected_is_a_bug_with_its_trace_in_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        raise ZeroDivisionError("secret detail")

    assert exit_code_of(command) == 70
    shown = capsys.readouterr().err
    assert "bug" in shown
    assert "Traceback" not in shown
    trace = Path(shown.split()[-1])
    assert "secret detail" in trace.read_text()
    trace.unlink()


def test_what_a_server_said_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        raise TargetError("the server says \x1b]0;owned\x07\nand \x9b2J")

    assert exit_code_of(command) == 3
    shown = capsys.readouterr().err
    assert all(one.isprintable() or one == "\n" for one in shown)
    assert "\\x1b]0;owned" in shown


def test_what_the_machine_refuses_anywhere_is_no_bug(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        Path("/dev/full").write_text("x")

    assert exit_code_of(command) == 3
    assert "No space left on device; check the file" in capsys.readouterr().err


def test_a_bug_is_told_even_where_no_file_can_be_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def command() -> None:
        raise ZeroDivisionError("secret detail")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", full)
    assert exit_code_of(command) == 70
    shown = capsys.readouterr().err
    assert "No space left on device" in shown
    assert "secret detail" in shown


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_sigterm_and_sighup_are_interruptions_and_are_told(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    """Through the real command line: typer turns the interruption into an exit code before we see it."""
    app = typer.Typer()
    app.command()(lambda: os.kill(os.getpid(), number))

    assert exit_code_of(lambda: app([], standalone_mode=False)) == 130
    assert capsys.readouterr().err == "plimsoll: interrupted\n", "what is kept is said by those that record"
    os.kill(os.getpid(), number)  # the second one, while the process ends, changes nothing


class Interrupting:
    """Part of a class that is being made when somebody interrupts: Python 3.11 makes a RuntimeError of that."""

    def __set_name__(self, owner: type, name: str) -> None:
        raise KeyboardInterrupt


def test_an_interruption_while_a_class_is_made_is_no_bug(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of(lambda: type("Made", (), {"part": Interrupting()})) == 130
    assert capsys.readouterr().err == "plimsoll: interrupted\n"


def test_a_fault_of_cleaning_up_after_an_interruption_is_a_bug(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def command() -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise ValueError

    assert exit_code_of(command) == 70
    assert "plimsoll: bug: ValueError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["trial"], "Missing option '--target'"),
        (["trial", "--target", "managed", "--connections", "0"], "--connections"),
        (["trial", "--target", "managed", "--seed", str(2**64)], "--seed"),
        (["trial", "--target", "managed", "--duration", "soon"], "--duration: must be a duration"),
        (["trial", "--target", "managed", "--retry", "soon"], "--retry: must be codes, how often and a pause"),
        (["trial", "--target", "managed", "--think-time", "1s..0s"], "--think-time: must not have a min above its max"),
        (["trial", "--target", "managed", "--connect-rate", "0"], "--connect-rate: must be >= 0.001"),
        (["trial", "--target", "managed", "--give-up", "never"], "--give-up: must be a duration"),
        (
            ["trial", "--target", "managed", "--rate", "5", "--think-time", "1s"],
            "--think-time: belongs to a closed loop",
        ),
        (["trial", "--target", "managed", "--workload", "tpch"], "--workload: must be one of"),
        (["trial", "--target", "postgres://u@h/d"], "must begin with mysql://"),
        (["import", "table", "x.csv", "--to", "s", "--map", "level"], "--map: must be COLUMN=NAME"),
        (["prepare", "--target", "mysql://u@h/d", "--ca", "x"], "plimsoll: --ca: nothing is verified"),
        (["prepare", "--target", "mysql://u@h/d", "--option", "ca=x"], "plimsoll: --option ca: is not a known key"),
        (["prepare", "--target", "mysql://u@h/d", "--tls", "x"], "plimsoll: --tls: must be one of"),
        (["prepare", "--target", "managed", "mysql://u:hunter2@h/d"], "mysql://u:…@h/d"),
        (["study"], "Usage: plimsoll study"),
        ([], "Usage: plimsoll"),
    ],
)
def test_misuse_is_told_on_standard_error(arguments: list[str], message: str) -> None:
    ran = plimsoll(*arguments)
    assert ran.returncode == 2
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "hunter2" not in ran.stderr
    assert ran.stdout == ""


def test_help_and_version_are_data() -> None:
    assert plimsoll("--version").stdout.startswith("plimsoll ")
    for command in ([], ["study"], ["study", "run"], ["trial"], ["prepare"], ["size"], ["import", "table"], ["guide"]):
        ran = plimsoll(*command, "--help")
        assert ran.returncode == 0
        assert "Usage: plimsoll" in ran.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete(shell: str) -> None:
    ran = plimsoll("--show-completion", shell, env={"SHELL": f"/bin/{shell}"})
    assert ran.returncode == 0, ran.stderr
    assert "plimsoll" in ran.stdout
