"""How many rows take most accesses: known cases, exactly counted ones, and the same whatever the method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plimsoll.analyse.trial import working_set as module
from plimsoll.analyse.trial.working_set import hot_rows, working_set
from plimsoll.spec.generators import DISTRIBUTIONS, DistributionSpec
from plimsoll.spec.oltp import WorkloadSpec


def spec(kind: str, **parameters: Any) -> DistributionSpec:
    return DistributionSpec.model_validate({"kind": kind, **parameters})


def test_uniform_accesses_go_to_as_large_a_share_of_the_rows() -> None:
    assert hot_rows(spec("uniform"), 1_000) == (500, 900, 990)
    assert hot_rows(spec("uniform"), 2_000_000_000) == (1_000_000_000, 1_800_000_000, 1_980_000_000)


def test_pareto_gives_four_fifths_to_a_fifth_of_the_rows() -> None:
    """The first n of N rows take the share (n / N) ^ (1 / p), p = ln h / ln (1 - h); above h = 0.5 the last do."""
    power = np.log(0.2) / np.log(0.8)
    first = [1_000_000 * share**power for share in (0.5, 0.9, 0.99)]
    assert hot_rows(spec("pareto"), 1_000_000) == pytest.approx(first, rel=0.01, abs=2)
    last = [1_000_000 * (1 - (1 - share) ** (1 / power)) for share in (0.5, 0.9, 0.99)]
    assert hot_rows(spec("pareto", h=0.8), 1_000_000) == pytest.approx(last, rel=0.01, abs=2)


def test_zipfian_rows_are_counted_from_the_first() -> None:
    weights = np.arange(1, 10_001, dtype=np.float64) ** -0.8
    taken = np.cumsum(weights) / weights.sum()
    exact = tuple(int(np.searchsorted(taken, share)) + 1 for share in (0.5, 0.9, 0.99))
    assert hot_rows(spec("zipfian"), 10_000) == pytest.approx(exact, abs=1)
    assert hot_rows(spec("zipfian", exponent=0), 10_000) == pytest.approx((5_000, 9_000, 9_900), abs=1)


def test_hot_ranks_come_before_all_others_wherever_their_rows_are() -> None:
    tail = np.arange(4, 10_001, dtype=np.float64) ** -0.8
    taken = np.cumsum(np.concatenate(([0.3, 0.15, 0.1], 0.45 * tail / tail.sum())))
    exact = tuple(int(np.searchsorted(taken, share)) + 1 for share in (0.5, 0.9, 0.99))
    for scattered in (True, False):
        hot = spec("hot", shares=[0.3, 0.15, 0.1], exponent=0.8, scattered=scattered)
        assert hot_rows(hot, 10_000) == pytest.approx(exact, abs=1)
    assert hot_rows(spec("hot", shares=[0.5, 0.25, 0.25]), 1_000_000) == (1, 3, 3)
    assert hot_rows(spec("hot", shares=[0.4, 0.4]), 2) == (1, 2, 2)
    assert hot_rows(spec("hot", shares=[0.5]), 1_000_000)[1:] == pytest.approx((800_000, 980_000), rel=0.01)


def test_special_keeps_half_of_the_accesses_in_the_part_of_its_band_that_is_hit() -> None:
    """75 % go evenly to three quarters (1.0) or all (0.4) of a hundredth of the rows, with a little of the bell."""
    half, most, _ = hot_rows(spec("special-1.0"), 1_000_000)
    assert 4_850 < half < 5_000
    assert 100_000 < most < 200_000
    half, _, _ = hot_rows(spec("special-0.4"), 1_000_000)
    assert 6_400 < half < 6_667


def test_a_bell_leaves_its_edges_alone() -> None:
    """The mean of 12 uniform numbers has a deviation of 1/12: 50 and 99 % lie within 0.674 and 2.576 of it, nearly."""
    half, _, most = hot_rows(spec("gaussian"), 1_000_000)
    assert half == pytest.approx(2 * 0.6745 / 12 * 1_000_000, rel=0.02)
    assert most == pytest.approx(2 * 2.5758 / 12 * 1_000_000, rel=0.02)
    assert hot_rows(spec("gaussian", draws=1), 1_000) == (500, 900, 990)


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
def test_cells_count_as_single_rows_do(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = hot_rows(spec(kind), 20_000)
    monkeypatch.setattr(module, "_EXACT_ROWS", 1)
    assert hot_rows(spec(kind), 20_000) == pytest.approx(exact, rel=0.01, abs=3)


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
@pytest.mark.parametrize("rows", [1, 2, 7, 100])
def test_tiny_tables_have_a_working_set_too(kind: str, rows: int) -> None:
    half, most, nearly_all = hot_rows(spec(kind), rows)
    assert 1 <= half <= most <= nearly_all <= rows


PINNED = {
    "hot": (500, 900, 990),
    "uniform": (500, 900, 990),
    "gaussian": (114, 275, 423),
    "special-0.4": (7, 142, 341),
    "special-1.0": (6, 142, 341),
    "pareto": (7, 468, 931),
    "zipfian": (86, 668, 962),
}
"""For 1,000 rows: a test of the engine (crates/workloads/src/distribution) draws and finds the same."""


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
def test_the_engine_is_held_to_the_same_numbers(kind: str) -> None:
    assert hot_rows(spec(kind), 1_000) == PINNED[kind]


def test_it_is_counted_over_all_tables_and_only_where_rows_are_chosen() -> None:
    options = WorkloadSpec(name="x", kind="oltp_read_only", tables=3, table_size=1_000).options()
    assert working_set("oltp_read_only", options, 3) == {"50": 1_500, "90": 2_700, "99": 2_970}
    inserts = WorkloadSpec(name="x", kind="oltp_insert").options()
    assert working_set("oltp_insert", inserts, 1) == {}
    deletes = WorkloadSpec(name="x", kind="oltp_0.4_nontrx", nontrx_mode="delete").options()
    assert working_set("oltp_0.4_nontrx", deletes, 1) == {}
