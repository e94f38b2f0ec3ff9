"""Of a few systems the answer tells one by one; of many a table does, and the answer tells what stands out."""

from __future__ import annotations

import re

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.answers.answer import TOLD_ONE_BY_ONE
from plimsoll.analyse.model import Analysis
from plimsoll.guide.content import describe
from plimsoll.guide.terminal import render_terminal
from support.made import published
from support.printed import printed
from support.told import answer_of


def study(count: int, *, objective_ms: float | None = None) -> Analysis:
    """So many systems at two levels; the higher their number, the more each carries, and the more it costs."""
    recordings = [
        published(
            tps * (1 + index / 10),
            system=f"s{index}",
            connections=connections,
            cost_per_month=100.0 + 40 * index,
            response_ms={"p99": 5.0 * connections + index},
            cores=4,
        )
        for index in range(count)
        for connections, tps in ((4, 800.0), (16, 1000.0))
    ]
    return analyse("many", recordings, objective_ms_p99=objective_ms)


def named(analysis: Analysis, text: str) -> set[str]:
    return set(re.findall(r"\bs\d\b", text)) & {system.name for system in analysis.systems}


def test_five_systems_are_told_one_by_one() -> None:
    analysis = study(TOLD_ONE_BY_ONE)
    assert named(analysis, " ".join(answer_of(analysis))) == {"s0", "s1", "s2", "s3", "s4"}
    assert not any(column.heading.startswith("p99 ms at") for column in describe(analysis).glance.columns)


@pytest.mark.parametrize("count", [6, 9])
def test_of_more_the_answer_names_the_best_and_a_table_has_each(count: int) -> None:
    analysis = study(count, objective_ms=60.0)
    best = f"s{count - 1}"
    carried, within, others, *rest = answer_of(analysis)
    assert carried.startswith(f"read-write: {best} has the highest figure: at least ")
    assert f"within 60.0 ms, {best} completes" in within
    assert f"the peaks of the other {count - 1} systems are" in others
    assert not any("connection pool for" in text for text in rest)
    (cost,) = (text for text in answer_of(analysis) if "per million" in text)
    assert named(analysis, cost) == {"s0"}, "the cheapest alone"
    assert len(answer_of(analysis)) <= 8

    glance = describe(analysis).glance
    headings = [column.heading for column in glance.columns]
    assert headings[3:] == [
        "tps with p99 within 60.0 ms",
        "peak, tps",
        "pool",
        "p99 ms at the peak",
        "cost per million at 50 %",
    ]
    rows = {row[0].text: [entry.text for entry in row[3:]] for row in glance.rows}
    assert len(rows) == count
    assert rows["s0"] == ["800", "1,000", "4 (indicated)", "80.0", "0.0951"]
    answer = printed(render_terminal(analysis), width=200).split("The answer")[1].split("Limitations")[0]
    assert re.search(rf"{best} +[\d,]+ +[\d,]+ +4 \(indicated\) +[\d.]+ +", answer)


def test_systems_that_keep_the_objective_nowhere_have_no_figure_there() -> None:
    analysis = study(6, objective_ms=21.0)
    within = next(text for text in answer_of(analysis) if "within 21.0 ms" in text)
    assert named(analysis, within) == {"s1"}, "the best of those that keep it"
    column = [column.heading for column in describe(analysis).glance.columns].index("tps with p99 within 21.0 ms")
    assert [row[column].text for row in describe(analysis).glance.rows] == ["800", "880", "–", "–", "–", "–"]
