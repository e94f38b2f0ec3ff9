"""The first screen: what was measured, one sentence for each workload, the gravest warnings."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.analyse.findings.catalogue import severity_of
from plimsoll.analyse.findings.doubts import Evidence, PlacedWarning, Severity
from plimsoll.analyse.findings.finding_model import make_finding
from plimsoll.analyse.model import Analysis
from plimsoll.guide.content import describe
from plimsoll.guide.headline import Sentence, rest_findings
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.record.level import Level
from support.analyses import estimate, measured_analysis, peak_of
from support.published import imported_analysis


def with_answer(*answer: Any) -> Analysis:
    return measured_analysis().model_copy(update={"answer": answer})


def with_warnings(*codes: str) -> Analysis:
    warnings = tuple(PlacedWarning(code=code, evidence=(Evidence(text=f"seen {code}."),)) for code in codes)
    return measured_analysis().model_copy(update={"warnings": warnings})


def test_facts_say_what_was_measured_where_and_when() -> None:
    assert describe(measured_analysis()).first.facts == (
        ("Server", "MariaDB 10.11.14"),
        ("Host", "bench-1, 2 cores, 23.5 GiB"),
        ("Measured", "1 November 2026"),
        ("Scope", "2 systems, 2 workloads, 4 levels, 48 trials"),
    )
    source, (scope, _) = describe(imported_analysis()).first.facts
    assert scope == "Scope"
    assert source == ("Source", "imported from hp.csv, not measured by Plimsoll")
    systems = (imported_analysis().systems[0], *measured_analysis().systems)
    both = measured_analysis().model_copy(update={"systems": systems})
    assert describe(both).first.facts[0][1] == f"{systems[0].name}: imported from hp.csv, not measured by Plimsoll"


def test_each_workload_has_one_sentence_with_its_interval_and_its_recordings() -> None:
    pool = make_finding("pool", system="durable", workload="read-write", connections=16)
    first = describe(with_answer(pool, peak_of("durable", "next"), peak_of("relaxed", "most"))).first
    (headline,) = first.headlines
    assert headline.text.startswith("read-write: relaxed completes the most: 1,712 tps (95 % CI 1,661 to 1,768)")
    assert [source.trial_id for source in headline.sources] == ["160f1712"]


def test_a_capacity_at_the_objective_comes_before_a_peak() -> None:
    within = make_finding(
        "within-objective",
        system="durable",
        workload="read-write",
        level=Level(connections=4),
        objective_ms_p99=20.0,
        throughput_tps=estimate(871.0),
        unknown=None,
        is_last_level=False,
    )
    first = describe(with_answer(peak_of("relaxed", "most"), within)).first
    assert "with p99 response time within 20.0 ms, durable completes 871 tps" in first.headlines[0].text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("w: at 100 tps it held.", "At 100 tps it held."),
        ("w: the old one sustains 100 tps.", "the old one sustains 100 tps."),
    ],
)
def test_a_headline_has_a_capital_unless_it_begins_with_a_name(text: str, shown: str) -> None:
    assert Sentence(text, workload="w", names=("the old one",)).without_workload == shown


def test_what_the_first_screen_says_is_not_said_again() -> None:
    content = describe(measured_analysis())
    told = [*content.first.notices, *(headline.text for headline in content.first.headlines)]
    rest = [one.text for one in content.rest]
    assert not set(told) & set(rest)
    left_out = [one for one in content.answer if one not in {*told, *rest}]
    assert left_out, "a terminal says it, since it has no table of every system"
    for text in left_out:
        assert " completes " in text or "connection pool for " in text


def test_a_page_compares_once_for_each_workload_and_says_a_stall_in_its_warning_alone() -> None:
    pairs = [
        make_finding(
            "capacity-compared",
            system="relaxed",
            workload="read-write",
            base=base,
            ratio=estimate(1.5),
            verdict="faster",
        )
        for base in ("durable", "other")
    ]
    stall = {"repetition": 0, "is_hidden": False, "more_trials_count": 0}
    stalled = make_finding("stalled", system="durable", workload="read-write", level=Level(connections=4), **stall)
    analysis = with_answer(
        *pairs, stalled, make_finding("pool", system="durable", workload="read-write", connections=16)
    )
    assert [finding.code for finding in rest_findings(analysis)] == ["stalled"], "the first comparison is the headline"
    warned = PlacedWarning(code="throughput-stalled", evidence=(Evidence(text="seen."),))
    assert rest_findings(analysis.model_copy(update={"warnings": (warned,)})) == []


def test_an_incomplete_study_says_so_first() -> None:
    incomplete = make_finding("incomplete", ran_count=3, planned_count=9, systems=(), system_workloads=())
    analysis = with_answer(incomplete, peak_of("relaxed", "most"))
    assert describe(analysis).first.notices[0].startswith("This study is not complete: 3 of 9")
    assert render_markdown(analysis).index("not complete") < render_markdown(analysis).index("1,712 tps")


def test_three_warnings_at_most_and_the_rest_is_counted() -> None:
    codes = ("client-saturated", "single-repetition", "short-window", "outage", "variables-differ-unexpectedly")
    first = describe(with_warnings(*codes)).first
    assert [warning.code for warning in first.warnings] == list(codes[:3])
    assert first.more_warnings_count == 2
    assert ">2 more warnings</a>" in render_html(with_warnings(*codes))
    assert "more warning" not in render_html(with_warnings(*codes[:3]))
    assert "No warnings were raised." in render_html(with_warnings())


def test_a_warning_on_the_first_screen_says_what_it_is_about() -> None:
    warning = PlacedWarning(
        code="throughput-stalled", evidence=(Evidence(text="seen"),), systems=("durable",), workloads=("read-only",)
    )
    analysis = measured_analysis().model_copy(update={"warnings": (warning,)})
    assert "<b>durable · read-only: </b>Seen." in render_html(analysis).split("Systems at a glance")[0]
    assert "- durable · read-only: Seen." in render_markdown(analysis)


def test_warnings_are_grouped_by_severity() -> None:
    groups = describe(
        with_warnings("client-saturated", "single-repetition", "query-cache-on", "unheard-of")
    ).warning_groups
    assert [(group.severity, [part.code for part in group.warnings]) for group in groups] == [
        (Severity.GRAVE, ["client-saturated"]),
        (Severity.UNCERTAIN, ["single-repetition"]),
        (Severity.CONTEXT, ["query-cache-on", "unheard-of"]),
    ]


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("throughput-stalled", Severity.GRAVE),
        ("host-busy-elsewhere", Severity.GRAVE),
        ("connections-stuck", Severity.UNCERTAIN),
        ("variables-differ-unexpectedly", Severity.CONTEXT),
    ],
)
def test_severity_is_that_of_the_kind(code: str, severity: Severity) -> None:
    assert severity_of(code) is severity
