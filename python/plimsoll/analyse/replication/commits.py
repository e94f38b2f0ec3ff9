"""What it costs to wait for replicas at each commit: response times of writes by acknowledging replicas and delay.

Systems that are alike but for replication, the number of replicas that must acknowledge, and the delay of the network
are compared at one level with the system that waits for none over the shortest delay. The unit is the repetition: the
mean response time of its transactions that write, on the source; ratios are compared within repetitions (paired t on
logarithms), and Holm's procedure corrects all of a workload and level.

In a closed loop a slower commit also means fewer transactions, and so less load: levels at a rate compare at equal
load.
Deliberately not here: who acknowledged how often (telemetry has `semisync_off_count`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.comparison import Comparison, judge, repetition_ratio
from plimsoll.analyse.durations import durations
from plimsoll.analyse.histograms import merge
from plimsoll.analyse.log_ratio import LogRatio
from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.analyse.replication.families import ACKNOWLEDGING, DELAY, DELAY_S, REPLICAS, REPLICATION, Member, families
from plimsoll.analyse.replication.model import CommitCost, CommitPoint
from plimsoll.analyse.replication.roles import SOURCE
from plimsoll.analyse.trial_summary import TrialSummary

_VARIED = {REPLICAS, REPLICATION, ACKNOWLEDGING, DELAY, DELAY_S}


def commit_costs(cells: Iterable[MeasuredCell], equal_within: float) -> tuple[CommitCost, ...]:
    """One for each workload, level and family in which waiting or delay differs and writes are known."""
    known = [one for one in cells if all(_mean_ms(trial) is not None for trial in one.trials)]
    found = []
    for level in dict.fromkeys((one.workload, one.level.order) for one in known):
        own = [one for one in known if (one.workload, one.level.order) == level]
        for alike, members in families(own, _VARIED):
            if len({(one.acknowledging, one.delay_ms) for one in members}) > 1:
                found.append(_cost(alike, members, equal_within))
    return tuple(found)


def _cost(alike: dict[str, str], members: Sequence[Member], equal_within: float) -> CommitCost:
    order = sorted(members, key=lambda one: (one.acknowledging > 0, one.delay_ms, one.acknowledging, one.replicas))
    base = order[0]
    ratios = {one.cell.system: ratio for one in order[1:] if (ratio := _ratio(base.cell, one.cell)) is not None}
    judged = dict(zip(ratios, judge(list(ratios.values()), equal_within=equal_within), strict=True))
    return CommitCost(
        workload=base.cell.workload,
        level=base.cell.level,
        alike=alike,
        points=tuple(_point(one, judged.get(one.cell.system), is_base=one is base) for one in order),
    )


def _ratio(base: MeasuredCell, cell: MeasuredCell) -> LogRatio | None:
    """Mean response times of the repetitions of one cell over those of the other, by what they have in common."""
    one, other = ({trial.trial.repetition: _mean_ms(trial) or 0.0 for trial in each.trials} for each in (base, cell))
    shared = sorted(one.keys() & other.keys())
    is_paired = len(shared) == len(base.trials) == len(cell.trials)
    if is_paired:
        return repetition_ratio([one[name] for name in shared], [other[name] for name in shared], paired=True)
    return repetition_ratio(list(one.values()), list(other.values()), paired=False)


def _mean_ms(trial: TrialSummary) -> float | None:
    """Mean response time of transactions that write, on the source, milliseconds."""
    found = merge([one.written for one in trial.servers if one.role == SOURCE and one.written is not None])
    return found.sum_ns / found.total / 1e6 if found is not None and found.total else None


def _point(one: Member, comparison: Comparison | None, *, is_base: bool) -> CommitPoint:
    sources = [server for trial in one.cell.trials for server in trial.servers if server.role == SOURCE]
    written = merge([server.written for server in sources if server.written is not None])
    verdict = "" if is_base else DifferenceVerdict.UNTESTABLE if comparison is None else comparison.verdict.inverted
    return CommitPoint(
        system=one.cell.system,
        replicas=one.replicas,
        acknowledging=one.acknowledging,
        delay_ms=one.delay_ms,
        response_ms=durations(written),
        ratio=None if comparison is None else comparison.ratio,
        simultaneous=None if comparison is None else comparison.simultaneous,
        verdict=verdict,
        trials=tuple(trial.trial.trial_id for trial in one.cell.trials),
    )
