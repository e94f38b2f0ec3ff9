"""Several made-up engines as one run: who is waited for, what is added up, and what becomes of one that is lost."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from plimsoll.drive import shared_run
from plimsoll.drive.engine import LocalDriver, follow
from plimsoll.drive.merging import SharedInterval
from plimsoll.drive.protocol import Done, EngineMessage, EngineWarning, Interval
from plimsoll.drive.shared_run import DriverPlace, SharedDriver
from plimsoll.errors import HostError, InvalidTrialError, TargetError
from support.drivers import ScriptLauncher
from support.engines import DONE, HELLO, READY

PLAN: dict[str, Any] = {"type": "plan"}

BEGINNING = """
import json, os, sys, time
def say(*messages):
    for message in messages:
        os.write(1, json.dumps(message).encode() + b"\\n")
def hear():
    line = sys.stdin.readline()
    message = json.loads(line) if line else {{"type": "end"}}
    if message["type"] == "ping":
        say({{"type": "pong", "id": message["id"], "unix_ns": time.time_ns() + AHEAD_NS}})
        return hear()
    return message
def interval(index):
    group = {{"instance": "a", "backlog_count": 1, "connected_count": 2, "in_flight": {{}},
             "snapshot": {{"transactions": {{}}, "errors": []}}}}
    return {{"type": "interval", "index": index, "from_ns": index * 10**9, "to_ns": (index + 1) * 10**9,
            "client": {{"user_ns": 5, "system_ns": 7}}, "groups": [group], "run_delay_ns": 3}}
def begin():
    say(HELLO)
    plan = hear()
    say(READY)
    start = hear()
    DONE["started_unix_ns"] = start["at_unix_ns"]
    return plan
HELLO, READY, DONE = {hello!r}, {ready!r}, {done!r}
AHEAD_NS = 0
"""


def engine(body: str) -> ScriptLauncher:
    texts = BEGINNING.format(hello=HELLO, ready=READY, done={**DONE, "offered_count": 4})
    return ScriptLauncher(texts + textwrap.dedent(body))


GOOD = "begin(); say(interval(0), interval(1)); hear(); say(DONE)"


def driver(*bodies: str) -> SharedDriver:
    places = [DriverPlace(f"load{index}", engine(body)) for index, body in enumerate(bodies)]
    return SharedDriver(places, LocalDriver())


def drive(*bodies: str, stop_after: int = 2) -> tuple[list[EngineMessage], Any]:
    """All messages until the end, and what is kept of the drivers."""
    heard: list[EngineMessage] = []
    with driver(*bodies).launch_trial(PLAN) as run:
        run.ready(lambda _: None)
        run.start()

        def take(interval: Interval) -> None:
            heard.append(interval)
            if interval.index + 1 == stop_after:
                run.stop()

        follow(run, take=take, warn=heard.append, end=heard.append)
        return heard, run.drivers


def test_messages_are_of_all_engines_together() -> None:
    heard, drivers = drive(GOOD, GOOD, GOOD)
    assert [type(one) for one in heard] == [SharedInterval, SharedInterval, Done]
    first, _, done = heard
    assert isinstance(first, SharedInterval)
    assert isinstance(done, Done)
    assert list(first.parts) == ["load0", "load1", "load2"]
    assert (first.client.user_ns, first.client.system_ns, first.run_delay_ns) == (15, 21, 9)
    assert [(group.connected_count, group.backlog_count) for group in first.groups] == [(6, 3)]
    assert done.offered_count == 12
    assert [one.offered_count for one in drivers] == [4, 4, 4]
    assert not any(one.is_here for one in drivers)


def test_each_engine_has_its_share_of_the_plan() -> None:
    tell = """
        plan = begin()
        warning = {"type": "warning", "code": "told", "evidence": json.dumps(plan), "advice": "None."}
        say(warning, DONE)
    """
    heard, _ = drive(tell, tell)
    told = [one.evidence for one in heard if isinstance(one, EngineWarning)]
    assert sorted(told) == [
        'Driver load0: {"type": "plan", "share": {"index": 0, "count": 2}}',
        'Driver load1: {"type": "plan", "share": {"index": 1, "count": 2}}',
    ]


def test_a_clock_that_is_wrong_by_five_seconds_is_corrected_at_the_start() -> None:
    ahead = f"AHEAD_NS = 5 * 10**9\n{GOOD}"
    _, (right, wrong) = drive(GOOD, ahead)
    assert wrong.clock_ahead_s == pytest.approx(5, abs=1)
    assert abs(wrong.clock_ahead_s - 5) <= wrong.clock_error_s
    assert abs(right.clock_ahead_s) <= right.clock_error_s
    assert max(right.start_late_s, wrong.start_late_s) < 1e-6  # each was told the same instant by its own clock


def test_a_start_that_comes_too_late_is_no_trial() -> None:
    late = GOOD.replace("begin();", "begin(); DONE['started_unix_ns'] += 3 * 10**9;")
    with pytest.raises(InvalidTrialError, match=r"driver load1 began 3\.\d+ s after the first one \(known to .*\)"):
        drive(GOOD, late)


def test_a_driver_that_dies_is_named_and_the_others_are_stopped() -> None:
    lost = "begin(); say(interval(0)); os.kill(os.getpid(), 9)"
    stopped = "begin(); say(interval(0)); assert hear()['type'] == 'stop'; say(DONE)"
    with pytest.raises(
        InvalidTrialError,
        match=r"^driver load1 was lost after .* of load: plimsoll-engine was ended by SIGKILL.*stopped$",
    ):
        drive(stopped, lost, stopped, stop_after=9)


def test_a_driver_that_says_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_run, "LOST_AFTER_S", 5.0)
    silent = "begin(); say(interval(0)); hear()"
    speaking = "begin()\nfor index in range(600): say(interval(index)); time.sleep(0.1)"
    with pytest.raises(InvalidTrialError, match=r"^driver load1 was lost .*said nothing for 5 s"):
        drive(speaking, silent, stop_after=9)


def test_before_the_start_the_cause_stays_what_it_is_and_gets_a_name() -> None:
    refused = """
        say(HELLO); hear()
        say({"type": "failed", "class": "target", "code": 1045, "sqlstate": "28000", "message": "Access denied"})
    """
    with pytest.raises(TargetError, match=r"^driver load1: Access denied$") as caught:
        drive(GOOD, refused)
    assert caught.value.code == 1045


def test_engines_of_different_versions_are_refused() -> None:
    other = GOOD.replace("begin();", "HELLO['engine'] = '9.9.9'; begin();")
    with pytest.raises(HostError, match=r"different versions .*load0 0\.1\.0, load1 9\.9\.9"):
        drive(GOOD, other)


def test_a_driver_that_alone_lost_the_server_makes_the_trial_invalid() -> None:
    gone = "begin(); DONE['reason'] = 'outage'; say(interval(0), DONE)"
    with pytest.raises(InvalidTrialError, match=r"driver load1 had no connection .*while load0 had connections"):
        drive("begin(); say(interval(0)); hear(); say(DONE)", gone, stop_after=9)


def test_what_a_driver_left_unfinished_stays_in_flight_until_the_others_have_ended() -> None:
    ages = {"buckets": [9], "counts": [2], "sum_ns": 18, "max_ns": 9}
    early = f"""
        begin()
        last = interval(0)
        last["groups"][0]["in_flight"] = {{"response": {ages!r}}}
        say(last, DONE)
    """
    heard, _ = drive(early, GOOD)
    _, second, _ = heard
    assert isinstance(second, SharedInterval)
    (group,) = second.groups
    assert group.in_flight["response"].counts == [2]
    assert group.connected_count == 2


def test_a_doubt_that_all_have_is_told_once_and_others_with_the_driver() -> None:
    of_all = {"type": "warning", "code": "a", "evidence": "Of the server.", "advice": "Do."}
    own = {**of_all, "evidence": "Of this driver."}
    heard: list[EngineWarning] = []
    first = f"say(HELLO); hear(); say({of_all!r}, {own!r}, READY); hear()"
    other = f"say(HELLO); hear(); say({of_all!r}, READY); hear()"
    with driver(first, other).launch_trial(PLAN) as run:
        run.ready(heard.append)
    assert [one.evidence for one in heard] == ["Of the server.", "Driver load0: Of this driver."]
