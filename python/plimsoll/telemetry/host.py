"""Samplers of the whole host: processor time, run queue, clock frequency, memory, pressure, and network interfaces.

The run queue is the mean over the second, not a moment, from /proc/schedstat (kernel documentation,
scheduler/sched-stats): nanoseconds that tasks spent waiting on each CPU's run queue. A kernel without CONFIG_SCHEDSTATS
has no such file, and gives no samples. Most virtual machines have no clock frequency to tell.

Pressure stall information is the share of time in which tasks waited for processor, memory or devices
(https://docs.kernel.org/accounting/psi.html). A kernel without it (before 4.20, or switched off) gives no samples; the
host's facts say so. What was there and is there no longer is a failure.

The utilisation of a link is that of its busier direction, since links are full duplex. It needs the speed that the link
negotiated, which the kernel tells for hardware. Interfaces that are only software have none, or one that is made up (10
Gbit/s for veth, 10 Mbit/s for tun); virtual network cards mostly tell none. Sources: proc_pid_net(5), kernel
documentation ABI/testing/sysfs-class-net.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from plimsoll.telemetry.sampler import PROC, Deltas, Sample, Sampler, kernel_text

_MODES = {"user": (0, 1), "system": (2, 5, 6), "idle": (3,), "iowait": (4,), "steal": (7,)}
"""Columns of a line of /proc/stat (proc(5)) by mode. Time of guests is part of user time there."""

_SOFT_INTERRUPTS = 6
"""The column of time in soft interrupts, where the kernel does most of its network work; a part of `system`."""


class CpuSampler(Sampler):
    """Shares of processor time since the sample before."""

    source: ClassVar[str] = "host"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one read of /proc/stat"
    metrics: ClassVar[Mapping[str, str]] = {
        "cpu_user_ratio": "0..1",
        "cpu_system_ratio": "0..1",
        "cpu_iowait_ratio": "0..1",
        "cpu_idle_ratio": "0..1",
        "cpu_steal_ratio": "0..1",
        "cpuN_busy_ratio": "0..1",
        "cpuN_softirq_ratio": "0..1",
        "context_switches_per_s": "1/s",
        "interrupts_per_s": "1/s",
        "runnable_count": "tasks",
        "blocked_count": "tasks",
    }

    def __init__(self, proc: Path = PROC) -> None:
        self._path = proc / "stat"
        self._deltas = Deltas()

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`."""
        lines = {line.split(" ", 1)[0]: line.split()[1:] for line in kernel_text(self._path).splitlines()}
        counters = {
            f"{cpu} {mode}": float(sum(int(fields[column]) for column in columns if column < len(fields)))
            for cpu, fields in lines.items()
            if cpu.startswith("cpu")
            for mode, columns in _MODES.items()
        }
        counters |= {
            f"{cpu} softirq": float(fields[_SOFT_INTERRUPTS])
            for cpu, fields in lines.items()
            if cpu.startswith("cpu") and len(fields) > _SOFT_INTERRUPTS
        }
        counters["ctxt"] = float(lines["ctxt"][0])
        counters["intr"] = float(lines["intr"][0])
        risen = self._deltas.rise(at_unix_s, counters)
        metrics = {"runnable_count": float(lines["procs_running"][0])}
        if "procs_blocked" in lines:
            metrics["blocked_count"] = float(lines["procs_blocked"][0])
        if risen is not None:
            metrics |= processor_shares(*risen)
        return [Sample(self.source, metric, value) for metric, value in metrics.items()]


def processor_shares(elapsed_s: float, risen: Mapping[str, float]) -> dict[str, float]:
    """Metrics from the rise of counters.

    Args:
        elapsed_s: Time in which they rose.
        risen: By CPU and mode, such as `cpu0 idle`, with `cpu` for all of them, in any unit of time; `ctxt`, `intr`.
    """
    rates = {"context_switches_per_s": "ctxt", "interrupts_per_s": "intr"}
    shares = {metric: risen[name] / elapsed_s for metric, name in rates.items() if name in risen}
    for cpu in dict.fromkeys(name.split()[0] for name in risen if name.startswith("cpu")):
        ticks = {mode: risen.get(f"{cpu} {mode}", 0.0) for mode in _MODES}
        total = sum(ticks.values())
        if total <= 0:
            continue
        if cpu == "cpu":
            shares |= {f"cpu_{mode}_ratio": value / total for mode, value in ticks.items()}
        else:
            shares[f"{cpu}_busy_ratio"] = 1 - (ticks["idle"] + ticks["iowait"]) / total
            if f"{cpu} softirq" in risen:
                shares[f"{cpu}_softirq_ratio"] = risen[f"{cpu} softirq"] / total
    return shares


_WAITED_NS = 8
"""The field of a CPU's line, its name being field 0."""


class RunQueueSampler(Sampler):
    """Rates since the sample before."""

    source: ClassVar[str] = "host"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one read of /proc/schedstat"
    metrics: ClassVar[Mapping[str, str]] = {"run_queue_mean": "tasks"}

    def __init__(self, proc: Path = PROC) -> None:
        self._path = proc / "schedstat"
        self._deltas = Deltas()
        self._is_there = self._path.exists()

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`.

        Raises:
            OSError: The file was there before and cannot be read now.
        """
        if not self._is_there:
            return []
        lines = (line.split() for line in kernel_text(self._path).splitlines() if line.startswith("cpu"))
        risen = self._deltas.rise(at_unix_s, {line[0]: float(line[_WAITED_NS]) for line in lines})
        if risen is None:
            return []
        elapsed_s, waited_ns = risen
        return [Sample(self.source, "run_queue_mean", sum(waited_ns.values()) / 1e9 / elapsed_s)]


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


class MemorySampler(Sampler):
    """Sizes now, from /proc/meminfo."""

    source: ClassVar[str] = "host"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one read of /proc/meminfo"
    metrics: ClassVar[Mapping[str, str]] = {
        "memory_available_bytes": "bytes",
        "page_cache_bytes": "bytes",
        "dirty_bytes": "bytes",
        "swap_used_bytes": "bytes",
    }

    def __init__(self, proc: Path = PROC) -> None:
        self._path = proc / "meminfo"

    def sample(self, at_unix_s: float) -> list[Sample]:  # noqa: ARG002
        """Looks once, see `Sampler`."""
        pairs = (line.partition(":") for line in kernel_text(self._path).splitlines())
        sizes = {name: int(rest.split()[0]) * 1024 for name, _, rest in pairs if rest.strip()}
        return [Sample(self.source, metric, value) for metric, value in memory_sizes(sizes).items()]


def memory_sizes(sizes: Mapping[str, float]) -> dict[str, float]:
    """Metrics from sizes by the names of /proc/meminfo, bytes."""
    # Shmem counts as cached, but it cannot be read from a disk again.
    cached_bytes = sizes["Cached"] + sizes["Buffers"] - sizes.get("Shmem", 0)
    return {
        "memory_available_bytes": float(sizes["MemAvailable"]),
        "page_cache_bytes": float(max(cached_bytes, 0)),
        "dirty_bytes": float(sizes.get("Dirty", 0)),
        "swap_used_bytes": float(sizes.get("SwapTotal", 0) - sizes.get("SwapFree", 0)),
    }


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
        bytes_of = {name: (float(field[_RECEIVED]), float(field[_SENT])) for name, field in fields.items()}
        risen = self._deltas.rise(at_unix_s, traffic_counters(bytes_of))
        return (
            []
            if risen is None
            else [Sample(self.source, *item) for item in traffic_rates(*risen, self._speeds).items()]
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
