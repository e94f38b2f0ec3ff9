"""How large a connection pool should be, in words."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analyse.curve_model import Curve, PoolReason
from plimsoll.prose.phrases import counted, plain

SHARED_PROCESSORS = "The client used part of the processors: with the client on another host, the pool may be larger."

SINGLE_FIGURES = "That is no advice for a connection pool: the figures do not say how runs differ"

_NO_ADVICE = (
    "No advice: the figures do not say how runs differ. Under systems at a glance is the level of the highest figure."
)
_SMALL_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four"}


def pool_sentences(curves: Sequence[Curve]) -> tuple[str, ...]:
    """How large a connection pool should be, a sentence for each system; one for all that are published figures."""
    if len(curves) > 1 and all(one.pool is not None and one.pool.reason is PoolReason.SINGLE_FIGURES for one in curves):
        return (_NO_ADVICE,)
    return tuple(f"{curve.system}: {pool_sentence(curve)}." for curve in curves)


def pool_sentence(curve: Curve) -> str:
    """How large a connection pool should be on one system, without the system's name and a full stop."""
    pool, peak = curve.pool, curve.peak
    if pool is None or peak is None or pool.reason is PoolReason.UNKNOWN:
        return "unknown: nothing completed at any level"
    shared = f". {SHARED_PROCESSORS.rstrip('.')}" if pool.client_shared_processors else ""
    last = curve.cells[-1].level
    rising = ""
    if peak.level.order == last.order:
        rising = f". Throughput still rose at {peak.level.label()}, the last level: the right size may be larger"
    if pool.between is not None:
        return f"not resolved: {_between(curve, pool.between)}{rising}{shared}"
    if pool.reason is PoolReason.SINGLE_FIGURES:
        size = f"{counted(pool.connections, 'connection')}{_per_core(pool.per_core)}"
        return f"no advice, as the figures do not say how runs differ; the highest is that of {size}{rising}{shared}"
    beyond = {
        PoolReason.ONLY_LEVEL: "; no other level was measured",
        PoolReason.STILL_RISING: rising,
        PoolReason.OBJECTIVE: "; more connections are not known to keep the objective",
        PoolReason.LOWEST_LEVEL: "; fewer were not measured",
        PoolReason.NO_GAIN: "; no other level gives more than 5 % more",
    }
    size = f"{counted(pool.connections, 'connection')}{_per_core(pool.per_core)}"
    return f"{size}{beyond.get(pool.reason, '')}{shared}"


def _between(curve: Curve, levels: tuple[int, int]) -> str:
    """Which levels may be enough, and what would narrow that down."""
    low, high = levels
    text = (
        f"perhaps {counted(high, 'connection')}"
        if low == high
        else f"between {low:,} and {counted(high, 'connection')}"
    )
    if any(cell.throughput_tps.trial_count == 1 for cell in curve.cells):
        return f"{text}. Levels that were measured once do not show how runs differ; three repetitions narrow this down"
    return (
        f"{text}. No level is shown to give at least 95 % of the highest throughput; more repetitions narrow this down"
    )


def has_pool_advice(curve: Curve) -> bool:
    """Whether there is a pool to speak of: a curve of one level says nothing about its size."""
    return curve.pool is not None and curve.pool.reason is not PoolReason.ONLY_LEVEL


def _per_core(per_core: float | None) -> str:
    if per_core is None:
        return ""
    if per_core >= 1 or per_core == 0:
        number = _SMALL_NUMBERS.get(int(per_core)) if per_core == int(per_core) else None
        return f", {number or plain(per_core)} per core"
    return f", one for every {plain(1 / per_core)} cores"
