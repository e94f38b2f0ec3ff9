"""What the pages on learned loads say, of one thing as of several."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from plimsoll.analyse.study.workloads import FidelityKind
from plimsoll.guide.fidelity import within_goals
from plimsoll.guide.html import page_markdown
from plimsoll.guide.learned_load import learned_page
from plimsoll.guide.log_report import log_page
from plimsoll.learn.data_model import DataNote
from plimsoll.learn.profile_model import Profile, StatementProfile, TypeProfile, ValueProfile
from plimsoll.learn.report import report_of
from support.event_logs import Said, write_log
from support.repository import ROOT

NOTES_TABLE = (ROOT / "docs" / "learn-data.md").read_text().partition("## Notes")[2].partition("##")[0]
NOTES = [code for row in re.findall(r"^\| (`.*?) \|", NOTES_TABLE, re.M) for code in re.findall(r"`([a-z-]+)`", row)]
"""Codes of all notes."""

LEFT_OUT = ("not-parsed", "not-run", "function-unknown", "table-unknown")


def profile(count: int, notes: Sequence[str] = ()) -> Profile:
    """So many of everything that the page counts."""
    values = [
        ValueProfile(name="v", kind="number", assumed=one) for one in ("row-read", "made-up") for _ in range(count)
    ]
    statements = [
        *(StatementProfile(text="SELECT 1", values=tuple(values) if place == 0 else ()) for place in range(count)),
        *(StatementProfile(text="", left_out=reason) for reason in LEFT_OUT for _ in range(count)),
    ]
    type_ = TypeProfile(
        name="type 1",
        share=1.0,
        time_share=None,
        statements=1.0,
        is_explicit=False,
        rollback_ratio=0.0,
        statement=tuple(statements),
    )
    found = tuple(DataNote(code=note, table="t1") for note in notes for _ in range(count))
    return Profile(types=(type_,), notes=found)


def sentences(count: int) -> list[str]:
    page = learned_page(profile(count, NOTES), None)
    return [*(value for _, value in page.facts), *page.doubts]


def wrong_plurals(text: str) -> list[str]:
    """Such as `1 tables`."""
    return re.findall(
        r"(?<![\d.,])1 (?:[a-z]+ )?(?:statement|transaction|session|value|table|column|figure|type)s\b", text
    )


def test_one_is_singular_and_two_are_plural() -> None:
    one, two = sentences(1), sentences(2)
    assert len(one) == len(two) == 2 + len(LEFT_OUT) + 2 + len(NOTES)
    assert wrong_plurals("\n".join(one)) == []
    assert not [text for text in one if re.search(r"[{}]|^1 \w+ are\b", text)]
    told = "\n".join(two)
    assert re.search(r"100.0 % of transactions, as \d+ types? with 2 statements together", told)
    assert "Left out of the workload: 2 statements on a table that is not known." in told
    assert "2 values are assumed to come from a row" in told
    assert "1 value is assumed to come from a row" in "\n".join(one)
    assert "Foreign keys of 2 tables are left out." in told


def test_a_log_of_one_statement(tmp_path: Path) -> None:
    said = [Said(1, 0, "begin"), Said(1, 1, "read", errno=1213), Said(1, 2, "commit")]
    text = page_markdown(log_page(report_of(write_log(tmp_path, said))))
    assert wrong_plurals(text) == []
    assert "1 statement in 1 transaction over 1 session." in text
    assert "1 session, which ran 1 transaction." in text
    assert "1 different statement ran; the one below takes 100.0 % of statement time." in text


@pytest.mark.parametrize(
    ("judged", "met", "expected"),
    [
        (22, 20, "20 of 22 figures are within their goals"),
        (22, 1, "1 of 22 figures is within its goal"),
        (1, 0, "0 of 1 figure is within its goal"),
        (0, 0, "0 of 0 figures are within their goals"),
    ],
)
def test_figures_within_their_goals(judged: int, met: int, expected: str) -> None:
    kinds = [
        FidelityKind(kind="rows-sent", judged=judged, met=met, worst=None, goal=0.05),
        FidelityKind(kind="pages", judged=0, met=0, worst=None, goal=0.1),
    ]
    assert within_goals(kinds) == expected
