"""Points of charts lead to recordings: a line of the tooltip names them, and a click goes to the first in the list.

Deliberately not here: which recordings a figure rests on (`plimsoll.analyse`), and links of tables (`sources`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from plimsoll.analyse.model import Analysis
from plimsoll.guide.drawing import alt
from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.words import clean
from plimsoll.record.level import Level

_NAMED_MAX = 3


def href() -> alt.Href:
    """Where a click on a point goes."""
    return alt.Href("href:N")


def recordings_line() -> alt.Tooltip:
    """The line of a tooltip."""
    return alt.Tooltip("recordings:N", title="recordings")


class Links:
    """What rows of a chart say of their recordings, as far as the guide lists these."""

    def __init__(self, analysis: Analysis) -> None:
        self._listed = {one.trial_id for one in analysis.trials}
        self._curves = analysis.curves

    def of(self, trials: Iterable[str]) -> dict[str, Any]:
        """The fields of a row.

        Args:
            trials: Ids of the recordings that its figure rests on.
        """
        known = [one for one in trials if one in self._listed]
        more = f" and {len(known) - _NAMED_MAX} more" if len(known) > _NAMED_MAX else ""
        return {
            "recordings": clean(", ".join(known[:_NAMED_MAX]) + more) or NOT_KNOWN,
            "href": f"#recording-{quote(known[0])}" if known else "#recordings",
        }

    def of_cell(self, system: str, workload: str, level: Level) -> dict[str, Any]:
        """The same for one system, workload and level."""
        return self.of(self.trials_of(system, workload, level))

    def trials_of(self, system: str, workload: str, level: Level) -> tuple[str, ...]:
        """The recordings of one system, workload and level."""
        curves = (one for one in self._curves if (one.system, one.workload) == (system, workload))
        cells = (one.cell_at(level) for one in curves if one.kind.is_at_rate is level.kind.is_at_rate)
        return next((cell.trials for cell in cells if cell is not None), ())
