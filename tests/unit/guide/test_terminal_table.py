"""Tables on a terminal: what stands above details, where names break, and what is said once below."""

from __future__ import annotations

import pytest

from plimsoll.guide.tables import SINGLE_RUNS, SINGLE_RUNS_NOTE, Column, Entry, Table
from plimsoll.guide.terminal_blocks import show_table
from plimsoll.prose.phrases import VAGUE_MARKS
from support.printed import printed

VAGUE = "not known within a factor of 3: repetitions differ too much"


def shown(table: Table, width: int) -> list[str]:
    return [line.rstrip() for line in printed(show_table(table), width=width).splitlines()]


def test_intervals_stand_below_their_heading_and_other_details_do_not() -> None:
    columns = (Column(heading="connections", detail=""), Column(heading="tps"))
    rows = ((Entry("4", "2 each"), Entry("1,000", "990 to 1,010")), (Entry("8", "4 each"), Entry("2,000")))
    head, _, first, _ = shown(Table(caption="w", columns=columns, rows=rows), 80)
    assert head.split("  ")[-1].strip() == "95 % CI"
    assert first.index("990 to 1,010") + len("990 to 1,010") == len(head)
    assert "2 each" in first
    assert head.count("95 % CI") == 1


@pytest.mark.parametrize("width", [46, 47])
def test_long_names_break_behind_a_sign_and_what_continues_is_indented(width: int) -> None:
    columns = (Column(heading="type", numeric=False), *(Column(heading=f"p{number}") for number in range(4)))
    figures = tuple(Entry("1,234.5") for _ in range(4))
    table = Table(caption="t", columns=columns, rows=((Entry("order_status"), *figures), (Entry("pay"), *figures)))
    lines = shown(table, width)
    assert max(map(len, lines)) <= width
    assert [line[:8].rstrip() for line in lines[2:]] == ["order_", " status", "pay"]


def test_intervals_that_are_too_wide_are_told_once_and_marked() -> None:
    columns = (Column(heading="system", numeric=False), Column(heading="tps"))
    rows = tuple((Entry(name), Entry("100", VAGUE)) for name in "abc")
    table = Table(caption="t", columns=columns, rows=rows)
    assert [row[1].detail for row in table.rows] == ["‡", "‡", "‡"]
    assert table.notes == (f"‡ {VAGUE}.",)


def test_a_mark_means_one_thing() -> None:
    assert SINGLE_RUNS not in VAGUE_MARKS
    assert len(set(VAGUE_MARKS)) == len(VAGUE_MARKS)
    assert SINGLE_RUNS in SINGLE_RUNS_NOTE
