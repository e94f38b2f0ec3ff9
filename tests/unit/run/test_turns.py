"""What a recording keeps of a turn; when a duet is warm; and that nobody asks a frozen server."""

from __future__ import annotations

import threading

import pytest

from plimsoll.drive.protocol import Interval
from plimsoll.plan.order import Turn
from plimsoll.run.duet import TurnParts, Warming
from plimsoll.run.rows import IntervalRows
from plimsoll.run.trial_progress import TrialProgress
from plimsoll.run.watch import Freezer
from plimsoll.spec.study import StudySection
from support.waiting import until

TURN = Turn(pair=3, position=1, side=1, against=0)


def histogram(*bucket_counts: tuple[int, int]) -> dict[str, object]:
    """Of short durations: a bucket is a nanosecond."""
    return {
        "buckets": [bucket for bucket, _ in bucket_counts],
        "counts": [count for _, count in bucket_counts],
        "sum_ns": sum(bucket * count for bucket, count in bucket_counts),
        "max_ns": max(bucket for bucket, _ in bucket_counts),
    }


def part(
    name: str, from_ns: int, to_ns: int, completed: int, errors: int = 0, *, took_ns: int = 8, age_ns: int = 1
) -> Interval:
    counts = dict.fromkeys(
        ["completed", "rolled_back", "failed", "dropped", "retries", "reads", "writes", "others", "rows_returned",
         "rows_affected"], 0,
    )  # fmt: skip
    ages, took = histogram((age_ns, 1)), histogram((took_ns, completed))

    def group(instance: str, completed: int) -> dict[str, object]:
        told = {**counts, "completed": completed, "failed": errors}
        failures = [{"transaction": "t", "class": "statement", "code": 1213, "count": errors}] if errors else []
        return {
            "instance": instance,
            "backlog_count": 0,
            "connected_count": 4,
            "snapshot": {"transactions": {"t": {"counts": told, "histograms": {"response": took}}}, "errors": failures},
            "in_flight": {"response": ages},
        }

    return Interval.model_validate(
        {
            "type": "interval", "index": 9, "from_ns": from_ns, "to_ns": to_ns,
            "client": {"user_ns": 5, "system_ns": 6}, "groups": [group("a/0", 0), group("b/0", completed)],
            "turn": {"turn": 7, "side": 1, "part": name},
        }
    )  # fmt: skip


def test_the_counted_part_is_the_interval_and_the_row_tells_of_the_whole_turn() -> None:
    parts = TurnParts()
    for one in (
        part("lead", 10, 20, 3, errors=1),
        part("counted", 20, 50, 30, errors=2),
        part("drain", 50, 52, 1, took_ns=9),
        part("drain", 52, 55, 1, took_ns=11),
    ):
        parts.add(one)
    taken = parts.take(TURN, index=4, instances=["b/0"], against="a")
    assert taken is not None
    assert (taken.interval.index, taken.interval.from_ns, taken.interval.to_ns) == (4, 20, 50)
    assert [group.instance for group in taken.interval.groups] == ["b/0"]
    assert (taken.interval.completed, taken.ended) == (30, 38)
    assert taken.interval.groups[0].in_flight == {}
    assert [error.count for error in taken.interval.groups[0].snapshot.errors] == [3]
    assert taken.row == {
        "interval": 4, "pair": 3, "position": 1, "against": "a", "from_s": 10e-9, "counted_from_s": 20e-9,
        "to_s": 50e-9, "drained_s": 55e-9, "completed": 30, "completed_besides": 5, "failed": 3,
        "begun": pytest.approx(32 - 32 / 34),
        "running_s": pytest.approx((30 + (10 - 1 - (32 * 8 + 9 + 11) / 34 + 1) / 4) * 1e-9),
    }  # fmt: skip
    response = taken.interval.groups[0].snapshot.transactions["t"].histograms["response"]
    assert (response.buckets, response.counts) == ([8, 9, 11], [30, 1, 1]), "the durations of what drained"
    assert parts.take(TURN, index=5, instances=["b/0"], against="a") is None, "nothing came since"
    parts.add(part("lead", 60, 70, 1))
    assert parts.take(TURN, index=5, instances=["b/0"], against="a") is None, "it did not come to its end"


def section(**changes: object) -> StudySection:
    said = {"name": "s", "levels": {"connections": [1]}, "design": "duet", **changes}
    return StudySection.model_validate(said)


def warmed(study: StudySection, *series: list[float]) -> tuple[int, list[TrialProgress]]:
    """After how many sweeps it counts, and what is known then."""
    warming = Warming(study, len(series))
    sides = [TrialProgress(rows=IntervalRows(driver="", host="")) for _ in series]
    for count in range(1, 1_000):
        for side, values in zip(sides, series, strict=True):
            side.throughput_tps.append(values[min(count, len(values)) - 1])
        if warming.is_over([(side, {}) for side in sides]):
            return count, sides
    raise AssertionError("it never got warm")


def test_a_stated_warm_up_is_as_long_for_each_system() -> None:
    count, sides = warmed(section(warm_up="4s"), [100.0], [100.0])
    assert (count, sides[0].warm_note) == (8, "4 s of own turns as asked for")


def test_the_slower_system_decides_when_all_are_warm() -> None:
    rising = [10.0 * step for step in range(1, 61)]
    flat, _ = warmed(section(), [100.0], [100.0])
    count, sides = warmed(section(), [100.0], rising)
    assert flat == 20, "ten values of a second"
    assert count > 60
    assert sides[1].warnings == []
    count, sides = warmed(section(warm_up_limit="15s"), [100.0], rising)
    assert count == 30
    assert [[warning.code for warning in side.warnings] for side in sides] == [[], ["not-warm-at-limit"]]


class Switch:
    def __init__(self) -> None:
        self.is_frozen = False

    def freeze(self) -> None:
        self.is_frozen = True

    def thaw(self) -> None:
        self.is_frozen = False


def test_nobody_asks_a_frozen_server_and_nobody_freezes_one_that_is_asked() -> None:
    switch = Switch()
    freezer = Freezer([switch])
    with freezer.asking() as may_ask:
        assert may_ask
        freezing = threading.Thread(target=freezer.freeze)
        freezing.start()
        freezing.join(0.05)
        assert freezing.is_alive()
        assert not switch.is_frozen
    assert until(lambda: switch.is_frozen)
    freezing.join()
    with freezer.asking() as may_ask:
        assert not may_ask
    freezer.thaw()
    with freezer.asking() as may_ask:
        assert may_ask


def test_a_server_that_could_not_be_frozen_is_not_asked_until_it_was_thawed() -> None:
    class Broken(Switch):
        def freeze(self) -> None:
            raise RuntimeError

    freezer = Freezer([Broken()])
    with pytest.raises(RuntimeError):
        freezer.freeze()
    with freezer.asking() as may_ask:
        assert not may_ask
