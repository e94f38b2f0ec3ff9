"""The buffer pool of a managed server: its size as a share of the data, and whether it holds what it held before.

Deliberately not here: the size that a profile chooses (`option_file`).
"""

from __future__ import annotations

import time
from collections.abc import Callable

from plimsoll.errors import HostError, TargetError
from plimsoll.servers.settle import Asked
from plimsoll.spec.server_options import OptionValue
from plimsoll.spec.shares import POOL_BYTES_MIN
from plimsoll.units import format_bytes

MIB = 2**20

_CHUNKS = 256
_LOADED = ("load completed", "cannot open", "load aborted")
"""How a server says that it has loaded its buffer pool, or that there is nothing to load."""


def pool_bytes_of(data_bytes: int, ratio: float, about: str = "") -> int:
    """A share of the data's size as a size that servers take as it is: a whole number of chunks.

    Args:
        data_bytes: Of tables and indexes.
        ratio: Size of the pool over that.
        about: How the size of the data is known, in words, such as `at most`; empty where it was measured.

    Raises:
        HostError: It is too small for a server.
    """
    wanted = int(data_bytes * ratio)
    if wanted < POOL_BYTES_MIN:
        raise HostError(
            f"pool_ratio: {ratio:g} of {f'{about} ' if about else ''}{format_bytes(data_bytes)} of data is"
            f" {format_bytes(wanted)}, and a buffer pool has at least {format_bytes(POOL_BYTES_MIN)}; make the tables"
            " larger or raise pool_ratio"
        )
    chunk = _chunk_bytes(wanted)
    return wanted // chunk * chunk


def pool_options(pool_bytes: int) -> dict[str, OptionValue]:
    """Options for a pool of exactly this size; servers round it up to chunks, which are 128 MiB unless stated."""
    return {"innodb_buffer_pool_size": pool_bytes, "innodb_buffer_pool_chunk_size": _chunk_bytes(pool_bytes)}


def _chunk_bytes(pool_bytes: int) -> int:
    return max(pool_bytes // _CHUNKS // MIB, 1) * MIB


def wait_until_loaded(
    control: Asked,
    *,
    limit_s: float = 600.0,
    poll_s: float = 0.1,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Waits until a server that loads its buffer pool at its start has done so.

    Args:
        control: A connection to it.
        limit_s: How long at most.
        poll_s: Time between two looks.
        clock: Monotonic seconds.
        sleep: Waits for seconds.

    Raises:
        TargetError: It did not within the limit, or stopped answering.
    """
    until_s, said = clock() + limit_s, ""
    while clock() < until_s:
        rows = control.rows("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_load_status'")
        said = str(rows[0][1]) if rows else ""
        if not rows or any(mark in said.lower() for mark in _LOADED):
            return
        sleep(poll_s)
    raise TargetError(f'start = "warm": the buffer pool was not loaded within {limit_s:.0f} s; the server says: {said}')
