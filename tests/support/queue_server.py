"""A made-up server whose capacity is known: a queue with one fast server, slow noise, stalls, and drift between runs.

Arrivals are a Poisson process. Response time is that of the queue (Lindley's recursion, solved at once by a running
maximum) and a constant. Its speed varies as an AR(1) process over tenths of a second, it stands still now and then, and
each run has a speed of its own: effects between seconds, between minutes and between starts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from plimsoll.analyse.study.violations import Arrivals, judge_run
from plimsoll.analyse.trial.samples import MachineSeconds
from plimsoll.plan.capacity import Step
from plimsoll.record.capacity import CapacityObjective, CapacityRun, RunRole, RunVerdict

Times = NDArray[np.float64]
_SLOT_S = 0.1


def machine_at(speeds: Times) -> MachineSeconds:
    """A machine that is busy all the time and leaves servers and client such a share of each second.

    As it is sampled: others used the rest, and as many threads as are in service waited for it.
    """
    count, nothing, unknown = 8.0, np.zeros(speeds.size), np.full(speeds.size, np.nan)
    return MachineSeconds(
        began_unix_s=0.0,
        host="made-up",
        cpu_count=1,
        in_service=count,
        throughput_tps=100.0,
        server_cpu_s=speeds / 2,
        server_wait_s=count * (1 - speeds),
        client_cpu_s=speeds / 2,
        client_wait_s=nothing,
        free_ratio=nothing,
        steal_ratio=nothing,
        frequency_hz=unknown,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueServer:
    """A server.

    Attributes:
        speed_tps: Transactions that it can do in a second.
        base_ms: Response time without a queue.
        noise: Standard deviation of its speed over tenths of a second, as a ratio.
        memory: Correlation of neighbouring tenths of a second.
        run_noise: Standard deviation of its mean speed between runs, as a ratio.
        stall_every_s: A stall comes so often on average; 0 for never.
        stall_s: So long it stands still then.
        machine: Its speed in each second of the world, as a ratio of what the machine can do: 1 where nothing else runs
            there. Runs that begin later than it lasts meet its last one.
    """

    speed_tps: float
    base_ms: float = 4.0
    noise: float = 0.0
    memory: float = 0.0
    run_noise: float = 0.0
    stall_every_s: float = 0.0
    stall_s: float = 0.15
    machine: Times = field(default_factory=lambda: np.ones(1), compare=False, repr=False)

    def responses_ms(
        self, rate_tps: float, duration_s: float, chance: np.random.Generator, begin_s: float = 0.0
    ) -> tuple[Times, Times]:
        """When each arrival of a run was answered, seconds, and its response time, milliseconds."""
        arrived_s = np.cumsum(
            chance.exponential(1 / rate_tps, int(rate_tps * duration_s + 6 * math.sqrt(rate_tps * duration_s) + 20))
        )
        arrived_s = arrived_s[arrived_s < duration_s]
        # In operational time, in which the server always has the same speed, the queue is a plain M/D/1.
        slots = int(duration_s * 40 / _SLOT_S) if rate_tps > 3 * self.speed_tps else int(duration_s * 4 / _SLOT_S)
        slots = int(slots / self.machine.min())
        worked_s = np.concatenate(([0.0], np.cumsum(self._speeds(slots, chance, begin_s)))) * _SLOT_S
        clock_s = np.arange(slots + 1) * _SLOT_S
        at = np.interp(arrived_s, clock_s, worked_s)
        each = 1 / self.speed_tps
        number = np.arange(at.size)
        done = np.maximum.accumulate(at - number * each) + (number + 1) * each
        done_s = np.interp(done, worked_s, clock_s)
        return done_s, (done_s - arrived_s) * 1e3 + self.base_ms

    def _speeds(self, slots: int, chance: np.random.Generator, begin_s: float = 0.0) -> Times:
        """The speed of each tenth of a second, 1 on average where the machine has nothing else to do."""
        level = math.exp(chance.normal(0.0, self.run_noise)) if self.run_noise else 1.0
        speeds = np.full(slots, level)
        if self.noise:
            shocks = chance.normal(0.0, self.noise * math.sqrt(1 - self.memory**2), slots)
            kernel = self.memory ** np.arange(60) if self.memory else np.ones(1)
            speeds *= np.clip(1 + np.convolve(shocks, kernel)[:slots], 0.2, 2.0)
        if self.stall_every_s:
            for begin in np.flatnonzero(chance.random(slots) < _SLOT_S / self.stall_every_s):
                speeds[begin : begin + max(round(self.stall_s / _SLOT_S), 1)] = 1e-6
        seconds = np.minimum((begin_s + np.arange(slots) * _SLOT_S).astype(np.int64), self.machine.size - 1)
        return speeds * self.machine[seconds]

    def arrivals(
        self, rate_tps: float, duration_s: float, limit_ms: float, chance: np.random.Generator, begin_s: float = 0.0
    ) -> Arrivals:
        """What became of the arrivals of a run, second by second."""
        done_s, response_ms = self.responses_ms(rate_tps, duration_s, chance, begin_s)
        size = round(duration_s)
        is_done = done_s < size
        second = done_s[is_done].astype(np.int64)
        ended = np.bincount(second, minlength=size).astype(float)
        over = np.bincount(second, weights=response_ms[is_done] > limit_ms, minlength=size).astype(float)
        waiting = float(((response_ms > limit_ms) & ~is_done).sum())
        ended[-1], over[-1] = ended[-1] + waiting, over[-1] + waiting
        return Arrivals(ended, over, np.zeros(size))

    def run(
        self, step: Step, objective: CapacityObjective, chance: np.random.Generator, begin_s: float = 0.0
    ) -> CapacityRun:
        """Does what a search asks for."""
        if step.rate_tps is None:
            speed = float(self._speeds(round(step.duration_s / _SLOT_S), chance, begin_s).mean()) * self.speed_tps
            return CapacityRun(
                role=RunRole.SWEEP,
                connections=step.connections,
                throughput_tps=min(speed, step.connections / (self.base_ms / 1e3)),
                over_ratio=1.0,
                duration_s=step.duration_s,
                verdict=RunVerdict.NOT_JUDGED,
            )
        seen = self.arrivals(step.rate_tps, step.duration_s, objective.response_ms_p99, chance, begin_s)
        return CapacityRun(
            role=step.role,
            connections=step.connections,
            rate_tps=step.rate_tps,
            throughput_tps=float(seen.ended.sum()) / step.duration_s,
            over_ratio=seen.over_ratio,
            errors_ratio=seen.errors_ratio,
            duration_s=step.duration_s,
            verdict=judge_run(seen, objective),
        )

    def capacity_tps(self, limit_ms: float, *, load_s: float = 3000.0) -> float:
        """The rate at which 1 % of a very long run is over the limit, found with the same randomness for each rate."""
        plain = QueueServer(**{name: getattr(self, name) for name in self.__slots__ if name != "run_noise"})
        low_tps, high_tps = 0.3 * self.speed_tps, 1.02 * self.speed_tps
        for _ in range(11):
            middle_tps = math.sqrt(low_tps * high_tps)
            _, response_ms = plain.responses_ms(middle_tps, load_s, np.random.default_rng(99))
            if float((response_ms > limit_ms).mean()) <= 0.01:
                low_tps = middle_tps
            else:
                high_tps = middle_tps
        return low_tps
