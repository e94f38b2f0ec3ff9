"""Curves that no scalability law fits are told of together, with a table of how far the nearest law misses."""

from __future__ import annotations

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis
from plimsoll.guide.scalability import scalability_section
from support.made import published
from support.published import HP_LEVELS, HP_TABLE


@pytest.fixture(scope="module")
def hp() -> Analysis:
    """Read/write throughput of eight blades, each level measured once: no law fits any of them."""
    return analyse(
        "hp",
        [
            published(float(tps), system=" ".join(row[:4]), connections=level, cores=int(row[1]))
            for row in (line.split() for line in HP_TABLE.strip().splitlines())
            for level, tps in zip(HP_LEVELS, row[4:12], strict=True)
        ],
    )


def test_what_holds_for_many_curves_is_said_once(hp: Analysis) -> None:
    section = scalability_section(hp)
    assert section is not None
    assert section.sentences == (
        "None of the laws fits any curve; the nearest ones are in the table. Do not extrapolate: the confidence band is"
        " too wide and there is only one repetition.",
    )
    nearest, *curves = section.tables
    assert nearest.caption == "Curves that no law fits"
    assert len(nearest.rows) == len(curves) == 8
    assert len(section.notes) == 1
    assert any("With a core for each connection, " in note for curve in curves for note in curve.notes)
    _, system, law, miss = (entry.text for entry in nearest.rows[0])
    assert (system, law) == ("BL460c 8 16 SAS", "the universal scalability law")
    assert miss.endswith(" %")


def test_a_single_curve_keeps_its_own_sentence(hp: Analysis) -> None:
    first = hp.scalability[0]
    section = scalability_section(hp.model_copy(update={"scalability": (first,)}))
    assert section is not None
    (sentence,) = section.sentences
    assert sentence.startswith(f"{first.workload}, {first.system}: no law fits: ")
