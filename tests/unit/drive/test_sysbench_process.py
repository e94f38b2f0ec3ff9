"""The engine in the place of sysbench, as a child: which signals are passed on to it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from plimsoll.drive.sysbench import SysbenchProcess


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = tmp_path / "engine"
    engine.write_text("#!/bin/sh\nexit 0\n")
    engine.chmod(0o755)
    monkeypatch.setenv("PLIMSOLL_ENGINE", str(engine))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with SysbenchProcess(["cpu", "run"]) as process:
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
            assert process.wait() == 0
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
