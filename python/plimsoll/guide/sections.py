"""Sections of a guide that consist of sentences, tables and charts: each comes from a module of its own.

HTML, Markdown and terminal show any such section, so that a new one needs no change of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from plimsoll.analyse.model import Analysis
from plimsoll.guide.marks import Chart, Style
from plimsoll.guide.tables import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionChart:
    """A chart of a section.

    Attributes:
        title: Its caption.
        key: Names of what it stacks, each with the index of its colour; empty for charts of systems.
        draw: Makes it in a given style.
        is_printed: It stands on paper too.
        is_wide: It has all of the page's width.
    """

    title: str
    draw: Callable[[Style], Chart]
    key: tuple[tuple[str, int], ...] = ()
    is_printed: bool = True
    is_wide: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The text of a file, which a page folds under its title.

    Attributes:
        is_printed: It stands on paper too.
    """

    title: str
    text: str
    is_printed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of a guide.

    Attributes:
        anchor: Its address within the page.
        sentences: What is concluded, first things first.
        notes: What to know of the figures, below them.
        brief: Tables that a terminal shows in place of the sentences, where these would be too many.
        is_background: It tells under which conditions results hold, and stands behind them.
        listings: Texts of files, below everything else.
    """

    anchor: str
    title: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    charts: tuple[SectionChart, ...] = ()
    notes: tuple[str, ...] = ()
    brief: tuple[Table, ...] = ()
    is_background: bool = False
    listings: tuple[Listing, ...] = ()


def best_systems(analysis: Analysis) -> dict[str, str]:
    """For each workload the system that sustains most."""
    peaks = [(curve.peak.throughput_tps.value, curve) for curve in analysis.curves if curve.peak is not None]
    return {curve.workload: curve.system for _, curve in sorted(peaks, key=lambda pair: pair[0])}


def folded_but_best(table: Table, workload: str, best: Mapping[str, str]) -> Table:
    """A table of one system, folded unless that system is the best under the workload."""
    is_open = not table.system or best.get(workload, table.system) == table.system
    return table if is_open else replace(table, fold=f"{workload}, {table.system}")
