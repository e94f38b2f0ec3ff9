"""The collector with made-up samplers: rows, faults, slow ones, and what it leaves out."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import ClassVar

import polars as pl
import pytest

from plimsoll.hosts.local import telemetry_frame
from plimsoll.record.frames import TELEMETRY
from plimsoll.telemetry import sampler as sampler_module
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


class LateWaits(threading.Event):
    """A clock, and waits on it that end late by so many seconds each; the collector is stopped after the last."""

    def __init__(self, *late_s: float) -> None:
        super().__init__()
        self.now_s, self._late_s = 1000.0, list(late_s)

    def monotonic(self) -> float:
        return self.now_s

    time = monotonic

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        if not self._late_s:
            return True
        self.now_s += timeout + self._late_s.pop(0)
        return False


def test_samples_lie_on_the_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is late delays no other; points that were missed or are too near are left out."""
    waits = LateWaits(0.0, 0.02, 0.07, 0.13, 0.0)
    monkeypatch.setattr(sampler_module, "time", waits)
    collector = Collector([Placed(sampler=MadeUp(one), host="h")], interval_s=0.1, origin_unix_s=waits.now_s + 0.07)
    monkeypatch.setattr(collector, "_stopped", waits)
    collector.start()
    collector.stop(limit_s=60)
    late_s = [at - 1000 for at in collector.take().unix_s]
    assert late_s == pytest.approx([0.0, 0.07, 0.17 + 0.02, 0.27 + 0.07, 0.47 + 0.13, 0.67])


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
