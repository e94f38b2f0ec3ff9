"""`plimsoll serve` and `--web`: an address that only its owner knows, what runs now behind it, an end with the run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from plimsoll.servers.managed_server import ManagedServer
from support.command import assert_one_clear_message, plimsoll, real_server, start
from support.vanishing import children, words_of
from support.waiting import until

PASSWORD = "PLIMSOLL_TEST_WEB"
LIMIT_S = 300


def read_line(pipe: IO[str] | None, begin: str) -> str:
    """The rest of the next line that begins so."""
    assert pipe is not None
    return next(line.removeprefix(begin).strip() for line in pipe if line.startswith(begin))


def events(address: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a page is told, until the run has ended."""
    with urllib.request.urlopen(f"{address}live", timeout=LIMIT_S) as answer:
        kind = ""
        for line in answer:
            name, _, text = line.decode().rstrip("\n").partition(": ")
            if name == "event":
                kind = text
            elif name == "data":
                yield kind, json.loads(text)


def test_an_address_with_a_token_until_ctrl_c(tmp_path: Path) -> None:
    process = start("serve", tmp_path, "--port", "0")
    try:
        address = read_line(process.stdout, "http://")
        with urllib.request.urlopen(f"http://{address}", timeout=LIMIT_S) as answer:
            assert "no study and no folder of runs" in answer.read().decode()
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://{address.split('/')[0]}/", timeout=LIMIT_S)
        assert address.startswith("127.0.0.1:")
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("--host", "0.0.0.0"), ("--host: needs --token-env",)),
        (
            ("--host", "0.0.0.0", "--token-env", "PLIMSOLL_TEST_SHORT"),
            ("--token-env PLIMSOLL_TEST_SHORT: must hold at",),
        ),
        (("--token-env", "PLIMSOLL_TEST_MISSING"), ("--token-env PLIMSOLL_TEST_MISSING: must hold at least 16",)),
    ],
)
def test_others_may_only_ask_with_a_token_that_is_not_guessed(
    tmp_path: Path, words: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    ran = plimsoll("serve", tmp_path, *words, env={"PLIMSOLL_TEST_SHORT": "1234"})
    assert_one_clear_message(ran, 2, *parts)
    assert "1234" not in ran.stderr


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert_one_clear_message(plimsoll("serve", tmp_path / "nothing"), 2, "No such file or directory")


@pytest.fixture(scope="module")
def server() -> Iterator[ManagedServer]:
    with real_server(Path("/var/tmp/plimsoll-test-web")) as running:
        yield running


@pytest.mark.e2e
def test_a_run_is_shown_while_it_runs_and_its_page_ends_with_it(server: ManagedServer, tmp_path: Path) -> None:
    target, password = server.target, server.target.password.get_secret_value()
    where = ("--target", str(target), "--password-env", PASSWORD, "--table-size", "1000")
    env = {PASSWORD: password}
    assert plimsoll("prepare", *where, env=env).returncode == 0
    load = ("--connections", "2", "--think-time", "20ms", "--warm-up", "1s", "--duration", "4s")
    process = start("trial", *where, *load, "--record", tmp_path / "runs", "--web", env=env)
    try:
        address = read_line(process.stderr, "plimsoll: page: ")
        child = page_process(process)
        for file in ("cmdline", "environ"):
            seen = Path(f"/proc/{child}/{file}").read_bytes()
            assert password.encode() not in seen
            assert address.split("/")[3].encode() not in seen
        niceness = int(Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[16])
        assert niceness > os.nice(0)
        told = list(events(address))
    finally:
        out, said = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, said
    assert "throughput" in out
    assert [kind for kind, _ in told][-1] == "ended"
    assert until(lambda: not Path(f"/proc/{child}").exists(), LIMIT_S)
    trials = [data for kind, data in told if kind == "trial"]
    (recording,) = read_study(tmp_path / "runs").recordings
    assert recording.outcome.verdict is Verdict.COMPLETE
    assert {data["trial"]["trial_id"] for data in trials} == {recording.trial.trial_id}
    intervals = recording.intervals()
    assert intervals is not None
    last = trials[-1]["course"]["measured"]
    window = recording.outcome.window
    assert window is not None
    counted = intervals.filter(intervals["interval"].is_between(window.first, window.last))
    assert trials[-1]["course"]["intervals"] > window.last, "the page saw all that counts"
    assert last["completed"] == counted["completed"].sum(), "what completed after the window does not count"


def page_process(process: subprocess.Popen[str]) -> int:
    """The process below a command that serves its page."""
    return next(pid for pid in children(process.pid) if b"plimsoll.serve.process" in b" ".join(words_of(pid)))


def test_without_a_folder_the_page_lasts_as_long_as_the_run(server: ManagedServer) -> None:
    assert os.environ.get(PASSWORD) is None
    where = ("--target", str(server.target), "--password-env", PASSWORD, "--table-size", "1000")
    ran = plimsoll(
        "trial", *where, "--duration", "1s", "--think-time", "20ms", "--web",
        env={PASSWORD: server.target.password.get_secret_value()},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "plimsoll: page: http://127.0.0.1:" in ran.stderr
    assert "recorded" not in ran.stderr
