"""Systems whose hooks fail: their trials fail, others are never up beside them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import HookError, HostError, TargetError
from plimsoll.run.environments import Switcher
from plimsoll.run.hooks import HookPlace, SystemHooks
from plimsoll.run.hosts import Hosts
from plimsoll.run.running_systems import RunningSystems
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

    def _do(self, what: str) -> None:
        self.done.append(f"{what} {self.name}")
        if what in self.fails:
            raise self.fails[what]

    def start(self, judge: Callable[[], None]) -> None:
        judge()
        self._do("start")

    def stop(self) -> None:
        self._do("stop")

    def close(self) -> None:
        self._do("close")


class Bench:
    """Two fake systems and what holds them."""

    def __init__(self, folder: Path) -> None:
        self.done: list[str] = []
        self.fakes = {name: Fake(name, self.done) for name in "ab"}
        spec = parse_study(STUDY + SYSTEM.replace("NAME", "a") + SYSTEM.replace("NAME", "b"))

        def opened(one: SystemSpec, _hooks: SystemHooks) -> Any:
            return self.fakes[one.name]

        place = HookPlace(study="s", folder=folder)
        self.systems = RunningSystems(spec, Switcher(spec, place, Hosts()), opened, self._look)

    def _look(self, one: SystemSpec, _system: object, *, is_loaded: bool) -> None:
        if is_loaded:
            self.done.append(f"look {one.name}")

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


def test_all_that_are_open_are_closed(bench: Bench) -> None:
    bench.block("b")
    bench.systems.close()
    assert sorted(bench.done[-2:]) == ["close a", "close b"]
