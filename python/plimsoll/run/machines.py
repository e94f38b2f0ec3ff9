"""What managed servers are sized to: measured once for each place, and kept with the study.

A flush that takes 0.99 ms today and 1.01 ms tomorrow must not change the options of a server between two repetitions.
So sizes are measured again only when the host or the place is another one, and then that is said.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from pydantic import Field

from plimsoll.hosts.host import Host
from plimsoll.hosts.local import HERE
from plimsoll.record.document import Document
from plimsoll.record.files import storing, write_file
from plimsoll.run.folder import MACHINE_FILE, read_kept
from plimsoll.servers.directory import make_base_dir
from plimsoll.servers.facts import host_facts, usable_memory_bytes
from plimsoll.servers.managed_spec import measure_machine
from plimsoll.servers.option_file import MachineSizes
from plimsoll.servers.storage import storage_facts
from plimsoll.units import format_bytes

MACHINE_FORMAT = 1
"""Version of `machine.json`; docs/recordings.md describes it."""

_MEMORY_RATIO = 0.02


class HostSizes(Document):
    """The host that was measured, as far as another one would give other sizes.

    Attributes:
        memory_bytes: That servers may use: the machine's, or the control group's.
    """

    name: str | None
    cpu_model: str | None
    cpu_threads: int | None
    memory_bytes: int


class PlaceSizes(Document):
    """A folder below which servers keep their data.

    Attributes:
        free_bytes: Free space when it was measured.
        flush_ms_min: The shortest of some small writes with fdatasync, milliseconds.
    """

    file_system: str | None
    device: str | None
    measured_unix_s: float
    free_bytes: int | None
    flush_ms_min: float | None


class MachineRecord(Document):
    """`machine.json`: what the managed servers of a study are sized to.

    Attributes:
        places: By the folder's path.
    """

    machine_format: int = MACHINE_FORMAT
    host: HostSizes
    places: dict[str, PlaceSizes] = Field(default_factory=dict)


class Machines:
    """Sizes by place, from the study's folder where they are known."""

    def __init__(
        self, folder: Path, say: Callable[[Path, str], None] = lambda _folder, _why: None, host: Host = HERE
    ) -> None:
        """Nothing is read or looked at yet: the machine need not be there.

        Args:
            folder: The study's.
            host: The machine; each has a file of its own.
            say: Is told of each place that is measured again, and why.
        """
        self._file, self._say, self._on = folder / _file_name(host), say, host
        self._record: MachineRecord | None = None
        self._stale: dict[str, str] = {}

    def at(self, base_dir: Path) -> MachineSizes:
        """Memory, free space and flush time at a folder, which is made if need be.

        Raises:
            HostError: It cannot be written to.
            RecordError: `machine.json` cannot be read.
        """
        if self._record is None:
            self._record = self._read()
        self._on.call(make_base_dir, base_dir)
        kept, why = self._record.places.get(str(base_dir)), self._stale.pop(str(base_dir), None)
        facts = self._on.call(storage_facts, base_dir)
        if kept is not None and (kept.file_system, kept.device) != (facts.file_system, facts.device):
            why = f"it is on {facts.device or facts.file_system} now and was on {kept.device or kept.file_system}"
        if why is not None:
            self._say(base_dir, why)
        if kept is None or why is not None:
            kept = self._measured(base_dir, self._record)
        return MachineSizes(
            memory_bytes=self._record.host.memory_bytes, free_bytes=kept.free_bytes, flush_ms_min=kept.flush_ms_min
        )

    def _read(self) -> MachineRecord:
        """What is known of the machine, if it is still the one that was measured."""
        host = _host_now(self._on)
        cure = "remove it, and the machine is measured again"
        kept = read_kept(self._file, MachineRecord, version=("machine_format", MACHINE_FORMAT), cure=cure)
        if kept is None:
            return MachineRecord(host=host)
        if (why := _difference(kept.host, host)) is None:
            return kept
        self._stale = dict.fromkeys(kept.places, why)
        return MachineRecord(host=host)

    def _measured(self, base_dir: Path, known: MachineRecord) -> PlaceSizes:
        """Measures a place and keeps what was found."""
        sizes, facts = self._on.call(measure_machine, base_dir), self._on.call(storage_facts, base_dir)
        place = PlaceSizes(
            file_system=facts.file_system,
            device=facts.device,
            measured_unix_s=time.time(),
            free_bytes=sizes.free_bytes,
            flush_ms_min=sizes.flush_ms_min,
        )
        self._record = known.model_copy(update={"places": {**known.places, str(base_dir): place}})
        with storing(self._file):
            write_file(self._file, self._record.model_dump_json(indent=1).encode() + b"\n")
        return place


def _file_name(host: Host) -> str:
    if host.is_here:
        return MACHINE_FILE
    plain = "".join(sign if sign.isalnum() or sign in "-." else "_" for sign in host.name)
    return f"{MACHINE_FILE.removesuffix('.json')}.{plain}.json"


def _host_now(host: Host) -> HostSizes:
    facts = host.call(host_facts)
    return HostSizes(
        name=facts.name,
        cpu_model=facts.cpu_model,
        cpu_threads=facts.cpu_threads,
        memory_bytes=host.call(usable_memory_bytes),
    )


def _difference(kept: HostSizes, now: HostSizes) -> str | None:
    """What makes it another host than the one that was measured; None when nothing does."""
    for field, what in (("name", "host"), ("cpu_model", "processor"), ("cpu_threads", "number of hardware threads")):
        before, after = getattr(kept, field), getattr(now, field)
        if before != after:
            return f"the {what} is {after} now and was {before}"
    before, after = kept.memory_bytes, now.memory_bytes
    if abs(before - after) > _MEMORY_RATIO * max(before, after):
        return f"memory is {format_bytes(after)} now and was {format_bytes(before)}"
    return None
