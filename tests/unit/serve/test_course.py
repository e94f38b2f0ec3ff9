"""A page's points: what they add up to is what was recorded, however many seconds each covers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from plimsoll.analyse.trial.histograms import SparseHistogram, merge, percentile_ms
from plimsoll.record.model import State
from plimsoll.serve.course import RECENT_S, Course, Moment

RANDOM = np.random.default_rng(5)


def histogram(count: int) -> SparseHistogram:
    buckets, counts = np.unique(RANDOM.integers(2_000, 12_000, count), return_counts=True)
    return SparseHistogram(buckets, counts, float(count), 2**33)


def moment(
    index: int, *, length_s: float = 1.0, state: State = State.MEASURE, counts: bool = True, **gauges: float
) -> Moment:
    response = histogram(50 + index % 7)
    return Moment(
        index=index,
        unix_s=1e9 + index + length_s,
        length_s=length_s,
        state=state,
        counts=counts and state is State.MEASURE,
        completed=response.total,
        failed=index % 3,
        errors={"1213 retryable": 2} if index % 5 == 0 else {},
        response=response,
        gauges=gauges,
    )


def course_of(moments: Sequence[Moment], points_max: int = 600) -> Course:
    course = Course(points_max)
    for each in moments:
        course.add(each)
    return course


def p99(moments: Sequence[Moment]) -> float | None:
    merged = merge([each.response for each in moments])
    return None if merged is None else percentile_ms(merged, 0.99)


def test_a_point_for_each_second_has_the_percentiles_of_the_last_ten() -> None:
    moments = [moment(index) for index in range(40)]
    document = course_of(moments).document()
    columns = document["columns"]
    assert columns["at_s"] == [float(index + 1) for index in range(40)]
    assert columns["tps"] == [each.completed for each in moments]
    assert columns["p99"][25] == p99(moments[16:26])
    assert columns["p99"][4] == p99(moments[:5])
    assert document["measured"]["p99"] == p99(moments)
    assert document["errors"] == [["1213 retryable", 16, 4]]


def test_points_become_fewer_and_what_they_add_up_to_stays() -> None:
    moments = [moment(index) for index in range(150)]
    course = course_of(moments, points_max=10)
    columns = course.document()["columns"]
    lengths = columns["length_s"]
    assert course.points_count <= 10
    assert course.revision == 4, "16 seconds each"
    assert set(lengths[:-1]) == {16.0}
    assert sum(lengths) == 150
    shares = zip(columns["tps"], lengths, strict=True)
    assert sum(rate * length for rate, length in shares) == pytest.approx(sum(each.completed for each in moments))
    assert columns["p99"][2] == p99(moments[32:48]), "of all within the point, since it is longer than 10 s"
    assert columns["p99"][-1] == p99(moments[144:]) if lengths[-1] > RECENT_S else p99(moments[140:])
    assert course.document()["measured"]["p99"] == p99(moments)


def test_a_page_that_has_most_points_gets_only_the_last() -> None:
    course = course_of([moment(index) for index in range(30)])
    course.add(moment(30))
    part = course.document(since=29)
    assert part["since"] == 29
    assert part["columns"]["at_s"] == [30.0, 31.0]


def test_what_is_left_of_the_last_interval_is_no_point_of_its_own() -> None:
    whole = [moment(index) for index in range(5)]
    rest = moment(5, length_s=0.004, counts=False)
    course = course_of([*whole, rest]).document()
    columns = course["columns"]
    assert course["measured"]["completed"] == sum(each.completed for each in whole), "it came after the window"
    assert len(columns["at_s"]) == 5
    assert columns["state"][-1] == "measure"
    assert columns["tps"][-1] == pytest.approx((whole[-1].completed + rest.completed) / 1.004)


def test_gauges_of_a_longer_point_are_means_of_shares_and_the_largest_of_others() -> None:
    moments = [moment(index, machine=index / 10, waiting=float(index)) for index in range(4)]
    columns = course_of(moments, points_max=2).document()["columns"]
    assert columns["machine"] == pytest.approx([0.05, 0.25])
    assert columns["waiting"] == [1.0, 3.0]
    assert columns["lag"] == [None, None]


def test_warm_up_counts_in_no_sum() -> None:
    moments = [moment(index, state=State.WARM if index < 3 else State.MEASURE) for index in range(8)]
    document = course_of(moments).document()
    assert document["measured"]["completed"] == sum(each.completed for each in moments[3:])
    assert document["measured"]["p99"] == p99(moments[3:])
    assert course_of(moments[:3]).document()["measured"] is None


def test_an_interval_that_was_seen_before_is_passed_over() -> None:
    moments = [moment(index) for index in range(3)]
    course = course_of([*moments, moments[1]])
    assert course.document()["intervals"] == 3
    assert course.points_count == 3
