"""The data of one server that Plimsoll started: made once, then put back as it was, by the faster way.

Both ways begin and end with a server that is cleanly stopped, so that a trial meets the same caches after either. A
copy restores everything: rows, redo log, undo, statistics. Loading the rows again restores the rows only; it is taken
where its last duration was clearly below that of copying, as for few rows and a large redo log on a slow device.

Servers of one system are put back side by side, all by the same way. Deliberately not here: how files are copied
(`servers.instance_data`) and rows are loaded (`keeper`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from threading import Event

from plimsoll.drive.protocol import Progress
from plimsoll.errors import HostError, TargetError
from plimsoll.hosts.host import Host, Server
from plimsoll.hosts.local import HERE
from plimsoll.record.data import DataReset
from plimsoll.run.full_disks import FullDisks, refuse_full
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.side_by_side import side_by_side
from plimsoll.servers.buffer_pool import pool_bytes_of
from plimsoll.servers.control import connect
from plimsoll.servers.table_sizes import tables_bytes

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
    side_by_side([partial(one.save, ended.is_set) for one in data], cancel=ended.set)


def put_back_together(data: Sequence[OwnData], kill: Callable[[], None]) -> DataReset | None:
    """Puts the data of all servers of a system back, at the same time; the first failure ends the others.

    Rows are loaded again where that is the way of every server.

    Args:
        data: Of its servers.
        kill: Ends all servers at once, and with them whatever loads rows into them.

    Raises:
        SpecError, TargetError, HostError: What the first one that failed raised; data is then in no state to be used.
    """
    by_loading, ended = all(one.is_loaded_again for one in data), Event()

    def cancel() -> None:
        ended.set()
        if by_loading:
            kill()

    steps = [partial(one.put_back, by_loading=by_loading, is_ended=ended.is_set) for one in data]
    return all_together(side_by_side(steps, cancel=cancel))


def all_together(resets: list[DataReset]) -> DataReset | None:
    """What was done to several servers at the same time, by one way: the longest of each duration. None for none."""
    if not resets:
        return None
    sizes = [one.size_bytes for one in resets if one.size_bytes is not None]
    others = [one.other_s for one in resets if one.other_s is not None]
    return DataReset(
        way=resets[0].way,
        duration_s=max(one.duration_s or 0 for one in resets),
        size_bytes=sum(sizes) if sizes else None,
        cloned_bytes=sum(one.cloned_bytes for one in resets),
        other_s=max(others) if others else None,
        is_aged=resets[0].is_aged,
    )
