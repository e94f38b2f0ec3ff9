"""Space that files of a system's servers take, each on the path where it lies; pure estimates.

Sizes that a study states are used, the others are typical. Deliberately not here: recordings (`build`), and which paths
share a file system (`run.server_faults`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import SpecError
from plimsoll.servers.option_file import profile_redo_bytes
from plimsoll.spec.paths import Role, has_binary_log
from plimsoll.spec.server_options import OptionValue
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import ServerSpec, SystemSpec, shares
from plimsoll.spec.workloads import StatementsSpec, data_sets
from plimsoll.units import parse_size_bytes

ROW_BYTES = 250
"""Typical size of a row of the OLTP tables on disk, its indexes included."""

TABLE_BYTES_MOST = 10 * 2**20
"""No file of a table is so much larger than its rows."""

SYSTEM_BYTES = 80_000_000
"""Typical size of a server's own tables."""

DEFAULT_REDO_BYTES = 100_000_000
"""Typical size of a server's redo log by its own default."""

TYPICAL_POOL_BYTES = 2**30
"""Typical size of a buffer pool that the profile chooses; half of it is the redo log."""

OTHER_BYTES: dict[Role, int] = {"binlog": 250_000_000, "undo": 100_000_000, "tmp": 50_000_000}
"""Typical sizes of what else a server writes, copies included."""


_OTHERS: dict[Role, str] = {"binlog": "binary logs", "undo": "undo", "tmp": "temporary files"}


@dataclass(frozen=True, slots=True)
class DiskPart:
    """Files of a system that lie together.

    Attributes:
        key: Of the study file, that says where: `data_dir`, `redo_dir` and so on.
        what: In words.
        folder: Where they lie; None for the default.
        size_bytes: Of all servers of the system together, with the copies that resets need.
    """

    key: str
    what: str
    folder: Path | None
    size_bytes: int


def data_bytes(spec: StudySpec, instances: int = 1) -> int:
    """Expected size of the rows of one system, bytes; all its instances together."""
    parts = (part for workload in data_sets(spec.workload) for part in shares(workload, instances))
    return sum(part.rows_count for part in parts) * ROW_BYTES


def data_bytes_most(spec: StudySpec, instances: int = 1) -> int | None:
    """What the files of the tables of one instance surely do not reach: servers extend files by megabytes.

    None where users' own tables are among them, whose rows may have any length.
    """
    if any(isinstance(workload, StatementsSpec) for workload in data_sets(spec.workload)):
        return None
    tables = sum(len(workload.table_names) for workload in data_sets(spec.workload))
    return 2 * data_bytes(spec, instances) // instances + tables * TABLE_BYTES_MOST


def disk_bytes(spec: StudySpec, system: SystemSpec) -> int:
    """Space for the files of a system while it is measured, bytes; 0 where Plimsoll starts no server."""
    return sum(part.size_bytes for part in disk_parts(spec, system) if part.key != "keep_data")


def disk_parts(spec: StudySpec, system: SystemSpec, redo_free_bytes: int | None = None) -> Iterator[DiskPart]:
    """Everything that a system's servers put on disk, by what it is; nothing where Plimsoll starts no server.

    A replica holds as much as its source, without a saved copy: it is seeded from that of its source.

    Args:
        spec: The study.
        system: One of it.
        redo_free_bytes: Free where the redo log will lie: a profile takes only a part of it. None for plenty.
    """
    if (server := system.server) is None:
        return
    copies = 1 if spec.reset_of(system) == "never" else 2
    rows_bytes, redo_bytes = data_bytes(spec, server.instances), _redo_bytes(server, redo_free_bytes)
    own_bytes = rows_bytes + server.instances * SYSTEM_BYTES
    home = Path(server.data_dir) if server.data_dir is not None else None
    folders = {role: Path(folder) for role, folder in server.role_dirs.items()}
    yield DiskPart("data_dir", "data", home, copies * own_bytes)
    yield DiskPart("redo_dir", "redo log", folders.get("redo", home), copies * redo_bytes)
    for role, what in _OTHERS.items():
        if role != "binlog" or server.replicas or has_binary_log(server.profile, server.server_options, server.managed):
            yield DiskPart(f"{role}_dir", what, folders.get(role, home), server.instances * OTHER_BYTES[role])
    yield from _replica_parts(server, own_bytes, redo_bytes)
    if server.keep_data is not None:
        yield DiskPart("keep_data", "kept data", Path(server.keep_data), own_bytes + redo_bytes)


def _replica_parts(server: ServerSpec, own_bytes: int, redo_bytes: int) -> Iterator[DiskPart]:
    """What all replicas together put on disk; each has a binary log and a relay log."""
    if not (count := server.replicas):
        return
    written = server.each_replica.data_dir
    home = Path(written) if written is not None else None
    folders = {role: Path(folder) for role, folder in server.role_dirs.items()}
    yield DiskPart("replica.data_dir", "data of replicas", home, count * own_bytes)
    yield DiskPart("redo_dir", "redo logs of replicas", folders.get("redo", home), count * redo_bytes)
    others = {**OTHER_BYTES, "binlog": 2 * OTHER_BYTES["binlog"]}
    for role, what in _OTHERS.items():
        yield DiskPart(f"{role}_dir", f"{what} of replicas", folders.get(role, home), count * others[role])


def _redo_bytes(server: ServerSpec, free_bytes: int | None) -> int:
    """Redo logs of all servers of a system, without copies: as stated, or as profile and server make them."""
    options = {name.removeprefix("loose_"): value for name, value in server.server_options.items()}
    if (capacity := _size(options.get("innodb_redo_log_capacity"))) is not None:
        return server.instances * capacity
    if (file_bytes := _size(options.get("innodb_log_file_size"))) is not None:
        return server.instances * file_bytes * (_size(options.get("innodb_log_files_in_group")) or 1)
    if server.profile == "server-defaults":
        return server.instances * DEFAULT_REDO_BYTES
    return profile_redo_bytes(server.buffer_pool or TYPICAL_POOL_BYTES, free_bytes)


def _size(value: OptionValue | None) -> int | None:
    """A number of bytes as option files have it, such as 1073741824, `"1G"` or `"512M"`; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        return parse_size_bytes(value) if isinstance(value, str) else None
    except SpecError:
        return None
