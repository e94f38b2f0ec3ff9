"""Engines that say nothing more: whoever ended or stopped them, or keeps them waiting, must act."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from plimsoll.drive import engine as engine_module
from plimsoll.drive.engine import LocalDriver, run_data_command
from plimsoll.errors import EngineBugError, HostError, PlimsollError, TargetError
from support.engines import PLAN, Fake, drive, fake, fault_of_trial, is_gone

__all__ = ["fake"]


def test_silence_under_load_is_a_bug_of_the_engine(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "SILENCE_S", 1.0)
    fake("say(HELLO); hear(); say(READY); hear(); hear()")
    fault = fault_of_trial()
    assert isinstance(fault, EngineBugError)
    assert "said nothing for 1 s" in str(fault)
    assert is_gone(tmp_path)


def test_silence_before_the_load_is_a_server_that_does_not_answer(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "SILENCE_S", 1.0)
    fake("say(HELLO); hear(); hear()")
    for ask in (drive, lambda: run_data_command(LocalDriver(), "check", PLAN)):
        with pytest.raises(TargetError, match="the server has not answered for 1 s") as caught:
            ask()
        assert caught.value.code == 2013, "so that nobody takes it for tables that are missing"
        assert is_gone(tmp_path)


def test_an_engine_that_was_stopped_is_no_bug(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "SILENCE_S", 1.0)
    fake("say(HELLO); hear(); say(READY); hear(); os.kill(os.getpid(), 19)")
    fault = fault_of_trial()
    assert isinstance(fault, HostError)
    assert f"kill -CONT {(tmp_path / 'pid').read_text()}" in str(fault)
    assert is_gone(tmp_path)


@pytest.mark.parametrize(
    ("number", "kind", "words"),
    [
        (signal.SIGKILL, HostError, "was ended by SIGKILL (the kernel does so when memory runs out"),
        (signal.SIGTERM, HostError, "was ended by SIGTERM; run the same command again"),
        (signal.SIGSEGV, EngineBugError, "ended without a last message, exit code -11"),
        (signal.SIGABRT, EngineBugError, "ended without a last message, exit code -6"),
    ],
)
@pytest.mark.parametrize("begun", ["say(HELLO); hear()", "say(HELLO); hear(); say(READY); hear()"])
def test_whoever_ends_it_by_a_signal_must_act(
    fake: Fake, begun: str, number: signal.Signals, kind: type[PlimsollError], words: str
) -> None:
    fake(f"{begun}; os.kill(os.getpid(), {int(number)})")
    fault = fault_of_trial()
    assert type(fault) is kind
    assert words in str(fault)


def test_an_engine_that_was_interrupted_is_no_bug(fake: Fake) -> None:
    fake("say(HELLO); hear(); sys.exit(130)")
    with pytest.raises(HostError, match="was interrupted by a signal"):
        run_data_command(LocalDriver(), "prepare", PLAN)
