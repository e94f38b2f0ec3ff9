"""Hooks as processes: limits, repetition, output of any kind and size, interruption."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from plimsoll.run import hooks
from plimsoll.run.hooks import KEPT_BYTES, HookEnd, HookOutput, run_to_end, tail_of
from plimsoll.spec.hooks import HookSpec
from support.processes import exists
from support.waiting import until


def run(folder: Path, script: str, limit_s: float = 600.0, output: HookOutput | None = None) -> tuple[HookEnd, str]:
    """Runs a Python program as a hook."""
    output = output or HookOutput()
    hook = HookSpec(command=(sys.executable, "-c", script)).model_copy(update={"limit": limit_s})
    end = run_to_end(hook, folder, dict(os.environ), output)
    return end, output.text()


class Clock:
    """A clock on which the pauses between attempts pass at once, and `passed_s` can be added to.

    So that a slow start of a hook decides nothing. Every other wait is as long as it is.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.passed_s = 0.0
        self._sleep, self._monotonic = time.sleep, time.monotonic
        monkeypatch.setattr(hooks, "time", self)

    def sleep(self, duration_s: float) -> None:
        if duration_s >= hooks.FIRST_PAUSE_S:
            self.passed_s += duration_s
        else:
            self._sleep(duration_s)

    def monotonic(self) -> float:
        return self._monotonic() + self.passed_s


class LongAfter(HookOutput):
    """Output with which a long time has passed once it says that the hook is ready."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def add(self, data: bytes) -> None:
        super().add(data)
        if "ready" in self.text():
            self._clock.passed_s = 1000.0


@pytest.mark.parametrize(
    ("script", "result", "code"),
    [
        ("print('hello')", "done", 0),
        ("raise SystemExit(3)", "failed", 3),
        ("import os; os.kill(os.getpid(), 9)", "failed", -9),
    ],
)
def test_exit_codes(tmp_path: Path, script: str, result: str, code: int) -> None:
    end, _ = run(tmp_path, script)
    assert (end.result, end.exit_code, end.attempts_count) == (result, code, 1)


def test_it_runs_in_the_folder_and_both_outputs_are_kept(tmp_path: Path) -> None:
    _, text = run(tmp_path, "import os, sys; print(os.getcwd(), flush=True); print('oops', file=sys.stderr)")
    assert text.splitlines() == [str(tmp_path), "oops"]


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    end = run_to_end(HookSpec(command=("./none.sh",)), tmp_path, {}, HookOutput())
    assert end.result == "not-started"
    assert end.reason == "No such file or directory"


def test_a_hook_that_hangs_is_ended_with_all_its_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ignores SIGTERM, as does the child that it started."""
    monkeypatch.setattr(hooks, "GRACE_S", 0.2)
    script = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN);"
                          "open('begun', 'w').close(); time.sleep(600)"])
while not os.path.exists("begun"): time.sleep(0.01)
print(os.getpid(), child.pid, "ready", flush=True)
time.sleep(600)
"""
    end, text = run(tmp_path, script, output=LongAfter(Clock(monkeypatch)))
    assert (end.result, end.exit_code) == ("over-limit", None)
    pids = [int(part) for part in text.split()[:2]]
    assert len(pids) == 2
    assert until(lambda: not any(map(exists, pids)))


def test_a_hook_may_clean_up_after_sigterm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = """
import signal, sys, time
signal.signal(15, lambda *_: (print('cleaned'), sys.exit(0)))
print('ready', flush=True)
time.sleep(600)
"""
    monkeypatch.setattr(hooks, "GRACE_S", 60.0)
    end, text = run(tmp_path, script, output=LongAfter(Clock(monkeypatch)))
    assert end.result == "over-limit"
    assert "cleaned" in text


def test_exit_code_75_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "FIRST_PAUSE_S", 0.01)
    script = "import sys; f = open('n', 'a+'); f.write('x'); f.seek(0); sys.exit(75 if len(f.read()) < 3 else 0)"
    end, text = run(tmp_path, script)
    assert (end.result, end.attempts_count) == ("done", 3)
    assert text.count("exit code 75: runs again") == 2


def test_exit_code_75_until_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    monkeypatch.setattr(hooks, "FIRST_PAUSE_S", 200.0)
    monkeypatch.setattr(hooks, "LONGEST_PAUSE_S", 200.0)
    end, _ = run(tmp_path, "raise SystemExit(75)", limit_s=599.0)
    assert (end.result, end.exit_code) == ("over-limit", 75)
    assert (end.attempts_count, clock.passed_s) == (3, 400.0)


def test_binary_noise_of_megabytes_is_kept_in_part_and_escaped(tmp_path: Path) -> None:
    noise = "w.write(b'begin\\n'); w.write(os.urandom(5 << 20)); w.write(b'\\x1b[2Jend')"
    script = f"import os, sys; w = sys.stdout.buffer; {noise}"
    end, text = run(tmp_path, script)
    assert end.result == "done"
    assert text.startswith("begin\n")
    assert text.endswith("\\x1b[2Jend")
    assert "MiB left out]" in text
    assert all(one.isprintable() for line in text.split("\n") for one in line)
    assert len(text) < 12 * KEPT_BYTES


def test_memory_is_bounded_while_output_comes() -> None:
    output = HookOutput()
    for _ in range(100):
        output.add(b"x" * 100_000)
    assert len(output._head) + len(output._tail) <= 3 * KEPT_BYTES + 100_000


def test_a_server_that_it_started_neither_keeps_it_nor_is_ended(tmp_path: Path) -> None:
    """The child goes on writing to the hook's output: that must not break its pipe."""
    script = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import os, sys, time\\n"
    "for n in range(10_000):\\n  print('x' * 1000, flush=True)\\n  if n == 300: open('alive', 'w').close()\\n"
    "  if os.path.exists('stop'): break\\n  time.sleep(0.001)\\n"])
print(child.pid, flush=True)
"""
    end, text = run(tmp_path, script)
    assert end.result == "done"
    pid = int(text.split()[0])
    try:
        assert until((tmp_path / "alive").exists), "more than a pipe holds was written"
        assert exists(pid)
    finally:
        (tmp_path / "stop").touch()
    assert until(lambda: not exists(pid))


def test_ctrl_c_ends_the_hook(tmp_path: Path) -> None:
    output = HookOutput()

    def interrupt() -> None:
        until(lambda: b"\n" in output._head)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    began_s = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "import os, time; print(os.getpid(), flush=True); time.sleep(600)", output=output)
    thread.join()
    assert time.monotonic() - began_s < 300, "it was to last for ten minutes"
    pid = int(output.text())
    assert until(lambda: not exists(pid))


def test_ctrl_c_while_the_hook_is_being_started_ends_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *words: Any, **options: Any) -> None:
            super().__init__(*words, **options)
            started.append(self.pid)
            os.kill(os.getpid(), signal.SIGINT)
            signal.getsignal(signal.SIGINT)  # a handler runs before this returns

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "import time; time.sleep(600)")
    assert len(started) == 1
    assert not exists(started[0])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_secrets_are_masked_wherever_output_is_cut() -> None:
    """No part of four characters of it is left, wherever it stands."""
    secret, size = "0123456789", 4 * KEPT_BYTES
    for place in (10, *(edge + shift for edge in (KEPT_BYTES, size - KEPT_BYTES) for shift in range(-25, 15))):
        output = HookOutput()
        output.add(b"a" * place + secret.encode() + b"b" * (size - place - len(secret)))
        kept = output.text([secret]).replace("[128 KiB left out]", "")
        assert not [part for start in range(7) if (part := secret[start : start + 4]) in kept], place


def test_the_tail_is_the_last_lines() -> None:
    assert tail_of("\n".join(map(str, range(100)))).splitlines()[0] == "85"
    assert len(tail_of("x" * 10_000)) < 1600
    assert tail_of("") == ""
