"""Samples of a page: only known ones, and never more than fit, whatever stands there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import HostError
from plimsoll.telemetry.exporters.page import LINES_MAX, exposed


def is_a(name: str) -> bool:
    return name == "a"


def test_known_samples_with_their_labels() -> None:
    page = '# HELP a b\n# TYPE a counter\na{x="1",y="q\\"}, z"} 2.5e3\na 7 1700000000000\nb 3\nab 4\n'
    page += 'a{x="n"} NaN\na +Inf\n'
    found = [(dict(one.labels), one.value) for one in exposed(page, is_a)]
    assert found == [({"x": "1", "y": 'q"}, z'}, 2500.0), ({}, 7.0)]


@pytest.mark.parametrize("line", ['a{x="1} 2', "a{x=1} 2", "a", "a one", 'a{x="' + "\\\\" * 50 + "} 2"])
def test_what_is_no_text_format_is_one_message(line: str) -> None:
    with pytest.raises(HostError, match="not in Prometheus' text format"):
        exposed(f"{line}\n", is_a)


def test_unknown_lines_cost_nothing_and_too_many_known_ones_are_refused() -> None:
    assert exposed("b 1\n" * 10 * LINES_MAX + "a 1\n", is_a)[0].value == 1
    assert len(exposed("a 1\n" * LINES_MAX, is_a)) == LINES_MAX
    with pytest.raises(HostError, match="more than 10000 samples"):
        exposed("a 1\n" * (LINES_MAX + 1), is_a)


def test_a_line_that_takes_the_parser_too_long_is_left_out() -> None:
    assert exposed('a{x="' + "\\" * 200_000 + '"} 1\na 2\n', is_a)[0].value == 2


@given(st.text(), st.text(alphabet='a{}x="\\,1 \n'))
def test_any_text_gives_samples_or_one_error(anything: str, likely: str) -> None:
    for text in (anything, likely, f"a{anything}", f"a{{{likely}"):
        try:
            found = exposed(text, is_a)
        except HostError:
            continue
        assert all(one.name == "a" for one in found)
