"""By which way data is put back: by what copying and loading took, whatever took longer before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest

from plimsoll.errors import HostError
from plimsoll.record.model import DataReset
from plimsoll.run.system_data import DataKeeper, OwnData, all_together, put_back_together, save_together
from plimsoll.servers.data_copy import Copied
from plimsoll.servers.managed_server import ManagedServer


def put_back(data: OwnData) -> DataReset:
    found = put_back_together([data], lambda: None)
    assert found is not None
    return found


class World:
    """A server and a keeper whose work takes a known time; `done` says what was asked of them."""

    def __init__(self, *, load_s: float, copy_s: float) -> None:
        self.load_s, self.copy_s, self.now_s = load_s, copy_s, 0.0
        self.done: list[str] = []
        self.pool_bytes: int | None = None
        self.target, self.data_dir = "the target", Path("/d/data")

    def made(self, *, resets: bool = True, is_aged: bool = False) -> OwnData:
        """Data that was made as a system does it."""
        server, keeper = cast("ManagedServer", self), cast("DataKeeper", self)
        data = OwnData(server, keeper, resets=resets, is_aged=is_aged, clock=lambda: self.now_s)
        data.load()
        data.save()
        return data

    def telling(self, _progress: object) -> World:
        return self

    def ensure(self, _target: object) -> bool:
        self.now_s += self.load_s
        self.done.append("load")
        return True

    def reset(self, target: object) -> None:
        self.ensure(target)

    def start(self) -> None:
        self.done.append("start")

    def stop(self) -> None:
        self.done.append("stop")

    def save_data(self, _is_ended: Callable[[], bool]) -> Copied:
        self.done.append("copy")
        return Copied(size_bytes=100, cloned_bytes=40, duration_s=self.copy_s)

    restore_data = save_data


@pytest.mark.parametrize(
    ("load_s", "copy_s", "way"),
    [(60, 2, "copy"), (5, 5, "copy"), (3, 5, "copy"), (0.1, 0.9, "copy"), (2, 5, "prepare"), (0.2, 20, "prepare")],
)
def test_the_faster_way_is_taken_when_it_is_clearly_faster(load_s: float, copy_s: float, way: str) -> None:
    world = World(load_s=load_s, copy_s=copy_s)
    data = world.made()
    assert data.made == DataReset(way="fresh", duration_s=load_s)
    assert world.done == ["load", "copy"]
    world.done.clear()
    reset = put_back(data)
    assert (reset.way, reset.duration_s, reset.other_s) == (
        (way, pytest.approx(copy_s), pytest.approx(load_s))
        if way == "copy"
        else (way, pytest.approx(load_s), pytest.approx(copy_s))
    )
    assert world.done == (["copy"] if way == "copy" else ["start", "load", "stop"])


def test_the_way_changes_when_its_cost_does() -> None:
    world = World(load_s=1, copy_s=10)
    data = world.made()
    assert put_back(data).way == "prepare"
    world.load_s = 30
    assert put_back(data).way == "prepare", "nobody can know yet"
    assert put_back(data).way == "copy"


def test_aged_data_is_never_loaded_again() -> None:
    world = World(load_s=0.1, copy_s=10)
    data = world.made(is_aged=True)
    reset = put_back(data)
    assert (reset.way, reset.is_aged, reset.other_s) == ("copy", True, None)


def test_without_resets_nothing_is_copied() -> None:
    world = World(load_s=1, copy_s=1)
    world.made(resets=False)
    assert world.done == ["load"]


def test_instances_add_up() -> None:
    one = DataReset(way="copy", duration_s=1, size_bytes=10, cloned_bytes=4, other_s=7)
    assert all_together([one, one]) == DataReset(way="copy", duration_s=1, size_bytes=20, cloned_bytes=8, other_s=7)
    assert all_together([]) is None


class Meeting(World):
    """One of several servers; its copy ends only while all others copy too, or when it is told to end."""

    def __init__(self, barrier: threading.Barrier) -> None:
        super().__init__(load_s=60, copy_s=5)
        self.barrier, self.fails, self.was_ended = barrier, False, threading.Event()

    def save_data(self, is_ended: Callable[[], bool]) -> Copied:
        self.barrier.wait(30)
        if self.fails:
            raise HostError("no space")
        if any(other.fails for other in self.others):
            while not is_ended():  # the test's limit of time ends it where nobody says so
                threading.Event().wait(0.01)
            self.was_ended.set()
            raise HostError("ended")
        return super().save_data(is_ended)

    restore_data = save_data
    others: Sequence[Meeting] = ()


def together(*fails: bool) -> tuple[list[Meeting], list[OwnData]]:
    """Servers whose data is loaded and saved; some of them fail from now on."""
    barrier = threading.Barrier(len(fails))
    servers = [Meeting(barrier) for _ in fails]
    data = [
        OwnData(cast("ManagedServer", one), cast("DataKeeper", one), resets=True, clock=lambda one=one: one.now_s)  # type: ignore[misc]
        for one in servers
    ]
    for own in data:
        own.load()
    save_together(data)
    for server, does_fail in zip(servers, fails, strict=True):
        server.fails, server.others = does_fail, servers
    return servers, data


def test_servers_are_put_back_at_the_same_time_and_their_times_are_those_of_the_slowest() -> None:
    """Each waits for all the others: one after the other they would never end."""
    _, data = together(False, False, False)
    reset = put_back_together(data, lambda: None)
    assert reset is not None
    assert (reset.way, reset.duration_s, reset.size_bytes) == ("copy", 5, 300)


def test_the_first_failure_ends_the_others_and_is_told() -> None:
    servers, data = together(False, True, False)
    with pytest.raises(HostError, match=r"^no space$"):
        put_back_together(data, lambda: pytest.fail("nothing is loaded"))
    assert [server.was_ended.is_set() for server in servers] == [True, False, True]


def test_all_servers_take_the_same_way() -> None:
    worlds = [World(load_s=load_s, copy_s=20) for load_s in (1, 60)]
    assert put_back_together([one.made() for one in worlds], lambda: None).way == "copy"  # type: ignore[union-attr]
    worlds = [World(load_s=load_s, copy_s=20) for load_s in (1, 2)]
    assert put_back_together([one.made() for one in worlds], lambda: None).way == "prepare"  # type: ignore[union-attr]
