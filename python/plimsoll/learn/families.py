"""Statements that differ in one number of a name only, such as those on `orders_01` to `orders_16`, are one family.

Applications that split tables run the same statement on any of them. Told one by one they make as many types of
transactions as there are combinations. Deliberately not here: which member a transaction uses, which is a value like
others (`relations`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

import polars as pl

_NUMBER = re.compile(r"(?<=[^\W\d])\d+\b")
"""Digits at the end of a name. Literals are no part of templates."""

MEMBERS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Families:
    """Which templates belong together.

    Attributes:
        of_template: By template, the family: the smallest number of its templates.
        members: By family of more than one template, its templates in the order of their numbers.
    """

    of_template: dict[int, int]
    members: dict[int, tuple[int, ...]]

    def member(self, template: int) -> int:
        """Which of its family it is, from 1."""
        return self.members.get(self.of_template[template], (template,)).index(template) + 1

    def templates(self, family: int) -> tuple[int, ...]:
        """The members of a family, in order."""
        return self.members.get(family, (family,))


def families_of(templates: pl.DataFrame) -> Families:
    """The families of all templates.

    Args:
        templates: Columns template, schema, kind, text.
    """
    alike: dict[tuple[object, ...], list[tuple[int, list[str]]]] = defaultdict(list)
    for template, schema, kind, text in templates.select("template", "schema", "kind", "text").iter_rows():
        numbers = _NUMBER.findall(text)
        key = (schema, kind, _NUMBER.sub("#", text)) if numbers else (template,)
        alike[key].append((template, numbers))
    of_template: dict[int, int] = {}
    members: dict[int, tuple[int, ...]] = {}
    for group in alike.values():
        ordered = _ordered(group)
        if ordered is None:
            of_template |= {template: template for template, _ in group}
            continue
        family = min(ordered)
        of_template |= dict.fromkeys(ordered, family)
        if len(ordered) > 1:
            members[family] = ordered
    return Families(of_template, members)


def _ordered(group: list[tuple[int, list[str]]]) -> tuple[int, ...] | None:
    """Templates by their number; None where they differ in more than one, or are too many."""
    if len(group) > MEMBERS_MAX:
        return None
    columns = zip(*(numbers for _, numbers in group), strict=True)
    varying = [place for place, seen in enumerate(columns) if len(set(seen)) > 1]
    by_number: dict[int, int] = {}
    for template, numbers in group:
        found = {int(numbers[place]) for place in varying}
        number = found.pop() if found else 0
        if found or number in by_number:
            return None
        by_number[number] = template
    return tuple(by_number[number] for number in sorted(by_number))
