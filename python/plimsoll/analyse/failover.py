"""The timeline of a failover from a ledger and instants that were noted beside it, and what all faults say together.

All instants are of one monotonic clock. An outage is from the last transaction that the old source acknowledged to the
first one that the new source did, over all clients; its parts add up to it exactly. Losses have the confidence limit of
`lost_transactions`.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.analyse.lost_transactions import Ledger, Search, loss_ratio_max
from plimsoll.errors import DataError
from plimsoll.record.failover import (
    ErrorSeen,
    FailoverOutcome,
    FailoverRecord,
    FailoverTimeline,
    NotFollowing,
    Outage,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instants:
    """What was noted while a failover ran, monotonic nanoseconds.

    Attributes:
        fault_ns: The source was killed.
        detected_ns: It was known to be gone.
        chosen_ns: The next source was chosen.
        applied_ns: It took writes.
        followed_ns: The others followed it; clients were told next.
    """

    fault_ns: int
    detected_ns: int
    chosen_ns: int
    applied_ns: int
    followed_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """Which replica became the source.

    Attributes:
        name: Its name.
        is_behind: Another replica had received more.
        not_following: Those that could not follow it.
    """

    name: str
    is_behind: bool
    not_following: tuple[NotFollowing, ...] = ()


def failover_outcome(ledger: Ledger, instants: Instants, promotion: Promotion, found: Search) -> FailoverOutcome:
    """What one fault did.

    Raises:
        DataError: Nothing was acknowledged before the fault, or after it.
    """
    before = [at_ns for at_ns in ledger.acknowledged.values() if at_ns < instants.followed_ns]
    after = {key: at_ns for key, at_ns in ledger.acknowledged.items() if at_ns >= instants.followed_ns}
    errors = [one for one in ledger.failures if one.at_ns >= instants.fault_ns]
    if not before or not after or not errors:
        raise DataError("ledger: transactions before or after the fault are missing; take a longer --load")
    firsts: dict[int, int] = {}
    for (worker, _), at_ns in after.items():
        firsts[worker] = min(firsts.get(worker, at_ns), at_ns)

    def since_s(at_ns: int) -> float:
        return (at_ns - instants.fault_ns) / 1e9

    timeline = FailoverTimeline(
        last_good_s=since_s(max(before)),
        first_error_s=since_s(errors[0].at_ns),
        detected_s=since_s(instants.detected_ns),
        chosen_s=since_s(instants.chosen_ns),
        applied_s=since_s(instants.applied_ns),
        followed_s=since_s(instants.followed_ns),
        first_good_s=since_s(min(after.values())),
        all_good_s=since_s(max(firsts.values())),
    )
    load_s = max((instants.fault_ns - min(before)) / 1e9, 1e-9)
    codes = dict.fromkeys(one.code for one in errors)
    times = {code: [since_s(one.at_ns) for one in errors if one.code == code] for code in codes}
    return FailoverOutcome(
        load_s=load_s,
        throughput_tps=len(before) / load_s,
        promoted=promotion.name,
        is_behind=promotion.is_behind,
        timeline=timeline,
        outage=outage_of(timeline),
        errors=tuple(
            ErrorSeen(code=code, count=len(seen), first_s=min(seen), last_s=max(seen)) for code, seen in times.items()
        ),
        failed=len(ledger.unknown),
        failed_found=found.unknown_found,
        acknowledged=len(ledger.acknowledged),
        lost=found.lost,
        lost_ms=found.lost_ms,
        torn=found.torn,
        foreign=found.foreign,
        not_following=promotion.not_following,
    )


def outage_of(timeline: FailoverTimeline) -> Outage:
    """The outage in a timeline, by its parts."""
    return Outage(
        total_s=timeline.first_good_s - timeline.last_good_s,
        detect_s=timeline.detected_s - timeline.last_good_s,
        choose_s=timeline.chosen_s - timeline.detected_s,
        apply_s=timeline.applied_s - timeline.chosen_s,
        follow_s=timeline.followed_s - timeline.applied_s,
        reconnect_s=timeline.first_good_s - timeline.followed_s,
    )


def with_outcomes(record: FailoverRecord, each: Sequence[FailoverOutcome], *, is_complete: bool) -> FailoverRecord:
    """The record with what these faults say together."""
    with_loss = sum(one.lost > 0 for one in each)
    outages = [one.outage.total_s for one in each]
    is_broken = any(one.is_corrupt for one in each)
    if record.semisync_replicas is not None:
        is_broken = is_broken or any(one.lost > 0 and not one.is_behind for one in each)
    return record.model_copy(
        update={
            "is_complete": is_complete,
            "faults": len(each),
            "faults_with_loss": with_loss,
            "loss_ratio_max": loss_ratio_max(with_loss, len(each)),
            "acknowledged": sum(one.acknowledged for one in each),
            "lost": sum(one.lost for one in each),
            "lost_ms": max((one.lost_ms for one in each if one.lost_ms is not None), default=None),
            "corrupt": sum(one.is_corrupt for one in each),
            "outage_s": statistics.median(outages) if outages else None,
            "outage_s_min": min(outages, default=None),
            "outage_s_max": max(outages, default=None),
            "is_kept": not is_broken,
            "each": tuple(each),
        }
    )
