"""The distribution's exporters as a source of telemetry: the names of our samplers, and a guide that rests on them."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path

import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import Recording, read_study
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.telemetry.exporters.sampler import Exporter, ExporterSampler
from plimsoll.telemetry.sampler import Sample
from plimsoll.telemetry.server_status import ServerStatusSampler
from plimsoll.telemetry.standard import trial_samplers
from plimsoll.units import format_duration
from support.command import plimsoll, start_forked
from support.exporters import mysqld_exporter, node_exporter
from support.forwarder import forwarder
from support.servers import FLAVOURS, StartServer, mysql_in_endure, running_server, server_base, start_server
from support.studies import wait_for_interval
from support.web import web_server

__all__ = ["running_server", "server_base", "start_server"]
pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "cloud"
levels = { connections = [2] }
warm_up = "1s"
settle_limit = "1s"
clients = { think_time = "20ms" }
duration = "16s"
repetitions = 1
reset = "never"
[[workload]]
name = "ro"
kind = "oltp_read_only"
table_size = 1000
[[system]]
name = "theirs"
target = "mysql://USER@127.0.0.1:PORT/DATABASE"
password_env = "PLIMSOLL_TEST_TARGET"
exporters = PAGES
"""


LAST_WORDS = (
    "Connection refused", "Connection reset by peer", "Broken pipe",
    "no complete answer within 4 s", "no HTTP answer (", "the answer ended early",
)  # fmt: skip
"""What is said first of an exporter that was killed, before it was asked or at any instant of an answer."""


def write(folder: Path, server: ManagedServer, port: int, exporters: str) -> tuple[Path, dict[str, str]]:
    """A study of a server behind a tunnel: where it runs is not known."""
    target = server.target
    values = {"USER": target.user, "PORT": str(port), "DATABASE": target.database, "PAGES": exporters}
    text = STUDY
    for name, value in values.items():
        text = text.replace(name, value)
    (folder / "s.toml").write_text(text)
    return folder / "s.toml", {"PLIMSOLL_TEST_TARGET": target.password.get_secret_value()}


def taken(sampler: ExporterSampler) -> dict[tuple[str, str], Sample]:
    """What the third page gives."""
    sampler.sample(0.0)
    sampler.sample(10.0)
    return {(one.source, one.metric): one for one in sampler.sample(20.0)}


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_server_has_the_same_names_over_its_exporter(flavour: str, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(flavour)
    direct = {(one.source, one.metric): one.value for one in ServerStatusSampler(server.target).sample(0.0)}
    with mysqld_exporter(server.target, tmp_path) as (url, _):
        found = taken(ExporterSampler(Exporter(url=url, interval_s=1.0), "a/0"))
    unknown = {name for source, name in found.keys() - direct.keys() if source == "server"}
    assert {name for name in unknown if found["server", name].value not in (0, 1)} == set(), (
        "what is no switch is known"
    )
    innodb = [key for key in found if key[1].startswith("innodb_")]
    assert len(innodb) > 50
    assert {"innodb_history_list_length", "innodb_checkpoint_age"} <= {name for _, name in innodb}
    for name in ("innodb_page_size", "innodb_buffer_pool_pages_total"):
        if ("server", name) in found:
            assert found["server", name].value == direct["server", name]
    assert found["server", "questions"].value > direct["server", "questions"]


def test_this_machine_looks_alike_over_its_exporter() -> None:
    with node_exporter() as (url, _):
        sampler = ExporterSampler(Exporter(url=url, interval_s=1.0), "a/0")
        found = taken(sampler)
    ours: set[str] = set()
    for placed in trial_samplers(host="here", instances=[], client_pid=None):
        placed.sampler.sample(0.0)
        ours |= {one.metric for one in placed.sampler.sample(10.0)}
    theirs = {name for source, name in found if source == "host"}
    assert {name for name in ours if name.startswith("cpu")} <= theirs
    assert {"memory_available_bytes", "context_switches_per_s", "runnable_count"} <= theirs & ours
    shares = [found["host", f"cpu_{mode}_ratio"].value for mode in ("user", "system", "iowait", "idle", "steal")]
    assert sum(shares) == pytest.approx(1.0)
    assert sampler.facts().host_name == socket.gethostname()


def drip(connection: socket.socket, _: bytes) -> None:
    """The worst of an exporter: it sends a byte now and then, for ever."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b"\n")
        threading.Event().wait(0.2)


@mysql_in_endure
def test_a_study_rests_on_exporters_and_outlives_them(running_server: ManagedServer, tmp_path: Path) -> None:
    """One is killed, one never completes an answer, and one serves until the end."""
    with (
        forwarder(running_server.target.port) as port,
        node_exporter() as (node, node_process),
        mysqld_exporter(running_server.target, tmp_path) as (mysqld, _),
        web_server(drip) as web,
    ):
        dripping = f"http://127.0.0.1:{web}/metrics"
        pages = ", ".join(f'{{ url = "{url}", interval = "2s" }}' for url in (node, mysqld))
        file, env = write(tmp_path, running_server, port, f'[{pages}, "{dripping}"]')
        process = start_forked("study", "run", file, "--to", tmp_path / "out", env=env)
        wait_for_interval(tmp_path / "out", process, 8)
        node_process.kill()
        _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    (recording,) = read_study(tmp_path / "out").recordings
    assert recording.outcome.verdict is Verdict.COMPLETE
    check_what_is_known_of_the_exporters(recording, node, dripping)
    resolution_s = recording.environment.exporters[0].resolution_s
    check_telemetry(recording, resolution_s)
    shown = plimsoll("guide", tmp_path / "out", "--json")
    assert shown.returncode == 0, shown.stderr
    analysis = json.loads(shown.stdout)
    resources = {one["resource"] for one in analysis["where_time"][0]["demands"]}
    assert "cpu" in resources, "processors of the server's host"
    words = plimsoll("guide", tmp_path / "out", "--markdown").stdout
    assert f"Telemetry from {node}" in words
    assert f"every {format_duration(resolution_s)}" in words


def check_what_is_known_of_the_exporters(recording: Recording, node: str, dripping: str) -> None:
    of_node, of_mysqld, _ = recording.environment.exporters
    assert of_node.sources == ("host",)
    assert of_node.resolution_s is not None
    assert of_node.resolution_s > 1.5, "a busy machine reads them later"
    assert of_node.failures_count >= 1
    assert of_mysqld.failures_count < of_mysqld.pages_count, "a busy machine answers late"
    assert of_mysqld.pages_count >= 5
    missing = [warning.evidence for warning in recording.outcome.warnings if warning.code == "telemetry-missing"]

    def fault_of(url: str) -> str:
        begin = f"Not everything could be watched: exporter: {url}: "
        (fault,) = [evidence.removeprefix(begin) for evidence in missing if evidence.startswith(begin)]
        return fault

    assert fault_of(node).startswith(LAST_WORDS), missing
    assert "no complete answer within 4 s" in fault_of(dripping)


def check_telemetry(recording: Recording, resolution_s: float) -> None:
    """Of the host, as often as its pages were read, and of the server."""
    telemetry = recording.telemetry()
    assert telemetry is not None
    rows = telemetry.filter(source="host", host="")
    assert {"cpu0_busy_ratio", "cpu_idle_ratio", "memory_available_bytes"} <= set(rows["metric"])
    assert set(rows["instance"]) == {""}
    steps = rows.filter(metric="cpu_idle_ratio")["unix_s"].diff().drop_nulls()
    assert steps.median() == pytest.approx(resolution_s, abs=0.5)
    questions = telemetry.filter(metric="questions").sort("unix_s")["value"].diff().drop_nulls()
    assert questions.min() >= 0, "no counter has two sources"  # type: ignore[operator]
