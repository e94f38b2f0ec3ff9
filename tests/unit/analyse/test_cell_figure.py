"""The figure of a cell's repetitions: between them, whatever a document may hold."""

from __future__ import annotations

import pytest

from plimsoll.analyse.study.throughput import cell_figure


@pytest.mark.parametrize("value", [300.0, 5e-324, 1e30])
def test_equal_repetitions_have_their_own_value(value: float) -> None:
    assert cell_figure([value] * 7) == value


def test_it_lies_between_repetitions_of_any_size() -> None:
    smallest, largest = 5e-324, 1e30
    found = cell_figure([smallest, *[largest] * 20])
    assert found is not None
    assert smallest <= found <= largest
