"""A run of a search for a capacity, from its recording: how much, how fast, and whether the objective held.

Where the lag of a replica grows, the objective does not hold: a rate that replicas do not keep up with is no capacity.
"""

from __future__ import annotations

import polars as pl

from plimsoll.analyse.disturbance import is_disturbed, judged
from plimsoll.analyse.duration_rows import duration_rows
from plimsoll.analyse.durations import durations
from plimsoll.analyse.histograms import SparseHistogram, merge_window
from plimsoll.analyse.machine_seconds import MachineSeconds, machine_seconds
from plimsoll.analyse.ramps import knee_at
from plimsoll.analyse.replication.lag import lags_of
from plimsoll.analyse.replication.model import LagState
from plimsoll.analyse.samples import samples_of
from plimsoll.analyse.trial_summary import RecordingLike
from plimsoll.analyse.violations import ended_of, judge_run, late_in_flight, with_waiting
from plimsoll.analyse.window import WindowCounts, counts_of, inside
from plimsoll.errors import RecordError
from plimsoll.record.capacity import CapacityObjective, CapacityRun, RunRole, RunVerdict


def judged_run(
    recording: RecordingLike,
    role: RunRole,
    objective: CapacityObjective,
    machines: list[MachineSeconds] | None = None,
    *,
    pair: int | None = None,
) -> CapacityRun:
    """What a complete recording says about an objective.

    Args:
        recording: At a rate; in a closed loop, in which nothing arrives by itself, no verdict is given.
        role: What the run was for.
        objective: What must hold.
        machines: What the machine did in the runs before it, if any; what it did in this one is added.
        pair: Of a ramp: its number.

    Raises:
        RecordError: A table is missing or damaged, or nothing was measured.
    """
    trial = recording.trial
    intervals, histograms = recording.intervals(), recording.histograms()
    counts = None if intervals is None else counts_of(trial, recording.outcome, intervals)
    if intervals is None or histograms is None or counts is None:
        raise RecordError(f"trial {trial.trial_id}: nothing was measured; remove its recording, and run again")
    at = {"first": counts.first, "last": counts.last}
    limit_ms = objective.response_ms_p99
    ended = ended_of(intervals, histograms, **at, limit_ms=limit_ms)
    waiting = late_in_flight(histograms, **at, limit_ms=limit_ms)
    seen = with_waiting(ended, waiting)
    rate_tps = trial.level.rate_tps
    lags = lags_of(recording.replication(), recording.outcome.window, trial.interval_s)
    lag_grows = any(one.state is LagState.GROWING for one in lags.values())
    merged = merge_window(duration_rows(histograms), **at)
    verdict = RunVerdict.NOT_JUDGED if rate_tps is None else judge_run(seen, objective)
    ramp, knee_tps = trial.ramp, None
    if ramp is not None:
        knee = knee_at(ended.ended, ended.over, waiting)
        knee_tps = None if knee is None else ramp.rate_tps(knee * trial.interval_s)
    return CapacityRun(
        trial_id=trial.trial_id,
        role=role,
        connections=trial.level.connections,
        rate_tps=rate_tps,
        throughput_tps=counts.throughput_tps,
        response_ms_p99=durations(merged.get("response")).p99,
        over_ratio=seen.over_ratio,
        errors_ratio=seen.errors_ratio,
        duration_s=trial.duration_s or counts.duration_s,
        verdict=RunVerdict.DOES_NOT_HOLD if lag_grows and rate_tps is not None else verdict,
        lag_grows=lag_grows,
        is_disturbed=machines is not None
        and _is_disturbed(
            recording, inside(intervals, recording.outcome.window), counts, merged.get("service"), machines
        )
        and ramp is None,
        knee_tps=knee_tps,
        pair=None if ramp is None else pair,
    )


def _is_disturbed(
    recording: RecordingLike,
    measured: pl.DataFrame,
    counts: WindowCounts,
    service: SparseHistogram | None,
    machines: list[MachineSeconds],
) -> bool:
    samples = samples_of(recording.telemetry(), measured, recording.outcome.account)
    machine = machine_seconds(recording, samples, measured, counts, service)
    if machine is None:
        return False
    machines.append(machine)
    return is_disturbed(judged(machines)[-1])
