"""Types of transactions apart from each other, from recordings to the guide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import TypeTotal
from plimsoll.guide.html import render_html
from plimsoll.guide.terminal import render_terminal
from plimsoll.record import frames
from support.made import Made, measured, published
from support.markdown import unlinked_markdown
from support.printed import printed


def spread_ns(low_ms: float, high_ms: float) -> np.ndarray:
    """A thousand durations, evenly from low to high."""
    return np.linspace(low_ms * 1e6, high_ms * 1e6, 1000).astype(np.int64)


def mixed(*, look_ms: tuple[float, float], transfer_ms: tuple[float, float], **trial: object) -> Made:
    """Ten seconds of 90 looks and 10 transfers each, one transfer of each second failing."""
    look = measured([90.0] * 10, response_ns=spread_ns(*look_ms), **trial)
    transfer = measured([10.0] * 10, response_ns=spread_ns(*transfer_ms), failed=1, **trial)
    tables = {
        name: pl.concat(
            made.tables[name].with_columns(transaction=pl.lit(kind))
            for kind, made in (("transfer", transfer), ("look", look))
        )
        for name in ("intervals", "histograms")
    }
    return replace(look, tables=tables)


@pytest.fixture(name="mix")
def _mix() -> Analysis:
    """Two repetitions, of which the second is ten times as slow."""
    first = mixed(look_ms=(1, 2), transfer_ms=(10, 20), connections=4)
    second = mixed(look_ms=(10, 20), transfer_ms=(100, 200), connections=4, repetition=1)
    return analyse("s", [first, second])


def with_rollbacks(made: Made, rolled_back: int | None) -> Made:
    """The same with so many retries and rollbacks of each type in each second."""
    counted = made.tables["intervals"].with_columns(
        rolled_back=pl.lit(rolled_back, pl.UInt64), retries=pl.lit(2, pl.UInt64)
    )
    return replace(made, tables={**made.tables, "intervals": counted})


def totals(analysis: Analysis) -> dict[str, TypeTotal]:
    ((cell,),) = (curve.cells for curve in analysis.curves)
    return {one.name: one for one in cell.types}


def test_rollbacks_and_retries_are_told_where_they_were_counted() -> None:
    made = mixed(look_ms=(1, 2), transfer_ms=(10, 20), connections=4)
    found = totals(analyse("s", [with_rollbacks(made, 3)]))["look"]
    assert (found.retries_count, found.rolled_back_count) == (20, 30)
    assert totals(analyse("s", [with_rollbacks(made, None)]))["look"].rolled_back_count is None


def with_errors(made: Made) -> Made:
    """The same with errors of one type, and of none."""
    place = {"driver": "d", "host": "h", "instance": "a", "interval": 2}
    rows = [
        {**place, "transaction": "transfer", "class": "retryable", "code": 1213, "count": 4},
        {**place, "transaction": "transfer", "class": "connection", "code": 0, "count": 1},
        {**place, "transaction": None, "class": "connect", "code": 1040, "count": 2},
    ]
    return replace(made, tables={**made.tables, "errors": pl.DataFrame(rows, schema=frames.ERRORS)})


def test_errors_are_told_by_the_type_that_met_them() -> None:
    trials = [
        with_errors(mixed(look_ms=(1, 2), transfer_ms=(10, 20), connections=4, repetition=repetition))
        for repetition in (0, 1)
    ]
    analysis = analyse("s", trials)
    errors = {
        name: [(error.error_class, error.code, error.count) for error in total.errors]
        for name, total in totals(analysis).items()
    }
    assert errors == {"look": [], "transfer": [("connection", 0, 2), ("retryable", 1213, 8)]}
    ((cell,),) = (curve.cells for curve in analysis.curves)
    assert sum(error.count for error in cell.errors) == 14
    assert "no code: 2, 1213: 8" in " ".join(shown(analysis))


def test_each_type_has_its_count_its_share_and_what_failed(mix: Analysis) -> None:
    found = totals(mix)
    assert list(found) == ["look", "transfer"]
    assert [(one.completed_count, one.completed_ratio, one.failed_count) for one in found.values()] == [
        (1800, 0.9, 0),
        (200, 0.1, 20),
    ]


def test_percentiles_of_a_type_come_from_its_merged_histogram_and_from_no_other_type(mix: Analysis) -> None:
    look, transfer = totals(mix)["look"].response_ms, totals(mix)["transfer"].response_ms
    # Half of the two thousand looks took at most 2 ms. The mean of the two medians would be 8.25 ms.
    assert look.p50 == pytest.approx(2, rel=0.01)
    assert look.p99 == pytest.approx(19.8, rel=0.01)
    assert transfer.p95 == pytest.approx(190, rel=0.01)


def test_published_figures_have_no_types() -> None:
    assert totals(analyse("s", [published(100.0)])) == {}


def test_types_survive_json(mix: Analysis) -> None:
    assert totals(Analysis.model_validate_json(mix.model_dump_json())) == totals(mix)


def shown(analysis: Analysis) -> list[str]:
    return [render_html(analysis), unlinked_markdown(analysis), printed(render_terminal(analysis))]


def test_every_guide_has_a_row_for_each_type_and_level(mix: Analysis) -> None:
    html, markdown, terminal = shown(mix)
    assert "| transfer | 4 | 10.0 | 600 | 200 | 0 | 20 |" in markdown
    assert "| transfer | 4 | 20.0 | 180 | 190 | 198 | 200 | 200 |" in markdown
    assert ["look", "4", "90.0", "5,400", "1,800", "0", "0"] in [line.split() for line in terminal.split("\n")]
    assert "a, read-write: types of transactions" in html
    assert all("share is that of all transactions" in " ".join(text.split()) for text in (html, markdown, terminal))


def test_no_guide_has_such_a_table_where_there_is_one_type() -> None:
    assert not any("types of transactions" in text for text in shown(analyse("s", [measured([90.0] * 10)])))
