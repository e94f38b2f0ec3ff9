"""Markdown: nothing of others becomes mark-up."""

from __future__ import annotations

import re

import pytest

from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.words import escape_markdown
from support.analyses import hostile_analysis, measured_analysis


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b", r"a\|b"),
        ("two\nlines", "two lines"),
        ("# heading", r"\# heading"),
        ("1. item", r"\1. item"),
        ("1.00", "1.00"),
        ("- item", r"\- item"),
        ("-0.6 %", "-0.6 %"),
        ("---", r"\---"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("[x](y) ![z]", r"\[x\](y) !\[z\]"),
        ("*a* `b` ~c~ \\", r"\*a\* \`b\` \~c\~ \\"),
        ("innodb_flush_log", "innodb_flush_log"),
        ("_a_", r"\_a\_"),
    ],
)
def test_text_is_shown_as_it_is(text: str, escaped: str) -> None:
    assert escape_markdown(text) == escaped


def test_hostile_names_open_no_tag_and_no_column() -> None:
    text = render_markdown(hostile_analysis())
    outside_code = "".join(text.split("`")[::2])
    assert "<script" not in outside_code
    for table in (block for block in text.split("\n\n") if block.startswith("| ")):
        lines = table.splitlines()
        counts = {line.replace("\\|", "").count("|") for line in lines}
        assert len(counts) == 1, lines[0]


def test_levels_and_bounds_are_in_the_tables() -> None:
    text = render_markdown(measured_analysis())
    assert re.search(r"\| 16 \| \[3,212\]\[r\d+\] \(3,116 to 3,318\)( \[r\d+\]){2} \|", text)
    assert re.search(r"\*\*\[1,245\]\[r\d+\]\*\* \(1,208 to 1,286\) peak", text)
