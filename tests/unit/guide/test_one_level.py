"""What a guide leaves unsaid of a curve with a single level."""

from __future__ import annotations

from plimsoll.analyse.analysis import analyse
from plimsoll.guide.content import Content, describe
from plimsoll.guide.html import render_html
from support.made import measured


def two_systems(*connections: int) -> Content:
    """Two repetitions of each; `b` sustains more."""
    recordings = [
        measured([tps * level + repetition] * 12, system=name, repetition=repetition, connections=level)
        for name, tps in (("a", 100.0), ("b", 120.0))
        for level in connections
        for repetition in range(3)
    ]
    return describe(analyse("made", recordings))


def test_one_level_says_nothing_of_a_pool() -> None:
    content = describe(analyse("one level", [measured([100.0] * 12)]))
    assert not [sentence for sentence in content.answer if "pool" in sentence]
    assert content.workloads[0].pools == ()


def test_one_level_is_no_peak_and_says_so_as_a_limitation() -> None:
    content = two_systems(8)
    assert not any(word in text for text in content.answer for word in ("at least", "peak"))
    assert "read-write: at 8 connections, throughput of b is 20.0 % higher than that of a" in " ".join(content.answer)
    assert "peak-at-last-level" not in {warning.code for warning in content.warnings}
    assert [text for text in content.limits if text.startswith("Only one level was measured, 8 connections:")]
    (levels,) = content.pages[0].levels
    assert not {"scale"} & {column.heading for column in levels.columns}
    assert not any(entry.mark for row in levels.rows for entry in row)


def test_one_level_has_no_curves_of_one_point() -> None:
    for levels, are_drawn in (((8,), False), ((4, 8), True)):
        page = render_html(two_systems(*levels).analysis)
        assert ("Throughput against connections" in page) is are_drawn
        assert "No throughput is known" not in page
        assert "Systems compared, read-write: b against a" in page


def test_the_peak_of_several_levels_may_lie_beyond_them() -> None:
    content = two_systems(4, 8)
    assert sum("at least" in text for text in content.answer) == 2
    assert "peak-at-last-level" in {warning.code for warning in content.warnings}
    assert not [text for text in content.limits if text.startswith("Only one level")]
