"""What generated values must fit: 64-bit integers, the calendar, what the load engine chooses from.

Ranges follow from several keys and the number of rows; they are checked where a generator has no other fault.
Deliberately not here: what each way needs (`generators`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from plimsoll.spec.distribution import DistributionSpec
from plimsoll.spec.generator_plan import generator_plan, values_count
from plimsoll.spec.generators import INT64, GeneratorSpec

PARTS_MAX = 10_000
"""Most pieces of a template."""

CHOSEN_MAX = 2**32 - 1
"""Most values that a distribution other than uniform chooses from."""

_TIME_US = range(-62_167_219_200_000_000, 253_402_300_800_000_000)
"""The years 0 to 9999, microseconds since 1970."""


def reach_faults(spec: GeneratorSpec, rows: int | None) -> Iterator[str]:
    """What is wrong, each line behind the name of its key.

    Args:
        spec: A generator without other faults.
        rows: Of the table whose column it fills; None where it makes values of statements.
    """
    if spec.generate in (None, "reference", "null", "next", "recent"):
        return
    plan = generator_plan(spec)
    match plan["kind"]:
        case "sequence":
            yield from _sequence_faults(plan, rows or 0)
        case "timestamp_sequence":
            yield from _time_faults(plan["first_us"], plan["step_us"], rows or 0)
        case "integer" | "decimal" | "timestamp":
            yield from _range_faults(plan["count"], plan["distribution"])
        case "template" if len(plan["parts"]) > PARTS_MAX:
            yield f"template: must have at most {PARTS_MAX} pieces, has {len(plan['parts'])}"
        case "choice" if not math.isfinite(sum(plan["weights"])):
            yield "weights: must have a finite sum; write smaller ones"


def _sequence_faults(plan: dict[str, Any], rows: int) -> Iterator[str]:
    last = plan["first"] + plan["step"] * max(values_count(plan, rows) - 1, 0)
    if last not in INT64:
        yield f"step: leads to {last} within {rows} rows; it must be a whole number of 64 bits"


def _time_faults(first_us: int, step_us: int, rows: int) -> Iterator[str]:
    if first_us + step_us * max(rows - 1, 0) not in _TIME_US:
        yield f"every: leads beyond the year 9999 within {rows} rows; write a shorter time or fewer rows"


def _range_faults(count: int, distribution: dict[str, Any]) -> Iterator[str]:
    is_uniform = distribution == DistributionSpec().line()
    values_max = INT64[-1] if is_uniform else CHOSEN_MAX
    if count > values_max:
        cure = "" if is_uniform else '; distribution = "uniform" takes more'
        yield f"to: makes {count} values to choose from, at most {values_max} are possible{cure}"
