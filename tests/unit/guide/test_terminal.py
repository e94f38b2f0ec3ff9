"""The terminal: 80 columns, no colour needed, nothing cut off, nothing of others obeyed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rich.cells import cell_len

from plimsoll.analyse.answers.size import size
from plimsoll.analyse.model import Analysis
from plimsoll.guide.level_tables import workload_tables
from plimsoll.guide.size import answer_sentences
from plimsoll.guide.size_terminal import size_terminal
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.guide.terminal import render_terminal
from plimsoll.guide.terminal_blocks import show_table
from support.analyses import hostile_analysis, measured_analysis
from support.printed import printed
from support.published import imported_analysis, per_minute_analysis

MAKERS = [measured_analysis, imported_analysis, per_minute_analysis, hostile_analysis]


@pytest.mark.parametrize("width", [40, 80, 132])
@pytest.mark.parametrize("make", MAKERS)
def test_nothing_is_wider_than_the_terminal_or_cut_off(make: Callable[[], Analysis], width: int) -> None:
    text = printed(render_terminal(make()), width=width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert "…" not in text


@pytest.mark.parametrize("width", [30, 79, 80])
def test_every_figure_survives_in_one_piece(width: int) -> None:
    analysis = measured_analysis()
    (table,) = workload_tables(analysis, analysis.systems[0], analysis.workloads[1])
    text = printed(show_table(table), width=width)
    assert max(map(cell_len, text.splitlines())) <= width
    for row in table.rows:
        for entry in row:
            assert entry.text in text
            assert (entry.detail or "") in text or entry is row[2]


def test_words_share_the_room_and_are_not_broken() -> None:
    """Two columns of sentences: neither takes all of the room."""
    columns = tuple(Column(heading=heading, numeric=False) for heading in ("clause", "here", "asked for"))
    texts = (
        "5.2.5.2, 5.2.5.4",
        "none of the times of any of the terminals is kept " * 3,
        "consistency, Stock-Level and more",
    )
    table = Table(caption="c", columns=columns, rows=(tuple(Entry(text) for text in texts),))
    lines = printed(show_table(table)).splitlines()
    assert max(map(len, lines)) <= 80
    for word in ("5.2.5.2, 5.2.5.4", "terminals", "consistency,", "Stock-Level"):
        assert any(word in line for line in lines), lines


def test_names_cannot_steer_the_terminal() -> None:
    plain = printed(render_terminal(hostile_analysis()), terminal=False)
    assert "\x1b" not in plain
    assert "[31mred" in plain.replace("\n", "")
    coloured = printed(render_terminal(hostile_analysis()), terminal=True)
    assert "\x1b[31m" not in coloured


def test_words_in_brackets_are_no_mark_up() -> None:
    table = Table(caption="c", columns=(Column(heading="[bold]a[/bold]", numeric=False),), rows=((Entry("[red]b"),),))
    text = printed(show_table(table))
    assert "[bold]a[/bold]" in text
    assert "[red]b" in text


def test_a_sizing_answer_says_why_systems_do_not_fit_and_what_it_rests_on() -> None:
    answer = size(
        measured_analysis(), tps=1200.0, connections=16, workload="read-write", response_p99_ms=30.0, headroom=0.0
    )
    text = printed(size_terminal(answer))
    assert text.startswith(next(answer_sentences(answer)).split(" of ")[0])
    assert "does not fit" in text
    assert "- durable: " in text
    assert "- relaxed: " in text, "the percentiles of its repetitions are not known"
    assert "Assumptions" in text
