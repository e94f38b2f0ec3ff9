"""What servers are sized to stays what it was for as long as host and place are the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from plimsoll.errors import NewerFormatError, RecordError
from plimsoll.run import systems as module
from plimsoll.run.systems import MACHINE_FILE, Machines
from plimsoll.servers.option_file import MachineSizes, io_capacity


@pytest.fixture
def flush_ms(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What each further measurement will find."""
    found = [0.99, 1.01, 5.0]

    def measure(_: Path) -> MachineSizes:
        return MachineSizes(memory_bytes=1, free_bytes=2**40, flush_ms_min=found.pop(0))

    monkeypatch.setattr(module, "measure_machine", measure)
    return found


def rewrite(folder: Path, **changes: object) -> None:
    path = folder / MACHINE_FILE
    record = json.loads(path.read_text())
    record["host"] |= changes.pop("host", {})  # type: ignore[operator]
    record["places"] = {name: {**place, **changes} for name, place in record["places"].items()}
    path.write_text(json.dumps(record))


def test_a_later_session_sizes_servers_as_the_first_did(tmp_path: Path, flush_ms: list[float]) -> None:
    said: list[object] = []
    sizes = [Machines(tmp_path, lambda *told: said.append(told)).at(tmp_path / "data") for _ in range(2)]
    assert sizes[0] == sizes[1]
    assert sizes[0].flush_ms_min == 0.99
    assert io_capacity(0.99) != io_capacity(1.01), "a measurement of its own would have changed the option"
    assert flush_ms == [1.01, 5.0]
    assert said == []


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"host": {"name": "elsewhere"}}, "the host is .* now and was elsewhere"),
        ({"host": {"cpu_threads": 999}}, "hardware threads is .* now and was 999"),
        ({"host": {"memory_bytes": 2**45}}, "memory is .* now and was"),
        ({"device": "nosuch"}, "now and was on nosuch"),
    ],
)
def test_another_host_or_device_is_measured_and_that_is_said(
    tmp_path: Path, flush_ms: list[float], changes: dict[str, object], why: str
) -> None:
    said: list[tuple[Path, str]] = []
    places = (tmp_path / "a", tmp_path / "b")
    first = Machines(tmp_path)
    for place in places[: 2 if "host" in changes else 1]:
        first.at(place)
    rewrite(tmp_path, **changes)
    machines = Machines(tmp_path, lambda folder, reason: said.append((folder, reason)))
    before = len(flush_ms)
    machines.at(places[0])
    machines.at(places[0])
    assert len(flush_ms) == before - 1
    ((folder, reason),) = said
    assert folder == places[0]
    assert re.search(why, reason)


def test_every_place_of_another_host_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "measure_machine", lambda _: MachineSizes(memory_bytes=1, flush_ms_min=1.0))
    for place in ("a", "b"):
        Machines(tmp_path).at(tmp_path / place)
    rewrite(tmp_path, host={"name": "elsewhere"})
    said: list[Path] = []
    machines = Machines(tmp_path, lambda folder, _: said.append(folder))
    for place in ("a", "b", "new"):
        machines.at(tmp_path / place)
    assert said == [tmp_path / "a", tmp_path / "b"]


def test_a_file_that_cannot_be_read_is_told_and_stays(tmp_path: Path) -> None:
    (tmp_path / MACHINE_FILE).write_text('{"machine_format": 99, "surprise": 1}')
    with pytest.raises(NewerFormatError):
        Machines(tmp_path).at(tmp_path / "data")
    (tmp_path / MACHINE_FILE).write_text('{"machine')
    with pytest.raises(RecordError, match="remove it, and the machine is measured again"):
        Machines(tmp_path).at(tmp_path / "data")
