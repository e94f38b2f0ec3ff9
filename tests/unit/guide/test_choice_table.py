"""The table that says up to which load to choose which system."""

from __future__ import annotations

import pytest

from plimsoll.analyse.answers.size_model import Choice, SizeEvidence
from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.guide.content import describe
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from support.analyses import measured_analysis


def choice(system: str, up_to_tps: float, workload: str = "read-only", **facts: object) -> Choice:
    return Choice.model_validate(
        {
            "workload": workload,
            "system": system,
            "up_to_tps": up_to_tps,
            "connections": 8,
            "response_p99_ms": 4.2,
            "evidence": SizeEvidence.CAPACITY,
            "grade": Grade.INDICATED,
            **facts,
        }
    )


def rows(*choices: Choice) -> list[list[str]]:
    table = describe(measured_analysis().model_copy(update={"choices": choices})).choices
    assert table is not None
    return [[entry.text for entry in row] for row in table.rows]


def test_ranges_join_and_each_workload_ends_with_what_is_beyond() -> None:
    made = rows(choice("durable", 1000.0), choice("relaxed", 2500.0), choice("relaxed", 70.0, "read-write"))
    assert [row[:3] for row in made] == [
        ["read-only", "up to 1,000 tps", "durable"],
        ["read-only", "1,000 to 2,500 tps", "relaxed"],
        ["read-only", "above 2,500 tps", "no single system is shown to sustain it: ask plimsoll size"],
        ["read-write", "up to 70.0 tps", "relaxed"],
        ["read-write", "above 70.0 tps", "no single system is shown to sustain it: ask plimsoll size"],
    ]
    assert (made[0][3:5], made[0][-2:]) == (["8", "4.20"], ["capacity", "indicated"])


@pytest.mark.parametrize(
    ("facts", "detail"),
    [
        ({}, None),
        ({"or_systems": ("b",)}, "or b"),
        ({"or_systems": ("b", "c", "d", "e")}, "or b or c and 2 more"),
        ({"less_durable": "may lose x", "or_systems": ("b",)}, "may lose x; or b"),
    ],
)
def test_what_else_is_to_be_known_stands_beside_the_name(facts: dict[str, object], detail: str | None) -> None:
    table = describe(measured_analysis().model_copy(update={"choices": (choice("a", 1.0, **facts),)})).choices
    assert table is not None
    assert table.rows[0][2].detail == detail


@pytest.mark.parametrize("evidence", [SizeEvidence.CAPACITY, SizeEvidence.SATURATION])
def test_saturation_is_not_to_be_planned_by(evidence: SizeEvidence) -> None:
    made = measured_analysis().model_copy(update={"choices": (choice("a", 1.0, evidence=evidence),)})
    for text in (render_html(made), render_markdown(made)):
        assert "Which system for which load" in text
        assert ("before you plan by it" in text) is (evidence is SizeEvidence.SATURATION)


def test_without_choices_there_is_no_table() -> None:
    assert describe(measured_analysis()).choices is None
    assert "Which system for which load" not in render_html(measured_analysis())
