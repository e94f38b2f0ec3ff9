"""Studies whose server is stopped (SIGSTOP) in a trial: what the guide says of it, and when no result counts."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from plimsoll.run.events import TrialEnded, read_events
from support.command import plimsoll, start_forked
from support.studies import server_below, wait_for_interval
from support.waiting import until
from support.waiting_load import write_waiting_load

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "stalls"
levels = {levels}
warm_up = "1s"
settle_limit = "1s"
duration = "9s"
repetitions = {repetitions}
reset = "never"
objective = {{ response_p99 = "500ms" }}
[[workload]]
name = "w"
file = "waiting.toml"
[[system]]
name = "a"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
"""


WINDOW_END_S = 10.0
"""After the load began, its warm-up included."""
GRACE_S = 2.0
"""For so long the engine waits for what is in flight then."""


class Running:
    """A study that runs, with the server that it started."""

    def __init__(self, folder: Path, levels: str, repetitions: int) -> None:
        self.data = f"/var/tmp/plimsoll-test-stalls-{os.getpid()}"
        self.study = folder / "out"
        write_waiting_load(folder, wait_ms=20)
        (folder / "s.toml").write_text(STUDY.format(levels=levels, repetitions=repetitions))
        env = {"PLIMSOLL_DATA_DIR": self.data}
        self.continued_unix_s = 0.0
        self.process = start_forked("study", "run", folder / "s.toml", "--to", self.study, env=env)

    @contextmanager
    def stopped_server(self, interval: int, *, trial: int = 1) -> Iterator[None]:
        """The server stands still from after an interval of a trial on; `continued_unix_s` says when it went on."""
        wait_for_interval(self.study, self.process, interval, trial=trial)
        server = server_below(self.data)
        os.kill(server, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(server, signal.SIGCONT)
            self.continued_unix_s = time.time()

    def end(self) -> tuple[int, str]:
        """Exit code and everything that it printed."""
        output, errors = self.process.communicate(timeout=300)
        Path(self.data).rmdir()
        return self.process.returncode, output + errors

    def trials_ended(self) -> int:
        """How many of its trials have ended."""
        return sum(isinstance(stamped.event, TrialEnded) for stamped in read_events(self.study / "events.jsonl"))

    def guide(self) -> dict[str, Any]:
        ran = plimsoll("guide", self.study, "--json")
        assert ran.returncode == 0, ran.stderr
        analysis: dict[str, Any] = json.loads(ran.stdout)
        return analysis


def codes(analysis: dict[str, Any]) -> list[str]:
    return [one["code"] for one in analysis["warnings"]]


def test_a_repetition_that_stalled_or_is_silent_to_its_end_is_named_and_told_from_the_others(tmp_path: Path) -> None:
    """Of three: the first is silent to its end, the second stalls for some seconds, the third is as it should be."""
    running = Running(tmp_path, "{ connections = [4] }", repetitions=3)
    with running.stopped_server(3):
        assert until(lambda: running.trials_ended() > 0, step_s=0.1)
    with running.stopped_server(1, trial=2):
        wait_for_interval(running.study, running.process, 5, trial=2)
    code, printed = running.end()
    assert code == 4, printed
    silent, *others = sorted(read_study(running.study).recordings, key=lambda recording: recording.trial.position)
    assert silent.outcome.verdict is Verdict.FAILED, printed
    assert [other.outcome.verdict for other in others] == [Verdict.COMPLETE] * 2, printed
    assert "the server answered nothing from " in (silent.outcome.reason or "")
    assert silent.outcome.account is not None
    assert silent.outcome.account.unfinished_count == 4
    check_guide(running.guide(), running.study)


def check_guide(analysis: dict[str, Any], study: Path) -> None:
    """The trial that was silent is missing, the stall comes first, and figures say how much of their time it was."""
    (missing,) = analysis["missing"]
    assert re.match(r"failed: a/0: the server answered nothing from ", missing["reason"])
    assert codes(analysis)[0] == "throughput-stalled"
    # From after the second second until after the sixth, which a busy machine may notice late.
    stalled = r"w: (nothing|only \d+ transactions?) completed (for|in) (\d\.0) of 9\.0 s \(.*\), from [2-5]\.0 s after"
    (told,) = [one["text"] for one in analysis["answer"] if one["code"] == "stalled"]
    found = re.match(stalled, told)
    assert found, analysis["answer"]
    assert float(found[3]) <= 7
    assert "on a at 4 connections (repetition 2)" in told
    (cell,) = analysis["curves"][0]["cells"]
    assert cell["stalled_ratio"] == pytest.approx(float(found[3]) / 18, abs=0.01)
    assert "p99" not in cell["response_ms"]["lower_bounds"]
    page = (study / "guide.md").read_text()
    assert "stalled %" in page
    assert "throughput-stalled" in page


def test_what_had_not_ended_at_the_end_of_the_window_makes_lower_bounds_though_the_server_went_on(
    tmp_path: Path,
) -> None:
    """At a rate: it goes on when the window has ended and what is in flight is waited for, two seconds long.

    What was sent ends then, what waited is not sent any more.
    """
    running = Running(tmp_path, "{ rate_tps = [100], connections = [8] }", repetitions=1)
    with running.stopped_server(6):
        wait_for_interval(running.study, running.process, 9)
    code, printed = running.end()
    (recording,) = read_study(running.study).recordings
    account = recording.outcome.account
    assert account is not None
    if recording.outcome.verdict is Verdict.FAILED:
        # A busy machine lets the server go on when nothing is waited for any more, or so late that nothing came of it.
        assert running.continued_unix_s - account.started_unix_s > WINDOW_END_S + GRACE_S - 1, printed
        assert (code, "the server answered nothing from " in (recording.outcome.reason or "")) == (4, True), printed
        return
    assert code == 0, printed
    assert recording.outcome.verdict is Verdict.COMPLETE
    analysis = running.guide()
    (cell,) = analysis["curves"][0]["cells"]
    # Stopped a moment after 7 s until after the end of the window at 10 s: at 100 a second, at random, at most 300
    # arrive then, and 370 once in 30,000 times. Their number says for how long it was stopped.
    assert 50 < cell["unfinished_count"] < 370
    stopped_ms = 10 * cell["unfinished_count"]
    late = 100 * (account.duration_s - WINDOW_END_S)  # those that arrive before the server goes on
    assert account.unfinished_count == pytest.approx(cell["unfinished_count"] + late, abs=30 + 4 * late**0.5)
    assert "p99" in cell["response_ms"]["lower_bounds"]
    assert stopped_ms - 700 < cell["response_ms"]["p99"] <= cell["response_ms"]["max"]
    assert cell["response_ms"]["max"] == pytest.approx(stopped_ms, abs=500)
    assert codes(analysis)[0] == "throughput-stalled"
    assert re.search(r"≥ \d", (running.study / "guide.md").read_text())
    assert "within 500 ms, a sustains no level that was measured" in " ".join(one["text"] for one in analysis["answer"])
    assert ", p99 >= " in printed
    assert "stalled for " in printed
