"""What made a machine slow while something was measured, and when, in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from plimsoll.analyse.disturbance_model import SLOW_RATIO
from plimsoll.prose.phrases import capitalised, listed, plain_percent
from plimsoll.units import format_ms, format_number, format_percent

_STEAL_TOLD_FROM = 0.01


def disturbance_sentence(seen: Mapping[str, Any], workload: str) -> str:
    """What a disturbance withholds of the answer about a workload, and what to do."""
    systems = tuple(seen["systems"])
    if "other" in seen:
        count, of = seen["comparisons_count"], seen["compared_count"]
        where = "" if count == of else f" in {count} of {of} comparisons"
        withheld = f"disturbed: no system is called faster{where}"
    else:
        withheld = f"disturbed: what was measured of {listed(systems)} is not what {_they(systems)} can do"
    return f"{workload}: {withheld}. {capitalised(slow_words(seen), ())}. {ADVICE}"


ADVICE = "Find what else ran on the machine then, and measure again."


def slow_words(seen: Mapping[str, Any]) -> str:
    """On which side the machine was how slow, what showed it, and when."""
    other = ""
    if "other" in seen:
        other = f", and {_times(seen['other_slowness'])} while {seen['other']} was"
    return f"while {seen['slower']} was measured the machine {_how_slow(seen, other)}"


def slow_machine_words(seen: Mapping[str, Any]) -> str:
    """The same of whatever the sentence is about."""
    return f"while the machine {_how_slow(seen)}"


def _how_slow(seen: Mapping[str, Any], other: str = "") -> str:
    share, limit = format_percent(seen["slow_ratio"]), plain_percent(SLOW_RATIO - 1)
    return (
        f"was {_times(seen['slowness'])} as slow as at its best{other}: over {limit} slower in {share} of the"
        f" seconds{_when(seen)}{_shown_by(seen)}"
    )


def _when(seen: Mapping[str, Any]) -> str:
    """Between which times of day; nothing where no second was slow."""
    if seen["from_unix_s"] is None or seen["to_unix_s"] is None:
        return ""
    first, last = (datetime.fromtimestamp(seen[name], UTC) for name in ("from_unix_s", "to_unix_s"))
    day = "" if first.date() == last.date() else f"{last:%Y-%m-%d} "
    return f", between {first:%Y-%m-%d %H:%M:%S} and {day}{last:%H:%M:%S} UTC"


def _shown_by(seen: Mapping[str, Any]) -> str:
    shown = []
    if seen["wait_ms"] is not None and seen["best_wait_ms"] is not None:
        shown.append(
            f"threads waited {format_ms(seen['wait_ms'])} per transaction for a processor, against"
            f" {format_ms(seen['best_wait_ms'])} at best"
        )
    if (seen["steal_ratio"] or 0.0) >= _STEAL_TOLD_FROM:
        shown.append(f"the hypervisor took {format_percent(seen['steal_ratio'])} of processor time")
    return f"; {' and '.join(shown)}" if shown else ""


def _times(slowness: float) -> str:
    return f"{format_number(slowness)} times"


def _they(systems: tuple[str, ...]) -> str:
    return "it" if len(systems) == 1 else "they"
