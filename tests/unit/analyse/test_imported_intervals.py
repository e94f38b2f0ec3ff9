"""Imported runs with intervals: the source's figures of the whole run stand, its intervals tell how it varied."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.answers.size import size
from plimsoll.analyse.answers.size_model import Fit
from plimsoll.guide.markdown import render_markdown
from plimsoll.record.model import Origin, ReportedResult
from support.made import Made, measured
from support.told import answer_of, limits_of

STEADY = np.random.default_rng(1).normal(1000, 20, 60)


def imported(rates_tps: np.ndarray, throughput_tps: float | None) -> Made:
    """What an import of a log leaves: intervals without rows, and the final report where there is one."""
    made = measured(rates_tps, origin=Origin(kind="imported-sysbench"))
    reported = None
    if throughput_tps is not None:
        reported = ReportedResult(throughput_tps=throughput_tps, response_ms={"mean": 4.0, "p99": 9.0})
    return replace(made, outcome=made.outcome.model_copy(update={"reported": reported, "account": None}))


def test_throughput_and_response_times_are_reported_and_the_bounds_come_from_intervals() -> None:
    analysis = analyse("s", [imported(STEADY, 990.0)])
    (cell,) = analysis.curves[0].cells
    assert cell.throughput_tps.value == 990.0
    assert cell.throughput_tps.bounds is not None
    assert cell.throughput_tps.bounds.low > 970
    assert (cell.response_ms.mean, cell.response_ms.p99) == (4.0, 9.0)
    assert cell.completed_count == round(STEADY.round().sum())


def test_without_a_final_report_throughput_is_that_of_the_intervals() -> None:
    (cell,) = analyse("s", [imported(STEADY, None)]).curves[0].cells
    assert round(cell.throughput_tps.value) == round(STEADY.mean())


def test_repetitions_without_histograms_keep_the_percentile_of_each_run() -> None:
    """Two runs whose logs state 8 and 12 ms: the answer and the figures show both, and never 10 ms."""
    runs = [
        replace(made, outcome=made.outcome.model_copy(update={"reported": reported}))
        for p99 in (8.0, 12.0)
        for made in [imported(STEADY, None)]
        for reported in [ReportedResult(throughput_tps=990.0 + p99, response_ms={"mean": 4.0, "p99": p99})]
    ]
    analysis = analyse("s", runs)
    (cell,) = analysis.curves[0].cells
    assert (cell.response_ms.p99, cell.response_ms.single_runs) == (None, {"p99": (8.0, 12.0)})
    assert "p99 response time 8.00 ms to 12.0 ms in single runs" in answer_of(analysis)[0]
    text = render_markdown(analysis)
    assert "8.00 to 12.0 †" in text
    assert "† are those of single runs" in text
    verdicts = {p99_ms: size(analysis, tps=500, response_p99_ms=p99_ms).systems[0].verdict for p99_ms in (7, 10, 12)}
    assert verdicts == {7: Fit.DOES_NOT_FIT, 10: Fit.UNDECIDED, 12: Fit.UNDECIDED}


def test_drift_is_seen_in_imported_intervals() -> None:
    codes = {warning.code for warning in analyse("s", [imported(STEADY + np.arange(60) * 10, 1300.0)]).warnings}
    assert "throughput-drifts" in codes


def test_what_an_import_does_not_state_stays_unknown() -> None:
    analysis = analyse("s", [imported(STEADY, 990.0)])
    (cell,) = analysis.curves[0].cells
    assert cell.statements_per_s is None
    assert (cell.rows_returned_per_transaction, cell.rows_affected_per_transaction) == (None, None)
    assert any("Published figures" in limit for limit in limits_of(analysis))
    assert any("Each connection sent its next transaction" in limit for limit in limits_of(analysis))
