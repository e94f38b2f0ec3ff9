"""A finding together with what its sentence may look up in the analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.finding_model import Finding
from plimsoll.analyse.model import Analysis


@dataclass(frozen=True, slots=True)
class Said:
    """A finding with what its sentence may look up."""

    finding: Finding
    analysis: Analysis

    @property
    def figures(self) -> Mapping[str, Any]:
        """The figures, by name."""
        return self.finding.known

    @property
    def unit(self) -> str:
        """In which throughput is shown."""
        known = {one.name: one.rate_unit for one in self.analysis.workloads}
        return known.get(self.finding.workload or "", "tps")

    def curve(self, system: str, workload: str | None) -> Curve:
        """The curve of a system where clients go at their own pace."""
        return next(
            one
            for one in self.analysis.curves
            if (one.system, one.workload) == (system, workload) and not one.kind.is_at_rate
        )
