"""The report of a run: a table for the terminal, Markdown for docs/benchmarks.md, JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.ratios import Bounded
from bench.rows import Row, Section
from plimsoll.units import format_number

HEADER = ("What", "Ours", "Peer", "Ratio (95 % CI)", "Goal", "Verdict")
INTRODUCTION = """\
# Benchmarks

Plimsoll's own speed, measured by `make bench` on one machine in one run. Absolute figures differ from machine to
machine, and by a third from run to run. Ratios are more stable, because the two programs of a pair run one after the
other, in alternating order. A figure is the geometric mean. The 95 % confidence interval (95 % CI) comes from Student's
t on the logarithms of the ratios of pairs. A verdict is only "likely" if the interval includes the goal. Processor time
is that of the whole client process, including connecting, as the kernel counts it. The server is a throwaway MariaDB on
the same machine that flushes its log once a second, with neither binary log nor performance schema: the benchmark
compares clients.

This file is generated. Repeat it with `make bench` (about half an hour on a quiet machine). `.venv/bin/python -m bench
--help` shows how to run parts of it. It measures the engine that `PLIMSOLL_ENGINE` names, such as that of a wheel
([arranged by load](decisions/0095-the-wheel-is-arranged-by-load.md)). Without the variable it is one built from source.
"""

BY_HAND = Path(__file__).with_name("by_hand.md")
"""What was measured by hand, with its command: the end of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All of one run.

    Attributes:
        facts: Machine, versions, date and lengths, by name.
    """

    facts: dict[str, str]
    sections: tuple[Section, ...]

    @property
    def is_whole(self) -> bool:
        """No comparison failed."""
        return not any(section.failed for section in self.sections)

    def terminal(self) -> str:
        """Plain text, readable at 120 columns."""
        lines = [f"{name}: {text}" for name, text in self.facts.items()]
        for section in self.sections:
            lines += ["", section.title]
            lines += [f"  {why}"] if (why := section.without_rows) else _aligned([HEADER, *_cells(section)])
        return "\n".join([*lines, "", self.summary()])

    def markdown(self) -> str:
        """The whole of docs/benchmarks.md."""
        parts = [INTRODUCTION, "| | |\n| --- | --- |\n" + "".join(f"| {n} | {t} |\n" for n, t in self.facts.items())]
        parts.append(f"{self.summary()}\n")
        for section in self.sections:
            parts.append(f"## {section.title}\n")
            parts.append(f"{why}.\n" if (why := section.without_rows) else _markdown_table(section))
        parts.append(BY_HAND.read_text(encoding="utf-8"))
        return "\n".join(parts)

    def json(self) -> dict[str, Any]:
        """Every value of every pair."""
        sections = [
            {"title": s.title, "skipped": s.skipped, "failed": s.failed, "rows": [_row_json(r) for r in s.rows]}
            for s in self.sections
        ]
        return {"format": 1, "facts": self.facts, "sections": sections}

    def summary(self) -> str:
        """How many goals were met, and which were not."""
        rows = [(section, row) for section in self.sections for row in section.rows if row.goal is not None]
        missed = [f"{s.title.split(':')[0]}, {r.name}" for s, r in rows if "missed" in r.verdict]
        skipped = sum(bool(section.skipped) for section in self.sections)
        text = f"{len(rows) - len(missed)} of {len(rows)} goals met or likely met"
        text += f"; {skipped} comparisons skipped" if skipped else ""
        failed = [section.title for section in self.sections if section.failed]
        text += f"; failed: {'; '.join(failed)}" if failed else ""
        return text + (f". Missed or likely missed: {'; '.join(missed)}." if missed else ".")


def _cells(section: Section) -> list[tuple[str, ...]]:
    return [_row_cells(row) for row in section.rows]


def _row_cells(row: Row) -> tuple[str, ...]:
    ratio, peer = row.ratio, None if row.peer is None else Row(name="", unit="", ours=row.peer).value
    return (
        row.name,
        f"{_number(row.value.value)} {row.unit}" if ratio else f"{_with_bounds(row.value)} {row.unit}",
        f"{_number(peer.value)} {row.unit}" if peer else "",
        _with_bounds(ratio) if ratio else "",
        row.goal.text(row.unit) if row.goal else "",
        "" if row.goal is None else row.verdict,
    )


def _number(value: float) -> str:
    return format_number(value)


def _with_bounds(found: Bounded) -> str:
    digits = 3 if found.value < 10 else 1
    if found.low is None or found.high is None:
        return f"{found.value:.{digits}f} (one value)"
    return f"{found.value:.{digits}f} ({found.low:.{digits}f} to {found.high:.{digits}f})"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    cells = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return [("  " + "  ".join(row)).rstrip() for row in cells]


def _markdown_table(section: Section) -> str:
    lines = [f"| {' | '.join(HEADER)} |", f"|{' --- |' * len(HEADER)}"]
    lines += [f"| {' | '.join(cells)} |" for cells in _cells(section)]
    notes = dict.fromkeys(f"{row.name}: {row.note}." for row in section.rows if row.note)
    return "\n".join([*lines, "", *(f"* {note}" for note in notes), *([""] if notes else [])])


def _row_json(row: Row) -> dict[str, Any]:
    ratio = row.ratio
    return {
        "name": row.name,
        "unit": row.unit,
        "ours": list(row.ours),
        "peer": None if row.peer is None else list(row.peer),
        "value": _bounded_json(row.value),
        "ratio": None if ratio is None else _bounded_json(ratio),
        "goal": None if row.goal is None else row.goal.text(row.unit),
        "verdict": row.verdict,
    }


def _bounded_json(found: Bounded) -> dict[str, Any]:
    return {"value": found.value, "low": found.low, "high": found.high, "count": found.count}
