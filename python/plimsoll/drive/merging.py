"""What several engines say of one trial as if one had said it: counts are added, histograms bucket by bucket.

Deliberately not here: percentiles, which nobody may merge, and the order in which messages come (`shared`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pydantic import SerializeAsAny

from plimsoll.drive.protocol import (
    ClientCpu,
    Counts,
    Done,
    Encryption,
    ErrorCount,
    GroupInterval,
    Histogram,
    Interval,
    Outage,
    Ready,
    ReplicationInterval,
    Snapshot,
    TransactionSnapshot,
)


class SharedInterval(Interval):
    """An interval of all drivers together.

    Attributes:
        parts: That of each driver, by its name.
    """

    parts: dict[str, SerializeAsAny[Interval]]


def merge_intervals(parts: Mapping[str, Interval]) -> SharedInterval:
    """The same interval of all drivers, by their names."""
    of_all = list(parts.values())
    delays = [interval.run_delay_ns for interval in of_all if interval.run_delay_ns is not None]
    by_place: dict[tuple[str, str], list[GroupInterval]] = {}
    for interval in of_all:
        for group in interval.groups:
            by_place.setdefault((group.instance, group.role), []).append(group)
    return SharedInterval(
        type="interval",
        index=of_all[0].index,
        from_ns=min(interval.from_ns for interval in of_all),
        to_ns=max(interval.to_ns for interval in of_all),
        client=_cpu(interval.client for interval in of_all),
        groups=[_group(same) for same in by_place.values()],
        run_delay_ns=sum(delays) if len(delays) == len(of_all) else None,
        parts=dict(parts),
    )


def ended_part(last: Interval, later: Interval) -> Interval:
    """What a driver that has ended adds to a later interval: its transactions that never ended stay in flight.

    Args:
        last: Its own last interval.
        later: The same interval as it is of another driver.
    """
    nothing = Snapshot(transactions={}, errors=[])
    changes = {"backlog_count": 0, "connected_count": 0, "snapshot": nothing, "replication": None}
    return later.model_copy(
        update={
            "client": ClientCpu(user_ns=0, system_ns=0),
            "run_delay_ns": None if last.run_delay_ns is None else 0,
            "groups": [group.model_copy(update=changes) for group in last.groups],
        }
    )


def _cpu(parts: Iterable[ClientCpu]) -> ClientCpu:
    used = list(parts)
    return ClientCpu(user_ns=sum(cpu.user_ns for cpu in used), system_ns=sum(cpu.system_ns for cpu in used))


def _group(parts: Sequence[GroupInterval]) -> GroupInterval:
    names = dict.fromkeys(name for part in parts for name in part.snapshot.transactions)
    errors: Counter[tuple[str | None, str, int]] = Counter()
    for part in parts:
        for error in part.snapshot.errors:
            errors[error.transaction, error.error_class, error.code] += error.count
    return GroupInterval(
        instance=parts[0].instance,
        role=parts[0].role,
        backlog_count=sum(part.backlog_count for part in parts),
        connected_count=sum(part.connected_count for part in parts),
        snapshot=Snapshot(
            transactions={
                name: _transaction(
                    [part.snapshot.transactions[name] for part in parts if name in part.snapshot.transactions]
                )
                for name in names
            },
            errors=[
                ErrorCount.model_validate({"transaction": transaction, "class": kind, "code": code, "count": count})
                for (transaction, kind, code), count in errors.items()
            ],
        ),
        in_flight=merge_measures([part.in_flight for part in parts]),
        replication=_replication([part.replication for part in parts if part.replication is not None]),
    )


def _replication(parts: Sequence[ReplicationInterval]) -> ReplicationInterval | None:
    """The largest lag that any driver saw, and the sum of all counts."""
    if not parts:
        return None
    lags = ("lag_ns", "lag_end_ns")
    known = {name: [lag for part in parts if (lag := getattr(part, name)) is not None] for name in lags}
    counts = (name for name in ReplicationInterval.model_fields if name not in lags)
    return ReplicationInterval(
        **{name: max(values, default=None) for name, values in known.items()},
        **{name: sum(getattr(part, name) for part in parts) for name in counts},
    )


def _transaction(parts: Sequence[TransactionSnapshot]) -> TransactionSnapshot:
    counts = {name: sum(getattr(part.counts, name) for part in parts) for name in Counts.model_fields}
    return TransactionSnapshot(counts=Counts(**counts), histograms=merge_measures([part.histograms for part in parts]))


def merge_measures(parts: Sequence[Mapping[str, Histogram]]) -> dict[str, Histogram]:
    """Some histograms of each measure as one."""
    measures = dict.fromkeys(measure for part in parts for measure in part)
    return {measure: merge_histograms([part[measure] for part in parts if measure in part]) for measure in measures}


def merge_histograms(parts: Sequence[Histogram]) -> Histogram:
    """All durations of some histograms in one; nothing is rounded, since all have the same buckets."""
    counts: Counter[int] = Counter()
    for part in parts:
        for bucket, count in zip(part.buckets, part.counts, strict=True):
            counts[bucket] += count
    buckets = sorted(counts)
    return Histogram(
        buckets=buckets,
        counts=[counts[bucket] for bucket in buckets],
        sum_ns=sum(part.sum_ns for part in parts),
        max_ns=max((part.max_ns for part in parts), default=0),
    )


def merge_ready(parts: Sequence[Ready]) -> Ready:
    """How the connections of all drivers came about: opened side by side, so as long as the slowest took."""
    encryptions = [encryption for part in parts for encryption in part.encryptions]
    return Ready(
        type="ready",
        connections=sum(part.connections for part in parts),
        wanted_count=sum(part.wanted_count for part in parts),
        connect_ms=max(part.connect_ms for part in parts),
        failures=[failure for part in parts for failure in part.failures],
        encryptions=_different(encryptions),
        statements=parts[0].statements,  # all send the same
    )


def _different(encryptions: Iterable[Encryption]) -> list[Encryption]:
    """Each once; drivers that encrypt differently all stay to be seen."""
    return list({encryption.model_dump_json(): encryption for encryption in encryptions}.values())


def merge_done(parts: Sequence[Done], *, started_unix_ns: int) -> Done:
    """The account of all drivers.

    Args:
        parts: Of each.
        started_unix_ns: When the first of them began, by this machine's clock.
    """
    reasons = {part.reason for part in parts}
    outages = merge_outages([outage for part in parts for outage in part.outages])
    unlisted = sum(part.outages_count - len(part.outages) for part in parts)
    return Done(
        type="done",
        reason=next(reason for reason in ("outage", "stopped", "completed") if reason in reasons),
        started_unix_ns=started_unix_ns,
        duration_ns=max(part.duration_ns for part in parts),
        offered_count=sum(part.offered_count for part in parts),
        unfinished_count=sum(part.unfinished_count for part in parts),
        client=_cpu(part.client for part in parts),
        memory_bytes_max=max(part.memory_bytes_max for part in parts),
        rows_count=sum(part.rows_count for part in parts),
        outages=outages,
        outages_count=len(outages) + unlisted,
    )


def merge_outages(outages: Iterable[Outage]) -> list[Outage]:
    """Outages of the same server that overlap are one: from the first connection lost until the last is back."""
    by_server: dict[tuple[str, str], list[Outage]] = {}
    for outage in sorted(outages, key=lambda outage: outage.from_ns):
        known = by_server.setdefault((outage.instance, outage.role), [])
        if known and (known[-1].to_ns is None or outage.from_ns <= known[-1].to_ns):
            known[-1] = _joined(known[-1], outage)
        else:
            known.append(outage)
    return [outage for _, known in sorted(by_server.items()) for outage in known]


def _joined(outage: Outage, other: Outage) -> Outage:
    ends = (outage.to_ns, other.to_ns)
    return outage.model_copy(
        update={
            "to_ns": None if None in ends else max(end for end in ends if end is not None),
            "connections_count": outage.connections_count + other.connections_count,
            "lost_count": outage.lost_count + other.lost_count,
        }
    )
