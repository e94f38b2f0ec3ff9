"""What these trials cannot decide, in whole sentences: the other half of an honest answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.model import Curve, Difference, DifferenceVerdict, PlacedWarning
from plimsoll.analyse.prose import listed
from plimsoll.analyse.throughput import REPETITIONS_NEEDED
from plimsoll.analyse.trial_checks import buffer_pool_bytes
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.units import format_duration

_LONG_WINDOW_S = 300.0
"""InnoDB fills its redo log and reaches its checkpoint rhythm within minutes, not seconds."""


def limits(
    cells: Sequence[MeasuredCell],
    curves: Sequence[Curve],
    differences: Sequence[Difference],
    warnings: Sequence[PlacedWarning],
    *,
    at_rates: Sequence[TrialSummary] = (),
) -> tuple[str, ...]:
    """What cannot be decided, the gravest first; what only trials at a rate leave open, `rate_answer` says."""
    closed = [trial for cell in cells for trial in cell.trials]
    trials = [*closed, *at_rates]
    codes = {one.warning.code for one in warnings}
    return tuple(
        text
        for part in (
            _published(trials),
            _repetitions(cells),
            _undecided(differences),
            _client(codes),
            _unbracketed(curves),
            _duration(trials),
            _cached(trials),
            _closed_loop(closed),
        )
        for text in part
    )


def _published(trials: Sequence[TrialSummary]) -> Iterator[str]:
    published = [trial for trial in trials if trial.is_published]
    if not published:
        return
    yield (
        "Published figures are taken as they stand: nobody here can check how they were measured, whether the "
        "client was the limit, or whether the systems were steady."
    )
    all_count = len({trial.trial.system.name for trial in trials})
    for what, silent in (
        ("Response times are", {_name(trial) for trial in published if not _stated(trial)}),
        (
            "The 99th percentile of response time is",
            {_name(trial) for trial in published if _stated(trial) and "p99" not in _stated(trial)},
        ),
    ):
        if silent:
            whom = "every system" if len(silent) == all_count else listed(sorted(silent))
            yield f"{what} unknown for {whom}: no objective for response time can be judged there."


def _name(trial: TrialSummary) -> str:
    return trial.trial.system.name


def _stated(trial: TrialSummary) -> Mapping[str, float]:
    return trial.outcome.reported.response_ms if trial.outcome.reported is not None else {}


def _repetitions(cells: Sequence[MeasuredCell]) -> Iterator[str]:
    unbounded = [cell for cell in cells if cell.throughput.spread is None]
    within = [cell for cell in cells if cell.throughput.spread and not cell.throughput.spread.seen_between_runs]
    if unbounded:
        where = "All" if len(unbounded) == len(cells) else f"{len(unbounded)} of {len(cells)}"
        yield (
            f"{where} throughputs are without bounds, because there is nothing to tell their spread from: small "
            "differences between them mean nothing."
        )
    if within:
        where = "All" if len(within) == len(cells) else f"{len(within)} of {len(cells)}"
        yield (
            f"{where} bounds come from within single runs: repetitions may differ more, so no winner is named. "
            f"At least {REPETITIONS_NEEDED} repetitions would show it."
        )


def _undecided(differences: Sequence[Difference]) -> Iterator[str]:
    peaks = [one for one in differences if one.connections is None]
    count = sum(one.verdict is DifferenceVerdict.UNDECIDED for one in peaks)
    if count:
        of = "the comparison" if len(peaks) == 1 else f"{count} of {len(peaks)} comparisons"
        yield f"Who is faster at the peak stays open in {of}: more repetitions or longer trials narrow the bounds."


def _client(codes: set[str]) -> Iterator[str]:
    if "client-saturated" in codes:
        yield (
            "At some levels the load generator used so much processor time that the server alone would carry more: "
            "see the warning client-saturated."
        )
    if "client-on-server-host" in codes:
        yield (
            "The client ran beside the server on the same host: absolute figures are too low, and the peak may lie "
            "at another level with a client of its own."
        )


def _unbracketed(curves: Sequence[Curve]) -> Iterator[str]:
    names = [f"{curve.system} ({curve.workload})" for curve in curves if not curve.peak.bracketed]
    if names:
        whose = "every curve" if len(names) == len(curves) > 3 else listed(names)
        yield f"Where throughput peaks is unknown for {whose}: it was highest at the last level that was measured."


def _duration(trials: Sequence[TrialSummary]) -> Iterator[str]:
    lengths_s = [trial.counts.duration_s for trial in trials if trial.counts is not None]
    if lengths_s and max(lengths_s) < _LONG_WINDOW_S:
        yield (
            f"The longest window was {format_duration(max(lengths_s))}: what checkpoints, purging, a full redo log or "
            "throttled storage do after minutes or hours was not seen."
        )


def _cached(trials: Sequence[TrialSummary]) -> Iterator[str]:
    fits = [
        instance.data_bytes <= pool_bytes
        for trial in trials
        for instance in trial.environment.instances
        if instance.data_bytes is not None and (pool_bytes := buffer_pool_bytes(instance)) is not None
    ]
    if fits and all(fits):
        yield "All data fitted the buffer pool: nothing is said about data larger than memory, where storage decides."


def _closed_loop(trials: Sequence[TrialSummary]) -> Iterator[str]:
    in_intervals = [trial for trial in trials if trial.counts is not None]
    if in_intervals:
        options = [trial.trial.workload.options for trial in in_intervals]
        who = "terminal" if all(one.get("terminals") or one.get("times") for one in options) else "connection"
        when = "a pause after" if all("think_time" in one or one.get("times") for one in options) else "when"
        yield (
            f"Each {who} sent its next transaction {when} the last was done, so response times hold for a fixed number"
            f" of {who}s and not for users who arrive at their own pace."
        )
