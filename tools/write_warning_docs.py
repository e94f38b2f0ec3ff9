"""Writes the list of warnings into docs/warnings.md, from their kinds; the paragraphs below it are written by hand."""

from __future__ import annotations

from pathlib import Path

from plimsoll.analyse.findings.catalogue import KINDS
from plimsoll.analyse.findings.doubts import Severity

PAGE = Path(__file__).parents[1] / "docs" / "warnings.md"
BEGIN, END = "<!-- list: make docs -->\n", "<!-- end of list -->\n"


def warnings_markdown() -> str:
    """The whole page, with the list that belongs there."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    return f"{before}{BEGIN}{_table()}{END}{rest.split(END)[1]}"


def _table() -> str:
    lines = ["\n| Warning | What to do |", "| --- | --- |"]
    for severity in Severity:
        lines.append(f"| **{severity.value}** | |")
        same = [kind for kind in KINDS.values() if kind.voids.severity is severity]
        lines += [f"| [`{kind.code}`](#{kind.code}) | {kind.advice.replace('|', chr(92) + '|')} |" for kind in same]
    return "\n".join(lines) + "\n\n"
