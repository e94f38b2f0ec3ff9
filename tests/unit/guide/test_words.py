"""Sentences and places; texts of others cannot steer what shows them."""

from __future__ import annotations

import pytest

from plimsoll.analyse.findings.catalogue import placed_warnings
from plimsoll.analyse.findings.curves import ReadOnlySlower, Single
from plimsoll.analyse.findings.doubts import Evidence, Place, PlacedWarning
from plimsoll.analyse.findings.machine import BusyElsewhere
from plimsoll.analyse.findings.servers import DebugBuild
from plimsoll.analyse.study.curve_model import PoolAdvice, PoolReason
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.guide.answer import pool_sentence
from plimsoll.guide.words import (
    advice_of,
    clean,
    cleaned,
    difference_verdict,
    evidence_sentence,
    place_words,
    sentence,
    unknown_sentences,
    workload_words,
)
from plimsoll.record.level import Level
from support.analyses import HOSTILE, hostile_analysis, measured_analysis
from support.published import imported_analysis

_RATES = {"slow_tps": 100.0, "fast_tps": 200.0}


def test_control_and_direction_characters_are_replaced_and_lines_kept() -> None:
    assert clean("a\x1b[31m\u202eb\x00\n\tc\ud800") == "a\ufffd[31m\ufffdb\ufffd\n\tc\ufffd"
    assert clean("Bücher 数据 – 5 %") == "Bücher 数据 – 5 %"


def test_a_whole_analysis_is_cleaned_names_as_well() -> None:
    analysis = cleaned(hostile_analysis())
    assert "\x1b" not in analysis.model_dump_json().encode().decode("unicode_escape")
    assert analysis.curves[0].system == analysis.systems[0].name == clean("durable" + HOSTILE)


def test_what_is_harmless_stays_the_same_object() -> None:
    analysis = measured_analysis()
    same = cleaned(analysis)
    assert all(getattr(same, name) is getattr(analysis, name) for name in ("curves", "systems", "warnings", "answer"))
    assert same == analysis


def test_each_verdict_has_words() -> None:
    difference = measured_analysis().differences[1]
    words = {
        verdict: difference_verdict(difference.model_copy(update={"verdict": verdict})) for verdict in RatioVerdict
    }
    assert words == {
        RatioVerdict.FASTER: "relaxed is faster",
        RatioVerdict.SLOWER: "relaxed is slower",
        RatioVerdict.UNRESOLVED: "not resolved",
        RatioVerdict.EQUAL: "equal within 5 %",
        RatioVerdict.UNTESTABLE: "not testable: no confidence interval",
        RatioVerdict.DISTURBED: "disturbed: the machine was not equally fast",
    }


@pytest.mark.parametrize(
    ("index", "words"),
    [(0, "durable"), (1, "whole study"), (2, "all systems · read-write · 16 and 32 connections")],
)
def test_a_warning_says_where(index: int, words: str) -> None:
    analysis = measured_analysis()
    assert place_words(analysis.warnings[index], analysis) == words


def test_what_holds_everywhere_lists_nothing() -> None:
    analysis = measured_analysis()
    everywhere = analysis.warnings[2].model_copy(
        update={
            "workloads": ("read-only", "read-write"),
            "levels": tuple(Level(connections=count) for count in (1, 4, 16, 32)),
        }
    )
    assert place_words(everywhere, analysis) == "all systems · all workloads · all levels"


def test_many_levels_are_counted() -> None:
    warning = measured_analysis().warnings[2]
    for at_rate, words in ((False, "5 levels"), (True, "5 target rates")):
        levels = tuple(Level(connections=n, rate_tps=n * 10.0 if at_rate else None) for n in range(2, 7))
        placed = warning.model_copy(update={"levels": levels})
        assert place_words(placed, measured_analysis()) == f"all systems · read-write · {words}"


def test_whole_numbers_of_a_workload_have_separators() -> None:
    workload = measured_analysis().workloads[0].model_copy(update={"options": {"table_size": "1000000", "skew": "0.5"}})
    assert "table_size 1,000,000, skew 0.5" in workload_words(workload)


def test_remarks_become_sentences() -> None:
    assert sentence("there is one trial") == "There is one trial."
    assert sentence("innodb_io_capacity differs") == "innodb_io_capacity differs."
    assert sentence("") == ""


@pytest.mark.parametrize(
    "evidence",
    [
        DebugBuild(instance="one server/0", sign="-debug").evidence(),
        Evidence(text="one server/0 is a debug build: -debug"),
        ReadOnlySlower(rate_unit="tps", slow_workload="one", fast_workload="b", **_RATES).evidence(),
    ],
)
def test_evidence_that_begins_with_a_name_leaves_it_as_it_was_written(evidence: Evidence) -> None:
    placed = PlacedWarning(code="debug-build", evidence=(evidence,))
    assert evidence_sentence(placed, ["one server"]).startswith("one ")


def test_evidence_that_begins_like_a_name_has_its_capital() -> None:
    (placed,) = placed_warnings([Place().doubt(Single())])
    assert evidence_sentence(placed, ["level"]) == "Levels were measured only once."


def test_what_all_systems_lack_is_said_once() -> None:
    (said,) = unknown_sentences(imported_analysis().systems)
    assert said == (
        "Not known for any system: response times at the 99th percentile; processor utilisation; confidence intervals,"
        " because there is one figure for each level."
    )
    assert unknown_sentences(measured_analysis().systems) == ()


@pytest.mark.parametrize(
    ("connections", "per_core", "words"),
    [
        (4, 2.0, "4 connections, two per core; fewer were not measured"),
        (16, 8.0, "16 connections, 8 per core; fewer were not measured"),
        (1, 0.125, "1 connection, one for every 8 cores; fewer were not measured"),
        (3, None, "3 connections; fewer were not measured"),
    ],
)
def test_a_pool_in_words(connections: int, per_core: float | None, words: str) -> None:
    pool = PoolAdvice(connections=connections, per_core=per_core, reason=PoolReason.LOWEST_LEVEL)
    assert pool_sentence(measured_analysis().curves[0].model_copy(update={"pool": pool})) == words


def test_equal_evidence_is_said_once_and_other_evidence_is_counted() -> None:
    (placed,) = placed_warnings(Place().doubt(BusyElsewhere(other_cpu_ratio=share)) for share in (0.5, 0.2, 0.2001))
    assert evidence_sentence(placed).endswith("neither to the server nor to the client (and 1 more, of other trials).")
    placed = placed.model_copy(update={"systems": ("a", "b"), "workloads": ("w", "x")})
    assert evidence_sentence(placed).endswith(" (and 1 more, of other systems, workloads or trials).")
    assert advice_of(placed) == "Find and stop what else runs there, or measure on a quiet host."
    assert advice_of(placed.model_copy(update={"code": "of-a-later-version", "advice": "Do it"})) == "Do it."
