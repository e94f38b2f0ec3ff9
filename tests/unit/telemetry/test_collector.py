"""The collector with made-up samplers: rows, faults, slow ones, and what it leaves out."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import ClassVar

import polars as pl

from plimsoll.hosts.local import telemetry_frame
from plimsoll.record.frames import TELEMETRY
from plimsoll.telemetry.sampler import Collector, Placed, Sample, Sampler
from support.waiting import until


class MadeUp(Sampler):
    source: ClassVar[str] = "host"
    metrics: ClassVar[Mapping[str, str]] = {}
    cost: ClassVar[str] = "nothing"
    waits: ClassVar[bool] = False

    def __init__(self, act: Callable[[float], list[Sample]]) -> None:
        self.act = act
        self.asked = 0
        self.closed = False

    def sample(self, at_unix_s: float) -> list[Sample]:
        self.asked += 1
        return self.act(at_unix_s)

    def close(self) -> None:
        self.closed = True


class Waiting(MadeUp):
    waits: ClassVar[bool] = True


def run(
    *samplers: MadeUp, times: int = 3, stop_limit_s: float = 60.0, **more: object
) -> tuple[pl.DataFrame, Collector]:
    """Samples until each sampler that may not wait was asked so many times."""
    placed = [Placed(sampler=sampler, host="h", instance=str(n)) for n, sampler in enumerate(samplers)]
    collector = Collector(placed, interval_s=0.1, **more)  # type: ignore[arg-type]
    collector.start()
    assert until(lambda: all(sampler.asked > times for sampler in samplers if not sampler.waits))
    collector.stop(limit_s=stop_limit_s)
    return telemetry_frame(collector.take(), driver="d"), collector


def one(_: float) -> list[Sample]:
    return [Sample("host", "x", 1.0)]


def broken(_: float) -> list[Sample]:
    raise RuntimeError("no such thing")


def test_rows_say_what_they_are_about() -> None:
    before_s = time.time()
    sampler = MadeUp(one)
    frame, collector = run(sampler)
    assert frame.schema == pl.Schema(TELEMETRY)
    assert frame.row(0)[:3] == ("d", "h", "0")
    assert frame.row(0)[4:] == ("host", "x", 1.0)
    assert before_s - 1 < frame["unix_s"][0] < time.time() + 1
    assert frame.height >= 2
    assert collector.faults == ()
    assert sampler.closed


def test_a_failing_sampler_is_reported_once_and_hurts_nobody() -> None:
    told: list[str] = []
    frame, collector = run(MadeUp(broken), MadeUp(one), on_fault=told.append)
    assert tuple(told) == collector.faults
    assert collector.faults == ("host: no such thing",)
    assert set(frame["instance"]) == {"1"}


def test_a_stuck_sampler_hurts_nobody() -> None:
    freed = threading.Event()

    def stick(_: float) -> list[Sample]:
        freed.wait(300)
        return []

    frame, _ = run(Waiting(stick), MadeUp(one), stop_limit_s=0.2)
    freed.set()
    assert frame.filter(pl.col("instance") == "1").height >= 2


def test_samples_lie_on_the_grid() -> None:
    origin_s = time.time() + 0.05
    frame, _ = run(MadeUp(one), times=10, origin_unix_s=origin_s)
    late = [(at - origin_s) % 0.1 for at in frame["unix_s"].to_list()[1:]]
    assert min(late) < 0.03, "one is hardly late, on a busy machine too"
    assert frame["unix_s"].diff().drop_nulls().min() > 0.04  # type: ignore[operator]


def test_a_grid_point_right_after_the_start_is_left_out() -> None:
    """A rate over a few milliseconds would be noise."""
    frame, _ = run(MadeUp(one), origin_unix_s=time.time() + 0.02)
    assert frame["unix_s"][1] - frame["unix_s"][0] > 0.05


def test_what_was_taken_is_forgotten_here() -> None:
    sampler = MadeUp(one)
    collector = Collector([Placed(sampler=sampler, host="h")], interval_s=0.1)
    collector.start()
    assert until(lambda: sampler.asked > 3)
    first = telemetry_frame(collector.take(), driver="d")
    assert until(lambda: sampler.asked > 6)
    collector.stop(limit_s=60)
    second = telemetry_frame(collector.take(), driver="d")
    assert first["unix_s"].max() < second["unix_s"].min()  # type: ignore[operator]
    assert first.height + second.height == sampler.asked
    assert telemetry_frame(collector.take(), driver="d").is_empty()


def test_sampling_interrupts_nobody_and_this_thread_stays_as_it_was() -> None:
    policies: set[int] = set()

    def note(_: float) -> list[Sample]:
        policies.add(os.sched_getscheduler(0))
        return []

    run(MadeUp(note))
    assert policies == {os.SCHED_BATCH}
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_nothing_to_sample() -> None:
    frame, _ = run()
    assert frame.schema == pl.Schema(TELEMETRY)
    assert frame.height == 0
