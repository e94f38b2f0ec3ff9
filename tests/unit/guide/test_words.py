"""Sentences and places; texts of others cannot steer what shows them."""

from __future__ import annotations

import pytest

from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.guide.words import (
    clean,
    cleaned,
    place_words,
    pool_sentence,
    sentence,
    unknown_sentences,
    verdict_words,
)
from support.analyses import HOSTILE, hostile_analysis, measured_analysis
from support.published import imported_analysis


def test_control_and_direction_characters_are_replaced_and_lines_kept() -> None:
    assert clean("a\x1b[31m\u202eb\x00\n\tc\ud800") == "a\ufffd[31m\ufffdb\ufffd\n\tc\ufffd"
    assert clean("Bücher 数据 – 5 %") == "Bücher 数据 – 5 %"


def test_a_whole_analysis_is_cleaned_names_as_well() -> None:
    analysis = cleaned(hostile_analysis())
    assert "\x1b" not in analysis.model_dump_json().encode().decode("unicode_escape")
    assert analysis.curves[0].system == analysis.systems[0].name == clean("durable" + HOSTILE)


def test_each_verdict_has_words() -> None:
    difference = measured_analysis().differences[1]
    words = {
        verdict: verdict_words(difference.model_copy(update={"verdict": verdict})) for verdict in DifferenceVerdict
    }
    assert words == {
        DifferenceVerdict.FASTER: "relaxed carries more",
        DifferenceVerdict.SLOWER: "relaxed carries less",
        DifferenceVerdict.UNDECIDED: "cannot be told apart",
        DifferenceVerdict.UNTESTABLE: "cannot be tested: no bounds",
    }


@pytest.mark.parametrize(
    ("index", "words"),
    [(0, "whole study"), (1, "durable"), (2, "all systems · read-write · 16 and 32 connections")],
)
def test_a_warning_says_where(index: int, words: str) -> None:
    analysis = measured_analysis()
    assert place_words(analysis.warnings[index], analysis) == words


def test_what_holds_everywhere_lists_nothing() -> None:
    analysis = measured_analysis()
    everywhere = analysis.warnings[2].model_copy(
        update={"workloads": ("read-only", "read-write"), "connections": (1, 4, 16, 32)}
    )
    assert place_words(everywhere, analysis) == "all systems · all workloads · all levels"


def test_remarks_become_sentences() -> None:
    assert sentence("there is one trial") == "There is one trial."
    assert sentence("innodb_io_capacity differs") == "innodb_io_capacity differs."
    assert sentence("") == ""


def test_what_all_systems_lack_is_said_once() -> None:
    (said,) = unknown_sentences(imported_analysis().systems)
    assert said == "Not known for any system: response times; processor use; bounds: one repetition."
    assert unknown_sentences(measured_analysis().systems) == ()


def test_a_pool_names_its_system_and_not_the_workload_above_it() -> None:
    curve = measured_analysis().curves[0]
    text = curve.model_copy(update={"pool": curve.pool.model_copy(update={"text": "read-only: 4 connections"})})
    assert pool_sentence(text) == "durable: 4 connections."
