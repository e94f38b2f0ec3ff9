"""Comparisons of systems that took turns: their pairs take the place of what their separate means would say.

Deliberately not here: the estimate (`duet`), and verdicts (`differences`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from plimsoll.analyse.cell_model import Estimate, SpreadKind
from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.duet import PAIRS_NEEDED, DuetEstimate, estimate, log_rates, mean_of_rounds, trimmed_mean
from plimsoll.analyse.duet_model import Duet, DuetBasis, DuetRound
from plimsoll.analyse.durations import percentile_ms
from plimsoll.analyse.log_ratio import LogRatio
from plimsoll.analyse.throughput import log_bounds
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.analyse.within_run import Series


def compare_turns(base: MeasuredCell, system: MeasuredCell) -> tuple[LogRatio, Duet] | None:
    """The ratio of two cells by the pairs of their turns; None where too few of them belong together, or none do."""
    shared = list(_shared_rounds(base, system))
    found = estimate([pairs for _, _, pairs in shared])
    if found is None:
        return None
    log_ratio = LogRatio(
        value=found.log_ratio,
        variance=found.variance,
        repetitions=len(shared),
        basis=SpreadKind.REPETITIONS,
        method=_method(found),
    )
    duet = Duet(
        turn_s=_turn_s([trial for both in shared for trial in both[:2]]),
        pair_count=sum(pairs.size for _, _, pairs in shared),
        basis=found.basis,
        correlation=found.correlation,
        is_widened=found.is_widened,
        response_p99_ratio=_p99_ratio(shared),
        rounds=tuple(
            _round(of_base, mean, pairs) for (of_base, _, pairs), mean in zip(shared, found.rounds, strict=True)
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


def _p99_ratio(shared: Sequence[tuple[TrialSummary, TrialSummary, Series]]) -> Estimate | None:
    """From the merged histograms of each system's turns in a round; t over rounds."""
    logs = []
    for trials in shared:
        p99s = [_p99_ms(trial) for trial in trials[:2]]
        if p99s[0] is None or p99s[1] is None:
            return None
        logs.append(math.log(p99s[1] / p99s[0]))
    value, variance = math.exp(sum(logs) / len(logs)), mean_of_rounds(logs)
    if variance is None:
        return None
    bounds = log_bounds(value, variance, f"t on logarithms, {len(logs)} rounds", basis=SpreadKind.REPETITIONS)
    return Estimate(value=value, bounds=bounds, trial_count=len(logs))


def _p99_ms(trial: TrialSummary) -> float | None:
    response = trial.histograms.get("response")
    return None if response is None else percentile_ms(response, 0.99)


def _method(found: DuetEstimate) -> str:
    count = len(found.rounds)
    if found.basis is DuetBasis.ROUNDS:
        return f"duet: t on logarithms over {count} rounds ({found.variance.degrees:.0f} degrees of freedom)"
    widened = ", widened for correlation" if found.is_widened else ""
    return (
        f"duet: trimmed means of pairs of turns in {count} rounds{widened} ({found.variance.degrees:.0f} degrees of"
        " freedom); rounds vary no more than that"
    )
