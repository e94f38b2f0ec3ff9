"""The answer to "which systems carry this load?", as values: what `plimsoll size --json` prints."""

from __future__ import annotations

from enum import StrEnum

from plimsoll.analyse.cell_model import Estimate
from plimsoll.record.document import Document

SIZE_FORMAT = 1
"""Version of this schema."""


class Fit(StrEnum):
    """Whether a system carries the load."""

    FITS = "fits"
    DOES_NOT_FIT = "does_not_fit"
    UNDECIDED = "undecided"  # the load lies within the bounds, or what would decide was not measured


class LoadAsked(Document):
    """What was asked for.

    Attributes:
        tps: Transactions per second to carry.
        connections: At so many connections in total; None for each system's best level.
        response_p99_ms: 99 % of transactions may take at most so long, milliseconds; None for no objective.
        headroom: Share of the throughput that must stay free, 0..1.
        needed_tps: What must be carried so that the headroom stays free: tps / (1 - headroom).
    """

    workload: str
    rate_unit: str = "tps"
    tps: float
    connections: int | None = None
    response_p99_ms: float | None = None
    headroom: float = 0.0
    needed_tps: float


class SystemFit(Document):
    """Whether one system carries the load, and with what to spare.

    Attributes:
        connections: The level that was judged; None when none could be.
        throughput_tps: What it carries there.
        interpolated_between: The two measured levels between which it was interpolated; None when measured.
        margin_ratio: What it surely carries (the lower bound, where there are bounds) over what is needed, less 1: 0.04
            leaves 4 % to spare, -0.1 is 10 % short. None when throughput there is unknown.
        response_p99_ms: Response time there, milliseconds.
        response_is_lower_bound: It is that or more: some transactions had not ended.
        cost_per_month: In the user's currency.
        reason: Why, as one sentence.
    """

    system: str
    verdict: Fit
    connections: int | None = None
    throughput_tps: Estimate | None = None
    interpolated_between: tuple[int, int] | None = None
    margin_ratio: float | None = None
    response_p99_ms: float | None = None
    response_is_lower_bound: bool = False
    cost_per_month: float | None = None
    reason: str


class ScaleOut(Document):
    """How many systems of one kind would carry the load together, under the stated assumption.

    Attributes:
        count: So many systems.
        connections_each: At this level on each.
        tps_each: What each carries there (the lower bound, where there are bounds).
        cost_per_month: Of all of them; None when not given.
        text: The same as one sentence.
    """

    system: str
    count: int
    connections_each: int
    tps_each: float
    cost_per_month: float | None = None
    text: str


class SizeAnswer(Document):
    """Which systems carry the load.

    Attributes:
        fits: At least one system does, beyond doubt.
        systems: Those that fit first; cheapest first when costs are given, otherwise by falling margin.
        tightest: Of those that fit, the one with the least to spare.
        scale_out: Only when none fits; cheapest first when costs are given, otherwise fewest first.
        text: The answer as whole sentences.
        assumptions: What it rests on, as whole sentences.
    """

    size_format: int = SIZE_FORMAT
    study: str
    asked: LoadAsked
    fits: bool
    systems: tuple[SystemFit, ...]
    tightest: str | None = None
    scale_out: tuple[ScaleOut, ...] = ()
    text: tuple[str, ...]
    assumptions: tuple[str, ...]
