"""The files of a stopped instance, all of its folders together: saved, restored, dropped from the page cache.

Deliberately not here: starting and stopping the server (`managed`), and how one folder is copied (`data_copy`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from plimsoll.errors import HostError
from plimsoll.record.environment import StorageFacts
from plimsoll.servers.data_copy import Copied, leave_page_cache, make_durable, replace_tree
from plimsoll.servers.directory import InstanceDirectory
from plimsoll.servers.option_file import BINLOG
from plimsoll.servers.storage import measure_flush, storage_facts


def save(directory: InstanceDirectory, is_ended: Callable[[], bool] = lambda: False) -> Copied:
    """Keeps a copy of an instance's folders as they are now, each on its own path; `is_ended` as for `replace_tree`.

    Raises:
        HostError: Not enough free space, or a copy failed.
    """
    return sum((replace_tree(live, saved, is_ended) for live, saved in directory.kept_folders.values()), Copied())


def restore(directory: InstanceDirectory, is_ended: Callable[[], bool] = lambda: False) -> Copied:
    """Sets an instance's folders back to what `save` kept; `is_ended` as for `replace_tree`.

    Raises:
        HostError: Nothing was saved, not enough free space, or a copy failed.
    """
    return sum((replace_tree(saved, live, is_ended) for live, saved in directory.kept_folders.values()), Copied())


def seed(
    source: InstanceDirectory,
    replica: InstanceDirectory,
    *,
    from_saved: bool,
    is_ended: Callable[[], bool] = lambda: False,
) -> Copied:
    """Makes a stopped replica's folders a copy of its source's, which is cleanly stopped; `is_ended` as for `save`.

    What names the server stays behind: MySQL's `auto.cnf`. An index of binary logs on a path of their own names each
    file by its whole path. It is written again: else the replica would remove binary logs of the source.

    Args:
        source: Whose data it is.
        replica: What becomes the copy.
        from_saved: The copy that `save` kept is taken.
        is_ended: Whether the copy is wanted no more.

    Raises:
        HostError: Not enough free space, or a copy failed.
    """
    copied = Copied()
    for role, (live, _) in replica.kept_folders.items():
        of_source, saved = source.kept_folders[role]
        copied += replace_tree(saved if from_saved else of_source, live, is_ended)
    (replica.data / "auto.cnf").unlink(missing_ok=True)
    if (own := replica.roles.get("binlog")) is not None:
        for index in own.glob(f"{BINLOG}.index"):
            names = [Path(line).name for line in index.read_text(encoding="utf-8").splitlines()]
            index.write_text("".join(f"{own / name}\n" for name in names), encoding="utf-8")
    return copied


def drop_caches(directory: InstanceDirectory) -> None:
    """Writes out what the page cache holds of an instance's files, and drops it. Other files of the machine stay.

    Raises:
        HostError: A file cannot be read, or the device failed.
    """
    for live, _ in directory.kept_folders.values():
        try:
            make_durable(live)
            leave_page_cache(live)
        except OSError as error:
            raise HostError(f"{live}: cannot be dropped from the page cache: {error}") from None


def storage_of_roles(directory: InstanceDirectory) -> dict[str, StorageFacts]:
    """Where that lies which has a path of its own, by what it is; how long a flush takes where commits wait for one.

    Raises:
        HostError: A folder cannot be written to.
    """
    found: dict[str, StorageFacts] = {}
    for role, folder in directory.roles.items():
        flush_ms = measure_flush(folder).ms_median if role in {"redo", "binlog"} else None
        found[role] = storage_facts(folder).model_copy(update={"flush_ms_median": flush_ms})
    return found
