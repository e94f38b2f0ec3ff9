"""What must hold at a capacity, as users write it: a response time, and perhaps a share of errors."""

from __future__ import annotations

from typing import Annotated

from plimsoll.errors import SpecError
from plimsoll.record.capacity import CapacityObjective
from plimsoll.spec.fields import DurationS, Written, reader
from plimsoll.units import parse_percent

_EXAMPLE = "0.1%"


def parse_share(text: str) -> float:
    """Reads a share written in percent.

    Raises:
        SpecError: It is none, or not from 0 to below 100 %.

    >>> parse_share("0.1%"), parse_share("5 %")
    (0.001, 0.05)
    """
    try:
        share = parse_percent(text.strip())
    except SpecError:
        share = 1.0
    if share >= 1:
        raise SpecError(f'must be a share from "0%" to below "100%", such as "{_EXAMPLE}", is {text[:40]!r}')
    return share


ShareRatio = Annotated[float, reader(parse_share, _EXAMPLE)]
"""Written as "0.1%"; kept as 0.001."""


class CapacityLevels(Written):
    """The objective of a search for the capacity, which is the highest rate that keeps it.

    Attributes:
        response_p99: 99 % of arrivals must be answered within this time.
        errors: At most this share of arrivals may fail, be dropped or not end, such as "0.1%". Default: they only count
            as too slow.
    """

    response_p99: DurationS
    errors: ShareRatio | None = None

    @property
    def objective(self) -> CapacityObjective:
        """As searches and recordings have it."""
        return CapacityObjective(response_ms_p99=self.response_p99 * 1e3, errors_ratio=self.errors)
