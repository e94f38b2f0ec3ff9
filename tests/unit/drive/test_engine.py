"""Engines that misbehave: each gives the exception of whoever must act, with a clear message, and none is left."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from plimsoll.drive import engine as engine_module
from plimsoll.drive.engine import LocalDriver, run_data_command
from plimsoll.drive.executable import engine_version, find_engine
from plimsoll.drive.protocol import PROTOCOL, Done, EngineWarning, Interval, Progress, Ready
from plimsoll.errors import EngineBugError, HostError, PlimsollError, SpecError, TargetError
from support.engines import (
    INTERVAL,
    PLAN,
    PROGRESS,
    READY,
    WARNING,
    Fake,
    fake,
    fault_of_trial,
    heard,
    is_gone,
)

__all__ = ["fake"]

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "engine-protocol.schema.json").read_text())


def test_a_good_engine_is_understood(fake: Fake, tmp_path: Path) -> None:
    fake(
        "say(HELLO); hear(); say(WARNING, READY); hear(); say(INTERVAL); hear(); say(DONE)",
        WARNING=WARNING,
        INTERVAL=INTERVAL,
    )
    warnings: list[EngineWarning] = []
    with LocalDriver().launch("trial", PLAN) as run:
        assert run.ready(warnings.append) == Ready(**READY)
        run.start(at_unix_ns=5)
        messages = run.messages()
        assert isinstance(next(messages), Interval)
        run.stop()
        assert [type(message) for message in messages] == [Done]
    assert [warning.code for warning in warnings] == ["a-code"]
    assert is_gone(tmp_path)
    plan, *later = heard(tmp_path)
    assert plan == PLAN
    assert [line["type"] for line in later] == ["start", "stop"]
    for line in later:
        schema = {"$ref": "#/$defs/TrialCommand", "$defs": SCHEMA["$defs"]}
        jsonschema.Draft202012Validator(schema).validate(line)


def test_lines_that_come_in_pieces_are_put_together(fake: Fake) -> None:
    fake(
        """
        text = b"".join(json.dumps(m).encode() + b"\\n" for m in (HELLO, READY, *[INTERVAL] * 2000, DONE))
        for at in range(0, len(text), 5001):
            os.write(1, text[at:at + 5001])
        """,
        INTERVAL=INTERVAL,
    )
    with LocalDriver().launch("trial", PLAN) as run:
        run.ready(lambda _: None)
        assert sum(isinstance(message, Interval) for message in run.messages()) == 2000


def test_another_protocol_is_refused(fake: Fake, tmp_path: Path) -> None:
    fake("say({**HELLO, 'protocol': 99}); hear()")
    fault = fault_of_trial()
    assert isinstance(fault, EngineBugError)
    assert f"speaks protocol 99, not {PROTOCOL}; reinstall plimsoll" in str(fault)
    assert is_gone(tmp_path)


def test_a_line_without_end_is_a_bug_of_the_engine(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "LINE_BYTES_MAX", 100_000)
    fake("while True: os.write(1, b'[' * 60_000)")
    with pytest.raises(EngineBugError, match="a line of more than 100000 bytes"):
        LocalDriver().launch("trial", PLAN)


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "[]",
        '{"type": "surprise"}',
        '{"type": "ready", "connections": 2}',
        '{"type": "ready", "connections": 2, "connect_ms": 1, "more": 1}',
        "\xff\xfe",
    ],
)
def test_garbage_is_a_bug_of_the_engine(fake: Fake, tmp_path: Path, line: str) -> None:
    fake("say(HELLO); hear(); os.write(1, LINE + b'\\n')", LINE=line.encode("latin-1"))
    fault = fault_of_trial()
    assert isinstance(fault, EngineBugError)
    assert "said something that is not in the protocol" in str(fault)
    assert is_gone(tmp_path)


def test_a_message_out_of_turn_is_a_bug_of_the_engine(fake: Fake) -> None:
    fake("say(READY)")
    fault = fault_of_trial()
    assert isinstance(fault, EngineBugError)
    assert "said Ready where Hello was due" in str(fault)


@pytest.mark.parametrize(
    "body", ["", "say(HELLO); hear()", "say(HELLO); hear(); say(READY); hear(); os.write(1, b'{')"]
)
def test_death_says_the_exit_code_and_the_last_words(fake: Fake, body: str) -> None:
    fake(f"{body}\nsys.stderr.write('thread main panicked at x.rs:7'); sys.exit(101)")
    fault = fault_of_trial()
    assert isinstance(fault, EngineBugError)
    assert str(fault) == "plimsoll-engine ended without a last message, exit code 101: thread main panicked at x.rs:7"
    assert fault.exit_code == 70


def test_done_before_ready_is_a_bug_of_the_engine(fake: Fake) -> None:
    fake("say(HELLO); hear(); say(DONE)")
    fault = fault_of_trial()
    assert isinstance(fault, EngineBugError)
    assert "ended before it was ready" in str(fault)


@pytest.mark.parametrize("when", ["say(HELLO); hear()", "say(HELLO); hear(); say(READY); hear()"])
@pytest.mark.parametrize(
    ("name", "kind", "exit_code"),
    [("spec", SpecError, 2), ("target", TargetError, 3), ("host", HostError, 3), ("bug", EngineBugError, 70)],
)
def test_failed_says_who_must_act(fake: Fake, when: str, name: str, kind: type[PlimsollError], exit_code: int) -> None:
    failed = {"type": "failed", "class": name, "code": 1045, "sqlstate": "28000", "message": "no entry: give a key"}
    fake(f"{when}; say(FAILED); sys.exit({exit_code})", FAILED=failed)
    fault = fault_of_trial()
    assert type(fault) is kind
    assert str(fault) == "no entry: give a key"
    assert fault.exit_code == exit_code
    if isinstance(fault, TargetError):
        assert (fault.code, fault.sqlstate) == (1045, "28000")


def test_failed_may_leave_code_and_sqlstate_out(fake: Fake) -> None:
    fake("say(HELLO); hear(); say({'type': 'failed', 'class': 'target', 'message': 'no way'})")
    fault = fault_of_trial()
    assert isinstance(fault, TargetError)
    assert (str(fault), fault.code, fault.sqlstate) == ("no way", None, None)


def test_an_engine_that_ends_early_does_not_break_the_writer(fake: Fake) -> None:
    failed = {"type": "failed", "class": "host", "code": None, "sqlstate": None, "message": "too few threads"}
    fake("say(HELLO, FAILED)", FAILED=failed)
    fault = fault_of_trial()
    assert isinstance(fault, HostError)
    assert str(fault) == "too few threads"


def test_data_commands_show_progress_and_give_the_account(fake: Fake, tmp_path: Path) -> None:
    fake("say(HELLO); hear(); say(PROGRESS, WARNING, DONE)", PROGRESS=PROGRESS, WARNING=WARNING)
    progress: list[Progress] = []
    warnings: list[EngineWarning] = []
    done = run_data_command(LocalDriver(), "prepare", PLAN, progress=progress.append, warn=warnings.append)
    assert (done.rows_count, len(progress), len(warnings)) == (7, 1, 1)
    assert is_gone(tmp_path)


@pytest.mark.parametrize("name", ["gone", "a-folder", "not-executable"])
def test_an_engine_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path = tmp_path / name
    if name == "not-executable":
        path.write_text("")
    if name == "a-folder":
        path.mkdir()
    monkeypatch.setenv("PLIMSOLL_ENGINE", str(path))
    with pytest.raises(HostError) as caught:
        LocalDriver().launch("trial", PLAN)
    assert str(path) in str(caught.value) or name == "a-folder"
    assert "reinstall plimsoll" in str(caught.value)


def test_the_engine_that_is_named_is_used(fake: Fake, tmp_path: Path) -> None:
    fake("print('plimsoll-engine 9.9')")
    assert find_engine() == tmp_path / "engine"
    assert engine_version() == "plimsoll-engine 9.9"


def test_an_engine_that_cannot_say_its_version_is_a_fault_of_this_machine(fake: Fake) -> None:
    fake("sys.exit(1)")
    with pytest.raises(HostError, match="reinstall plimsoll"):
        engine_version()
