"""Pictures of the sections that stand beside the workloads: duets, effects, scalability, cost and others."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from plimsoll.analyse.model import Analysis
from plimsoll.guide.duets import duet_charts
from plimsoll.guide.figures import NARROW_PX, WIDE_PX, Figure, picture
from plimsoll.guide.look import Look
from plimsoll.guide.sections import Section
from plimsoll.guide.tables import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionFigures:
    """Words and charts of a section.

    Attributes:
        key: What its charts stack, each with the index of its colour.
        tables: Neighbours that are folded together under a title, which is empty for those that stand open.
    """

    words: Section
    figures: tuple[Figure, ...]
    key: tuple[tuple[str, int], ...]
    tables: tuple[tuple[str, tuple[Table, ...]], ...]


def section_figures(section: Section) -> SectionFigures:
    """A section with its pictures."""
    figures = tuple(
        Figure(
            title=chart.title,
            label=chart.title,
            pictures=(
                picture(chart.draw(Look(width_px=None, height_px=220)), "any", NARROW_PX, f"{section.anchor}{index}-"),
            ),
        )
        for index, chart in enumerate(section.charts)
    )
    key = tuple(dict.fromkeys(entry for chart in section.charts for entry in chart.key))
    open_first = sorted(section.tables, key=lambda one: bool(one.fold))
    tables = tuple((fold, tuple(own)) for fold, own in itertools.groupby(open_first, key=lambda one: one.fold))
    return SectionFigures(words=section, figures=figures, key=key, tables=tables)


def duet_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """A picture of the pairs of turns of each comparison of systems that took turns."""
    charts = duet_charts(analysis, Look(width_px=None, height_px=240))
    return tuple(
        Figure(
            title=title,
            label=f"Pairs of turns: {title}",
            pictures=(
                picture(chart, "wide", WIDE_PX, f"d{index}-"),
                picture(chart, "narrow", NARROW_PX, f"e{index}-"),
            ),
        )
        for index, (title, chart) in enumerate(charts)
    )
