"""A search for the capacity of the fake server, with real load: how fast that server is, is known beforehand.

Each of its connections answers one statement after a fixed time, so it does connections / time transactions in a
second and no more: the planted knee. Response times below the knee are those of a queue with Poisson arrivals, constant
service and several servers (M/D/c), so the rate at which an objective is crossed is known as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from plimsoll.analyse.study.capacities import judged_run
from plimsoll.drive.engine import LocalDriver
from plimsoll.errors import InvalidTrialError
from plimsoll.plan.capacity import SearchSettings, Step
from plimsoll.record.capacity import P99_ALLOWED_RATIO, Capacity, CapacityRun
from plimsoll.record.environment import Environment
from plimsoll.record.model import SystemRecord
from plimsoll.record.partial import PartialRecording
from plimsoll.run.calibrate import fake_server, shapes_of
from plimsoll.run.capacity_search import Search, nothing_completed
from plimsoll.run.rows import IntervalRows
from plimsoll.run.single import SingleRun, _Drive, trial_record
from plimsoll.run.spool import Spool, _Spooled
from plimsoll.run.watch import Watch
from plimsoll.spec.clients import steady
from plimsoll.spec.oltp import WorkloadSpec

WORKLOAD = WorkloadSpec(name="point", kind="oltp_point_select", tables=1, table_size=1000)
"""One statement a transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knee:
    """A fake server as a search meets it.

    Attributes:
        connections: That serve it.
        service_s: Each answer takes so long, seconds.
        limit_ms: The objective for the 99th percentile, milliseconds.
    """

    connections: int
    service_s: float
    limit_ms: float

    @property
    def tps(self) -> float:
        """More is not answered."""
        return self.connections / self.service_s

    def capacity_tps(self, *, load_s: float = 2000.0) -> float:
        """The rate at which 1 % of arrivals are over the objective, by simulation of M/D/c over so many seconds."""
        low_tps, high_tps = 0.5 * self.tps, self.tps
        for _ in range(12):
            middle_tps = math.sqrt(low_tps * high_tps)
            chance = np.random.default_rng(7)
            count = int(middle_tps * load_s) // self.connections * self.connections
            # With constant service, first come first served goes round: each connection is a queue of its own.
            arrived_s = np.cumsum(chance.exponential(1 / middle_tps, count)).reshape(-1, self.connections)
            number_s = np.arange(len(arrived_s))[:, None] * self.service_s
            done_s = np.maximum.accumulate(arrived_s - number_s, axis=0) + number_s + self.service_s
            if float((done_s - arrived_s > self.limit_ms / 1e3).mean()) <= P99_ALLOWED_RATIO:
                low_tps = middle_tps
            else:
                high_tps = middle_tps
        return low_tps


@contextmanager
def searching(knee: Knee, *, seed: int, warm_up_s: float = 1.0) -> Iterator[SingleRun]:
    """The fake server, and what all runs of a search have in common."""
    with fake_server(LocalDriver(), shapes_of(WORKLOAD), by_socket=True, delay_s=knee.service_s) as target:
        yield SingleRun(
            workload=WORKLOAD,
            target=target,
            connections=knee.connections,
            warm_up_s=warm_up_s,
            duration_s=1.0,
            seed=seed,
            look_first=False,
        )


def search(base: SingleRun, settings: SearchSettings) -> Capacity:
    """A whole search with real load."""
    found = Search(settings, lambda _: None, warm_up_s=base.warm_up_s)
    return found.run(lambda step: _run(base, step, settings, len(found.runs)))


def _run(base: SingleRun, step: Step, settings: SearchSettings, number: int) -> CapacityRun:
    run = replace(
        base,
        connections=step.connections,
        duration_s=step.duration_s,
        seed=base.seed + number,
        arrivals=None if step.rate_tps is None else steady(step.rate_tps),
    )
    with TemporaryDirectory(prefix="plimsoll-trial-") as folder:
        spool = Spool(PartialRecording.begin(Path(folder), "single"), IntervalRows(driver="", host=""), Watch())
        drive = _Drive(run, spool, lambda _: None)
        drive.through(lambda _pid: nullcontext())
        trial = trial_record(run, SystemRecord(name="fake"))
        try:
            _, outcome = drive.measured(trial, Environment())
        except InvalidTrialError:
            return nothing_completed(step)
        return judged_run(_Spooled(trial, outcome, Environment(), spool.partial), step.role, settings.objective)
