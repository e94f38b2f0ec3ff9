"""Pressure stall information: the share of time in which tasks waited for processor, memory or devices.

A kernel without it (before 4.20, or switched off) gives no samples; the host's facts say so. What was there and is
there no longer is a failure.
Source: https://docs.kernel.org/accounting/psi.html
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from plimsoll.telemetry.sampler import PROC, Deltas, Sample, Sampler, kernel_text


class PressureSampler(Sampler):
    """Shares of time since the sample before, from the kernel's totals in microseconds."""

    source: ClassVar[str] = "host"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "three reads below /proc/pressure"
    metrics: ClassVar[Mapping[str, str]] = {
        "pressure_cpu_some_ratio": "0..1",
        "pressure_io_some_ratio": "0..1",
        "pressure_io_full_ratio": "0..1",
        "pressure_memory_some_ratio": "0..1",
        "pressure_memory_full_ratio": "0..1",
    }

    def __init__(self, proc: Path = PROC) -> None:
        self._folder = proc / "pressure"
        self._deltas = Deltas()
        self._was_there: set[str] = set()

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`.

        Raises:
            OSError: A file that was there before cannot be read.
        """
        totals: dict[str, float] = {}
        for resource in ("cpu", "io", "memory"):
            totals |= self._totals_us(resource)
        risen = self._deltas.rise(at_unix_s, totals)
        if risen is None:
            return []
        elapsed_s, stalled_us = risen
        return [
            Sample(self.source, metric, min(value / 1e6 / elapsed_s, 1.0))
            for metric, value in stalled_us.items()
            if metric in self.metrics
        ]

    def _totals_us(self, resource: str) -> dict[str, float]:
        """`some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and the same for `full`."""
        try:
            lines = kernel_text(self._folder / resource).splitlines()
        except OSError:
            if resource in self._was_there:
                raise
            return {}
        self._was_there.add(resource)
        return {
            f"pressure_{resource}_{line.split()[0]}_ratio": float(line.rpartition("total=")[2])
            for line in lines
            if line
        }
