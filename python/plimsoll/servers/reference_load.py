"""A short fixed load on this machine, whose time says how fast the machine is now: its weather.

It is of Python and not of the engine: hashing, copying and flushing leave the interpreter's lock and its speed alone,
so no second executable has to run beside the server. It runs before the warm-up and after the measurement, takes about
a fifth of a second on a machine of today, and touches neither the server nor its files.

Deliberately not here: what counts as slow (`plimsoll.analyse.weather`), and limits of the machine (fio, `plimsoll
doctor`).
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from plimsoll.errors import HostError
from plimsoll.record.weather import ReferenceTimes

_HASHED_BYTES = 1_000_000
_HASHED_TIMES = 32
_COPIED_BYTES_LEAST, _COPIED_BYTES_MOST = 32 << 20, 128 << 20
_COPIED_BYTES = 512 << 20
"""In all."""

_FLUSHES = 8
_WRITTEN_BYTES = 16_384

Clock = Callable[[], float]


def reference_times(
    data_dir: Path | None, *, wall: Clock = time.time, clock: Clock = time.perf_counter
) -> ReferenceTimes:
    """Runs the reference load.

    Args:
        data_dir: Data directory of a server that Plimsoll manages; None where there is none.
        wall: Wall clock, seconds since 1970.
        clock: Monotonic, seconds.

    Raises:
        HostError: The data directory cannot be written to.
    """
    at_unix_s = wall()
    return ReferenceTimes(
        at_unix_s=at_unix_s,
        processor_ms=_hash_ms(clock),
        memory_ms=_copy_ms(clock),
        flush_ms=None if data_dir is None else _flush_ms(data_dir, clock),
        own_cpu_s=time.process_time(),
    )


def _hash_ms(clock: Clock) -> float:
    """A thread for each CPU that this process may use; hashlib works without the interpreter's lock."""
    block, count = bytes(_HASHED_BYTES), len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(_hash, [b""] * count))  # threads are there before the clock runs
        began_s = clock()
        list(pool.map(_hash, [block] * count))
        return (clock() - began_s) * 1000


def _hash(block: bytes) -> None:
    digest = hashlib.sha256()
    for _ in range(_HASHED_TIMES):
        digest.update(block)


def _copy_ms(clock: Clock) -> float:
    """The pages of both buffers are there before the clock runs; afterwards they are given back."""
    size = copied_bytes()
    source, target = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
    ctypes.memset(source, 1, size)
    ctypes.memmove(target, source, size)  # as hashlib without the interpreter's lock
    began_s = clock()
    for _ in range(max(_COPIED_BYTES // size, 1)):
        ctypes.memmove(target, source, size)
    return (clock() - began_s) * 1000


def copied_bytes(sys: Path = Path("/sys")) -> int:
    """Twice the largest cache, within limits: a machine short of memory must not swap for this.

    Args:
        sys: Where the kernel shows caches; another folder in tests.
    """
    sizes = [_kibibytes(path) for path in sys.glob("devices/system/cpu/cpu0/cache/index*/size")]
    return min(max(2 * 1024 * max(sizes, default=0), _COPIED_BYTES_LEAST), _COPIED_BYTES_MOST)


def _kibibytes(path: Path) -> int:
    """Of a text such as `32768K`; 0 where it cannot be read."""
    try:
        return int(path.read_text().strip().removesuffix("K"))
    except (OSError, ValueError):
        return 0


def _flush_ms(directory: Path, clock: Clock) -> float:
    """Of a file without a name: nothing is left of it, whatever ends us."""
    block = bytes(_WRITTEN_BYTES)
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            os.write(file.fileno(), block)
            os.fdatasync(file.fileno())  # its first blocks are there before the clock runs
            began_s = clock()
            for _ in range(_FLUSHES):
                os.write(file.fileno(), block)
                os.fdatasync(file.fileno())
            return (clock() - began_s) * 1000
    except OSError as error:
        raise HostError(f"{directory}: a write with flush failed: {error.strerror}; choose another data_dir") from None
