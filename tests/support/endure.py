"""What only `make endure` runs: cases of tests, and more draws of simulations. CONTRIBUTING.md has both."""

from __future__ import annotations

import math
import os
from typing import Any

import pytest


def in_endure(*values: object) -> Any:
    """A case of `pytest.mark.parametrize` for `make endure`."""
    return pytest.param(*values, marks=pytest.mark.endure)


def draws(few: int, many: int) -> int:
    """How many made-up studies: `few` in every run of the tests, `many` where PLIMSOLL_TEST_DRAWS=many."""
    return many if os.environ.get("PLIMSOLL_TEST_DRAWS") == "many" else few


def slack(share: float, count: int) -> float:
    """Three standard errors of a simulated share: so far off is one of 740 such shares by chance."""
    return 3 * math.sqrt(share * (1 - share) / count)
