"""What the server itself read from and wrote to storage, apart from what else uses the device.

From /proc/PID/io (proc(5)): bytes that storage was asked for, and calls of read and write, of all threads. Only the
server's user and root may read it; for anybody else there are no samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from plimsoll.telemetry.sampler import PROC, Deltas, Sample, Sampler, kernel_text

_FIELDS = {
    "read_bytes": "server_storage_read_bytes_per_s",
    "write_bytes": "server_storage_write_bytes_per_s",
    "syscr": "server_read_calls_per_s",
    "syscw": "server_write_calls_per_s",
}


class ProcessIoSampler(Sampler):
    """Rates since the sample before, of the server's own process; children are not seen."""

    source: ClassVar[str] = "process"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one read of /proc/PID/io, for which the kernel adds up all threads"
    metrics: ClassVar[Mapping[str, str]] = {
        metric: "bytes/s" if "bytes" in metric else "1/s" for metric in _FIELDS.values()
    }

    def __init__(self, pid: int, proc: Path = PROC) -> None:
        """Watches the server's process."""
        self._path = proc / str(pid) / "io"
        self._deltas = Deltas()

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`.

        Raises:
            ProcessLookupError: The process has ended.
        """
        try:
            lines = kernel_text(self._path).splitlines()
        except PermissionError:
            return []
        except OSError as error:
            raise ProcessLookupError("the server's process has ended") from error
        counters = {name: float(value) for name, _, value in (line.partition(":") for line in lines) if name in _FIELDS}
        risen = self._deltas.rise(at_unix_s, counters)
        if risen is None:
            return []
        elapsed_s, counted = risen
        return [Sample(self.source, _FIELDS[name], value / elapsed_s) for name, value in counted.items()]
