"""This machine at this moment: how busy it is before any load of ours, and how fast by a short fixed load (weather).

The load is of Python and not of the engine: hashing, copying and flushing leave the interpreter's lock and its speed
alone, so no second executable has to run beside the server. It runs before the warm-up and after the measurement, takes
about a fifth of a second on a machine of today, and touches neither the server nor its files. Deliberately not here:
what counts as slow (`plimsoll.analyse.study.conditions`), limits of the machine (fio, `plimsoll doctor`), and
telemetry.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from plimsoll.analyse.findings.machine import Moment
from plimsoll.errors import HostError
from plimsoll.record.model import ReferenceTimes

SAMPLE_S = 0.5
_STEAL = 7
_IDLE = (3, 4)
_TIMES = 8
"""user, nice, system, idle, iowait, irq, softirq, steal; guest time counts as user time already (proc(5))."""


def machine_moment(
    *, proc: Path = Path("/proc"), sample_s: float = SAMPLE_S, sleep: Callable[[float], None] = time.sleep
) -> Moment | None:
    """How busy the machine is while this process waits; None where the kernel does not say.

    Args:
        proc: Where the kernel shows processes; another folder in tests.
        sample_s: How long to look, seconds.
        sleep: Waits so long.
    """
    before = _cpu_times(proc)
    sleep(sample_s)
    after = _cpu_times(proc)
    if before is None or after is None:
        return None
    spent = [late - early for early, late in zip(before, after, strict=True)]
    total = sum(spent)
    if total <= 0:
        return None
    return Moment(
        steal_ratio=spent[_STEAL] / total,
        busy_ratio=1 - sum(spent[place] for place in (*_IDLE, _STEAL)) / total,
        sample_s=sample_s,
        steal_ratio_since_boot=before[_STEAL] / max(sum(before), 1),
    )


def _cpu_times(proc: Path) -> list[int] | None:
    """Ticks of all processors together since the machine began, in the order of the kernel."""
    try:
        words = (proc / "stat").read_text(encoding="utf-8", errors="replace").split("\n", 1)[0].split()
    except OSError:
        return None
    known = words[: _TIMES + 1]
    if len(known) <= _TIMES or known[0] != "cpu" or not all(word.isdigit() for word in known[1:]):
        return None
    return [int(word) for word in known[1:]]


def open_files_max() -> int | None:
    """How many files a process of this user may have open at most; None where that is not limited."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if hard == resource.RLIM_INFINITY else hard


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
