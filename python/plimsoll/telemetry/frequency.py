"""The clock frequency of the CPUs, where the kernel tells it: most virtual machines have none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from plimsoll.telemetry.sampler import Sample, Sampler, kernel_text

_CPUS_MAX = 8
"""The kernel asks each CPU for its frequency: of machines with many, some evenly spread ones are enough."""


class FrequencySampler(Sampler):
    """Mean frequency of some CPUs, as the kernel has it now."""

    source: ClassVar[str] = "host"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one read below /sys for each of at most 8 CPUs; nothing where the kernel tells no frequency"
    metrics: ClassVar[Mapping[str, str]] = {"cpu_frequency_hz": "Hz"}

    def __init__(self, sys: Path = Path("/sys")) -> None:
        files = sorted(sys.glob("devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq"))
        self._files = files[:: max(-(-len(files) // _CPUS_MAX), 1)]

    def sample(self, at_unix_s: float) -> list[Sample]:  # noqa: ARG002
        """Looks once, see `Sampler`."""
        if not self._files:
            return []
        kilohertz = [float(kernel_text(file)) for file in self._files]
        return [Sample(self.source, "cpu_frequency_hz", 1000 * sum(kilohertz) / len(kilohertz))]
