"""Figures and their bounds as text."""

from __future__ import annotations

import pytest

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import Bounds, Estimate, SpreadKind
from plimsoll.guide.tables import Entry, explain_bounds, show_change, show_rate, show_ratio
from support.analyses import estimate, measured_analysis
from support.published import imported_analysis


@pytest.mark.parametrize(
    ("unit", "expected"),
    [("tps", Entry("1,089", "1,056 to 1,125")), ("tpm", Entry("65,340", "63,380 to 67,496"))],
)
def test_a_rate_and_its_bounds_have_the_same_unit(unit: str, expected: Entry) -> None:
    assert show_rate(estimate(1089.0, 0.03), unit) == expected


def test_without_bounds_none_are_shown() -> None:
    assert show_rate(Estimate(value=12.34), "tps") == Entry("12.3", None)
    assert show_ratio(Estimate(value=3.987)) == Entry("3.99", None)
    assert show_change(Estimate(value=0.5)) == Entry("-50.0 %", None)


def test_a_ratio_is_a_change_in_percent() -> None:
    assert show_change(estimate(1.375, 0.04)) == Entry("+37.5 %", "+32.0 to +43.5 %")


def with_bounds(*kinds: tuple[SpreadKind | None, float]) -> Analysis:
    """The measured analysis with so many cells of one curve, whose bounds rest on that."""
    analysis = measured_analysis()
    cells = [
        analysis.curves[0]
        .cells[0]
        .model_copy(
            update={
                "throughput_tps": Estimate(
                    value=100,
                    bounds=None if kind is None else Bounds(low=1, high=2, basis=kind, degrees=degrees, method=f"m{n}"),
                )
            }
        )
        for n, (kind, degrees) in enumerate(kinds)
    ]
    return analysis.model_copy(update={"curves": (analysis.curves[0].model_copy(update={"cells": tuple(cells)}),)})


def test_bounds_are_explained_once_whatever_the_number_of_ways() -> None:
    """A large import had 35 ways that differed in degrees of freedom alone, all in one paragraph."""
    many = [(SpreadKind.POOLED, float(degrees)) for degrees in range(4, 39)]
    text = explain_bounds(with_bounds(*many, (SpreadKind.REPETITIONS, 1.0), (SpreadKind.WITHIN_RUN, 17.4), (None, 0)))
    assert text == (
        "Ranges beside figures are 95 % confidence intervals (CI). Of 38 throughputs, those of 35 are based on the"
        " variation between their own repetitions and those of the systems that were measured alike at the same level"
        " (4 to 38 degrees of freedom), that of 1 is based on the variation between their own repetitions (1 degree of"
        " freedom), that of 1 is based on the variation within single runs (17 degrees of freedom; repetitions may vary"
        " more) and 1 has none."
    )


def test_bounds_are_explained_with_confidence_and_method() -> None:
    assert explain_bounds(measured_analysis()).startswith("Ranges beside figures are 95 % confidence intervals")
    assert ". They are based on the variation between their own repetitions and those of" in explain_bounds(
        measured_analysis()
    )
    assert explain_bounds(imported_analysis()) == "No figure has a confidence interval."


def test_throughputs_without_bounds_are_counted() -> None:
    analysis = measured_analysis()
    first = analysis.curves[0]
    bare = first.cells[0].model_copy(update={"throughput_tps": Estimate(value=1061.0)})
    curve = first.model_copy(update={"cells": (bare, *first.cells[1:])})
    mixed = analysis.model_copy(update={"curves": (curve, *analysis.curves[1:])})
    assert explain_bounds(mixed).endswith(" and 1 has none.")
