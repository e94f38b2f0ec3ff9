"""What each network interface of the host received and sent; the loopback interface is one of them.

Source: proc_pid_net(5). Deliberately not here: which of it belongs to the load.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from plimsoll.telemetry.sampler import PROC, Deltas, Sample, Sampler, kernel_text

_RECEIVED, _SENT = 0, 8
"""Columns behind an interface's name."""

INTERFACES_MAX = 8


class NetworkSampler(Sampler):
    """Rates since the sample before; interfaces that never received nor sent anything have no rows."""

    source: ClassVar[str] = "host"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one read of /proc/net/dev"
    metrics: ClassVar[Mapping[str, str]] = {
        "network_*_received_bytes_per_s": "bytes/s",
        "network_*_sent_bytes_per_s": "bytes/s",
    }

    def __init__(self, proc: Path = PROC) -> None:
        self._path = proc / "net" / "dev"
        self._deltas = Deltas()

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`."""
        lines = (line.partition(":") for line in kernel_text(self._path).splitlines())
        fields = {name.strip(): rest.split() for name, colon, rest in lines if colon}
        bytes_of = {name: (float(one[_RECEIVED]), float(one[_SENT])) for name, one in fields.items()}
        risen = self._deltas.rise(at_unix_s, traffic_counters(bytes_of))
        return [] if risen is None else [Sample(self.source, *one) for one in traffic_rates(*risen).items()]


def traffic_counters(bytes_of: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Counters of the busiest interfaces.

    Args:
        bytes_of: By interface what it received and sent, bytes.
    """
    busiest = sorted((name for name in bytes_of if sum(bytes_of[name]) > 0), key=lambda name: -sum(bytes_of[name]))
    return {
        f"network_{name}_{what}_bytes": count
        for name in busiest[:INTERFACES_MAX]
        for what, count in zip(("received", "sent"), bytes_of[name], strict=True)
    }


def traffic_rates(elapsed_s: float, risen: Mapping[str, float]) -> dict[str, float]:
    """Metrics from the rise of such counters."""
    return {f"{name}_per_s": count / elapsed_s for name, count in risen.items()}
