"""Systems whose hooks fail: their trials fail, others are never up beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import HookError, HostError, TargetError
from plimsoll.run.environments import Hosts, Switcher
from plimsoll.run.events import HostLost
from plimsoll.run.execution import HOST_LOSSES_MAX, RunningSystems
from plimsoll.run.hooks import HookPlace, SystemHooks
from plimsoll.spec.study import parse_study
from plimsoll.spec.system import SystemSpec

SYSTEM = """
[[system]]
name = "NAME"
target = "mysql://u@h/d"
hooks = { configure = "sh -c 'echo configure-NAME >> log; test ! -e no-configure'", start = "true", stop = "true" }
"""
STUDY = """
[study]
name = "s"
levels = { connections = [1] }
[[workload]]
name = "w"
kind = "oltp_read_only"
"""


class Fake:
    """A system that notes what is done with it, and fails as it is told."""

    def __init__(self, name: str, done: list[str]) -> None:
        self.name, self.done = name, done
        self.fails: dict[str, Exception] = {}
        self.starts_count = 0

    def _do(self, what: str) -> None:
        self.done.append(f"{what} {self.name}")
        if what in self.fails:
            raise self.fails[what]

    def start(self, judge: Callable[[], None]) -> None:
        judge()
        self._do("start")
        self.starts_count += 1

    def stop(self) -> None:
        self._do("stop")

    def close(self) -> None:
        self._do("close")


class FakeHosts(Hosts):
    """The host of a system is lost so many times from now on, and back as often as it is waited for."""

    def __init__(self, done: list[str]) -> None:
        super().__init__()
        self.losses_left, self.is_away, self.comes_back, self.done = 0, False, True, done

    def lose(self) -> None:
        """What a call does that is on its way while the host goes away."""
        if self.losses_left:
            self.losses_left -= 1
            self.is_away = True
            raise HostError("db2: the connection was lost")

    def is_lost(self, system: SystemSpec) -> bool:
        return self.is_away

    def return_to(self, systems: Iterable[SystemSpec], limit_s: float) -> None:
        if self.is_away:
            self.done.append(f"wait {limit_s:g} s")
            if not self.comes_back:
                raise HostError("db2: cannot be reached over SSH")
        self.is_away = False


class Bench:
    """Two fake systems and what holds them."""

    def __init__(self, folder: Path) -> None:
        self.done: list[str] = []
        self.fakes = {name: Fake(name, self.done) for name in "ab"}
        spec = parse_study(STUDY + SYSTEM.replace("NAME", "a") + SYSTEM.replace("NAME", "b"))

        def opened(one: SystemSpec, _hooks: SystemHooks) -> Any:
            return self.fakes[one.name]

        place = HookPlace(study="s", folder=folder)
        self.hosts, self.told = FakeHosts(self.done), list[HostLost]()
        switcher = Switcher(spec, place, self.hosts)
        self.systems = RunningSystems(spec, switcher, opened, self._look, self.told.append)
        self.is_lost_while_loaded = False

    def _look(self, one: SystemSpec, _system: object, *, is_loaded: bool) -> None:
        if is_loaded:
            self.done.append(f"look {one.name}")
        if is_loaded == self.is_lost_while_loaded:
            self.hosts.lose()

    def block(self, name: str) -> str | None:
        """One block; why the system is down."""
        self.done.clear()
        self.systems.begin_block(name, 0)
        self.systems.look(name)
        why = self.systems.why_down(name)
        self.systems.stop(name)
        return why


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_all_are_stopped_before_the_first_one_starts_and_looked_at_once(bench: Bench) -> None:
    assert bench.block("a") is None
    assert bench.done == ["stop a", "stop b", "start a", "look a", "stop a"]
    assert bench.block("a") is None
    assert bench.done == ["start a", "stop a"]


def test_no_system_starts_while_another_one_could_not_be_stopped(bench: Bench) -> None:
    bench.block("a")
    bench.fakes["a"].fails["stop"] = HookError("a is busy")
    assert bench.block("a") is None, "its own trials are done"
    assert bench.block("b") == "a is busy"
    assert "start b" not in bench.done
    bench.fakes["a"].fails.clear()
    assert bench.block("b") is None
    assert bench.done[:2] == ["stop a", "start b"]


def test_a_system_that_is_down_is_tried_again_after_its_trial_failed(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "no-configure").touch()
    bench.systems.begin_block("a", 0)
    bench.systems.look("a")
    assert "hook configure of a: failed with exit code 1" in str(bench.systems.why_down("a"))
    assert "start a" not in bench.done
    assert "look a" not in bench.done
    (tmp_path / "no-configure").unlink()
    bench.systems.restart("a")
    assert bench.systems.why_down("a") is None
    assert bench.done[-2:] == ["start a", "look a"]
    bench.systems.restart("a")
    assert (tmp_path / "log").read_text().count("configure-a") == 2, "once in a block, where it succeeded"


def test_other_errors_end_the_study(bench: Bench) -> None:
    bench.fakes["a"].fails["start"] = TargetError("wrong password")
    with pytest.raises(TargetError):
        bench.systems.begin_block("a", 0)
    with pytest.raises(HostError, match="a: could not be started again after a failed trial: wrong password"):
        bench.systems.restart("a")


@pytest.mark.parametrize("is_loaded", [False, True])
def test_a_host_that_is_lost_while_a_system_is_set_up_is_waited_for(bench: Bench, is_loaded: bool) -> None:
    """Before its data is made and when it is there: it is set up again, all of it."""
    bench.block("b")
    bench.is_lost_while_loaded, bench.hosts.losses_left = is_loaded, HOST_LOSSES_MAX - 1
    assert bench.block("a") is None
    assert bench.done.count("wait 600 s") == HOST_LOSSES_MAX - 1
    assert bench.done[-3:] == ["start a", "look a", "stop a"]
    assert [one.model_dump() for one in bench.told] == [
        {"type": "host_lost", "system": "a", "reason": "db2: the connection was lost", "limit_s": 600.0}
    ] * (HOST_LOSSES_MAX - 1)
    assert bench.fakes["a"].starts_count == (HOST_LOSSES_MAX if is_loaded else 1)


def test_a_host_that_is_lost_after_a_failed_trial_is_waited_for(bench: Bench) -> None:
    bench.systems.begin_block("a", 0)
    bench.hosts.is_away = True
    bench.systems.restart("a")
    assert bench.done[-2:] == ["start a", "look a"]
    assert bench.done.count("wait 600 s") == 1


def test_a_host_that_is_lost_again_and_again_or_stays_away_ends_the_study(bench: Bench) -> None:
    bench.hosts.losses_left = HOST_LOSSES_MAX
    with pytest.raises(HostError, match="db2: the connection was lost"):
        bench.systems.begin_block("a", 0)
    bench.done.clear()
    bench.hosts.losses_left, bench.hosts.comes_back = 1, False
    with pytest.raises(
        HostError, match=r"cannot be reached over SSH \(waited 10 min 00 s for it; run the same command again"
    ):
        bench.systems.begin_block("a", 0)
    assert bench.done.count("wait 600 s") == 1, "it waits once"


def test_all_that_are_open_are_closed(bench: Bench) -> None:
    bench.block("b")
    bench.systems.close()
    assert sorted(bench.done[-2:]) == ["close a", "close b"]
