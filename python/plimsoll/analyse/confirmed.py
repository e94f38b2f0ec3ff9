"""A load that was sized and then offered to a server: what it had to hold, and whether it did.

Deliberately not here: how it is offered (`plimsoll.run.confirming`), and which load and system (`size`).
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analyse.capacity_model import SystemCapacity
from plimsoll.record.capacity import CapacityObjective, CapacityRun, RunVerdict
from plimsoll.record.document import Document
from plimsoll.record.model import TrialWarning


class Confirmed(Document):
    """What became of a load that was offered at a rate.

    Attributes:
        system: Of the study; of a server that was named, its address.
        connections: That served the load.
        rate_tps: Target rate, transactions per second.
        duration_s: Length of the measured window, seconds.
        objective: What had to hold besides the rate; None for the rate alone.
        throughput_tps: Transactions that completed in each second of the window.
        response_ms_p99: Over the window, milliseconds; None where nothing completed.
        over_ratio: Share of arrivals over the objective's response time, 0..1; those that failed, were dropped or had
            not ended are among them.
        errors_ratio: Share of arrivals that failed, were dropped or had not ended, 0..1.
        is_sustained: The server kept up with the rate: nothing was dropped, no overload lasted to the end, and at most
            1 % failed or did not end.
        verdict: `holds`: the rate was sustained, and the objective clearly held in this run;
            `does_not_hold`: one of them clearly did not; `undecided`: a longer run may tell.
        warnings: Doubts about the run.
    """

    system: str
    connections: int
    rate_tps: float
    duration_s: float
    objective: CapacityObjective | None = None
    throughput_tps: float
    response_ms_p99: float | None = None
    over_ratio: float
    errors_ratio: float
    is_sustained: bool
    verdict: RunVerdict
    warnings: tuple[TrialWarning, ...] = ()


def confirmed(
    run: CapacityRun,
    objective: CapacityObjective | None,
    *,
    system: str,
    is_sustained: bool,
    warnings: Sequence[TrialWarning] = (),
) -> Confirmed:
    """Judges a load that was offered.

    Args:
        run: At a rate, judged by the objective where there is one.
        objective: What had to hold; None for the rate alone.
        system: Where it ran.
        is_sustained: As in `Confirmed`.
        warnings: Doubts about the run.
    """
    assert run.rate_tps is not None, "a load is confirmed at a rate"
    verdict = RunVerdict.HOLDS if objective is None else run.verdict
    return Confirmed(
        system=system,
        connections=run.connections,
        rate_tps=run.rate_tps,
        duration_s=run.duration_s,
        objective=objective,
        throughput_tps=run.throughput_tps,
        response_ms_p99=run.response_ms_p99,
        over_ratio=run.over_ratio,
        errors_ratio=run.errors_ratio,
        is_sustained=is_sustained,
        verdict=verdict if is_sustained else RunVerdict.DOES_NOT_HOLD,
        warnings=tuple(warnings),
    )


def objective_to_confirm(
    capacities: Sequence[SystemCapacity], workload: str, limit_ms: float | None
) -> CapacityObjective | None:
    """What a load must hold: the response time that was asked for, and the limit of errors of the study's searches.

    Args:
        capacities: Of the study.
        workload: Under which the load is sized.
        limit_ms: 99 % of arrivals must be answered within so long, milliseconds; None for no objective.

    Returns:
        None where there is none. Of searches with several objectives that counts which sizing rests on: the widest one
        that is at least as strict as the limit.
    """
    if limit_ms is None:
        return None
    searched = [one.objective for one in capacities if one.workload == workload]
    strict = [one for one in searched if one.response_ms_p99 <= limit_ms] or searched
    errors_ratio = max(strict, key=lambda one: one.response_ms_p99).errors_ratio if strict else None
    return CapacityObjective(response_ms_p99=limit_ms, errors_ratio=errors_ratio)
