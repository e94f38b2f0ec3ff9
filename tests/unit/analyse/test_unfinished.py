"""Statistics of durations where some transactions had not ended, against what is known of all of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.study.cell_model import Durations
from plimsoll.analyse.trial.histograms import NOTHING, SparseHistogram, durations, merge, unfinished_count
from support.made import bucket_of, measured
from support.told import answer_of, evidence_of

NAMES = ("p50", "p90", "p95", "p99", "p999", "max")
SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
S = 1_000_000_000


def of(ended_ns: np.ndarray, ages_ns: np.ndarray | None = None) -> SparseHistogram:
    """What ended, and what was in flight."""
    ended = _plain(ended_ns)
    return ended if ages_ns is None or not ages_ns.size else replace(ended, in_flight=_plain(ages_ns))


def _plain(values_ns: np.ndarray) -> SparseHistogram:
    values_ns = np.asarray(values_ns, dtype=np.int64)
    if not values_ns.size:
        return NOTHING
    buckets, counts = np.unique(bucket_of(values_ns), return_counts=True)
    return SparseHistogram(buckets, counts, float(values_ns.sum()), int(values_ns.max()))


def stalled_to_the_end() -> tuple[np.ndarray, np.ndarray]:
    """500 a second for 10 s, of which the last 832 fell due while nothing was answered: 2 ms from one to the next."""
    random = np.random.default_rng(3)
    ended = np.minimum(random.gamma(2, 3e6, 4_168), 69.5e6).astype(np.int64)
    return ended, np.arange(1, 833) * 2_000_000


def test_what_hung_until_the_end_of_a_run_at_a_rate_makes_lower_bounds() -> None:
    ended, ages = stalled_to_the_end()
    without, found = durations(of(ended)), durations(of(ended, ages))
    assert without.p99 is not None
    assert without.p99 < 33
    assert (without.lower_bounds, found.lower_bounds) == ((), ("p90", "p95", "p99", "p999", "max", "mean"))
    # 50 of 5,000 are above the 99th percentile: those that are older than 832 - 50 times 2 ms.
    assert found.p99 == pytest.approx(2 * (832 - 50), rel=0.001)
    assert found.p90 == pytest.approx(2 * (832 - 500), rel=0.01)
    assert found.max == 1664.0
    assert found.mean == pytest.approx((ended.sum() + ages[17:].sum()) / (ended.size + 815) / 1e6, rel=0.01)
    # Half of them all is known: 5,000 / 2 of those that ended are faster.
    assert found.p50 == pytest.approx(np.sort(ended)[2_499] / 1e6, rel=0.01)


def test_one_that_was_slow_before_makes_no_percentile_of_those_that_hang() -> None:
    ended, ages = stalled_to_the_end()
    found = durations(of(np.append(ended, 3 * S), ages))
    assert found.p99 == pytest.approx(2 * (832 - 50), rel=0.01)
    assert "p99" in found.lower_bounds
    assert (found.max, "max" in found.lower_bounds) == (3000.0, True)


def test_of_a_closed_loop_that_hangs_the_few_in_flight_are_the_longest() -> None:
    ended = np.random.default_rng(5).gamma(2, 5e5, 20_000).astype(np.int64)
    without, found = durations(of(ended)), durations(of(ended, np.full(4, 6 * S)))
    assert found.lower_bounds == ("max", "mean")
    assert found.max == 6000.0
    assert found.mean == pytest.approx((ended.sum() + 24 * S) / 20_004 / 1e6, rel=0.001)
    assert found.p99 == pytest.approx(without.p99, rel=0.01)


def test_young_ones_in_flight_say_nothing() -> None:
    """Slow transactions on many connections: what is in flight at the end is younger than most that ended took."""
    random = np.random.default_rng(7)
    ended = random.normal(1e9, 1e8, 640).astype(np.int64)
    found, without = durations(of(ended, random.uniform(0, 8e8, 64).astype(np.int64))), durations(of(ended))
    assert found == without


def test_as_many_as_were_in_flight_at_the_begin_are_not_counted_again() -> None:
    """Each connection of a closed loop that goes on steadily has one in flight at the begin, and one at the end."""
    random = np.random.default_rng(11)
    changes = []
    for _ in range(100):
        ended = random.exponential(3e8, random.poisson(2_000)).astype(np.int64)
        ages = [_plain(random.exponential(3e8, 64)) for _ in range(2)]
        found = durations(replace(of(ended), in_flight=ages[0], in_flight_before=ages[1]))
        changes.append([getattr(found, name) / getattr(durations(of(ended)), name) for name in ("p50", "p95", "p99")])
    assert np.abs(np.mean(changes, axis=0) - 1).max() < 0.01


def test_without_anything_that_ended_all_is_a_lower_bound() -> None:
    found = durations(of(np.array([]), np.arange(1, 101) * 10_000_000))
    assert (found.p50, found.max) == (pytest.approx(500, rel=0.001), 1000.0)
    assert set(found.lower_bounds) == {"p50", "p90", "p95", "p99", "max", "mean"}
    assert found.mean == pytest.approx(505, rel=0.001)


DURATIONS = st.lists(st.integers(1, 10**10), max_size=120).map(lambda values: np.array(values, dtype=np.int64))


@given(DURATIONS, DURATIONS)
def test_statistics_rise_and_lie_within_what_is_possible(ended: np.ndarray, ages: np.ndarray) -> None:
    """Not below the percentile with each at its age; not above it if none ever ends, where that is known."""
    if not ended.size + ages.size:
        return
    found = durations(of(ended, ages))
    values = [getattr(found, name) for name in NAMES if getattr(found, name) is not None]
    assert all(low <= high * 1.001 for low, high in pairwise(values))
    least = np.sort(np.concatenate([ended, ages]))
    for name, share in SHARES.items():
        value, rank = getattr(found, name), int(np.ceil(share * least.size))
        if value is None:
            continue
        assert value >= least[min(rank, least.size) - 1] / 1e6 * 0.998
        if rank <= ended.size:
            assert value <= np.sort(ended)[rank - 1] / 1e6 * 1.002 or name in found.lower_bounds


@given(DURATIONS, DURATIONS, DURATIONS, DURATIONS)
def test_merging_keeps_what_was_in_flight(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> None:
    both = merge([of(a, b), of(c, d)])
    assert both is not None
    assert durations(both) == durations(of(np.concatenate([a, c]), np.concatenate([b, d])))


def test_unfinished_is_what_never_ended_before_the_engine_gave_up() -> None:
    ended, ages = stalled_to_the_end()
    response, at_end = of(ended, ages), _plain(ages + 4 * S)
    assert unfinished_count(response, at_end, waited_s=4.0, connections=16) == 832
    assert unfinished_count(response, None, waited_s=4.0, connections=16) == 0, "all of them ended, late"
    later = _plain(ages[:10] + 3 * S)
    assert unfinished_count(response, later, waited_s=4.0, connections=1) == 0, "those fell due after the window"


def test_what_any_load_has_in_flight_is_not_unfinished() -> None:
    random = np.random.default_rng(1)
    slow, ages = random.normal(10e9, 1e9, 200), np.linspace(1e9, 9e9, 16)
    assert unfinished_count(of(slow, ages), _plain(ages + 4e9), waited_s=4.0, connections=16) == 0, "slow, and cut off"
    quick = random.gamma(2, 1e6, 5_000)
    hung = np.append(np.full(15, 1e6), 5e9)
    assert unfinished_count(of(quick, hung), _plain(hung + 4e9), waited_s=4.0, connections=16) == 1
    waiting = np.linspace(1e5, 5e6, 20)
    assert unfinished_count(of(quick, waiting), _plain(waiting + 4e9), waited_s=4.0, connections=16) == 0


def test_a_study_counts_them_at_the_end_of_its_window_and_names_them() -> None:
    ended, ages = stalled_to_the_end()
    rates = [500.0] * 8 + [168.0, 0.0]
    made = measured(
        rates, response_ns=ended, in_flight={9: ages, 11: ages + 2 * S}, after_tps=[0.0, 0.0], unfinished=832
    )
    analysis = analyse("made", [made], objective_ms_p99=2_000)
    (cell,) = analysis.curves[0].cells
    assert "p99" in cell.response_ms.lower_bounds
    assert cell.unfinished_count == 832
    found = {warning.code: evidence_of(warning) for warning in analysis.warnings}
    assert "832 of 5,000 transactions never ended" in found["transactions-unfinished"]
    assert "the oldest was 1.66 s old" in found["transactions-unfinished"]
    assert "a sustains no level that was measured" in " ".join(answer_of(analysis))
    assert "p99 response time at least 1.5" in " ".join(answer_of(analysis))
    assert cell.types[0].response_ms == cell.response_ms, "of one type all are known to be of it"


def test_an_older_recording_says_only_that_there_were_some() -> None:
    ended, _ = stalled_to_the_end()
    analysis = analyse("made", [measured([500.0] * 10, response_ns=ended, unfinished=832)])
    (cell,) = analysis.curves[0].cells
    assert cell.response_ms == Durations(**durations(of(ended)).model_dump())
    assert cell.unfinished_count == 0
    evidence = next(evidence_of(warning) for warning in analysis.warnings if warning.code == "transactions-unfinished")
    assert evidence == "832 transactions had not ended when the load did; their age was not recorded"
