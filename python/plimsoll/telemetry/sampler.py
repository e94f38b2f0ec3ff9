"""What a sampler is, and the arithmetic that several share.

Every metric's name ends with its unit; docs/telemetry.md describes each, and a test holds it to `METRICS`.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

PROC = Path("/proc")
"""Where the kernel shows itself; samplers take another folder in tests."""

_READ_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Sample:
    """One metric at one time.

    Attributes:
        source: `host`, `device`, `process`, `server`, `waits` or `performance_schema`.
        metric: Name with its unit last; of a server's status variable its own name in lower case.
    """

    source: str
    metric: str
    value: float


class Sampler(ABC):
    """Looks at one thing each second.

    Attributes:
        source: Of all its samples.
        metrics: Every name that it gives, with its unit. `*` stands for the rest of a status variable's name, `N` for
            the number of a CPU.
        cost: What a sample costs, measured on the machine that it was written on.
        waits: Whether a sample may wait for another process; such samplers get a thread of their own.
    """

    source: ClassVar[str]
    metrics: ClassVar[Mapping[str, str]]
    cost: ClassVar[str]
    waits: ClassVar[bool]

    @abstractmethod
    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once. Rates and shares cover the time since the sample before; the first sample has none.

        Args:
            at_unix_s: Now, seconds since 1970, on a clock that only goes forward.

        Raises:
            Exception: Anything; the collector reports it once and goes on.
        """

    def close(self) -> None:  # noqa: B027  (most have nothing to close)
        """Gives up what is held; never fails."""


def kernel_text(path: Path | str) -> str:
    """What the kernel shows in a file below /proc or /sys; a third of the time that `Path.read_text` takes.

    Raises:
        OSError: There is no such file, or it may not be read.
    """
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(file, _READ_BYTES):
            parts.append(part)
    finally:
        os.close(file)
    return b"".join(parts).decode("utf-8", errors="replace")


class Deltas:
    """How much counters rose since they were last seen, and in which time."""

    def __init__(self) -> None:
        self._at_s: float | None = None
        self._before: dict[str, float] = {}

    def rise(self, at_s: float, counters: Mapping[str, float]) -> tuple[float, dict[str, float]] | None:
        """Notes counters.

        Args:
            at_s: Now, seconds.
            counters: Each counter's value.

        Returns:
            The elapsed seconds, and the rise of each counter that was there before; a counter that fell, because what
            it counts began anew, has risen by nothing. None at the first time, and when no time has passed.
        """
        before_s, before = self._at_s, self._before
        self._at_s, self._before = at_s, dict(counters)
        if before_s is None or at_s <= before_s:
            return None
        risen = {name: max(value - before[name], 0.0) for name, value in counters.items() if name in before}
        return at_s - before_s, risen


def matches(metric: str, pattern: str) -> bool:
    """Whether a metric's name is one that `Sampler.metrics` lists.

    >>> matches("cpu12_busy_ratio", "cpuN_busy_ratio"), matches("com_select", "com_*"), matches("x", "com_*")
    (True, True, False)
    """
    regular = re.escape(pattern).replace(r"\*", ".*").replace("cpuN", r"cpu\d+")
    return re.fullmatch(regular, metric) is not None
