"""Several real engines that drive one load: what the server is asked, when they begin, and what becomes of a loss."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.executable import LocalLauncher, find_engine
from plimsoll.drive.plans import sources, trial_line
from plimsoll.drive.protocol import Interval
from plimsoll.drive.shared_run import DriverPlace, SharedDriver
from plimsoll.errors import HostError, InvalidTrialError
from plimsoll.hosts.openssh import SshLauncher
from plimsoll.record.model import DriverRecord
from plimsoll.run.single import run_single
from plimsoll.run.survey import driver_of
from plimsoll.spec.clients import OpenArrivals, parse_rate
from plimsoll.spec.drivers import DriverSpec
from plimsoll.spec.target import Target
from support.drivers import ARRIVALS, WORKLOAD, OddLauncher, own_engines, points_server, run_of
from support.recorder import recorder, statements
from support.ssh_hosts import SshHost, alone_with_copies, copies_of_engines, ssh_hosts
from support.vanishing import children, words_of
from support.waiting import until

pytestmark = pytest.mark.e2e

HERE = DriverSpec()


@pytest.fixture
def server() -> Iterator[Target]:
    with points_server() as target:
        yield target


def test_one_two_and_four_drivers_ask_the_same_statements_equally_often(server: Target, tmp_path: Path) -> None:
    assert server.port is not None
    asked = []
    for count in (1, 2, 4):
        file = tmp_path / f"by-{count}"
        with recorder(server.port, file) as port:
            arrivals = OpenArrivals(steps=parse_rate("200 for 1s, 0"))  # nothing is due when the load ends
            summary = run_single(run_of(replace(server, port=port), count, arrivals=arrivals))
        assert len(summary.outcome.drivers) == (0 if count == 1 else count)
        asked.append(statements(file, "SELECT c FROM"))
    assert sum(asked[0].values()) > 100
    assert len(asked[0]) > 50
    assert asked[1] == asked[0]
    assert asked[2] == asked[0]


def test_a_killed_engine_makes_the_trial_invalid_by_name_and_the_others_stop(server: Target) -> None:
    killed_s: list[float] = []

    def kill_the_second(interval: Interval) -> None:
        if interval.index == 1:
            os.kill(engines()[1], signal.SIGKILL)
            killed_s.append(time.monotonic())

    with pytest.raises(InvalidTrialError, match=r"^driver local#2 was lost after .*ended by SIGKILL"):
        run_single(run_of(server, 3, duration_s=60.0), kill_the_second)
    assert time.monotonic() - killed_s[0] < 55, "the load was to last a minute"
    assert engines() == []


def engines() -> list[int]:
    """Engines of trials that this process started, in that order."""
    return children_with(b"trial")


def children_with(word: bytes) -> list[int]:
    """Processes that this process started with a word in their command line, or a path to it, in that order."""
    pids = children(os.getpid())
    return [pid for pid in pids if any(other.rpartition(b"/")[2] == word for other in words_of(pid))]


def drive(target: Target, *launchers: OddLauncher | LocalLauncher) -> tuple[list[Interval], tuple[DriverRecord, ...]]:
    """The intervals of two seconds of load, and what is kept of its drivers."""
    places = [DriverPlace(f"load{index}", launcher) for index, launcher in enumerate(launchers)]
    servers = sources({"db": target})
    plan = trial_line(WORKLOAD, servers, connections=4, duration_s=2, seed=1, arrivals=ARRIVALS, look_first=False)
    with SharedDriver(places, LocalDriver()).launch_trial(plan) as run:
        run.ready(lambda _: None)
        run.start()
        intervals = [message for message in run.messages() if isinstance(message, Interval)]
        return intervals, run.drivers


def test_a_clock_that_is_five_seconds_off_changes_nothing(server: Target) -> None:
    began_s = time.monotonic()
    intervals, (right, wrong) = drive(server, OddLauncher(), OddLauncher(ahead_s=5))
    assert time.monotonic() - began_s < 60, "two seconds of load"
    assert right.clock_ahead_s is not None
    assert wrong.clock_ahead_s is not None
    assert wrong.clock_error_s is not None
    assert abs(wrong.clock_ahead_s - 5) <= wrong.clock_error_s + 0.001
    assert abs(right.clock_ahead_s) < 1
    assert sum(interval.completed for interval in intervals[:2]) > 0
    assert max(right.start_late_s or 0, wrong.start_late_s or 0) < 1


def test_a_start_that_arrives_two_seconds_late_is_no_trial(server: Target) -> None:
    with pytest.raises(InvalidTrialError, match=r"^driver load1 began [1-9].* after the first one"):
        drive(server, LocalLauncher(), OddLauncher(late_s=2))


@pytest.fixture(scope="module")
def loads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[SshHost]]:
    with alone_with_copies(), ssh_hosts(tmp_path_factory.mktemp("ssh"), "load1", "load2") as hosts:
        yield hosts


@pytest.fixture
def engine_on_path(loads: list[SshHost]) -> Iterator[None]:
    places = [host.programs / "plimsoll-engine" for host in loads]
    for place in places:
        place.symlink_to(find_engine())
    yield
    for place in places:
        place.unlink()


@pytest.fixture
def socket_server() -> Iterator[Target]:
    """A server that hosts with a network of their own reach too: their files are this machine's."""
    with points_server(by_socket=True) as target:
        yield target


@pytest.mark.usefixtures("engine_on_path")
def test_over_ssh_the_load_is_shared_and_ends_with_the_connection(socket_server: Target) -> None:
    drivers = (DriverSpec(ssh="load1"), DriverSpec(ssh="load2"), HERE)
    summary = run_single(replace(run_of(socket_server, 1), drivers=drivers))
    found = summary.outcome.drivers
    assert [(one.name, one.is_here) for one in found] == [("load1", False), ("load2", False), ("local", True)]
    assert all((one.offered_count or 0) > 0 for one in found)
    assert all(one.clock_ahead_s is not None and abs(one.clock_ahead_s) < 0.1 for one in found)
    there: list[int] = []

    def lose_the_first(interval: Interval) -> None:
        if interval.index == 1:
            there.extend(children_with(b"ssh"))
            os.kill(there[0], signal.SIGKILL)

    with pytest.raises(InvalidTrialError, match=r"^driver load1 was lost after"):
        run_single(replace(run_of(socket_server, 1, duration_s=60.0), drivers=drivers), lose_the_first)
    assert len(there) == 2
    assert until(lambda: not own_engines()), "engines on the other side end with the connection"
    assert copies_of_engines() == [], "the engine on the PATH has the right version"


def test_hosts_with_no_engine_or_that_of_another_version_get_copies_for_the_time_of_the_load(
    socket_server: Target, loads: list[SshHost]
) -> None:
    other_version = loads[1].programs / "plimsoll-engine"
    other_version.write_text("#!/bin/sh\necho plimsoll-engine 0.0.1\n")
    other_version.chmod(0o755)
    seen: list[Path] = []
    drivers = (DriverSpec(ssh="load1"), DriverSpec(ssh="load1"), DriverSpec(ssh="load2"))
    summary = run_single(replace(run_of(socket_server, 1), drivers=drivers), lambda _: seen.extend(copies_of_engines()))
    other_version.unlink()
    assert [driver.name for driver in summary.outcome.drivers] == ["load1#1", "load1#2", "load2"]
    assert all((driver.offered_count or 0) > 0 for driver in summary.outcome.drivers)
    assert len(set(seen)) == 3
    assert copies_of_engines() == []


@pytest.mark.usefixtures("loads")
def test_a_copy_goes_with_its_connection_and_the_next_engine_gets_another() -> None:
    launcher = SshLauncher("load1")
    first = Path(launcher.engine())
    assert first.exists()
    (keeper,) = children_with(b"ssh")
    os.kill(keeper, signal.SIGKILL)
    assert until(lambda: not first.exists())
    assert until(lambda: not children_with(b"ssh"))
    second = Path(launcher.engine())
    assert second.exists()
    launcher.close()
    assert copies_of_engines() == []


def test_what_keeps_a_driver_from_running_is_said_with_the_cure(server: Target, loads: list[SshHost]) -> None:
    with pytest.raises(HostError, match=r"^driver load9\.invalid: cannot be reached over SSH: .*Try: ssh -o BatchMode"):
        run_single(replace(run_of(server, 1), drivers=(HERE, DriverSpec(ssh="load9.invalid"))))
    head = loads[0].programs / "head"  # what arrives is no program
    head.write_text("#!/bin/sh\necho no-program\n")
    head.chmod(0o755)
    with pytest.raises(
        HostError, match=r"^driver load1: plimsoll-engine .* is not on the PATH there, .*; install that"
    ):
        run_single(replace(run_of(server, 1), drivers=(DriverSpec(ssh="load1"),)))
    assert copies_of_engines() == []
    with driver_of((DriverSpec(ssh="load1"), HERE, DriverSpec(ssh="load9.invalid"))) as driver:
        assert isinstance(driver, SharedDriver)
        faults = list(driver.faults())
    head.unlink()
    assert [fault.partition(": ")[0] for fault in faults] == ["driver load1", "driver load9.invalid"]
