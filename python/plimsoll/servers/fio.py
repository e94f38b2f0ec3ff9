"""fio: finding it, running one test, and reading its JSON.

fio is a program of its own with a licence of its own; it is run, and nothing of it is part of Plimsoll. Percentiles of
times are fio's own, of its histograms with about 1 % error (fio documentation, `clat_percentiles`).

Deliberately not here: which tests follow each other and where files lie (`plimsoll.run.storage`).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.errors import HostError
from plimsoll.record.storage import (
    BLOCK_BYTES,
    COMMIT_BYTES,
    READ_SHARE,
    SEQUENTIAL_BYTES,
    OperationFigures,
    StorageMeasurement,
    StorageTest,
)
from plimsoll.regular_file import read_regular
from plimsoll.servers.directory import DATA, InstanceDirectory
from plimsoll.servers.guardian_pipe import Guard

MISSING = (
    "fio is not installed, and storage is measured with it; install it (Debian and Ubuntu: apt-get install fio;"
    " Fedora: dnf install fio), or remove the [[storage]] sections of the study"
)
COMMIT_FILE_BYTES = 64 * 2**20
"""A file of commits grows up to this size; beyond it, it is written again from its beginning."""

_OUTPUT = "fio.json"
_OUTPUT_BYTES_MAX = 4_000_000
_GRACE_S = 60.0
"""How much longer than its tests fio may take, to lay out files and to finish what is in progress."""

_NS_PER_MS = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class FioJob:
    """One run of fio.

    Attributes:
        size_bytes: Of the file.
        duration_s: How long it runs; for what writes a whole file, how long at most.
        is_direct: Past the page cache.
    """

    size_bytes: int
    duration_s: float
    is_direct: bool

    def words(self, test: StorageTest, queue_depth: int) -> list[str]:
        """Options of a test."""
        options: dict[StorageTest, tuple[str, int]] = {
            StorageTest.SEQUENTIAL_READ: ("read", SEQUENTIAL_BYTES),
            StorageTest.SEQUENTIAL_WRITE: ("write", SEQUENTIAL_BYTES),
            StorageTest.RANDOM_READ: ("randread", BLOCK_BYTES),
            StorageTest.RANDOM_WRITE: ("randwrite", BLOCK_BYTES),
            StorageTest.MIXED: ("randrw", BLOCK_BYTES),
        }
        timed = ["--time_based", f"--runtime={self.duration_s * 1000:.0f}ms"]
        if test is StorageTest.COMMIT:  # a file that grows, as a log does
            return [
                *self._file("commit"),
                "--rw=write",
                f"--bs={COMMIT_BYTES}",
                "--fdatasync=1",
                "--fallocate=none",
                "--ioengine=psync",
                *timed,
            ]
        pattern, block_bytes = options[test]
        mix = [f"--rwmixread={READ_SHARE * 100:.0f}"] if test is StorageTest.MIXED else []
        return [
            *self._file("pages"),
            f"--rw={pattern}",
            f"--bs={block_bytes}",
            *self._engine(queue_depth),
            *mix,
            *timed,
        ]

    def fill_words(self, pattern: str = "write") -> list[str]:
        """Options of writing the whole file once: in sequence, or in random order (`randwrite`)."""
        block_bytes = SEQUENTIAL_BYTES if pattern == "write" else BLOCK_BYTES
        return [
            *self._file("pages"),
            f"--rw={pattern}",
            f"--bs={block_bytes}",
            *self._engine(16),
            "--end_fsync=1",
            f"--runtime={self.duration_s * 1000:.0f}ms",
        ]

    def _file(self, name: str) -> list[str]:
        """A file below the directory that fio runs in: in a whole path a colon would divide names of several files."""
        is_direct = self.is_direct and name != "commit"
        size_bytes = COMMIT_FILE_BYTES if name == "commit" else self.size_bytes
        return [f"--filename={DATA}/{name}", f"--size={size_bytes}", f"--direct={int(is_direct)}"]

    def _engine(self, queue_depth: int) -> list[str]:
        return ["--ioengine=libaio" if queue_depth > 1 else "--ioengine=psync", f"--iodepth={queue_depth}"]


def find_fio() -> str:
    """Where fio is.

    Raises:
        HostError: It is not on the PATH.
    """
    path = shutil.which("fio")
    if path is None:
        raise HostError(MISSING)
    return path


def fio_version(fio: str) -> str:
    """What it calls itself, such as `fio-3.33`."""
    try:
        ran = subprocess.run([fio, "--version"], capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"{fio}: cannot be run: {error}; install fio again") from None
    return ran.stdout.strip()[:100] or "unknown"


def takes_direct(directory: Path) -> bool:
    """Whether the file system takes reads and writes that go past the page cache."""
    probe = directory / "direct"
    try:
        os.close(os.open(probe, os.O_CREAT | os.O_RDWR | os.O_DIRECT | os.O_CLOEXEC, 0o600))
    except OSError:
        return False
    finally:
        probe.unlink(missing_ok=True)
    return True


class FioRunner:
    """fio in a directory of its own, as the child of a guardian: whatever happens to this process, fio ends."""

    def __init__(self, fio: str, directory: InstanceDirectory) -> None:
        """Starts the guardian.

        Args:
            fio: The program.
            directory: Where it runs; the guardian removes it when this process is gone.

        Raises:
            HostError: No guardian could be started.
        """
        self._fio, self._directory, self._guard = fio, directory, Guard(directory)
        self._place = str(directory.path.parent)

    def run(self, words: Sequence[str], *, limit_s: float) -> Mapping[str, Any]:
        """Runs one job and gives its JSON.

        Args:
            words: Options of the job.
            limit_s: How long it should take; it is ended a minute later.

        Raises:
            HostError: It failed, or took too long; the message has what it said.
        """
        output, log = self._directory.data / _OUTPUT, self._directory.error_log
        log.unlink(missing_ok=True)
        named = ["--output-format=json", f"--output={DATA}/{_OUTPUT}"]
        self._guard.start([self._fio, "--name=plimsoll", *words, *named], log)
        code = self._guard.wait(limit_s + _GRACE_S)
        if code is None:
            self._guard.stop(5)
            raise HostError(
                f"{self._place}: fio did not end within {limit_s + _GRACE_S:.0f} s; the storage hangs, or take a"
                " smaller size"
            )
        log_text = log.read_text(encoding="utf-8", errors="replace")
        try:
            text = read_regular(output, _OUTPUT_BYTES_MAX)
        except OSError as error:
            raise HostError(f"{self._place}: fio left no result ({error.strerror}): {_first_line(log_text)}") from None
        finally:
            output.unlink(missing_ok=True)
        if code != 0:
            raise HostError(f"{self._place}: fio failed: {_first_line(log_text)}")
        return job_of(text, place=self._place)

    def close(self) -> None:
        """Ends the guardian, and fio with it; the directory is removed."""
        self._guard.close()


def job_of(text: bytes, *, place: str) -> Mapping[str, Any]:
    """The one job of fio's JSON. Lines before it are notes of fio.

    Raises:
        HostError: It is no such JSON, or the job failed.
    """
    try:
        begin = text.index(b"{")
        job = json.loads(text[begin:])["jobs"][0]
        error = int(job["error"])
        if not isinstance(job["read"], dict) or not isinstance(job["write"], dict):
            raise TypeError
    except (ValueError, KeyError, IndexError, TypeError, RecursionError, OverflowError):
        raise HostError(f"{place}: what fio wrote is not what it documents; install fio 3.1 or later") from None
    if error != 0:
        raise HostError(f"{place}: fio failed: {os.strerror(error)}; free space, or choose another path")
    return job  # type: ignore[no-any-return]


def measurement_of(job: Mapping[str, Any], test: StorageTest, queue_depth: int, *, place: str) -> StorageMeasurement:
    """What a job's JSON says.

    Raises:
        HostError: A figure is missing, or is none; nothing was done in the time.
    """
    blocks = {StorageTest.COMMIT: COMMIT_BYTES}
    if not test.has_depths and test is not StorageTest.COMMIT:
        blocks[test] = SEQUENTIAL_BYTES
    try:
        runtime_s = _finite(job["job_runtime"]) / 1000
        read, write = (_direction(job[name], "clat_ns") for name in ("read", "write"))
        flush = _flush(job, runtime_s) if test is StorageTest.COMMIT else None
        measurement = StorageMeasurement(
            test=test,
            queue_depth=queue_depth,
            block_bytes=blocks.get(test, BLOCK_BYTES),
            duration_s=runtime_s,
            read=read,
            write=write,
            flush=flush,
        )
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        raise HostError(f"{place}: what fio wrote lacks figures of {test.value}; install fio 3.1 or later") from None
    if read is None and write is None:
        raise HostError(f"{place}: nothing was completed in {runtime_s:g} s of {test.value}; the storage hangs")
    return measurement


def _direction(stats: Mapping[str, Any], times: str) -> OperationFigures | None:
    count = int(_finite(stats["total_ios"]))
    if count == 0:
        return None
    return _figures(stats[times], count, _finite(stats["iops"]), _finite(stats["bw_bytes"]))


def _flush(job: Mapping[str, Any], runtime_s: float) -> OperationFigures:
    """Fio 3.33 leaves `total_ios` of flushes at 0; how many there were stands beside their times."""
    durations = job["sync"]["lat_ns"]
    count = int(_finite(durations["N"]))
    if count == 0 or runtime_s <= 0:
        raise ValueError("no flush, or no time")
    return _figures(durations, count, count / runtime_s, 0.0)


def _figures(times: Mapping[str, Any], count: int, per_s: float, bytes_per_s: float) -> OperationFigures:
    percentile = {f"{float(name):g}": value for name, value in times["percentile"].items()}
    p999 = percentile.get("99.9")
    return OperationFigures(
        count=count,
        per_s=per_s,
        bytes_per_s=bytes_per_s,
        ms_mean=_finite(times["mean"]) / _NS_PER_MS,
        ms_p50=_finite(percentile["50"]) / _NS_PER_MS,
        ms_p99=_finite(percentile["99"]) / _NS_PER_MS,
        ms_p999=None if p999 is None else _finite(p999) / _NS_PER_MS,
    )


def _finite(value: object) -> float:
    """A number that is one.

    Raises:
        ValueError: It is none, or infinite.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e300 < value < 1e300:
        raise ValueError(f"no number: {value!r}")
    return float(value)


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    message = next(
        (line for line in lines if "error" in line.lower() or "fail" in line.lower()), lines[0] if lines else ""
    )
    return message[:300] or "it says nothing"
