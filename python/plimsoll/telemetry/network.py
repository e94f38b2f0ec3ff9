"""What each network interface of the host received and sent; the loopback interface is one of them.

The utilisation of a link is that of its busier direction, since links are full duplex. It needs the speed that the link
negotiated, which the kernel tells for hardware. Interfaces that are only software have none, or one that is made up
(10 Gbit/s for veth, 10 Mbit/s for tun); virtual network cards mostly tell none.

Sources: proc_pid_net(5), kernel documentation ABI/testing/sysfs-class-net. Deliberately not here: which of it belongs
to the load.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from plimsoll.telemetry.sampler import PROC, Deltas, Sample, Sampler, kernel_text

_RECEIVED, _SENT = 0, 8
"""Columns behind an interface's name."""

INTERFACES_MAX = 8
BYTES_PER_MBIT = 125_000.0


class NetworkSampler(Sampler):
    """Rates since the sample before; interfaces that never received nor sent anything have no rows."""

    source: ClassVar[str] = "host"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one read of /proc/net/dev, and at the beginning one below /sys for each network card"
    metrics: ClassVar[Mapping[str, str]] = {
        "network_*_received_bytes_per_s": "bytes/s",
        "network_*_sent_bytes_per_s": "bytes/s",
        "network_*_used_ratio": "0..1",
    }

    def __init__(self, proc: Path = PROC, interfaces: Path = Path("/sys/class/net")) -> None:
        self._path = proc / "net" / "dev"
        self._speeds = dict(_link_speeds(interfaces))
        self._deltas = Deltas()

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`."""
        lines = (line.partition(":") for line in kernel_text(self._path).splitlines())
        fields = {name.strip(): rest.split() for name, colon, rest in lines if colon}
        bytes_of = {name: (float(one[_RECEIVED]), float(one[_SENT])) for name, one in fields.items()}
        risen = self._deltas.rise(at_unix_s, traffic_counters(bytes_of))
        return (
            [] if risen is None else [Sample(self.source, *one) for one in traffic_rates(*risen, self._speeds).items()]
        )


def _link_speeds(interfaces: Path) -> Iterator[tuple[str, float]]:
    """Bytes per second of each network card whose link is up and whose driver tells its speed."""
    for card in sorted(interfaces.glob("*/device")):
        try:
            mbit_per_s = float(kernel_text(card.parent / "speed"))
        except (OSError, ValueError):
            continue
        if mbit_per_s > 0:
            yield card.parent.name, mbit_per_s * BYTES_PER_MBIT


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


def traffic_rates(elapsed_s: float, risen: Mapping[str, float], speeds: Mapping[str, float]) -> dict[str, float]:
    """Metrics from the rise of such counters.

    Args:
        elapsed_s: In which time they rose.
        risen: By how much.
        speeds: By interface the speed of its link in one direction, bytes per second; none where it is not known.
    """
    rates = {f"{name}_per_s": count / elapsed_s for name, count in risen.items()}
    for name, bytes_per_s in speeds.items():
        ways = [rates[way] for what in ("received", "sent") if (way := f"network_{name}_{what}_bytes_per_s") in rates]
        if ways:
            rates[f"network_{name}_used_ratio"] = min(max(ways) / bytes_per_s, 1.0)
    return rates
