"""Counts of a whole run that the source of an import states: they are exact, what its intervals add up to is not.

A log prints rates, rounded, for whole intervals only. Deliberately not here: throughput and response times, which are
taken as stated as well.
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.analyse.types import ErrorCounts
from plimsoll.record.reported import ReportedResult

_ERRORS = {"ignored_errors": ("retryable", 0), "reconnects": ("connection", 0)}
"""Counts of a source, and the class and code under which intervals of it have them."""


def stated_count(reported: ReportedResult | None, name: str, counted: int) -> int:
    """A count of the whole run: as stated, or else as counted."""
    return counted if reported is None else reported.counts.get(name, counted)


def stated_errors(reported: ReportedResult | None, counted: Mapping[tuple[str, int], int]) -> ErrorCounts:
    """Errors by class and code: as stated, or else as counted."""
    stated = {} if reported is None else reported.counts
    exact = {key: stated[name] for name, key in _ERRORS.items() if name in stated}
    return {key: count for key, count in {**counted, **exact}.items() if count}
