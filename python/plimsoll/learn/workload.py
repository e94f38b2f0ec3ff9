"""A workload file, and the profile beside it, out of learned types and tables.

Deliberately not here: where single values come from (`value_sources`), and the text of the file (`workload_text`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from plimsoll.learn.insert_keys import InsertKeys
from plimsoll.learn.list_writer import ListWriter
from plimsoll.learn.model import LearnedType
from plimsoll.learn.profile_model import LoopProfile, TypeProfile
from plimsoll.learn.statement_writer import StatementWriter
from plimsoll.learn.value_sources import Sources

WEIGHTS_SUM = 100_000
"""Weights of transactions are shares of it."""


@dataclass(frozen=True, slots=True)
class LearnedTransaction:
    """One type, as a workload file has it and as the profile tells it; None where nothing of it can be run."""

    transaction: dict[str, Any] | None
    profile: TypeProfile


def learned_transaction(
    learned: LearnedType, name: str, shares: tuple[float, float | None], sources: Sources, keys: InsertKeys
) -> LearnedTransaction:
    """One type of transactions.

    Args:
        learned: The type.
        name: What it is called.
        shares: Of all transactions, and of all statement time.
        sources: Makes values.
        keys: Of the server's tables.
    """
    (share, time_share), totals, structure = shares, learned.totals, learned.structure
    writer = StatementWriter(learned, sources, keys, ListWriter(learned.items, sources))
    statements = [writer.statement(place) for place in range(len(structure.templates))]
    run = [(place, one) for place, (one, _) in enumerate(statements) if one is not None]
    profile = TypeProfile(
        name=name,
        share=share,
        time_share=time_share,
        statements=totals.statements / totals.count,
        is_explicit=totals.explicit > totals.count / 2,
        rollback_ratio=totals.rolled_back / totals.count,
        unlike_ratio=learned.unlike_count / max(len(learned.seen) + learned.unlike_count, 1),
        loops=tuple(
            LoopProfile(
                first=one.begin + 1,
                last=one.end,
                rounds=dict(learned.rounds[one]),
                items_of=writer.lists.name(learned.items.loops.get(one)),
            )
            for one in structure.loops
        ),
        lists=tuple(writer.lists.told),
        statement=tuple(told for _, told in statements),
    )
    if not run:
        return LearnedTransaction(None, profile)
    transaction: dict[str, Any] = {"name": name, "weight": max(1, round(share * WEIGHTS_SUM))}
    if profile.is_explicit:
        transaction["begin"] = True
        if learned.isolation is not None:
            transaction["isolation"] = learned.isolation
        if profile.rollback_ratio > 0:
            transaction["rollback_ratio"] = round(profile.rollback_ratio, 6)
    loops = _loops(learned, run, writer)
    if loops:
        transaction["loops"] = loops
    if writer.lists.values:
        transaction["values"] = writer.lists.values
    return LearnedTransaction({**transaction, "statement": [one for _, one in run]}, profile)


def _loops(learned: LearnedType, run: Iterable[tuple[int, dict[str, Any]]], writer: StatementWriter) -> dict[str, Any]:
    """Puts loops into statements. One that repeats a single statement is that statement's own; others have a name."""
    found: dict[str, Any] = {}
    places = dict(run)
    for loop in learned.structure.loops:
        inside = [place for place in range(loop.begin, loop.end) if place in places]
        counts = writer.lists.times(learned.items.loops.get(loop), learned.rounds[loop])
        if not inside or counts == 1:
            continue
        if len(inside) == 1:
            places[inside[0]]["repeat"] = counts
        elif not any("loop" in places[place] for place in inside):
            name = f"loop{len(found) + 1}"
            found[name] = counts
            for place in inside:
                places[place]["loop"] = name
    return found
