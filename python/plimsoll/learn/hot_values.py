"""How unevenly statements take the values of their parameters: told in ranks and shares, never in values.

Deliberately not here: which distribution that is.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from plimsoll.learn.report_model import HotValues
from plimsoll.learn.slots import Slot, slots_of

SLOTS_MAX = 30
"""Parameters that are told, those of the statements with most time first."""

OBSERVATIONS_MIN = 100
"""Fewer values of a parameter say nothing of how even they are."""

_TOP = 10
_SCALARS = ("int", "text", "date", "decimal")


def hot_values(literals: pl.LazyFrame, events: pl.LazyFrame, templates: Mapping[int, str]) -> tuple[HotValues, ...]:
    """The parameters whose values repeat most.

    Args:
        literals: Of the log.
        events: Of the log; its columns event and template.
        templates: Texts of those that are looked at, the most important first.
    """
    of = events.select("event", "template").filter(pl.col("template").is_in(list(templates)))
    counts = (
        literals.filter(pl.col("kind").is_in(_SCALARS))
        .join(of, on="event")
        .group_by("template", "slot", "value")
        .agg(count=pl.len())
        .group_by("template", "slot")
        .agg(
            observed=pl.col("count").sum(),
            distinct=pl.len(),
            top=pl.col("count").max(),
            top_ten=pl.col("count").top_k(_TOP).sum(),
            top_hundredth=pl.col("count").sort(descending=True).head((pl.len() // 100).clip(lower_bound=1)).sum(),
        )
        .filter((pl.col("observed") >= OBSERVATIONS_MIN) & (pl.col("distinct") > 1))
        .collect(engine="streaming")
    )
    order = {template: place for place, template in enumerate(templates)}
    rows = sorted(counts.iter_rows(named=True), key=lambda row: (order[row["template"]], row["slot"]))[:SLOTS_MAX]
    slots = {template: slots_of(templates[template]) for template in {row["template"] for row in rows}}
    return tuple(
        _hot(row, of_template[row["slot"]] if row["slot"] < len(of_template) else Slot("other"))
        for row in rows
        for of_template in (slots[row["template"]],)
    )


def _hot(row: dict[str, int], slot: Slot) -> HotValues:
    return HotValues(
        template=row["template"],
        slot=row["slot"],
        use=slot.use,
        column=slot.column,
        observed_count=row["observed"],
        distinct_count=row["distinct"],
        top_share=row["top"] / row["observed"],
        top_ten_share=row["top_ten"] / row["observed"],
        top_hundredth_share=row["top_hundredth"] / row["observed"],
    )
