"""What managed servers are sized to: measured once for each place, and kept with the study.

A flush that takes 0.99 ms today and 1.01 ms tomorrow must not change the options of a server between two repetitions.
So sizes are measured again only when the host or the place is another one, and then that is said.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from pydantic import Field

from plimsoll.errors import HostError
from plimsoll.record.document import Document
from plimsoll.record.files import storing, write_file
from plimsoll.record.model import HostFacts
from plimsoll.run.folder import MACHINE_FILE, read_kept
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

    def __init__(self, folder: Path, say: Callable[[Path, str], None] = lambda _folder, _why: None) -> None:
        """Reads what is known.

        Args:
            folder: The study's.
            say: Is told of each place that is measured again, and why.

        Raises:
            RecordError: `machine.json` cannot be read.
        """
        self._file, self._say = folder / MACHINE_FILE, say
        self._host = _host_now(host_facts())
        cure = "remove it, then the machine is measured again"
        kept = read_kept(self._file, MachineRecord, version=("machine_format", MACHINE_FORMAT), cure=cure)
        self._record = kept or MachineRecord(host=self._host)
        self._stale: dict[str, str] = {}
        if (why := _difference(self._record.host, self._host)) is not None:
            self._stale = dict.fromkeys(self._record.places, why)
            self._record = MachineRecord(host=self._host)

    def at(self, base_dir: Path) -> MachineSizes:
        """Memory, free space and flush time at a folder, which is made if need be.

        Raises:
            HostError: It cannot be written to.
        """
        try:
            base_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise HostError(f"data_dir: {base_dir} cannot be made: {error.strerror}; choose another") from None
        kept, why = self._record.places.get(str(base_dir)), self._stale.pop(str(base_dir), None)
        facts = storage_facts(base_dir)
        if kept is not None and (kept.file_system, kept.device) != (facts.file_system, facts.device):
            why = f"it lies on {facts.device or facts.file_system} now and lay on {kept.device or kept.file_system}"
        if why is not None:
            self._say(base_dir, why)
        if kept is None or why is not None:
            kept = self._measured(base_dir)
        return MachineSizes(
            memory_bytes=self._record.host.memory_bytes, free_bytes=kept.free_bytes, flush_ms_min=kept.flush_ms_min
        )

    def _measured(self, base_dir: Path) -> PlaceSizes:
        """Measures a place and keeps what was found."""
        sizes, facts = measure_machine(base_dir), storage_facts(base_dir)
        place = PlaceSizes(
            file_system=facts.file_system,
            device=facts.device,
            measured_unix_s=time.time(),
            free_bytes=sizes.free_bytes,
            flush_ms_min=sizes.flush_ms_min,
        )
        self._record = MachineRecord(host=self._host, places={**self._record.places, str(base_dir): place})
        with storing(self._file):
            write_file(self._file, self._record.model_dump_json(indent=1).encode() + b"\n")
        return place


def _host_now(host: HostFacts) -> HostSizes:
    return HostSizes(
        name=host.name, cpu_model=host.cpu_model, cpu_threads=host.cpu_threads, memory_bytes=usable_memory_bytes()
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
