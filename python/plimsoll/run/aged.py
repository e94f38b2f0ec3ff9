"""Data of a system that is kept at the end of a study, and used by another one.

Deliberately not here: folders of kept data (`servers.kept_data`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from plimsoll.errors import HostError
from plimsoll.run.data_events import DataKept
from plimsoll.servers.command import find_server
from plimsoll.servers.data_copy import Copied
from plimsoll.servers.kept_data import Identity, KeptFolder
from plimsoll.servers.managed import ManagedServer
from plimsoll.servers.option_file import Flavour
from plimsoll.spec.shares import shares
from plimsoll.spec.statements import Workload, data_sets
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import ServerSpec


def identity_of(server: ServerSpec, flavour: Flavour, workloads: Sequence[Workload], number: int) -> Identity:
    """What the data of an instance is: equal for studies that can use each other's.

    Args:
        server: What the user wrote.
        flavour: Of the server that is found; a later minor version would first have to upgrade the data.
        workloads: One for each data set, undivided.
        number: Of the instance, from 0.
    """
    parts = [shares(workload, server.instances)[number].data_line() for workload in workloads]
    return {
        "server": f"{flavour.name.value} {flavour.version[0]}.{flavour.version[1]}",
        "instance": f"{number} of {server.instances}",
        "tables": [_plain(part) for part in parts],
        "table_options": server.table_options,
        "character_set": server.effective_character_set,
        "collation": server.collation,
        "page_size": str(server.options.get("innodb_page_size", "default")),
        "own_paths": sorted(role for role in server.role_dirs if role in {"redo", "undo"}),
    }


def _plain(line: dict[str, Any]) -> dict[str, Any]:
    """A data set as JSON gives it back: without procedures, which are no rows."""
    return {name: value for name, value in line.items() if name != "procedures"}


def kept_folder(server: ServerSpec, key: str) -> KeptFolder | None:
    """The folder that a key names; None where it was not written."""
    written = getattr(server, key)
    return None if written is None else KeptFolder(Path(written), key)


def unfit_kept_data(spec: StudySpec) -> Iterator[str]:
    """A line for everything that would keep data from being used again or being kept; said before anything starts."""
    workloads, seen = data_sets(spec.workload), dict[str, str]()
    for index, system in enumerate(spec.system):
        if (server := system.server) is None:
            continue
        place = f"system[{index}].server"
        written = server.keep_data
        if written is not None and (other := seen.setdefault(str(Path(written).resolve()), place)) != place:
            yield f"{place}.keep_data: is that of {other} too; give each system a folder of its own"
        for key in ("aged_data", "keep_data"):
            if (kept := kept_folder(server, key)) is not None:
                yield from (f"{place}.{line}" for line in _faults(kept, server, workloads, key))


def _faults(kept: KeptFolder, server: ServerSpec, workloads: Sequence[Workload], key: str) -> Iterator[str]:
    try:
        flavour = find_server(server.command or server.managed).flavour
        kept.hold(may_make=key == "keep_data")
    except HostError as error:
        yield str(error)
        return
    try:
        for number in range(server.instances):
            if key == "aged_data" or (kept.path / str(number)).exists():
                yield from kept.differences(number, identity_of(server, flavour, workloads, number))
    finally:
        kept.release()


class Kept:
    """What a system's servers take from kept data, and leave there.

    Folders are held from the first use until `release`.
    """

    def __init__(self, server: ServerSpec, workloads: Sequence[Workload]) -> None:
        self._server, self._workloads = server, workloads
        self._from, self._to = kept_folder(server, "aged_data"), kept_folder(server, "keep_data")
        self._is_same = self._from is not None and self._to is not None and _same(self._from, self._to)
        self._is_held = False

    @property
    def is_aged(self) -> bool:
        """Whether data comes from an earlier study."""
        return self._from is not None

    def hold(self) -> None:
        """Makes sure that nobody else uses the folders. Raises HostError where somebody does."""
        if self._is_held:
            return
        if self._from is not None:
            self._from.hold(may_make=False)
        if self._to is not None and not self._is_same:
            self._to.hold(may_make=True)
        self._is_held = True

    def take(self, number: int, server: ManagedServer) -> None:
        """Replaces the data of an instance that does not run; raises HostError as `KeptFolder.take`."""
        assert self._from is not None, "no data was kept for this"
        identity = identity_of(self._server, server.flavour, self._workloads, number)
        self._from.take(number, server.directory, identity)

    def keep(self, system: str, servers: Sequence[ManagedServer]) -> DataKept | None:
        """Keeps the data of all instances, which do not run; None where the study does not say so.

        Raises:
            HostError: As `KeptFolder.keep`.
        """
        if self._to is None:
            return None
        copied = Copied()
        for number, server in enumerate(servers):
            identity = identity_of(self._server, server.flavour, self._workloads, number)
            copied += self._to.keep(number, server.directory, identity)
        folder = str(self._to.path)
        return DataKept(system=system, folder=folder, size_bytes=copied.size_bytes, duration_s=copied.duration_s)

    def release(self) -> None:
        """Lets others use the folders."""
        for folder in (self._from, self._to):
            if folder is not None:
                folder.release()
        self._is_held = False


def _same(one: KeptFolder, other: KeptFolder) -> bool:
    return one.path.resolve() == other.path.resolve()
