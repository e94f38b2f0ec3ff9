"""Overload and recovery, from made-up intervals."""

from __future__ import annotations

from plimsoll.analyse.trial.window import IntervalLoad, Overload, overloads


def loads(*seconds: tuple[int, int, int]) -> list[IntervalLoad]:
    """Completed, dropped and waiting of each second."""
    return [
        IntervalLoad(from_s=at, to_s=at + 1, completed=completed, dropped=dropped, waiting=waiting)
        for at, (completed, dropped, waiting) in enumerate(seconds)
    ]


def test_no_backlog_is_no_overload() -> None:
    assert overloads(loads((100, 0, 0), (100, 0, 3)), connections=4) == ()


def test_a_backlog_of_less_than_a_second_is_chance_and_no_overload() -> None:
    assert overloads(loads((100, 0, 0), (100, 0, 60), (100, 0, 80), (100, 0, 0)), connections=4) == ()


def test_an_overload_lasts_until_the_connections_can_take_what_waits() -> None:
    seconds = loads((100, 0, 0), (100, 0, 50), (100, 0, 150), (100, 20, 200), (100, 0, 90), (100, 0, 4), (50, 0, 0))
    assert overloads(seconds, connections=4) == (Overload(from_s=1, to_s=6, waiting_max=200, dropped=20),)


def test_an_overload_that_does_not_end_says_so() -> None:
    (found,) = overloads(loads((100, 0, 0), (100, 0, 150)), connections=4)
    assert found.to_s is None
    assert found.recovery_s((1.0,)) is None


def test_recovery_counts_from_when_the_rate_fell_last() -> None:
    (found,) = overloads(loads((10, 0, 50), (10, 0, 100), (10, 0, 60), (10, 0, 0)), connections=1)
    assert found.recovery_s((0.5, 1.5, 9.0)) == 2.5
    assert found.recovery_s((9.0,)) is None
