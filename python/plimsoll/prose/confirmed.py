"""A load that was sized, offered again to confirm it, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from plimsoll.prose.capacity import objective_words, share_words
from plimsoll.prose.phrases import counted
from plimsoll.record.capacity import CapacityObjective, RunVerdict
from plimsoll.units import format_duration, format_ms, format_rate

if TYPE_CHECKING:
    from plimsoll.analyse.confirmed import Confirmed

_CONFIRMED = {
    RunVerdict.HOLDS: "held for",
    RunVerdict.DOES_NOT_HOLD: "did not hold for",
    RunVerdict.UNDECIDED: "is undecided after",
}


class LoadLike(Protocol):
    """A load at a rate to come: `plimsoll.run.single_run.SingleRun` is one."""

    @property
    def connections(self) -> int: ...  # noqa: D102

    @property
    def warm_up_s(self) -> float: ...  # noqa: D102

    @property
    def duration_s(self) -> float: ...  # noqa: D102


def confirming_words(system: str, rate: str, load: LoadLike, objective: CapacityObjective | None) -> str:
    """A confirmation that begins; `rate` is the target rate in words."""
    what = "" if objective is None else f", {objective_words(objective)}"
    length = f"for {format_duration(load.duration_s)} after a warm-up of {format_duration(load.warm_up_s)}"
    return f"{system}: {rate} at {counted(load.connections, 'connection')} {length}{what}"


def confirmed_sentence(found: Confirmed, rate_unit: str = "tps") -> str:
    """Whether a load that was sized held when it was offered; where that is open, what would decide it."""
    rate, ran = format_rate(found.rate_tps, rate_unit), format_duration(found.duration_s)
    what = "" if found.objective is None else f" with {objective_words(found.objective)}"
    times = "" if found.response_ms_p99 is None else f", p99 response time {format_ms(found.response_ms_p99)}"
    over = "" if found.objective is None else f", {share_words(found.over_ratio)} over the objective"
    lost = f", {share_words(found.errors_ratio)} failed or dropped" if found.errors_ratio else ""
    behind = "" if found.is_sustained else ", and the server did not keep up with the rate"
    said = f"{found.system}: {rate}{what} {_CONFIRMED[found.verdict]} {ran}{times}{over}{lost}{behind}."
    if found.verdict is not RunVerdict.UNDECIDED:
        return said
    return f"{said} That is too near the limit for a run of this length: it is not confirmed. Run it again for longer."
