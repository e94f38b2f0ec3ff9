"""The data of a system: rows made by the engine, put back as they were, and kept at the end of a study for another one.

Of one server that Plimsoll started, data is put back by the faster way. Both ways begin and end with a server that is
cleanly stopped, so that a trial meets the same caches after either. A copy restores everything: rows, redo log, undo,
statistics. Loading the rows again restores the rows only; it is taken where its last duration was clearly below that of
copying, as for few rows and a large redo log on a slow device.

The same step for several servers of one system is done side by side: one failure ends all, with one message.
Deliberately not here: how files are copied, and folders of kept data (`servers.data_copy`).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, Literal, TypeVar

from plimsoll.drive.engine import Driver, run_data_command
from plimsoll.drive.plans import data_line
from plimsoll.drive.protocol import Done, EngineWarning, Progress
from plimsoll.errors import DataError, Fault, HostError, Loc, TargetError, path_text
from plimsoll.hosts.host import Host, Server
from plimsoll.hosts.local import HERE
from plimsoll.record.model import DataReset
from plimsoll.run.events import DataKept
from plimsoll.run.instance import FullDisks, refuse_full
from plimsoll.servers.command import find_server
from plimsoll.servers.control import connect
from plimsoll.servers.data_copy import Copied, Identity, KeptFolder
from plimsoll.servers.data_facts import tables_bytes
from plimsoll.servers.managed_server import ManagedServer, pool_bytes_of
from plimsoll.servers.option_file import Flavour
from plimsoll.servers.settle import StatusSource
from plimsoll.spec.paths import AS_USUAL, TableOptions
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import ServerSpec, shares
from plimsoll.spec.target import Target
from plimsoll.spec.workloads import Workload, data_sets

DataCommand = Literal["prepare", "check", "verify", "foresee", "foresee-reset", "cleanup"]

ANSWER_LIMIT_S = 10.0
"""How long a server may take to greet."""

LOADERS = 2
"""Connections that load data at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataKeeper:
    """Keeps the rows of some workloads as they should be.

    Attributes:
        driver: Runs the engine.
        data_sets: Workloads that use them, one for each set of tables.
        changing: Workloads insert or delete rows, so that any number of them is right after a trial.
        table_options: Further options of CREATE TABLE, after those of a workload.
        progress: Is told how far loading is.
        warn: Is told of doubts.
    """

    driver: Driver
    data_sets: tuple[Workload, ...]
    changing: bool = False
    table_options: TableOptions = AS_USUAL
    progress: Callable[[Progress], None] = lambda _: None
    warn: Callable[[EngineWarning], None] = lambda _: None

    def divided(self, count: int) -> tuple[DataKeeper, ...]:
        """The keepers of so many instances, each of its share of the rows."""
        parts = zip(*(shares(data_set, count) for data_set in self.data_sets), strict=True)
        return tuple(replace(self, data_sets=data_sets) for data_sets in parts)

    def telling(self, progress: Callable[[Progress], None]) -> DataKeeper:
        """The same keeper, which tells somebody else how far loading is."""
        return replace(self, progress=progress)

    def ensure(self, target: Target) -> bool:
        """Takes tables that fit as they are, whoever made them, and makes them where there are none.

        A server that cannot be reached, lets nobody in or refuses a statement is told as such: only what the engine
        found itself, without an error of the server, is a reason to make tables.

        Returns:
            Whether all rows are as prepared, because nothing of them was there before.

        Raises:
            SpecError, TargetError, HostError: There are others of the same name, or they cannot be made.
        """
        with connect(target, read_limit_s=ANSWER_LIMIT_S) as control:
            is_new = not any(tables_there(control, data_set.table_names) for data_set in self.data_sets)
        for data_set in self.data_sets:
            try:
                self._run("check", data_set, target)
            except TargetError as error:
                if error.code is not None:
                    raise
                self._run("prepare", data_set, target)
        return is_new

    def foresee(self, target: Target, *, resets: bool) -> bool:
        """Looks for what `ensure` would meet, and with `resets` what `reset` would; changes nothing.

        Returns:
            Whether tables are to be made.

        Raises:
            SpecError, TargetError, HostError: It would be refused.
        """
        command: DataCommand = "foresee-reset" if resets else "foresee"
        rows = [self._run(command, data_set, target).rows_count for data_set in self.data_sets]
        return 0 in rows

    def reset(self, target: Target) -> None:
        """Drops the tables, which must be Plimsoll's own, and makes them again. Raises as `ensure`."""
        for data_set in self.data_sets:
            self._run("cleanup", data_set, target)
            self._run("prepare", data_set, target)

    def check(self, target: Target) -> int:
        """Counts the rows; returns how many there are.

        Raises:
            TargetError: Tables or rows are missing.
        """
        return sum(self._run("check", data_set, target).rows_count for data_set in self.data_sets)

    def verify(self, target: Target, when: str) -> None:
        """Looks at what is in the rows; of a TPC-C-derived workload at its conditions, which hold after load too.

        Args:
            target: Where the rows are.
            when: What a fault's message begins with.

        Raises:
            DataError: Rows are not as they should be; the text says which.
            TargetError, HostError: They cannot be looked at.
        """
        for data_set in self.data_sets:
            try:
                self._run("verify", data_set, target)
            except DataError as error:
                raise DataError(f"{when}: {error}", code=error.code, sqlstate=error.sqlstate) from None

    def _run(self, command: DataCommand, data_set: Workload, target: Target) -> Done:
        line = data_line(data_set, target, loaders=LOADERS, changing=self.changing, table_options=self.table_options)
        return run_data_command(self.driver, command, line, progress=self.progress, warn=self.warn)


def tables_there(control: StatusSource, names: Sequence[str]) -> list[str]:
    """Which of these tables are in the connection's database."""
    if not names:
        return []
    places = ", ".join(["%s"] * len(names))
    rows = control.rows(
        "SELECT table_name FROM information_schema.tables "  # noqa: S608
        f"WHERE table_schema = DATABASE() AND table_name IN ({places})",
        *names,
    )
    return [str(row[0]) for row in rows]


CLEARLY_FASTER = 2.0
"""Loading is taken when it took less than a copy over this."""

WORTH_S = 1.0
"""And when that saves at least so long, seconds."""


class OwnData:
    """The data of one managed server."""

    def __init__(
        self,
        server: Server,
        keeper: DataKeeper,
        *,
        resets: bool,
        pool_ratio: float | None = None,
        is_aged: bool = False,
        has_replicas: bool = False,
        host: Host = HERE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is made yet.

        Args:
            server: Whose.
            keeper: Loads its rows.
            resets: Data will be put back, so that a copy is worth its space.
            pool_ratio: Size of the buffer pool over that of the tables; None where the size is known.
            is_aged: Data comes from an earlier study.
            has_replicas: Replicas get copies of it; it is never loaded again.
            host: Where the server runs.
            clock: Monotonic seconds.
        """
        self._server, self._keeper, self._resets, self._pool_ratio = server, keeper, resets, pool_ratio
        self._host, self._clock = host, clock
        self._load_s = self._copy_s = 0.0
        self._is_aged, self._has_replicas = is_aged, has_replicas

    def load(self) -> None:
        """Loads the rows, or takes them as they are, on the running server, and finds the size of its buffer pool.

        Raises:
            SpecError, TargetError, HostError: The rows cannot be made, or are too few for a pool.
        """
        began_s = self._clock()
        self._loading(lambda keeper: keeper.ensure(self._server.target))
        self._load_s = self._clock() - began_s
        if self._pool_ratio is not None:
            with connect(self._server.target) as control:
                self._server.use_pool(pool_bytes_of(tables_bytes(control) or 0, self._pool_ratio))

    def _loading(self, act: Callable[[DataKeeper], object]) -> None:
        """Works on rows, and names a full disk instead of what fails or stands still for lack of space."""
        places, disks = [(self._host, self._server.data_dir)], FullDisks()

        def progressed(progress: Progress) -> None:
            self._keeper.progress(progress)
            disks.seen(progress, lambda: places)

        try:
            act(self._keeper.telling(progressed))
        except (TargetError, HostError):
            refuse_full(places)
            raise

    def save(self, is_ended: Callable[[], bool] = lambda: False) -> None:
        """Keeps a copy where resets will need it; the server is stopped.

        Args:
            is_ended: Whether the copy is wanted no more.

        Raises:
            HostError: It fails.
        """
        if self._resets:
            self._copy_s = self._server.save_data(is_ended).duration_s

    @property
    def made(self) -> DataReset:
        """How the data came to be."""
        return DataReset(way="fresh", duration_s=self._load_s, is_aged=self._is_aged)

    @property
    def is_loaded_again(self) -> bool:
        """Whether loading is the way, by what both took the last time; aged data, or with replicas, is only copied."""
        is_clearly_faster = self._load_s * CLEARLY_FASTER < self._copy_s and self._copy_s - self._load_s >= WORTH_S
        return is_clearly_faster and not (self._is_aged or self._has_replicas)

    def put_back(self, *, by_loading: bool, is_ended: Callable[[], bool] = lambda: False) -> DataReset:
        """Puts data back as it was loaded. The server is stopped, before and afterwards. Raises as `load`.

        Args:
            by_loading: Rows are loaded again; else the copy is copied back.
            is_ended: Whether a copy is wanted no more.
        """
        if by_loading:
            self._server.start()
            began_s = self._clock()
            self._loading(lambda keeper: keeper.reset(self._server.target))
            self._load_s = self._clock() - began_s
            self._server.stop()
            return DataReset(way="prepare", duration_s=self._load_s, other_s=self._copy_s)
        copied = self._server.restore_data(is_ended)
        self._copy_s = copied.duration_s
        return DataReset(
            way="copy",
            duration_s=copied.duration_s,
            size_bytes=copied.size_bytes,
            cloned_bytes=copied.cloned_bytes,
            other_s=None if self._is_aged else self._load_s,
            is_aged=self._is_aged,
        )


def save_together(data: Sequence[OwnData]) -> None:
    """Keeps copies of the data of all servers of a system, at the same time; the first failure ends the others."""
    ended = Event()
    side_by_side([partial(server_data.save, ended.is_set) for server_data in data], cancel=ended.set)


def put_back_together(data: Sequence[OwnData], kill: Callable[[], None]) -> DataReset | None:
    """Puts the data of all servers of a system back, at the same time; the first failure ends the others.

    Rows are loaded again where that is the way of every server.

    Args:
        data: Of its servers.
        kill: Ends all servers at once, and with them whatever loads rows into them.

    Raises:
        SpecError, TargetError, HostError: What the first one that failed raised; data is then in no state to be used.
    """
    by_loading, ended = all(server_data.is_loaded_again for server_data in data), Event()

    def cancel() -> None:
        ended.set()
        if by_loading:
            kill()

    steps = [partial(server_data.put_back, by_loading=by_loading, is_ended=ended.is_set) for server_data in data]
    return all_together(side_by_side(steps, cancel=cancel))


def all_together(resets: list[DataReset]) -> DataReset | None:
    """What was done to several servers at the same time, by one way: the longest of each duration. None for none."""
    if not resets:
        return None
    sizes = [reset.size_bytes for reset in resets if reset.size_bytes is not None]
    others = [reset.other_s for reset in resets if reset.other_s is not None]
    return DataReset(
        way=resets[0].way,
        duration_s=max(reset.duration_s or 0 for reset in resets),
        size_bytes=sum(sizes) if sizes else None,
        cloned_bytes=sum(reset.cloned_bytes for reset in resets),
        other_s=max(others) if others else None,
        is_aged=resets[0].is_aged,
    )


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
        "page_size": str(server.server_options.get("innodb_page_size", "default")),
        "own_paths": sorted(role for role in server.role_dirs if role in {"redo", "undo"}),
    }


def _plain(line: dict[str, Any]) -> dict[str, Any]:
    """A data set as JSON gives it back: without procedures, which are no rows."""
    return {name: value for name, value in line.items() if name != "procedures"}


def kept_folder(server: ServerSpec, key: str) -> KeptFolder | None:
    """The folder that a key names; None where it was not written."""
    written = getattr(server, key)
    return None if written is None else KeptFolder(Path(written), key)


def unfit_kept_data(spec: StudySpec) -> Iterator[Fault]:
    """Everything that would keep data from being used again or being kept; said before anything starts."""
    workloads, seen = data_sets(spec.workload), dict[str, Loc]()
    for index, system in enumerate(spec.system):
        if (server := system.server) is None:
            continue
        place: Loc = ("system", index, "server")
        written = server.keep_data
        if written is not None and (other := seen.setdefault(str(Path(written).resolve()), place)) != place:
            reason = f"is that of {path_text(other)} too; give each system a folder of its own"
            yield Fault((*place, "keep_data"), reason)
        for key in ("aged_data", "keep_data"):
            if (kept := kept_folder(server, key)) is not None:
                lines = _faults(kept, server, workloads, key)
                yield from (Fault((*place, key), line.removeprefix(f"{key}: ")) for line in lines)


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


class KeptData:
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


def _same(folder: KeptFolder, other: KeptFolder) -> bool:
    return folder.path.resolve() == other.path.resolve()


T = TypeVar("T")


def side_by_side(steps: Sequence[Callable[[], T]], cancel: Callable[[], None] = lambda: None) -> list[T]:
    """Runs steps in threads of their own, at most two for each CPU at a time, and waits for all of them.

    Args:
        steps: What is to be done; one is done in this thread.
        cancel: Called when one failed or somebody interrupted, to end the others early. Those that have not begun never
            do.

    Returns:
        What they returned, in their order.

    Raises:
        Exception: What the first one that failed raised, in the order of time.
    """
    if len(steps) == 1:
        return [steps[0]()]
    with ThreadPoolExecutor(max_workers=max(min(len(steps), 2 * (os.cpu_count() or 1)), 2)) as pool:
        futures = [pool.submit(step) for step in steps]
        try:
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            failed = [future for future in done if future.exception() is not None]
            if failed:
                raise failed[0].exception() or AssertionError("it failed")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            cancel()
            raise
    return [future.result() for future in futures]


def counted_together(keepers: Sequence[DataKeeper]) -> tuple[DataKeeper, ...]:
    """Keepers that tell of their progress together: the sum over all of them that are in the same phase."""
    lock, counts = threading.Lock(), dict[int, Progress]()
    if len(keepers) == 1:
        return tuple(keepers)

    def telling(index: int, tell: Callable[[Progress], None]) -> Callable[[Progress], None]:
        def progressed(progress: Progress) -> None:
            with lock:
                counts[index] = progress
                same = [count for count in counts.values() if count.phase == progress.phase]
                total = {name: sum(getattr(count, name) for count in same) for name in ("done_count", "total_count")}
                tell(progress.model_copy(update=total))

        return progressed

    return tuple(replace(keeper, progress=telling(index, keeper.progress)) for index, keeper in enumerate(keepers))
