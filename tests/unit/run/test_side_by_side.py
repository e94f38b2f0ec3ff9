"""Steps side by side: at the same time, in order of their results, and ended together."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.protocol import Progress
from plimsoll.errors import TargetError
from plimsoll.run.system_data import DataKeeper, counted_together, side_by_side


def test_steps_run_at_the_same_time_and_results_keep_their_order() -> None:
    """Each waits for the other: one after the other they would never end."""
    meeting = threading.Barrier(2)

    def step(number: int) -> int:
        meeting.wait(30)
        return number

    assert side_by_side([partial(step, number) for number in range(2)]) == [0, 1]


def test_one_step_is_done_here() -> None:
    assert side_by_side([threading.current_thread]) == [threading.current_thread()]


def test_one_failure_ends_the_others_and_is_the_only_one_told() -> None:
    cancelled, begun = threading.Event(), threading.Event()

    def fails() -> None:
        begun.wait(30)
        raise TargetError("no")

    def works() -> None:
        begun.set()
        if not cancelled.wait(30):
            raise AssertionError("nobody ended it")
        raise TargetError("its server was ended")

    with pytest.raises(TargetError, match=r"^no$"):
        side_by_side([fails, works], cancel=cancelled.set)


def test_progress_is_that_of_all_together() -> None:
    told: list[tuple[str, int, int]] = []
    keeper = DataKeeper(
        driver=LocalDriver(),
        data_sets=(),
        progress=lambda one: told.append((one.phase, one.done_count, one.total_count)),
    )
    first, second = counted_together([keeper, keeper])
    for one, phase, done in ((first, "load", 5), (second, "load", 7), (first, "load", 10), (second, "index", 1)):
        one.progress(Progress(type="progress", phase=phase, done_count=done, total_count=10))
    assert told == [("load", 5, 10), ("load", 12, 20), ("load", 17, 20), ("index", 1, 10)]
