"""What began in the counted part of a turn: by hand for transactions of one length, and when turns are too short."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.analyse.study.duets import ResponseTimes, TurnEnds, begun_in
from plimsoll.analyse.trial.histograms import NOTHING, SparseHistogram
from plimsoll.record.histograms import bucket_of_ns


def histogram(*seconds: float) -> SparseHistogram:
    times_ns = np.rint(np.array(seconds) * 1e9).astype(np.int64)
    buckets, counts = np.unique(bucket_of_ns(times_ns), return_counts=True)
    return SparseHistogram(buckets, counts, float(times_ns.sum()), int(times_ns.max()))


def times(*seconds: float) -> ResponseTimes:
    found = ResponseTimes()
    found.add(histogram(*seconds))
    return found


def turn(**changes: object) -> TurnEnds:
    """Transactions of 0.3 s on two connections, in a turn of 0.5 s whose last 0.4 s count."""
    known: dict[str, object] = {
        "counted_s": 0.4, "connections": 2, "completed": 4, "failed": 0, "ages_before": histogram(0.1, 0.1),
        "ages_after": histogram(0.2, 0.2), "drained": histogram(0.3, 0.3),
    }  # fmt: skip
    return TurnEnds(**{**known, **changes})  # type: ignore[arg-type]  # as told


def test_transactions_of_one_length_have_its_rate() -> None:
    """Each connection ends its first at 0.3 s, and its second, the only one that began in time, at 0.6 s."""
    found = begun_in(turn(), times(*[0.3] * 4))
    assert found.count == 2
    assert found.running_s == pytest.approx(0.3, rel=0.002)


def test_what_failed_is_expected_among_those_that_were_running_and_takes_as_long_as_the_others() -> None:
    found = begun_in(turn(completed=3, failed=1, drained=histogram(0.3)), times(*[0.3] * 3))
    assert found.count == pytest.approx(3 - 2 * 3 / 4)
    assert found.running_s == pytest.approx(0.3, rel=0.002)


def test_without_connections_that_run_anything_the_time_is_that_of_the_part() -> None:
    found = begun_in(turn(completed=0, ages_before=NOTHING, ages_after=NOTHING, drained=NOTHING), ResponseTimes())
    assert (found.count, found.running_s) == (0.0, 0.4)


def test_the_residual_life_is_that_of_transactions_that_lasted_longer_than_an_age() -> None:
    assert times(0.1, 0.2, 0.6).residual_s(histogram(0.15, 0.3)) == pytest.approx(0.25 + 0.3, rel=0.002)
    assert times(0.1).residual_s(histogram(0.5)) == 0.0
