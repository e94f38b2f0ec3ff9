"""Whether findings of an earlier study show in this one, as values; part of the analysis."""

from __future__ import annotations

from enum import StrEnum

from plimsoll.analyse.cell_model import Estimate
from plimsoll.record.document import Document
from plimsoll.record.level import Level


class ClaimVerdict(StrEnum):
    """Whether what was claimed shows here."""

    SHOWS = "shows"
    DOES_NOT_SHOW = "does-not-show"
    NOT_RESOLVED = "not-resolved"
    NOT_MEASURED = "not-measured"


class CheckedClaim(Document):
    """A claim of the study file about one system, held against what was measured.

    Attributes:
        says: The claim in the words of the study file.
        source: Who made it; empty when not said.
        workload: Under which workload.
        system: Of which system.
        base: The system compared with; null for other claims.
        base_workload: The workload compared with; null for other claims.
        check: What was compared: `peak_connections`, `peak_per_cpu`, `ratio`, `scale_factor` or `limited_by`.
        low: The lowest value that agrees with the claim; null for `limited_by`.
        high: The highest; null where there is no upper limit.
        limited_by: For that check what is claimed: `hardware` or `no hardware`.
        found: What was measured; null for `limited_by` and where nothing was.
        levels: For peaks: the levels that may be the peak, rising: repetitions do not show that they have less.
        resource: For `limited_by`: the resource that limits here; null where none does.
        verdict: `shows` where the whole interval agrees, `does-not-show` where none of it does, otherwise
            `not-resolved`, as with one repetition; `not-measured` where the trials that would tell are missing.
    """

    says: str
    source: str = ""
    workload: str
    system: str
    base: str | None = None
    base_workload: str | None = None
    check: str
    low: float | None = None
    high: float | None = None
    limited_by: str | None = None
    found: Estimate | None = None
    levels: tuple[Level, ...] = ()
    resource: str | None = None
    verdict: ClaimVerdict
