"""Warnings about trials that should be alike: one that lags, a machine that slowed one down, turns that are too short.

Each check says for itself from which value on it doubts, and why there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import TYPE_CHECKING

from plimsoll.analyse.findings.doubts import Doubt, Observation, Voids, WarningKind, place_of
from plimsoll.units import format_ms, format_percent, format_rate
from plimsoll.wording import repeat_noun

if TYPE_CHECKING:
    from plimsoll.analyse.trial.condition_model import SlowFigure
    from plimsoll.analyse.trial.trial_summary import TrialSummary

REPETITION_LAGS = WarningKind(
    "repetition-lags",
    Voids.MACHINE,
    "Look at the telemetry of that trial and at the server's error log, remove the cause and measure it again.",
)


class RepetitionLags(Observation, kind=REPETITION_LAGS, seen="repetition-lags"):
    """A repetition that completed far less than its siblings.

    Attributes:
        repetition: Counted from 0.
    """

    rate_unit: str
    repetition: int
    throughput_tps: float
    others_tps_median: float

    def __str__(self) -> str:
        return (
            f"repetition {self.repetition + 1} completed {format_rate(self.throughput_tps, self.rate_unit)}; the median"
            f" of the others is {format_rate(self.others_tps_median, self.rate_unit)}"
        )


TURN_SHORT = WarningKind(
    "turn-short",
    Voids.MACHINE,
    "Raise turn to ten times the mean response time or more (at most 10s), and duration with it. For transactions of"
    " more than a second, use the sequential design.",
)

RESPONSE_OF_TURN_RATIO = 0.1
"""Up to here the rate of a turn is right whatever response times are like and whatever transactions share."""


class TurnShort(Observation, kind=TURN_SHORT, seen="turn-short"):
    """Transactions take a large part of a turn."""

    response_ms_mean: float
    turn_s: float

    def __str__(self) -> str:
        return f"transactions took {format_ms(self.response_ms_mean)} on average, turns {self.turn_s:.1f} s"


def check_turns(trial_summary: TrialSummary) -> Iterator[Doubt]:
    """Whether transactions took a large part of a turn."""
    response = trial_summary.histograms.get("response")
    if trial_summary.turns is None or trial_summary.turns.is_empty() or response is None or response.total == 0:
        return
    turn_s = median((trial_summary.turns["to_s"] - trial_summary.turns["from_s"]).to_list())
    mean_ms = response.sum_ns / response.total / 1e6
    if mean_ms > RESPONSE_OF_TURN_RATIO * turn_s * 1000:
        yield place_of(trial_summary.trial).doubt(TurnShort(response_ms_mean=mean_ms, turn_s=turn_s), mean_ms / turn_s)


MACHINE_SLOWER = WarningKind(
    "machine-slower",
    Voids.CERTAINTY,
    "Find out what slowed the machine down (neighbours, heat, other processes). With a budget and a number of"
    " repetitions in the study file, such trials are measured again; rounds of a duet are not, since both systems of"
    " each pair of turns met the same machine.",
)
_SLOW = {"steal": "processor time left by the hypervisor", "other-processes": "processor time left by other processes"}


class MachineSlower(Observation, kind=MACHINE_SLOWER, seen="machine-slower"):
    """A trial whose machine was slower than around the others.

    Attributes:
        repetition: Counted from 1.
        figure: Which figure of the machine tells it.
        slower_ratio: By how much.
        limit_ratio: How much is tolerated.
    """

    repetition: int
    is_duet: bool = False
    figure: str
    slower_ratio: float
    limit_ratio: float

    def __str__(self) -> str:
        name, _, when = self.figure.partition("-")
        what = _SLOW.get(self.figure) or ("clock frequency" if name == "frequency" else f"the {name} reference {when}")
        return (
            f"{repeat_noun(is_duet=self.is_duet)} {self.repetition}: {what} made the machine"
            f" {format_percent(self.slower_ratio)} slower than the median of the trials; up to"
            f" {format_percent(self.limit_ratio)} is tolerated"
        )


def check_weather(trials: Iterable[TrialSummary], slow: Mapping[str, tuple[SlowFigure, ...]]) -> Iterator[Doubt]:
    """Trials whose machine was slower than around the others."""
    for trial in trials:
        for figure in slow.get(trial.trial.trial_id, ())[:1]:
            seen = MachineSlower(
                repetition=trial.trial.repetition + 1,
                is_duet=trial.turns is not None,
                figure=figure.figure,
                slower_ratio=figure.ratio - 1,
                limit_ratio=figure.limit_ratio - 1,
            )
            yield place_of(trial.trial).doubt(seen, figure.ratio)
