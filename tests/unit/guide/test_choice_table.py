"""The table that says which system to choose for which load: what is printed is what `size` says."""

from __future__ import annotations

import random
import re

import pytest

from plimsoll.analyse.answers.choices import choices
from plimsoll.analyse.answers.size import HEADROOM, objective_of, size
from plimsoll.analyse.answers.size_model import Alternative, Choice, Fit, SizedBy, SizeEvidence, WorkloadChoices
from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.analyse.model import Analysis, SystemSummary
from plimsoll.guide.content import describe
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.size import choice_table
from plimsoll.guide.tables import NOT_KNOWN
from support.analyses import measured_analysis
from support.choice_worlds import choice_world

NONE_GOOD = (
    "no system of this study is known to be good: use several servers or replicas (plimsoll size says how many), or"
    " measure further"
)


def choice(system: str, up_to_tps: float, **facts: object) -> Choice:
    return Choice.model_validate(
        {
            "system": system,
            "up_to_tps": up_to_tps,
            "connections": 8,
            "response_p99_ms": 4.2,
            "evidence": SizeEvidence.CAPACITY,
            "grade": Grade.INDICATED,
            **facts,
        }
    )


def study(*found: Choice, workload: str = "read-only", **facts: object) -> Analysis:
    of_workload = WorkloadChoices.model_validate(
        {"workload": workload, "headroom": HEADROOM, "sized_by": SizedBy.CORES, "choices": found, **facts}
    )
    made = measured_analysis()
    known = {system.name for system in made.systems}
    others = tuple(SystemSummary(name=each.system, cores=4) for each in found if each.system not in known)
    return made.model_copy(update={"choices": (of_workload,), "systems": (*made.systems, *others)})


def rows(made: Analysis) -> list[list[str]]:
    table = choice_table(made)
    assert table is not None
    return [[entry.text for entry in row] for row in table.rows]


def test_ranges_join_and_each_workload_ends_with_what_is_above() -> None:
    reads = study(choice("durable", 1000.0), choice("relaxed", 2500.7)).choices
    writes = study(choice("relaxed", 70.06), workload="read-write", is_gap_above=True).choices
    made = rows(measured_analysis().model_copy(update={"choices": (*reads, *writes)}))
    assert [row[:3] for row in made] == [
        ["read-only", "up to 1,000 tps", "durable"],
        ["read-only", "1,000 to 2,500 tps", "relaxed"],
        ["read-only", "from 2,501 tps", NONE_GOOD],
        ["read-write", "up to 70.0 tps", "relaxed"],
        [
            "read-write",
            "from 70.1 tps",
            "no system is known to be good for every such load: ask plimsoll size for yours, or measure further",
        ],
    ]
    assert made[0][-3:] == ["8", "4.20", "indicated"]


def test_ranges_whose_ends_are_printed_alike_are_left_out() -> None:
    made = rows(study(choice("a", 0.001), choice("b", 1000.2), choice("c", 1000.7), choice("d", 2000.0)))
    assert [row[1:3] for row in made[:-1]] == [["up to 1,000 tps", "b"], ["1,000 to 2,000 tps", "d"]]
    assert made[-1][1] == "above 2,000 tps", "d is good for just that"


def test_an_alternative_that_goes_no_further_than_the_row_before_is_left_out() -> None:
    short = Alternative(system="c", up_to_tps=1000.8, grade=Grade.INDICATED)
    table = choice_table(study(choice("a", 1000.2), choice("b", 2000.0, alternatives=(short,))))
    assert table is not None
    assert table.rows[1][2].detail is None


def test_a_workload_for_which_no_system_is_good_says_so() -> None:
    reads, writes = study(choice("durable", 10.0)).choices, study(workload="read-write").choices
    made = rows(measured_analysis().model_copy(update={"choices": (*reads, *writes)}))
    assert made[-1][:3] == ["read-write", "any", NONE_GOOD]
    assert choice_table(study()) is None


@pytest.mark.parametrize(
    ("facts", "detail"),
    [
        ({}, None),
        ({"less_durable": "may lose x"}, "may lose x"),
        ({"alternatives": (("b", 2000.0, Grade.INDICATED),)}, "or b"),
        ({"alternatives": (("b", 1500.9, Grade.MEASURED),)}, "or b up to 1,500 tps (measured)"),
        (
            {"alternatives": [(name, 2000.0, Grade.INDICATED) for name in "bcde"], "less_durable": "may lose x"},
            "may lose x; or b; or c; and 2 more",
        ),
    ],
)
def test_what_else_is_to_be_known_stands_beside_the_name(facts: dict[str, object], detail: str | None) -> None:
    others = facts.pop("alternatives", ())
    alternatives = [Alternative(system=name, up_to_tps=tps, grade=grade) for name, tps, grade in others]
    table = choice_table(study(choice("a", 2000.0, alternatives=alternatives, **facts)))
    assert table is not None
    assert table.rows[0][2].detail == detail


def test_what_no_system_has_gets_no_column() -> None:
    table = choice_table(study(choice("a", 1.0, response_p99_ms=None, connections=None)))
    assert table is not None
    facts = {column.heading: entry.text for column, entry in zip(table.columns, table.rows[0], strict=True)}
    assert "p99 ms" not in facts
    assert facts["connections"] == NOT_KNOWN


@pytest.mark.parametrize("evidence", [SizeEvidence.CAPACITY, SizeEvidence.SATURATION])
def test_saturation_is_not_to_be_planned_by(evidence: SizeEvidence) -> None:
    made = study(choice("durable", 1.0, evidence=evidence), response_p99_ms=20.0)
    for text in (render_html(made), render_markdown(made)):
        assert "Which system for which load" in text
        assert re.search("headroom and a p99 of at most 20.0.ms", text)
        assert ("before you plan by it" in text) is (evidence is SizeEvidence.SATURATION)


def test_without_choices_there_is_no_table() -> None:
    assert describe(measured_analysis()).choices is None
    assert "Which system for which load" not in render_html(measured_analysis())


def fitting(made: Analysis, workload: str, tps: float) -> list[str]:
    answer = size(made, tps=tps, workload=workload, headroom=HEADROOM, response_p99_ms=objective_of(made))
    return [fit.system for fit in answer.systems if fit.verdict is Fit.FITS]


@pytest.mark.parametrize("seed", range(40))
def test_size_never_contradicts_what_is_printed(seed: int) -> None:
    made, chance = choice_world(seed), random.Random(seed)
    made = made.model_copy(update={"choices": tuple(choices(made))})
    table = choice_table(made)
    for row in () if table is None else table.rows:
        facts = {column.heading: entry.text for column, entry in zip(table.columns, row, strict=True)}
        workload = facts.get("workload", made.workloads[0].name)
        load = facts["load that you need"]
        seconds = 60 if load.endswith("tpm") else 1
        ends_tps = [float(number.replace(",", "")) / seconds for number in re.findall(r"[\d.,]+", load)]
        if facts["grade"] != NOT_KNOWN:
            low_tps, high_tps = (ends_tps[-1] / 1000, *ends_tps)[-2:]
            within = [low_tps, high_tps, *(chance.uniform(low_tps, high_tps) for _ in range(10))]
            assert all(facts["choose"] in fitting(made, workload, tps) for tps in within)
        elif facts["choose"] == NONE_GOOD:
            above_tps = ends_tps[0] if ends_tps else 1e-6
            least = 1 + 1e-12 if load.startswith("above") else 1.0
            assert not any(fitting(made, workload, above_tps * factor) for factor in (least, 1.001, 1.1, 2.0, 10.0))
