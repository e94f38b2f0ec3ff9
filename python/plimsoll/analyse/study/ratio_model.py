"""How one thing compares with another, as a value: their ratio, its intervals and what it decides.

Every document that compares extends `Ratio`: differences of systems, capacities, effects of factors, numbers of
replicas. Deliberately not here: how a ratio is estimated and judged (`comparison`), and its words.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Self

from plimsoll.analyse.study.cell_model import EQUAL_WITHIN, Bounds, Estimate
from plimsoll.analyse.trial.condition_model import UnlikeConditions
from plimsoll.record.document import Document


class RatioVerdict(StrEnum):
    """What a ratio of two figures shows."""

    FASTER = "faster"
    SLOWER = "slower"
    EQUAL = "equal"  # within the share that the study allows
    UNRESOLVED = "unresolved"  # these trials cannot tell
    UNTESTABLE = "untestable"  # no bounds can be given
    DISTURBED = "disturbed"  # the machine was not equally fast for both

    @property
    def inverted(self) -> RatioVerdict:
        """The same seen from the other side, and a verdict on times in the words of one on throughput."""
        faster, slower = RatioVerdict.FASTER, RatioVerdict.SLOWER
        return {faster: slower, slower: faster}.get(self, self)

    @property
    def is_difference(self) -> bool:
        """Whether the two are shown to differ."""
        return self in (RatioVerdict.FASTER, RatioVerdict.SLOWER)

    @property
    def is_open(self) -> bool:
        """Whether more trials would decide."""
        return self in (RatioVerdict.UNRESOLVED, RatioVerdict.UNTESTABLE)

    @property
    def is_decided(self) -> bool:
        """Whether the two are shown to differ or to be equal."""
        return self.is_difference or self is RatioVerdict.EQUAL


class Ratio(Document):
    """One figure over another, judged.

    Attributes:
        ratio: With its 95 % confidence interval, which stands for it alone: it is not corrected for other comparisons.
        simultaneous: Bounds of the ratio, so wide that those of all comparisons that are judged together hold with 95 %
            (Bonferroni): read these where several ratios are read beside each other. None when untestable.
        verdict: Whether it is `faster` (above 1), `slower` (below 1) or `equal` (1 within `equal_within`), corrected
            for all comparisons that are judged together; `unresolved` where these trials cannot tell, `untestable`
            where it is unknown how repetitions differ, `disturbed` where the machine was not equally fast for both:
            there are no bounds then, and the ratio is not that of what is compared.
        equal_within: The share within which the two count as equal, from the study.
        smallest_effect: The smallest ratio above 1 that trials as many and as noisy as these find four times out of
            five, by the corrected test; no part of the verdict. None when untestable, and where it is not calculated.
        repetitions_needed: How many further repetitions would decide four times out of five, if the ratio stays; 0
            where it is decided; None when untestable, where it is not known, or where more than 100 are needed.
    """

    ratio: Estimate
    simultaneous: Bounds | None = None
    verdict: RatioVerdict
    equal_within: float = EQUAL_WITHIN
    smallest_effect: float | None = None
    repetitions_needed: int | None = None

    @property
    def as_fields(self) -> dict[str, Any]:
        """All that is judged, for a document that extends `Ratio` by what is compared."""
        return {name: getattr(self, name) for name in Ratio.model_fields}

    @property
    def inverted(self) -> Self:
        """The same seen from the other side."""
        turned = None if self.simultaneous is None else self.simultaneous.inverted
        update = {"ratio": self.ratio.inverted, "simultaneous": turned, "verdict": self.verdict.inverted}
        return self.model_copy(update=update)

    @property
    def withheld(self) -> Self:
        """Without verdict and intervals: the machine was not equally fast for both sides."""
        update = dict.fromkeys(("simultaneous", "smallest_effect", "repetitions_needed"))
        verdict = RatioVerdict.DISTURBED
        return self.model_copy(update={**update, "ratio": self.ratio.without_bounds, "verdict": verdict})


class SystemRatio(Ratio):
    """A system over another one under one workload.

    Attributes:
        workload: Under which.
        base: What is compared with.
        system: What is compared.
        unlike: What both sides met where the verdict is `disturbed`; None otherwise.
    """

    workload: str
    base: str
    system: str
    unlike: UnlikeConditions | None = None

    @property
    def inverted(self) -> Self:
        """The base over the system."""
        return super().inverted.model_copy(update={"base": self.system, "system": self.base})

    def against(self, base: str) -> Self:
        """The same with one of the two as what is compared with."""
        return self if base == self.base else self.inverted

    def unless(self, conditions: UnlikeConditions | None) -> Self:
        """The same; withheld where the two sides met unlike conditions."""
        return self if conditions is None else self.withheld.model_copy(update={"unlike": conditions})


class ResponseRatio(Ratio):
    """Response time of one system over that of another, at one level of both.

    Attributes:
        statistic: `p99`, else `p95`, else `mean`: the first of them that every repetition of both states.
        ratio: Of the geometric means of the repetitions' own figures, as `plimsoll compare` states it.
        verdict: In the words of throughput: a shorter response time, a ratio below 1, is `faster`. Corrected for all
            response times of the workload together.
    """

    statistic: str
