"""Two systems that took turns: the ratio of their throughputs, and how sure it is.

Also how many transactions began in each turn, and the comparisons in which pairs of turns take the place of separate
means.

The unit is the pair of neighbouring turns, one of each system: the logarithm of the ratio of their rates. What changes
slowly against a pair (neighbours of a virtual machine, heat, steal) meets both turns and cancels; since the order of
the two is tossed, a trend is no bias. Within a round pairs are averaged by the 20 % trimmed mean, whose variance
follows from the Winsorised variance; bursts that hit one turn of a pair so count little. Where neighbouring pairs
resemble each other (lag-1 correlation of the Winsorised values, two-sided test at 5 %) the variance is widened as that
of a first-order autoregressive series; a negative correlation narrows nothing.

Rounds, before each of which all servers were started again, are the outer block: memory and file layout differ between
starts, which no number of pairs within one start can show. Two intervals are found, Student's t over the means of
rounds and that of the variances within rounds, and the wider one counts. So coverage is above 95 % where starts do not
differ, and about 95 % where they do.

Assumptions: rounds are independent and their means about normal; the effect is the same in all turns; pairs further
apart than neighbours are independent. What takes longer than a turn to show (checkpoints, purging) is shared between
the turns of both systems and is not in the ratio.

Sources: trimmed mean and its t with n - 2g - 1 degrees of freedom, Tukey and McLaughlin 1963, Yuen 1974 (Wilcox 2012,
chapter 3); effective size under autocorrelation as in `stats.variance`; blocks of restarts, Kalibera and Jones 2013;
turns in tossed order, Bulej et al. 2020 (duet benchmarking). Half a transaction is added to each count (Anscombe), so
that a turn without any has a logarithm.

How many transactions began in the counted part of a turn, and for how long a connection ran them. Transactions that
end within fixed times give a biased rate where they are not much shorter than these times: all connections begin a
turn together, and the end of the turn cuts the last ones. So the rate of a turn counts the transactions that began in
its counted part, those that ended in the drain included, over the time in which the connections ran them. That time
begins for each connection when the transaction ends that it ran at the begin of the counted part, and ends with its
last one. The ratio of both expectations is the rate of a closed loop, however long transactions are: the number of
transactions that begin until a time is a stopping time (Wald's equation).

The time that transactions still took at the end of the turn is known from the drain: their response times less their
ages. What they still took at the begin of the counted part is not recorded apart from the others. It is replaced by
its expectation, the mean residual life at their ages, from all response times of the system so far; each turn is
counted whole there, since a turn's transactions are an unbiased sample of response times only with its last ones.

Assumptions: a connection's transactions have independent response times of one distribution, and it begins the next
one at once. Where transactions share a resource that is used up, those that drain are faster than before; for
transactions of a tenth of a turn that moves the ratio of systems that differ by 10 % by less than 1 %.

Sources: Wald 1944; mean residual life, Cox 1962, "Renewal Theory", chapters 2 and 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from plimsoll.analyse.study.cell_model import SpreadKind
from plimsoll.analyse.study.cells import MeasuredCell
from plimsoll.analyse.study.comparison import LogRatio
from plimsoll.analyse.study.curve_model import Duet, DuetBasis, DuetRound
from plimsoll.analyse.trial.histograms import SparseHistogram
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.histograms import BUCKET_COUNT, bucket_middle_ns
from plimsoll.stats.variance import MeanVariance, Series

TRIMMED_RATIO = 0.2
PAIRS_NEEDED = 5
"""A round of fewer pairs is left out: trimmed by a fifth on either side they are three."""

_CORRELATION_Z = 1.96
_CORRELATION_PAIRS_NEEDED = 10
_CORRELATION_MAX = 0.9


@dataclass(frozen=True, slots=True)
class DuetEstimate:
    """The logarithm of a ratio of throughputs.

    Attributes:
        log_ratio: Mean over rounds of their trimmed means.
        variance: Of that mean; of the two candidates the one whose interval is wider.
        basis: Which one that is.
        rounds: The trimmed mean of each round.
        correlation: Of neighbouring pairs within rounds; None for too few pairs.
        is_widened: The variance within rounds was widened by it.
    """

    log_ratio: float
    variance: MeanVariance
    basis: DuetBasis
    rounds: tuple[float, ...]
    correlation: float | None
    is_widened: bool


def log_rates(completed: Series, seconds: Series) -> Series:
    """Logarithm of the rate of each turn, completed transactions per second; half a transaction is added to each."""
    rates: Series = np.log((completed + 0.5) / seconds)
    return rates


def estimate(rounds: Sequence[Series]) -> DuetEstimate | None:
    """The ratio of two systems from their pairs of turns.

    Args:
        rounds: Of each round the logarithms of the pairs' ratios, in order of time; at least `PAIRS_NEEDED` in each.

    Returns:
        None for fewer than two rounds, or when nothing differs between any two pairs.
    """
    if len(rounds) < 2:
        return None
    means = np.array([trimmed_mean(pairs) for pairs in rounds])
    between = MeanVariance(float(means.var(ddof=1)) / means.size, means.size - 1.0)
    correlation = _correlation(rounds)
    pair_count = sum(pairs.size for pairs in rounds)
    is_widened = correlation is not None and correlation * math.sqrt(pair_count) > _CORRELATION_Z
    within = _within(rounds, correlation if is_widened and correlation is not None else 0.0)
    if between.variance == 0.0 and within.variance == 0.0:
        return None
    candidates = ((within, DuetBasis.PAIRS), (between, DuetBasis.ROUNDS))
    variance, basis = max(candidates, key=lambda candidate: candidate[0].half_width())
    return DuetEstimate(float(means.mean()), variance, basis, tuple(map(float, means)), correlation, is_widened)


def trimmed_mean(values: Series) -> float:
    """The mean without the lowest and the highest fifth."""
    cut = _cut(values)
    return float(np.sort(values)[cut : values.size - cut].mean())


def mean_of_rounds(rounds: Sequence[float]) -> MeanVariance | None:
    """The variance of the mean of one figure for each round; None for fewer than two, or for equal ones."""
    values = np.asarray(rounds, dtype=float)
    if values.size < 2 or np.ptp(values) == 0.0:
        return None
    return MeanVariance(float(values.var(ddof=1)) / values.size, values.size - 1.0)


def _cut(values: Series) -> int:
    return int(TRIMMED_RATIO * values.size)


def _winsorised(values: Series) -> Series:
    """The values with the lowest and the highest fifth drawn in to what is next to them."""
    cut, ordered = _cut(values), np.sort(values)
    drawn_in: Series = np.clip(values, ordered[cut], ordered[-cut - 1])
    return drawn_in


def _within(rounds: Sequence[Series], correlation: float) -> MeanVariance:
    """The variance of the mean of all rounds' trimmed means, from the spread of pairs within them."""
    widening = (1 + correlation) / (1 - correlation)
    variances = np.array([_variance_of_trimmed(pairs) for pairs in rounds]) * widening / len(rounds) ** 2
    degrees = np.array([pairs.size - 2 * _cut(pairs) - 1 for pairs in rounds], dtype=float) / widening
    total = float(variances.sum())
    if total == 0.0:
        return MeanVariance(0.0, float(degrees.sum()))
    return MeanVariance(total, max(total**2 / float((variances**2 / degrees).sum()), 1.0))


def _variance_of_trimmed(values: Series) -> float:
    return float(_winsorised(values).var(ddof=1)) / ((1 - 2 * TRIMMED_RATIO) ** 2 * values.size)


def _correlation(rounds: Sequence[Series]) -> float | None:
    """Lag-1 correlation of Winsorised pairs about the means of their rounds, the bias of short series removed."""
    if min(pairs.size for pairs in rounds) < _CORRELATION_PAIRS_NEEDED:
        return None
    products = squares = 0.0
    for pairs in rounds:
        deviation = _winsorised(pairs)
        deviation = deviation - deviation.mean()
        products += float(deviation[1:] @ deviation[:-1])
        squares += float(deviation @ deviation)
    if squares == 0.0:
        return None
    raw = products / squares
    size = sum(pairs.size for pairs in rounds) / len(rounds)
    return min(raw + (1 + 3 * raw) / size, _CORRELATION_MAX)


def compare_turns(base: MeasuredCell, system: MeasuredCell) -> tuple[LogRatio, Duet] | None:
    """The ratio of two cells by the pairs of their turns; None where too few of them belong together, or none do."""
    shared = list(_shared_rounds(base, system))
    duet_estimate = estimate([pairs for _, _, pairs in shared])
    if duet_estimate is None:
        return None
    log_ratio = LogRatio(
        value=duet_estimate.log_ratio,
        variance=duet_estimate.variance,
        repetitions=len(shared),
        basis=SpreadKind.REPETITIONS,
        method=_method(duet_estimate),
    )
    duet = Duet(
        turn_s=_turn_s([trial for both in shared for trial in both[:2]]),
        pair_count=sum(pairs.size for _, _, pairs in shared),
        basis=duet_estimate.basis,
        correlation=duet_estimate.correlation,
        is_widened=duet_estimate.is_widened,
        rounds=tuple(
            _round(of_base, mean, pairs) for (of_base, _, pairs), mean in zip(shared, duet_estimate.rounds, strict=True)
        ),
    )
    return log_ratio, duet


def _round(of_base: TrialSummary, mean: float, pairs: Series) -> DuetRound:
    ratios = tuple(float(ratio) for ratio in np.exp(pairs))
    return DuetRound(repetition=of_base.trial.repetition, ratio=math.exp(mean), pair_ratios=ratios)


def _shared_rounds(base: MeasuredCell, system: MeasuredCell) -> Iterator[tuple[TrialSummary, TrialSummary, Series]]:
    """The trials of both systems in each round that both completed, with the logarithms of their pairs' ratios."""
    of_base = {trial.trial.repetition: trial for trial in base.trials if trial.turns is not None}
    for trial in sorted(system.trials, key=lambda trial: trial.trial.repetition):
        other = of_base.get(trial.trial.repetition)
        if trial.turns is None or other is None or other.turns is None:
            continue
        pairs = log_ratios(other.turns, trial.turns, base=base.system, system=system.system)
        if pairs.size >= PAIRS_NEEDED:
            yield other, trial, pairs


def took_turns(base: MeasuredCell, system: MeasuredCell) -> bool:
    """Whether two cells are of one round each time, in which their systems took turns."""
    is_duet = all(trial.turns is not None for cell in (base, system) for trial in cell.trials)
    return is_duet and base.level == system.level


def rounds_log_ratios(base: MeasuredCell, system: MeasuredCell) -> dict[int, float]:
    """The value of each round that both completed, as `round_log_ratio`, by its number; rising."""
    return {trial.trial.repetition: trimmed_mean(pairs) for _, trial, pairs in _shared_rounds(base, system)}


def by_rounds_alone(duet: Duet) -> Duet:
    """The same for a comparison whose interval rests on one value for each round (`rounds_log_ratios`)."""
    return duet.model_copy(update={"basis": DuetBasis.ROUNDS, "is_widened": False})


def round_log_ratio(of_base: pl.DataFrame, of_system: pl.DataFrame, *, base: str, system: str) -> float | None:
    """What one round says of two systems: the trimmed mean of `log_ratios`; None for too few pairs."""
    pairs = log_ratios(of_base, of_system, base=base, system=system)
    return trimmed_mean(pairs) if pairs.size >= PAIRS_NEEDED else None


def log_ratios(of_base: pl.DataFrame, of_system: pl.DataFrame, *, base: str, system: str) -> Series:
    """Logarithms of the rate of `system` over that of `base`, pair by pair, in order of time.

    Args:
        of_base: Turns of one system in a round (`frames.TURNS`).
        of_system: Those of the other one in the same round.
        base: Its name.
        system: Name of the other one.
    """
    both = of_base.filter(against=system).join(of_system.filter(against=base), on="pair", suffix="_system").sort("pair")

    def rates(suffix: str) -> Series:
        """Older recordings do not say what began."""
        counted_s = pl.col(f"to_s{suffix}") - pl.col(f"counted_from_s{suffix}")
        count = pl.coalesce(f"begun{suffix}", pl.col(f"completed{suffix}").cast(pl.Float64))
        seconds = pl.coalesce(f"running_s{suffix}", counted_s)
        of_turns = both.select(count=count, seconds=seconds)
        return log_rates(of_turns["count"].to_numpy(), of_turns["seconds"].to_numpy())

    return rates("_system") - rates("")


def _turn_s(trials: Sequence[TrialSummary]) -> float:
    lengths = [trial.turns["to_s"] - trial.turns["counted_from_s"] for trial in trials if trial.turns is not None]
    return float(np.median(pl.concat(lengths).to_numpy()))


def _method(duet_estimate: DuetEstimate) -> str:
    count = len(duet_estimate.rounds)
    if duet_estimate.basis is DuetBasis.ROUNDS:
        return f"duet: t on logarithms over {count} rounds ({duet_estimate.variance.degrees:.0f} degrees of freedom)"
    widened = ", widened for correlation" if duet_estimate.is_widened else ""
    return (
        f"duet: trimmed means of pairs of turns in {count} rounds{widened}"
        f" ({duet_estimate.variance.degrees:.0f} degrees of freedom); rounds vary no more than that"
    )


class ResponseTimes:
    """All response times of one system so far, failed transactions left out."""

    def __init__(self) -> None:
        self._counts = np.zeros(BUCKET_COUNT, dtype=np.int64)
        self._middles_ns = bucket_middle_ns(np.arange(BUCKET_COUNT)).astype(float)

    def add(self, turn: SparseHistogram) -> None:
        """Takes those of a whole turn in."""
        self._counts[turn.buckets] += turn.counts

    def residual_s(self, ages: SparseHistogram) -> float:
        """How long transactions of such ages still take, expected, all together, seconds.

        None longer than an age was seen: then nothing is expected of it.
        """
        count = np.cumsum(self._counts[::-1])[::-1][ages.buckets]
        total = np.cumsum((self._counts * self._middles_ns)[::-1])[::-1][ages.buckets]
        residual_ns = np.where(count > 0, total / np.maximum(count, 1) - self._middles_ns[ages.buckets], 0.0)
        return float(np.maximum(residual_ns, 0.0) @ ages.counts) / 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnds:
    """What is known of a turn of one system.

    Attributes:
        counted_s: Length of the counted part, seconds.
        connections: That were open.
        completed: Transactions that completed in the counted part or in the drain.
        failed: Those that failed there.
        ages_before: Of the transactions in flight at the begin of the counted part.
        ages_after: Of those in flight at its end.
        drained: Response times of those that completed in the drain.
    """

    counted_s: float
    connections: int
    completed: int
    failed: int
    ages_before: SparseHistogram
    ages_after: SparseHistogram
    drained: SparseHistogram


@dataclass(frozen=True, slots=True)
class Begun:
    """Of the counted part of a turn.

    Attributes:
        count: Transactions that began in it and completed; expected, where some failed.
        running_s: How long a connection ran them, mean over the connections, seconds; above 0.
    """

    count: float
    running_s: float


def begun_in(turn: TurnEnds, response_times: ResponseTimes) -> Begun:
    """What began in the counted part of a turn; `response_times` has the turn itself already."""
    ended = turn.completed + turn.failed
    completing = turn.completed / ended if ended else 0.0
    before_s = response_times.residual_s(turn.ages_before)
    running_s = turn.counted_s + (_residual_after_s(turn) - before_s) / max(turn.connections, 1)
    return Begun(
        count=max(turn.completed - completing * turn.ages_before.total, 0.0),
        running_s=running_s if running_s > 0 else turn.counted_s,
    )


def _residual_after_s(turn: TurnEnds) -> float:
    """How long the transactions in flight at the end still took; those that failed as long as the others."""
    if turn.drained.total == 0:
        return 0.0
    mean_ns = turn.drained.sum_ns / turn.drained.total
    return max(mean_ns * turn.ages_after.total - turn.ages_after.sum_ns, 0.0) / 1e9
