"""The answer of `plimsoll ab`: each side against the first one, read from the analysis of the study that it ran."""

from __future__ import annotations

import math
from collections.abc import Iterable

from plimsoll.analyse.findings.finding_model import Grade, of_verdict
from plimsoll.analyse.model import Analysis, Difference
from plimsoll.analyse.study.cell_model import Estimate
from plimsoll.analyse.study.ratio_model import RatioVerdict, SystemRatio
from plimsoll.record.capacity import knee_of
from plimsoll.record.document import Document
from plimsoll.record.model import TrialWarning

AB_FORMAT = 1
"""Version of this schema."""


class AbComparison(Document):
    """One side against the first one.

    Attributes:
        system: The side.
        base: The first side.
        ratio: Throughput of `system` over that of `base`, or the load that it bears. Its interval holds at every look;
            those of several sides hold together. Without bounds after fewer than three rounds, or six pairs of ramps.
        verdict: As in an analysis.
        equal_within: Share within which they count as equal.
        smallest_decided: The smallest ratio above 1 that would have been decided, had it been measured with this spread
            over these rounds: the half width of the interval. None without one.
        rounds: So many rounds, repetitions or pairs of ramps the ratio rests on.
        rounds_needed: How many more decide four times out of five, if the ratio stays; 0 where it is decided; None
            where that is not known, or more than 100.
        grade: How well it is known: `measured` by rounds, `indicated` where there are too few, `unknown` where the
            machine was disturbed.
    """

    system: str
    base: str
    ratio: Estimate
    verdict: RatioVerdict
    equal_within: float
    smallest_decided: float | None = None
    rounds: int
    rounds_needed: int | None = None
    grade: Grade


class AbSide(Document):
    """What was measured of one side.

    Attributes:
        name: Of the system.
        throughput_tps: Completed transactions per second. None where nothing was measured.
        response_ms_p99: 99th percentile of response time, milliseconds; None where it is not known.
        held_tps: A rate at which the objective held in a steady run, transactions per second; None where none did, and
            where throughputs are compared.
        knee_tps: The rate from which on most answers of its ramps were late, as geometric mean; None as for `held_tps`.
        durability: What it may lose of committed transactions, in words; None where that is not known.
        settings_causing_loss: The settings that make it so, as (name, value).
    """

    name: str
    throughput_tps: Estimate | None = None
    response_ms_p99: float | None = None
    held_tps: float | None = None
    knee_tps: float | None = None
    durability: str | None = None
    settings_causing_loss: tuple[tuple[str, str], ...] = ()


class AbAnswer(Document):
    """How some sides compare.

    Attributes:
        ab_format: Version of this schema.
        workload: Its name.
        connections: In a closed loop.
        took_turns: The servers took short turns, frozen in between; otherwise each was loaded in runs of its own.
        duration_s: Wall time from begin to end, setting up included, seconds.
        limit_s: The limit that was given for it, seconds.
        objective_ms_p99: Loads were compared that are borne with 99 % answered within so long, milliseconds; None where
            throughputs were.
        is_interrupted: Somebody ended it.
        comparisons: Of each side but the first, as far as both were measured.
        sides: In the order in which they were given.
        warnings: What makes the figures doubtful, the gravest first.
    """

    ab_format: int = AB_FORMAT
    workload: str
    connections: int
    took_turns: bool
    duration_s: float
    limit_s: float
    objective_ms_p99: float | None = None
    is_interrupted: bool = False
    comparisons: tuple[AbComparison, ...]
    sides: tuple[AbSide, ...]
    warnings: tuple[TrialWarning, ...] = ()

    @property
    def limit_s_needed(self) -> float | None:
        """A limit within which all is decided four times out of five, whole minutes in seconds; None if unknown."""
        needed = [comparison.rounds_needed for comparison in self.comparisons]
        rounds = max((comparison.rounds for comparison in self.comparisons), default=0)
        if not rounds or None in needed:
            return None
        most = max(count for count in needed if count is not None)
        return math.ceil(self.duration_s * (rounds + most) / rounds / 60) * 60.0 if most else None


def comparisons_of(ratios: Iterable[SystemRatio], base: str) -> tuple[AbComparison, ...]:
    """Each system of a study of one workload and level against one of them; its peaks are no second comparison."""
    without_peaks = [ratio for ratio in ratios if not (isinstance(ratio, Difference) and ratio.level is None)]
    return tuple(_against(base, ratio) for ratio in without_peaks if base in (ratio.base, ratio.system))


def _against(base: str, compared: SystemRatio) -> AbComparison:
    """A comparison of two systems, seen from one of them, with the interval that holds for all of them together."""
    system_ratio = compared.against(base)
    bounds = system_ratio.simultaneous or system_ratio.ratio.bounds
    return AbComparison(
        system=system_ratio.system,
        base=base,
        ratio=system_ratio.ratio.model_copy(update={"bounds": bounds}),
        verdict=system_ratio.verdict,
        equal_within=system_ratio.equal_within,
        smallest_decided=None if bounds is None else math.sqrt(bounds.high / bounds.low),
        rounds=system_ratio.ratio.trial_count,
        rounds_needed=system_ratio.repetitions_needed,
        grade=of_verdict(system_ratio.verdict, is_measured=bounds is not None),
    )


def sides_measured(analysis: Analysis) -> tuple[AbSide, ...]:
    """What was measured of each system of such a study."""
    cells = {curve.system: curve.cells[0] for curve in analysis.curves if curve.cells}
    climbed = {capacity.system: capacity for capacity in analysis.capacities}
    sides = []
    for system in analysis.systems:
        cell, durability, system_capacity = cells.get(system.name), system.durability, climbed.get(system.name)
        sides.append(
            AbSide(
                name=system.name,
                throughput_tps=None if cell is None else cell.throughput_tps,
                response_ms_p99=None if cell is None else cell.response_ms.p99,
                held_tps=None if system_capacity is None else system_capacity.low,
                knee_tps=None
                if system_capacity is None
                else knee_of(run for search in system_capacity.searches for run in search.capacity.runs),
                durability=None if durability is None else durability.name,
                settings_causing_loss=() if durability is None else durability.causes,
            )
        )
    return tuple(sides)
