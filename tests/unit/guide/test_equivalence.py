"""The section on equivalence, and what the answer says of a faster system that keeps less."""

from __future__ import annotations

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis, VariableDifference, VariableReason
from plimsoll.guide.answer import answer_sentence
from plimsoll.guide.content import describe
from plimsoll.guide.facts import equivalence_section
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.record.environment import Environment, InstanceFacts
from plimsoll.record.server_facts import DataFacts, TableFacts
from support.made import Made, measured

FLUSH = "innodb_flush_log_at_trx_commit"


def repetitions(
    system: str,
    mean_tps: float,
    *,
    kind: str = "oltp_read_write",
    spread: list[float] | None = None,
    **instance: object,
) -> list[Made]:
    environment = Environment(instances=(InstanceFacts(name=f"{system}/0", flavour="mysql", **instance),))
    factors = spread or [1.0, 1.001, 1.002, 1.003]
    return [
        measured([mean_tps * factor] * 20, system=system, repetition=n, environment=environment, kind=kind)
        for n, factor in enumerate(factors)
    ]


def analysis(fast: dict[str, str], slow: dict[str, str], *data: DataFacts) -> Analysis:
    of_fast, of_slow = data or (None, None)
    one = repetitions("fast", 1200.0, variables=fast, data=of_fast)
    other = repetitions("slow", 1000.0, variables=slow, data=of_slow)
    return analyse("made", [*one, *other])


def comparison(found: Analysis) -> str:
    return next(answer_sentence(one, found) for one in found.answer if one.code == "comparison")


@pytest.mark.parametrize(
    ("fast", "slow", "words"),
    [
        ("2", "1", ", but fast may lose the last second at power loss."),
        ("0", "2", ", but fast may lose the last second when the server crashes."),
        ("1", "2", None),
        ("2", "2", None),
    ],
)
def test_the_comparison_says_what_the_faster_system_may_lose(fast: str, slow: str, words: str | None) -> None:
    said = comparison(analysis({FLUSH: fast}, {FLUSH: slow}))
    assert "20.0 % higher" in said
    assert words in said if words else ", but " not in said
    assert ("They differ in durability" in said) == (words is None and fast != slow), "once is enough"


def test_so_does_the_headline_unless_the_workload_only_reads() -> None:
    found = analysis({FLUSH: "2"}, {FLUSH: "1"})
    (headline,) = describe(found).first.headlines
    assert headline.text.endswith(", but may lose the last second at power loss.")
    reading = [*repetitions("fast", 1200.0, variables={FLUSH: "2"}, kind="oltp_read_only"),
               *repetitions("slow", 1000.0, variables={FLUSH: "1"}, kind="oltp_read_only")]  # fmt: skip
    assert ", but " not in describe(analyse("made", reading)).first.headlines[0].text


def test_a_difference_that_is_not_decided_buys_nothing() -> None:
    noisy = [1.0, 1.6, 0.7, 1.2]
    fast = repetitions("fast", 1010.0, spread=noisy, variables={FLUSH: "2"})
    slow = repetitions("slow", 1000.0, spread=noisy[::-1], variables={FLUSH: "1"})
    assert "not resolved" in comparison(analyse("made", [*fast, *slow]))
    assert ", but " not in comparison(analyse("made", [*fast, *slow]))


def test_a_durability_that_is_unknown_is_not_said() -> None:
    assert ", but " not in comparison(analysis({FLUSH: "2"}, {}))


def tables(collation: str) -> DataFacts:
    return DataFacts(tables={"t": TableFacts(engine="InnoDB", collation=collation, rows_count=10)}, tables_count=1)


def test_the_section_lists_everything_that_was_compared_equal_or_not() -> None:
    found = analysis({FLUSH: "1"}, {FLUSH: "1"}, tables("latin1_swedish_ci"), tables("utf8mb4_bin"))
    section = equivalence_section(found)
    assert section is not None
    what, differences = section.tables
    results = {row[0].text.partition(" ")[0]: row[2].text for row in what.rows}
    assert results == {
        "effective": "equal",
        "durability": "equal",
        "table": "equal",
        "character": "1 difference: t: collation",
        "numbers": "equal",
        "index": "nothing to compare",
        "execution": "nothing to compare",
    }
    assert [entry.text for entry in differences.rows[0]] == ["t: collation", "latin1_swedish_ci", "utf8mb4_bin"]
    assert "data-differs" in {warning.code for warning in found.warnings}
    assert section.title in {section.title for section in describe(found).sections}


def test_conditions_stand_behind_results_and_warnings() -> None:
    found = analysis({FLUSH: "1"}, {FLUSH: "1"})
    for text, mark in ((render_html(found), 'id="{}"'), (render_markdown(found), "## {}")):
        names = ("differences", "warnings", "configuration", "equivalence", "method", "limits")
        if mark == "## {}":
            names = (
                "Differences between",
                "Warnings in full",
                "What differs",
                "Equivalence",
                "How the figures",
                "Limitations",
            )
        places = [text.index(mark.format(name)) for name in names]
        assert places == sorted(places)


def test_one_variable_follows_and_several_follow() -> None:
    for names, words in ((["a"], "1 variable follows from factors"), (["a", "b"], "2 variables follow from factors")):
        variables = tuple(
            VariableDifference(variable=name, values={}, expected=True, reason=VariableReason.FACTOR) for name in names
        )
        section = equivalence_section(analysis({FLUSH: "1"}, {FLUSH: "1"}).model_copy(update={"variables": variables}))
        assert section is not None
        assert section.notes[0].startswith(words)


def test_a_study_of_one_system_has_no_such_section() -> None:
    assert equivalence_section(analyse("made", repetitions("a", 100.0, variables={FLUSH: "1"}))) is None
