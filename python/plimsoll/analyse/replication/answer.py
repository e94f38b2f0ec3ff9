"""What is concluded about replicas: that one does not keep up comes first, since such figures are no capacity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.finding_model import Finding, found


def lag_answer(curves: Iterable[Curve]) -> Iterator[Finding]:
    """One finding for the study, where the lag of a replica grew at some level: the lowest of each curve."""
    places = []
    for curve in curves:
        growing = [cell for cell in curve.cells if cell.growing_replicas]
        if growing:
            first = growing[0]
            places.append((curve.system, curve.workload, first.level.label(), ", ".join(first.growing_replicas)))
    if places:
        yield found("lag-grows", places=tuple(places))
