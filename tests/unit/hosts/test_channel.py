"""Agents that send what none should: every call returns, with a HostError, and so does every end of a connection."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import HostError, SpecError, TargetError
from plimsoll.hosts import channel as channel_module
from plimsoll.hosts import remote_functions
from plimsoll.hosts.calls import plain
from plimsoll.hosts.channel import Channel
from plimsoll.hosts.host import WatchRequest
from plimsoll.hosts.ssh import RemoteCollecting
from plimsoll.record.environment import HostFacts
from plimsoll.servers.facts import host_facts
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.servers.storage import storage_facts
from plimsoll.telemetry.sampler import Columns
from support.scripted_agent import ScriptedAgent
from support.waiting import until

RETURNS_WITHIN_S = 300.0
"""Far longer than any of these takes: whoever waits longer waits for ever."""

ACTIONS: dict[str, Callable[[Channel], Any]] = {
    "call": lambda channel: channel.call(storage_facts, Path("/d")),
    "call of facts": lambda channel: channel.call(host_facts),
    "call that returns nothing": lambda channel: channel.call(remote_functions.hold, "x"),
    "make": lambda channel: channel.make(remote_functions.watch, instances=(), interval_s=1.0, origin_unix_s=0.0),
    "property": lambda channel: channel.method(1, vars(ManagedServer)["pid"]),
    "method": lambda channel: channel.method(1, ManagedServer.start, limit_s=1.0),
    "telemetry": lambda channel: channel.method(1, remote_functions.Watching.take),
    "clock": lambda channel: channel.clock(),
}

MANY_DIGITS = "9" * 400
VALUES = [
    MANY_DIGITS,
    "-" + MANY_DIGITS,
    "9" * 5000,
    "1e400",
    "NaN",
    "-Infinity",
    "[" * 100_000 + "]" * 100_000,
    "[" * 300 + "]" * 300,
    '{"a":' * 5000 + "1" + "}" * 5000,
    '"text"',
    '"\\ud800"',
    "true",
    "1.5",
    "[null]",
    f'{{"name": {MANY_DIGITS}}}',
    f'{{"host": [], "instance": [], "unix_s": [{MANY_DIGITS}], "source": [], "metric": [], "value": [NaN]}}',
]
"""As results and as errors: of no type that any of the actions returns."""

LINES = [
    b"\n",
    b"null\n",
    b"[]\n",
    b"7\n",
    b'"id"\n',
    b"\xff\xfe\x00\n",
    b"{}\n",
    b'{"id": ID}\n',
    b'{"result": 1}\n',
    b'{"id": null, "result": 1}\n',
    b'{"id": [], "result": 1}\n',
    b'{"id": {}, "result": 1}\n',
    b'{"id": 1e400, "result": 1}\n',
    b'{"id": 999, "result": 1}\n',
    b'{"id": ' + MANY_DIGITS.encode() + b', "result": 1}\n',
    b'{"id": ID, "result": \n',
    b'{"id": ID, "error": {}}\n',
    b'{"id": ID, "error": {"kind": "OSError"}}\n',
    b'{"id": ID, "error": {"kind": [], "message": {}}}\n',
    b'{"id": ID, "error": {"kind": "SpecError", "message": "m", "faults": 7}}\n',
    b'{"id": ID, "error": {"kind": "TargetError", "message": "m", "code": [], "sqlstate": 1e400}}\n',
    b'{"id": ID, "error": {"kind": "__doc__", "message": "m"}}\n',
    b'{"id": ID, "error": {"kind": "Odd", "message": "' + b"x" * 10**6 + b'"}}\n',
]
"""Whole lines; ID becomes the number of the request."""


def answered(action: Callable[[Channel], Any], answer: Callable[[bytes], bytes]) -> BaseException | None:
    """What an action ends with where an agent answers so; the connection has been closed."""
    channel, ended = ScriptedAgent(answer).channel(), list[BaseException | None]()

    def act() -> None:
        try:
            action(channel)
            ended.append(None)
        except BaseException as error:
            ended.append(error)
        channel.close(limit_s=1)

    returns(act)
    return ended[0]


def returns(act: Callable[[], object]) -> None:
    """Fails where something does not return."""
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    thread.join(RETURNS_WITHIN_S)
    assert not thread.is_alive(), "it waits for ever"


def number_of(request: bytes) -> bytes:
    return str(json.loads(request)["id"]).encode()


@pytest.mark.parametrize("action", ACTIONS)
def test_values_of_no_type_end_in_a_host_error(action: str) -> None:
    for value in VALUES:
        for key in (b"result", b"error"):

            def answer(request: bytes, key: bytes = key, value: str = value) -> bytes:
                return b'{"id": %s, "%s": %s}\n' % (number_of(request), key, value.encode())

            error = answered(ACTIONS[action], answer)
            is_boolean = action in ("make", "property", "clock") and value == "true" and key == b"result"
            assert isinstance(error, HostError) or is_boolean, (key, value[:60], error)


@pytest.mark.parametrize("action", ACTIONS)
def test_lines_that_are_no_answers_end_in_a_host_error(action: str) -> None:
    for line in LINES:
        error = answered(ACTIONS[action], lambda request, line=line: line.replace(b"ID", number_of(request)))
        assert isinstance(error, HostError), (line[:80], error)
        assert len(str(error)) < 30_000


def test_a_frame_that_is_cut_or_never_ends_is_a_lost_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel_module, "LINE_BYTES_MAX", 4096)
    error = answered(ACTIONS["call"], lambda _: b'{"id": 1, "result": "' + b"x" * 5000)
    assert isinstance(error, HostError)
    assert "the connection was lost" in str(error)


def test_whoever_else_waits_returns_as_well() -> None:
    """One bad answer ends the connection: nothing that such an agent says can be used."""
    asked = threading.Semaphore(0)
    count = [0]

    def answer(request: bytes) -> bytes:
        count[0] += 1
        if count[0] < 3:
            asked.release()
            return b""
        return b'{"id": %s, "error": 7}\n' % number_of(request)

    channel, errors = ScriptedAgent(answer).channel(), list[str]()

    def ask() -> None:
        with pytest.raises(HostError) as raised:
            channel.ask({"do": "time"})
        errors.append(str(raised.value))

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(RETURNS_WITHIN_S)
    assert len(errors) == 3, errors
    assert all("db2: the connection was lost: the agent there sent what is no answer" in error for error in errors), (
        errors
    )
    assert channel.is_lost


def test_an_agent_that_reads_nothing_keeps_nobody_waiting() -> None:
    channel = ScriptedAgent(None).channel()
    big = {"do": "x" * 2**20}

    def act() -> None:
        for _ in range(2):  # the first one fills the pipe; the second one would wait for its lock
            with pytest.raises(HostError, match="did not answer within"):
                channel.ask(big, limit_s=0.05)
        channel.close(limit_s=0.1)

    returns(act)
    with pytest.raises(HostError, match="connection was lost"):
        channel.ask({"do": "time"})


def test_an_agent_that_stays_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where something still holds its end of the pipes after it was killed."""
    monkeypatch.setattr(channel_module, "_SPEAKS_EVERY_S", 0.01)
    monkeypatch.setattr(channel_module, "SILENCE_S", 0.05)
    channel = ScriptedAgent(lambda _: b"", ends_when_killed=False).channel()

    def act() -> None:
        with pytest.raises(HostError, match=r"the connection was lost: it did not answer for 0\.05 s"):
            ACTIONS["call"](channel)

    returns(act)


def test_a_call_that_an_agent_works_on_no_more_and_has_not_answered_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(channel_module, "_SPEAKS_EVERY_S", 0.01)
    in_work, asked = [json.dumps(list(range(10_000))).encode()], list[str]()

    def answer(request: bytes) -> bytes:
        said = json.loads(request)
        asked.append(said["do"])
        return b'{"id": %d, "result": %s}\n' % (said["id"], in_work[0]) if said["do"] == "alive" else b""

    channel, ended = ScriptedAgent(answer).channel(), threading.Event()

    def act() -> None:
        with pytest.raises(HostError, match="the connection was lost: it dropped a request that it had not answered"):
            ACTIONS["call"](channel)
        ended.set()

    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    assert until(lambda: "call" in asked)
    before = asked.count("alive")
    assert until(lambda: asked.count("alive") > before + 3)
    assert not ended.is_set(), "it is waited for as long as it is in work"
    in_work[0] = b"[]"
    thread.join(RETURNS_WITHIN_S)
    assert ended.is_set()


@pytest.mark.parametrize("value", VALUES)
def test_an_agent_that_says_odd_things_of_what_it_works_on_is_lost(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel_module, "_SPEAKS_EVERY_S", 0.01)

    def answer(request: bytes) -> bytes:
        return b'{"id": %s, "result": %s}\n' % (number_of(request), value.encode()) if b'"alive"' in request else b""

    assert isinstance(answered(ACTIONS["call"], answer), HostError)


def test_errors_are_those_that_the_agent_describes() -> None:
    def ended_with(**described: object) -> BaseException | None:
        return answered(
            ACTIONS["call"],
            lambda request: json.dumps({"id": int(number_of(request)), "error": described}).encode() + b"\n",
        )

    assert str(ended_with(kind="HostError", message="no space")) == "db2: no space"
    spec = ended_with(kind="SpecError", message="a\nb", faults=["a", "b"])
    assert isinstance(spec, SpecError)
    assert spec.lines == ("db2: a", "db2: b")
    target = ended_with(kind="DataError", message="no", code=1049, sqlstate="42000")
    assert isinstance(target, TargetError)
    assert (target.code, target.sqlstate, target.exit_code) == (1049, "42000", 4)
    assert "did not foresee: Traceback" in str(ended_with(kind="KeyError", message="m", trace="Traceback …"))


def test_columns_of_different_lengths_end_telemetry_and_no_trial() -> None:
    results = {
        "time": 1,
        "alive": [],
        "call": plain(host_facts(), HostFacts),
        "make": 1,
        "method": {"host": [], "instance": [], "unix_s": [1.0], "source": [], "metric": ["m"], "value": [1.0, 2.0]},
    }

    def answer(request: bytes) -> bytes:
        asked = json.loads(request)
        return json.dumps({"id": asked["id"], "result": results[asked["do"]]}).encode() + b"\n"

    channel = ScriptedAgent(answer).channel()
    collecting = RemoteCollecting(channel, WatchRequest(instances=[], driver="driver", interval_s=0.01))
    assert until(lambda: collecting.faults != ())
    collecting.stop()
    assert collecting.faults == ("telemetry came in columns of different lengths",)
    assert collecting.take().is_empty()
    channel.close(limit_s=1)


def test_columns_of_telemetry_come_back() -> None:
    columns = {"host": ["h"], "instance": [""], "unix_s": [1.5], "source": ["s"], "metric": ["m"], "value": [2**64 - 1]}
    channel = ScriptedAgent(
        lambda request: json.dumps({"id": int(number_of(request)), "result": columns}).encode() + b"\n"
    ).channel()
    found = ACTIONS["telemetry"](channel)
    assert found == Columns(host=["h"], instance=[""], unix_s=[1.5], source=["s"], metric=["m"], value=[2.0**64])
    channel.close(limit_s=1)
