"""Columns whose character set is not that which the study gave the server.

A study may state the character set of its servers, and tables are then made with it. A column whose type in a workload
file names another one keeps that, and so does a table that was there before. Deliberately not here: whether systems
agree with each other (`equivalence`).
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analyse.doubts import Code, Doubt, place_of
from plimsoll.analyse.stated_options import stated_options
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.record.environment import InstanceFacts


def check_character_sets(one: TrialSummary) -> Iterator[Doubt]:
    """A doubt where the study stated a character set and columns have others; once for instances that agree."""
    found = dict.fromkeys(told for instance in one.environment.instances if (told := _others(instance)))
    for wanted, columns in found:
        yield place_of(one.trial).doubt(
            Code.CHARACTER_SET_KEPT,
            "character-set-kept",
            float(len(columns)),
            wanted=wanted,
            columns_count=len(columns),
            columns=columns,
        )


def _others(instance: InstanceFacts) -> tuple[str, tuple[str, ...]] | None:
    """The stated character set, and columns that have another one, with theirs; None where there are none."""
    stated = stated_options(instance.option_file or "").keys() & {"character_set_server", "collation_server"}
    wanted = _name(instance.variables.get("character_set_server"))
    if not stated or wanted is None or instance.data is None:
        return None
    columns = tuple(
        f"{table}.{name}: {column.character_set}"
        for table, facts in instance.data.tables.items()
        for name, column in facts.columns.items()
        if _name(column.character_set) not in (None, wanted)
    )
    return (wanted, columns) if columns else None


def _name(character_set: str | None) -> str | None:
    """In one spelling: `utf8` and `utf8mb3` are the same.

    >>> _name("utf8"), _name("UTF8MB3"), _name("utf8mb4")
    ('utf8', 'utf8', 'utf8mb4')
    """
    return None if character_set is None else character_set.lower().replace("utf8mb3", "utf8")
