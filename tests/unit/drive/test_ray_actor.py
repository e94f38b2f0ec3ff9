"""What runs on a node of a Ray cluster, without the cluster."""

from __future__ import annotations

import signal

import pytest

from plimsoll import __version__
from plimsoll.drive.ray_cluster.actor import EngineActor
from support.engines import Fake, fake  # noqa: F401 - a fixture

WORDS = ("plimsoll-engine", "trial")


def test_it_passes_bytes_on_and_says_how_the_engine_ended(fake: Fake) -> None:  # noqa: F811
    fake("""
        while line := sys.stdin.readline():
            os.write(1, b"heard " + line.encode())
        os.write(2, b"last words")
        sys.exit(3)
    """)
    actor = EngineActor()
    assert actor.start(WORDS, __version__) is None
    actor.write(b"one\n")
    assert actor.read() == b"heard one\n"
    actor.end_input()
    assert actor.read() == b""
    assert actor.ended() == (3, b"last words")


def test_an_engine_that_has_ended_hears_nothing(fake: Fake) -> None:  # noqa: F811
    fake("time.sleep(60)")
    actor = EngineActor()
    assert actor.start(WORDS, __version__) is None
    actor.send_signal(signal.SIGKILL)
    assert actor.ended() == (-signal.SIGKILL, b"")
    actor.write(b"a line\n")


def test_a_node_without_the_engine_or_with_another_version_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIMSOLL_ENGINE", "/nowhere")
    assert "plimsoll-engine: not found at /nowhere; reinstall plimsoll" in (
        EngineActor().start(WORDS, __version__) or ""
    )
    told = EngineActor().start(WORDS, "9.9.9")
    assert told == f"this node has plimsoll {__version__}, and 9.9.9 drives the trial; install the same one on all"
