"""Disks are looked at where work stands still, and only there; servers that wait for space are not waited for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from plimsoll.drive.protocol import Progress
from plimsoll.errors import HostError, TargetError
from plimsoll.hosts.host import Host, Server
from plimsoll.run.instance import STILL_S, FullDisks, stop_server
from plimsoll.run.system_data import DataKeeper, OwnData

PLACE = Path("/d/data")


class Machine:
    """A host whose disk is full or not."""

    name, is_here = "db2", False

    def __init__(self, fault: str | None) -> None:
        self.fault, self.looks = fault, 0

    def call(self, function: object, data_dir: Path) -> str | None:
        assert data_dir == PLACE
        self.looks += 1
        return self.fault


def test_disks_are_looked_at_while_nothing_is_done() -> None:
    now, machine = [0.0], Machine(None)
    disks, places = FullDisks(lambda: now[0]), [(cast(Host, machine), PLACE)]
    for second in range(10):
        now[0] = second
        disks.seen(second, lambda: places)
    assert machine.looks == 0
    for second in range(10, 13):
        now[0] = second
        disks.seen(9, lambda: places)
    assert machine.looks == 1, "the same again is no progress"
    machine.fault = "the disk is full"
    with pytest.raises(HostError, match="db2: the disk is full"):
        disks.seen(None, lambda: places)
    disks.seen(10, lambda: places)
    disks.seen(None, lambda: places)
    now[0] += STILL_S
    with pytest.raises(HostError):
        disks.seen(None, lambda: places)


@pytest.mark.parametrize(("fault", "stopped"), [(None, {}), ("full", {"grace_s": 0})])
def test_a_server_that_waits_for_space_is_killed(fault: str | None, stopped: dict[str, int]) -> None:
    said = list[dict[str, int]]()
    server = SimpleNamespace(data_dir=PLACE, stop=lambda **words: said.append(words))
    stop_server(cast(Server, server), cast(Host, Machine(fault)))
    assert said == [stopped]


@pytest.mark.parametrize("fault", [None, "the disk of /d is full"])
def test_what_fails_while_rows_are_loaded_is_told_as_a_full_disk_where_it_is_one(fault: str | None) -> None:
    class Keeper(DataKeeper):
        def ensure(self, target: Any) -> bool:
            self.progress(Progress(type="progress", phase="load", done_count=1, total_count=2))
            raise TargetError("1114 The table 'sbtest1' is full")

    seen = list[Progress]()
    keeper = Keeper(driver=cast(Any, None), data_sets=(), progress=seen.append)
    server = cast(Server, SimpleNamespace(data_dir=PLACE, target=None))
    data = OwnData(server, keeper, resets=False, host=cast(Host, Machine(fault)))
    with pytest.raises(HostError if fault else TargetError, match=fault or "1114"):
        data.load()
    assert [one.phase for one in seen] == ["load"]
