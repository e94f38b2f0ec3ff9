"""Calls as JSON: values come back as they went, and what is of another type is refused."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from pydantic import SecretStr

from plimsoll.errors import HostError
from plimsoll.hosts import agent, bootstrap
from plimsoll.hosts.calls import plain, plain_arguments, result_type, typed, typed_arguments
from plimsoll.hosts.ssh import archive
from plimsoll.servers.managed_server import ManagedSpec
from plimsoll.servers.placement import InstancePlacement, refusals
from plimsoll.servers.storage import storage_facts
from plimsoll.spec.placement import Share
from plimsoll.spec.target import Target, Tls
from plimsoll.telemetry.sampler import Columns

SPEC = ManagedSpec(
    server=["/usr/sbin/mariadbd", "--x"],
    options={"innodb_flush_method": "O_DIRECT", "sync_binlog": 1, "skip_log_bin": True},
    role_dirs={"redo": Path("/fast")},
    placement=InstancePlacement(cpus=(0, 2), share=Share(cpu_quota=1.5, io_limits=(("read_bps", 10),)), nice=5),
)


@pytest.mark.parametrize(
    "value",
    [
        SPEC,
        Target(
            user="u", database="d", host="h", password=SecretStr("p'\\"), tls=Tls(server_public_key_path=Path("/k"))
        ),
        Columns(host=["a"], instance=[""], unix_s=[0.5], source=["s"], metric=["m"], value=[1e-9]),
    ],
)
def test_values_come_back_as_they_went(value: object) -> None:
    sent = json.dumps(plain(value, type(value)))
    assert typed(json.loads(sent), type(value)) == value


def test_arguments_go_by_name_and_defaults_stay_at_home() -> None:
    sent = plain_arguments(refusals, (InstancePlacement(nice=3), Path("/d")), {})
    assert typed_arguments(refusals, sent) == {"placement": InstancePlacement(nice=3), "data_dir": Path("/d")}
    assert plain_arguments(storage_facts, (Path("/d"),), {}) == {"path": "/d"}
    assert typed(["no"], result_type(refusals)) == ("no",)


def test_what_is_of_another_type_is_refused() -> None:
    with pytest.raises(HostError, match="the other end sent what is no"):
        typed([1, 2], result_type(refusals))


@pytest.mark.parametrize(
    ("request_line", "kind"),
    [
        ({"do": "call", "name": "os:system", "arguments": {"command": "true"}}, "ValueError"),
        ({"do": "call", "name": "plimsoll.run.study:run_study", "arguments": {}}, "ValueError"),
        ({"do": "dance"}, "ValueError"),
        ({"do": "method", "object": 99, "name": "stop", "arguments": {}}, "KeyError"),
        (
            {"do": "call", "name": "plimsoll.servers.command:find_server", "arguments": {"server": "/no"}},
            "HostError",
        ),
    ],
)
def test_an_agent_answers_what_it_cannot_do(request_line: dict[str, object], kind: str) -> None:
    answers = io.BytesIO()
    one = agent.Agent(answers)
    one._answer({"id": 7, **request_line})
    answer = json.loads(answers.getvalue())
    assert (answer["id"], answer["error"]["kind"]) == (7, kind)


def test_an_agent_says_which_requests_it_works_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is written before the request is out of work; what comes later is no work yet."""
    began, may_end = threading.Event(), threading.Event()

    def do(_: agent.Agent, request: dict[str, object]) -> int:
        if request["id"] == 1:
            began.set()
            assert may_end.wait(30)
        return 5

    monkeypatch.setattr(agent.Agent, "_do", do)
    requests, ask = os.pipe()
    hear, answers = os.pipe()
    serving = threading.Thread(target=agent.Agent(os.fdopen(answers, "wb")).serve, args=(requests,), daemon=True)
    serving.start()
    with os.fdopen(ask, "wb", buffering=0) as to_agent, os.fdopen(hear, "rb") as from_agent:
        to_agent.write(b'{"id": 1, "do": "call"}\n{"id": 2, "do": "alive"}\n')
        assert json.loads(from_agent.readline()) == {"id": 2, "result": [1]}
        assert began.wait(30)
        may_end.set()
        assert json.loads(from_agent.readline()) == {"id": 1, "result": 5}
        to_agent.write(b'{"id": 3, "do": "alive"}\n')
        assert json.loads(from_agent.readline()) == {"id": 3, "result": []}
    serving.join(30)
    os.close(requests)


def test_what_is_sent_holds_all_that_an_agent_imports(tmp_path: Path) -> None:
    """In an interpreter that finds nothing else: no package of this environment."""
    bootstrap.unpack(archive(), str(tmp_path))
    modules = "agent, remote_functions"
    servers = "fio, locality, moment, directory"
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from plimsoll.hosts import {modules}"
    program += f"; from plimsoll.servers import {servers}; from plimsoll.telemetry import device"
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
