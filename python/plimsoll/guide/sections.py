"""Sections of a guide that consist of sentences, tables and charts: each comes from a module of its own.

HTML, Markdown and terminal show any such section, so that a new one needs no change of theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.guide.look import Look
from plimsoll.guide.marks import Chart
from plimsoll.guide.tables import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionChart:
    """A chart of a section.

    Attributes:
        title: Its caption.
        key: Names of what it stacks, each with the index of its colour; empty for charts of systems.
        draw: Makes it in a given look.
    """

    title: str
    draw: Callable[[Look], Chart]
    key: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of a guide.

    Attributes:
        anchor: Its address within the page.
        sentences: What is concluded, first things first.
        notes: What to know of the figures, below them.
        brief: Tables that a terminal shows in place of the sentences, where these would be too many.
    """

    anchor: str
    title: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    charts: tuple[SectionChart, ...] = ()
    notes: tuple[str, ...] = ()
    brief: tuple[Table, ...] = ()
