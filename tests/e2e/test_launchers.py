"""What holds for every way to start engines: here, over SSH, on nodes of a Ray cluster; and what for Ray alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.drive.engine import LocalDriver, launched
from plimsoll.drive.executable import Launcher, LocalLauncher, find_engine
from plimsoll.drive.plans import sources, trial_line
from plimsoll.drive.protocol import Done, EngineMessage, Hello, Interval
from plimsoll.drive.ray_cluster.cluster import CLIENT_METHOD, GCS_METHOD, RayCluster, RayLauncher, asks_for_token
from plimsoll.drive.shared_run import DriverPlace, SharedDriver
from plimsoll.errors import HostError, InvalidTrialError, SpecError
from plimsoll.hosts.openssh import SshLauncher
from plimsoll.record.store import read_study
from plimsoll.run.single import run_single
from plimsoll.spec.clients import OpenArrivals, parse_rate
from plimsoll.spec.drivers import DriverSpec
from plimsoll.spec.target import Target
from support.command import assert_one_clear_message, login, plimsoll, real_server
from support.drivers import ARRIVALS, WORKLOAD, own_engines, points_server, run_of
from support.endure import in_endure
from support.ray_cluster import RayNodes, connected_to, ray_nodes
from support.recorder import recorder, statements
from support.ssh_hosts import SshHost, ssh_hosts
from support.waiting import until

pytestmark = pytest.mark.e2e

TwoDrivers = tuple[DriverSpec, DriverSpec]


@pytest.fixture(scope="module")
def nodes() -> Iterator[RayNodes]:
    with ray_nodes(3) as made, connected_to(made):
        yield made


@pytest.fixture
def server() -> Iterator[Target]:
    with points_server() as target:
        yield target


@pytest.fixture(scope="module")
def clusters(nodes: RayNodes) -> Iterator[dict[str, RayCluster]]:
    """One node of it, reached from a node and from outside."""
    found = {"ray": RayCluster("auto", 1), "ray client": RayCluster(nodes.client, 1)}
    with closing(found["ray"]), closing(found["ray client"]):
        yield found


@pytest.fixture(scope="module")
def load1(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshHost]:
    with ssh_hosts(tmp_path_factory.mktemp("ssh"), "load1") as (host,):
        (host.programs / "plimsoll-engine").symlink_to(find_engine())
        yield host


@pytest.fixture(params=["local", "ssh", "ray", in_endure("ray client")])
def launcher(request: pytest.FixtureRequest) -> Iterator[Launcher]:
    if request.param == "local":
        yield LocalLauncher()
    elif request.param == "ssh":
        request.getfixturevalue("load1")
        with SshLauncher("load1") as over_ssh:
            yield over_ssh
    else:
        yield RayLauncher(request.getfixturevalue("clusters")[request.param], 0)


@pytest.fixture(params=["ssh", "ray"])
def drivers(request: pytest.FixtureRequest) -> TwoDrivers:
    """Two of a kind; those of this machine are in `test_drivers`."""
    if request.param == "ssh":
        request.getfixturevalue("load1")
        return DriverSpec(ssh="load1"), DriverSpec(ssh="load1")
    for one in request.getfixturevalue("clusters").values():
        one.close()  # gives its node back
    return DriverSpec(ray="auto"), DriverSpec(ray="auto")


@pytest.fixture
def reached(drivers: TwoDrivers, request: pytest.FixtureRequest) -> str:
    """An address of this machine that drivers reach."""
    return "127.0.0.1" if drivers[0].ssh is None else str(request.getfixturevalue("load1").ours)


def test_lines_of_any_length_pass_both_ways_and_the_end_of_input_ends_the_engine(launcher: Launcher) -> None:
    with launched(launcher, "trial") as run:
        run.expect(Hello)
        (pid,) = own_engines()
        if os.geteuid() == 0:
            assert os.getpriority(os.PRIO_PROCESS, pid) == 0, "Ray gives its workers a low one"
        assert (run.local_pid is not None) == launcher.is_here
    assert until(lambda: not own_engines()), "it ends with its input"
    with launched(launcher, "trial") as run:
        run.begin({"type": "plan", "x" * 300_000: 1})
        with pytest.raises(SpecError, match=r"unknown field `x{300000}`"):
            run.expect(Hello)


@pytest.mark.parametrize("launcher", ["local", "ssh", "ray", in_endure("ray client")], indirect=True)
def test_last_words_and_exit_code_arrive(launcher: Launcher) -> None:
    with tempfile.TemporaryFile() as errors:
        process = launcher.start(("plimsoll-engine", "no-such-command"), errors)
        assert process.stdin is not None
        assert process.stdout is not None
        with process.stdin, process.stdout:
            assert process.stdout.read() == b""
            assert process.wait(timeout=300) == 2
        errors.seek(0)
        assert b"no-such-command" in errors.read()


def test_two_drivers_ask_the_same_statements_as_one(
    drivers: TwoDrivers, server: Target, reached: str, tmp_path: Path
) -> None:
    assert server.port is not None
    asked = []
    for used in (1, drivers):
        file = tmp_path / f"asked-{len(asked)}"
        with recorder(server.port, file, reached) as port:
            arrivals = OpenArrivals(steps=parse_rate("200 for 1s, 0"))  # nothing is due when the load ends
            summary = run_single(run_of(replace(server, host=reached, port=port), used, arrivals=arrivals))
        asked.append(statements(file, "SELECT c FROM"))
    assert sum(asked[0].values()) > 100
    assert asked[1] == asked[0]
    assert len(summary.outcome.drivers) == 2
    for driver in summary.outcome.drivers:
        assert (driver.offered_count or 0) > 0
        assert driver.machine == ("127.0.0.1" if drivers[0].ray else None)
        assert driver.clock_ahead_s is not None
        assert abs(driver.clock_ahead_s) <= (driver.clock_error_s or 0) + 0.001
        assert (driver.start_late_s or 0) < 1


def test_a_killed_engine_makes_the_trial_invalid_and_the_others_stop(
    drivers: TwoDrivers, server: Target, reached: str, tmp_path: Path
) -> None:
    assert server.port is not None
    killed_s = list[float]()

    def kill_one(interval: Interval) -> None:
        if interval.index == 1:
            os.kill(max(own_engines()), signal.SIGKILL)
            killed_s.append(time.monotonic())

    with (
        pytest.raises(
            InvalidTrialError, match=r"^driver .*[12] was lost after .*(ended by SIGKILL|ssh: the connection ended)"
        ),
        recorder(server.port, tmp_path / "asked", reached) as port,
    ):
        run_single(run_of(replace(server, host=reached, port=port), drivers, duration_s=60.0), kill_one)
    assert time.monotonic() - killed_s[0] < 55, "the load was to last a minute"
    assert until(lambda: not own_engines())


@pytest.mark.usefixtures("nodes")
def test_too_few_nodes_are_refused_with_how_many_there_are() -> None:
    cluster = RayCluster("auto", 4, wait_s=1.0)
    with pytest.raises(HostError, match=r"4 drivers need 4 nodes with a free CPU each, and the cluster has 3 nodes"):
        cluster.open()


def test_a_token_is_asked_for_or_not(nodes: RayNodes) -> None:
    client = nodes.client.removeprefix("ray://")
    assert not asks_for_token(client, CLIENT_METHOD)
    assert not asks_for_token(nodes.address, GCS_METHOD)
    with refusing() as guarded:
        assert asks_for_token(guarded, CLIENT_METHOD)


@contextmanager
def refusing() -> Iterator[str]:
    """A place that answers calls without a token as a cluster does that asks for one."""
    import grpc  # comes with Ray

    class EveryMethod(grpc.GenericRpcHandler):
        def service(self, _call: object) -> object:
            refused = (grpc.StatusCode.UNAUTHENTICATED, "a token is missing")
            return grpc.unary_unary_rpc_method_handler(lambda _request, context: context.abort(*refused))

    server = grpc.server(ThreadPoolExecutor(1), handlers=[EveryMethod()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None).wait()


@pytest.mark.endure
def test_a_cluster_with_tokens_asks_for_one() -> None:
    with ray_nodes(1, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN="x" * 32) as guarded:
        assert asks_for_token(guarded.client.removeprefix("ray://"), CLIENT_METHOD)
        assert asks_for_token(guarded.address, GCS_METHOD)


STUDY = """
[study]
name = "on nodes of Ray"
levels = { connections = [4] }
drivers = { ray = "auto", count = 2 }
warm_up = "1s"
settle_limit = "1s"
duration = "2s"
repetitions = 1
reset = "never"
[[workload]]
name = "points"
kind = "oltp_point_select"
table_size = 1000
[[system]]
name = "a"
target = "TARGET"
password_env = "PW"
"""


@pytest.mark.usefixtures("nodes")
@pytest.mark.endure
def test_a_study_on_two_nodes_and_one_whose_cluster_is_public(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with real_server(tmp_path / "server") as server:
        _, target, *_ = login(server, monkeypatch)
        (tmp_path / "s.toml").write_text(STUDY.replace("TARGET", target))
        with monkeypatch.context() as changed:
            changed.setenv("RAY_ADDRESS", "ray://203.0.113.5")
            refused = plimsoll("study", "run", tmp_path / "s.toml", "--to", tmp_path / "refused")
        ran = plimsoll("study", "run", tmp_path / "s.toml", "--to", tmp_path / "out")
    assert_one_clear_message(refused, 3, "ray://203.0.113.5 is neither loopback nor private")
    assert not list((tmp_path / "refused" / "recordings").glob("*"))
    assert ran.returncode == 0, ran.stderr
    (recording,) = read_study(tmp_path / "out").recordings
    assert [driver.name for driver in recording.outcome.drivers] == ["ray#1", "ray#2"]
    assert recording.environment.client.drivers == ("ray#1 at 127.0.0.1", "ray#2 at 127.0.0.1")
    assert "worker.py" not in ran.stdout + ran.stderr, "Ray writes nothing to the terminal"


KILLED = """
import sys, tempfile, time
from plimsoll.drive.ray_cluster.cluster import RayCluster
process = RayCluster("auto", 3).start(0, ("plimsoll-engine", "trial"), tempfile.TemporaryFile())
print(process.stdout.readline(), flush=True)
time.sleep(60)
"""


@pytest.mark.usefixtures("nodes")
def test_where_plimsoll_is_killed_engines_end_and_nodes_are_free_again() -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert b'"hello"' in process.stdout.readline()
        assert len(own_engines()) == 1
        process.kill()
    assert until(lambda: not own_engines())
    with closing(RayCluster("auto", 3)) as cluster:
        cluster.open()


@pytest.mark.endure
def test_a_node_that_dies_makes_the_trial_invalid_and_the_next_one_takes_the_others(
    nodes: RayNodes, server: Target
) -> None:
    """The last one: the cluster has a node less afterwards."""
    killed_s = list[float]()

    def kill_one(interval: Interval) -> None:
        if interval.index == 1:
            nodes.kill(max(map(nodes.node_of, own_engines())))  # 0 is the head: without it there is no cluster
            killed_s.append(time.monotonic())

    cluster = RayCluster("auto", 2)
    shared = SharedDriver([DriverPlace(f"ray#{k}", RayLauncher(cluster, k)) for k in (0, 1)], LocalDriver(), cluster)
    plan, short = (
        trial_line(
            WORKLOAD,
            sources({"db": server}),
            connections=4,
            duration_s=duration_s,
            seed=1,
            arrivals=ARRIVALS,
            look_first=False,
        )
        for duration_s in (60, 1)
    )
    with closing(cluster):
        assert list(shared.faults()) == []
        with pytest.raises(InvalidTrialError, match=r"^driver ray#[01] was lost after .*: Ray: the node 127\.0\.0\.1"):
            drive(shared, plan, kill_one)
        assert time.monotonic() - killed_s[0] < 55, "the load was to last a minute"
        assert until(lambda: not own_engines())
        assert isinstance(drive(shared, short), Done)


def drive(
    shared: SharedDriver, plan: dict[str, Any], seen: Callable[[Interval], None] = lambda _: None
) -> EngineMessage | None:
    """Runs a trial; its last message."""
    message = None
    with shared.launch_trial(plan) as run:
        run.ready(lambda _: None)
        run.start()
        for message in run.messages():
            if isinstance(message, Interval):
                seen(message)
    return message
