"""What guides say of learned workloads: what runs, how a run compared with the log, or that none was compared."""

from __future__ import annotations

import pytest

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.workloads import learned_from
from plimsoll.guide.fidelity import TITLE
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.terminal import render_terminal
from plimsoll.record.model import WorkloadRecord
from support.analyses import measured_analysis
from support.printed import printed

LEARNED = """
[learned]
from = 2026-11-23T16:48:36Z
to = 2026-11-23T17:48:51Z
transactions = 18643
transaction_share = 0.95
time_share = 0.99
"""
CHECK = """
[learned.check]
at = 2026-11-24T08:00:00Z
server = "MySQL 9.7.4"
connections = 3
duration_s = 60.0
figures = [
    {kind = "type-share", judged = 2, met = 1, worst = 0.03, goal = 0.01},
    {kind = "rows-examined", judged = 5, met = 5, worst = 0.005, goal = 0.05},
    {kind = "deadlocks", judged = 0, met = 0, goal = 2.0},
]
"""


def workload(text: str) -> WorkloadRecord:
    return WorkloadRecord(name="shop", kind="statements", options={"definition": text})


def guide_of(text: str) -> Analysis:
    """A guide whose workload's recorded file says this."""
    analysis = measured_analysis()
    first, *others = analysis.workloads
    learned = first.model_copy(update={"learned": learned_from(workload(text))})
    return analysis.model_copy(update={"workloads": (learned, *others)})


def test_a_checked_workload_shows_its_figures() -> None:
    analysis = guide_of(LEARNED + CHECK)
    name = analysis.workloads[0].name
    for told in (render_markdown(analysis), printed(render_terminal(analysis), width=200)):
        assert TITLE in told
        assert f"{name} was learned from a log of 18,643 transactions" in told
        assert "2026-11-23 16:48 UTC to 2026-11-23 17:48 UTC" in told
        assert "95.0 % of transactions, 99.0 % of statement time" in told
        assert "MySQL 9.7.4, 3 connections, 1 min 00 s): 6 of 7 figures are within their goals." in told
        assert "plimsoll learn check" not in told
    assert "| share of transactions | 2 | 1 | 3.00 points | 1.00 points |" in render_markdown(analysis)
    assert TITLE in render_html(analysis, "recordings")
    assert Analysis.model_validate_json(analysis.model_dump_json()) == analysis


def test_a_workload_that_was_never_checked_says_so() -> None:
    analysis = guide_of(LEARNED)
    told = render_markdown(analysis)
    assert f"{analysis.workloads[0].name} was never compared with its log: run plimsoll learn check." in told
    assert "within their goals" not in told


@pytest.mark.parametrize(
    "text",
    [
        "",
        "learned = 1",
        LEARNED.replace("2026-11-23T16:48:36Z", "0001-01-01T00:00:00+14:00"),
        "[learned]\ntransactions = -1\ntransaction_share = 2",
        "[learned",
        "x = [" * 100_000,
    ],
)
def test_other_workloads_have_no_such_section(text: str) -> None:
    assert learned_from(workload(text)) is None
    assert TITLE not in render_markdown(guide_of(text))


def test_a_workload_without_a_file_was_not_learned() -> None:
    assert learned_from(WorkloadRecord(name="oltp")) is None
    assert learned_from(WorkloadRecord(name="oltp", options={"definition": 5})) is None
