"""Processor time of the whole host by mode and by CPU, how often it switched tasks, and how many ran or waited."""

from __future__ import annotations

from collections.abc import Mapping
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
