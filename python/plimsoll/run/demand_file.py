"""Reading the `demand.json` that somebody made of a log. Deliberately not here: what is in it (`plimsoll.learn`)."""

from __future__ import annotations

from pathlib import Path

from plimsoll.errors import SpecError
from plimsoll.learn.demand import parse_demand
from plimsoll.learn.demand_model import Demand
from plimsoll.regular_file import read_regular

DEMAND_BYTES_MAX = 8_000_000
"""A demand of as many types and steps as there may be takes less than a quarter of it."""


def read_demand(path: Path) -> Demand:
    """Reads and checks a demand.

    Raises:
        SpecError: The file cannot be read, or is no demand; the message names it.
    """
    try:
        content = read_regular(path, DEMAND_BYTES_MAX)
    except OSError as error:
        raise SpecError(f"{path}: {error.strerror}") from None
    try:
        return parse_demand(content)
    except SpecError as error:
        first, *more = error.faults
        raise SpecError(f"{path}: {first}", *more) from None
