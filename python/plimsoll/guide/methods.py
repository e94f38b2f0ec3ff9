"""How each kind of number is found, for the guide's last page. docs/methods.md tells the same at length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.analyse.model import Analysis


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodNote:
    """How a kind of number is found: name, what is done with its assumptions, source.

    Attributes:
        applies: Whether a guide has such numbers.
        source: Where the method comes from; None where it needs none.
    """

    name: str
    applies: Callable[[Analysis], bool]
    text: str
    source: str | None = None


def methods_of(analysis: Analysis) -> tuple[MethodNote, ...]:
    """How the kinds of numbers are found that the guide of this analysis has."""
    return tuple(method for method in METHODS if method.applies(analysis))


def _has_levels(analysis: Analysis) -> bool:
    return bool(analysis.curves)


def _has_several_levels(analysis: Analysis) -> bool:
    return any(len(curve.cells) > 1 and not curve.kind.is_at_rate for curve in analysis.curves)


def _has_bounds(analysis: Analysis) -> bool:
    return any(cell.throughput_tps.bounds is not None for curve in analysis.curves for cell in curve.cells)


def _has_series(analysis: Analysis) -> bool:
    return _has_levels(analysis) and any(trial.series is not None for trial in analysis.trials)


METHODS: tuple[MethodNote, ...] = (
    MethodNote(
        name="Throughput",
        applies=_has_levels,
        text=(
            "Completed transactions of the measured window over its real length, all instances together; a cell's"
            " value is the mean of its repetitions. Published figures are used as they stand."
        ),
    ),
    MethodNote(
        name="Confidence interval of a throughput",
        applies=_has_bounds,
        text=(
            "95 %, Student's t on the logarithms of the repetitions, which are blocks that meet all systems alike."
            " A cell's variance is moderated: drawn towards that of the systems that were measured alike at its level"
            " (same host, storage, client, source and length of window), the less the noisier it is. A cell that is far"
            " noisier than the other systems (F test), or has a repetition far below the others, stands alone. With one"
            " repetition and no other system to learn from, the interval comes from within the run and says so."
            " Intervals are never narrower than the variation within the runs. Repetitions that are equal to the last"
            " digit show no variation, and give no interval."
        ),
        source="Kalibera and Jones 2013; Box, Hunter and Hunter 2005; Smyth 2004",
    ),
    MethodNote(
        name="Systems that took turns",
        applies=lambda analysis: any(difference.duet is not None for difference in analysis.differences),
        text=(
            "The unit is the pair of neighbouring turns, one of each system in tossed order: the logarithm of the ratio"
            " of their rates. Pairs of a round are averaged by the 20 % trimmed mean, with the Winsorised variance,"
            " widened where neighbouring pairs resemble each other. Between rounds all servers are started again. The"
            " wider of two intervals counts: Student's t over the means of rounds, and that from the variances within"
            " rounds. Assumes that rounds are independent."
        ),
        source="Yuen 1974; Tukey and McLaughlin 1963; Kalibera and Jones 2013",
    ),
    MethodNote(
        name="Variation within a run",
        applies=_has_series,
        text=(
            "Neighbouring seconds resemble each other, so the error of a run's mean is widened: the wider of a"
            " correction for first-order autocorrelation, its small-sample bias removed, and overlapping batch means."
            " Assumes that the run is steady within its window."
        ),
        source="Bayley and Hammersley 1946; Marriott and Pope 1954; Meketon and Schmeiser 1984",
    ),
    MethodNote(
        name="Response and service times",
        applies=lambda analysis: (
            any(trial.response_ms_p99 is not None for trial in analysis.trials) or _has_levels(analysis)
        ),
        text=(
            "Percentiles by nearest rank from the merged histograms of all trials of a cell, within 0.05 %; mean and"
            " maximum are exact. A percentile beyond which no transaction was seen is not given. Where a source has"
            " no histograms, percentiles are those of single runs and are marked. Transactions that had not ended at"
            " the end of the window count with their age at that time; a statistic that depends on them is marked by"
            " ≥: the true value is that or more."
        ),
        source="HdrHistogram; Hyndman and Fan 1996; Kaplan and Meier 1958",
    ),
    MethodNote(
        name="Stalls",
        applies=_has_series,
        text=(
            "Seconds in a row that completed at most 5 % of what the run's mean predicts while something was in"
            " flight, unless chance (Poisson, fewer than 1 of 1,000 runs) or equally long transactions explain them."
            " Tables show their share of the measured time beside the throughput."
        ),
        source="Mitzenmacher and Upfal 2005",
    ),
    MethodNote(
        name="Scale factor",
        applies=_has_several_levels,
        text="Throughput over that of the lowest level of the same curve, with the confidence interval of that ratio.",
    ),
    MethodNote(
        name="Peak and connection pool",
        applies=_has_several_levels,
        text=(
            "The peak is the level with the highest throughput. It is inside the measured range when a higher level"
            " was measured and sustained less. The throughput at the peak is the figure of that level; its confidence"
            " interval is that of the maximum, because the highest of several noisy figures overstates the truth. The"
            " pool is"
            " the smallest level that is shown to sustain at least 95 % of what every other level sustains. Where"
            " none is, it is not resolved."
        ),
        source="the practice of HP's sizing guide for ProLiant blades, 2008",
    ),
    MethodNote(
        name="Difference between systems",
        applies=lambda analysis: any(difference.duet is None for difference in analysis.differences),
        text=(
            "The ratio of two throughputs within repetitions, with a 95 % confidence interval for this ratio alone."
            " A system is called faster or slower when the ratio differs from 1 after Holm's correction for all"
            " comparisons of the workload, and equal when it is shown to lie within the share that the study allows"
            " (two one-sided tests). Otherwise it is not resolved. The minimum detectable effect is what studies of"
            " this kind detect with 80 % power; it is no part of the verdict."
        ),
        source="Holm 1979; Schuirmann 1987; Welch 1947; Cohen 1988",
    ),
    MethodNote(
        name="Effects of factors",
        applies=lambda analysis: bool(analysis.effects.factors),
        text=(
            "The mean difference of logarithms between systems that differ in one factor alone, within repetitions,"
            " over all combinations of the other factors and all levels. Residuals are pooled over all systems of the"
            " matrix, where these were measured alike. All effects and interactions of a study are corrected together"
            " by Holm's procedure. An interaction is the ratio of an effect at two values of another factor, or at two"
            " levels."
        ),
        source="Box, Hunter and Hunter 2005; Holm 1979",
    ),
    MethodNote(
        name="Drift within a window",
        applies=_has_series,
        text=(
            "A straight line through the throughput of the intervals; the error of its slope is widened for"
            " autocorrelation. A warning is given when the change is at least 5 % and its p-value is below 1 %."
        ),
        source="Weatherhead and others 1998",
    ),
    MethodNote(
        name="Load at a target rate",
        applies=lambda analysis: any(curve.kind.is_at_rate for curve in analysis.curves),
        text=(
            "A rate is sustained when in all repetitions nothing was dropped, no overload lasted to the end, and at"
            " most 1 % of the transactions failed or never ended. An interval is overloaded when more transactions"
            " wait at its end than it completed, or when some were dropped. A system sustains the last rate before"
            " the first that was not sustained; nothing is interpolated."
        ),
    ),
    MethodNote(
        name="Working set",
        applies=lambda analysis: any(workload.working_set for workload in analysis.workloads),
        text=(
            "The fewest rows that take half, 90 % and 99 % of the accesses, from the formula of the distribution that"
            " chooses rows; rows that a range select reads after its first are not counted."
        ),
    ),
    MethodNote(
        name="Sizing (plimsoll size)",
        applies=_has_levels,
        text=(
            "A system fits where the lower 95 % prediction limit of the next run, by its capacity or by its throughput"
            " at the requested level, is at least the required throughput, headroom included. It does not fit where the"
            " upper end of the 95 % confidence interval of the mean is below the required throughput; in between it is"
            " undecided. Figures without repetitions decide as they stand, and only indicate. At target rates, a rate"
            " of at least the required throughput must be sustained in three repetitions or more; fewer only indicate."
            " Between two measured levels throughput is interpolated on a straight line and marked so; nothing is said"
            " beyond the last level. A response-time objective is met only by measured response times."
        ),
    ),
    MethodNote(
        name="Capacity at an objective",
        applies=lambda analysis: bool(analysis.capacities),
        text=(
            "The rate at which as many arrivals are over the objective as it allows: late, failed, dropped and"
            " unfinished ones. A complementary log-log curve of their share over the rate is fitted to all runs of a"
            " search, and its interval follows from how much runs differ from it (profile of the quasi-likelihood)."
            " Over the searches of a study a capacity is the geometric mean, with a t interval on logarithms. Systems"
            " are compared by ratios within repetitions."
        ),
    ),
    MethodNote(
        name="Scalability",
        applies=lambda analysis: bool(analysis.scalability),
        text=(
            "Linear scaling, Amdahl's law and the universal scalability law are fitted to logarithms of throughput,"
            " with a level of its own for each repetition; AICc chooses. Intervals come from a parametric bootstrap"
            " over repetitions and residuals. A peak is stated inside the measured range only if its whole 95 %"
            " interval lies there; a law that misses levels beyond the noise (F test) is said not to fit."
        ),
        source="Gunther 2007; Hurvich and Tsai 1989",
    ),
    MethodNote(
        name="Where the time goes",
        applies=lambda analysis: bool(analysis.where_time),
        text=(
            "Throughput over utilisation is where a resource saturates if its demand per transaction stays the same."
            " Where nothing is busy, the part of response time that grew most is named. Parts add up to the response"
            " time: waits take room first, then the server's processor time, then the client's. What no counter"
            " explains is shown as unexplained."
        ),
        source="Denning and Buzen 1978",
    ),
    MethodNote(
        name="Cost",
        applies=lambda analysis: bool(analysis.costs),
        text=(
            "Price of a month over the transactions of a month at the stated utilisation of the capacity. Prices in"
            " different currencies are never compared."
        ),
    ),
)
