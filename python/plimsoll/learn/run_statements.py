"""The statements that a workload file runs, so that they can be found again in logs.

Statements of which one text or another runs, such as those on tables that differ in a number, are one.
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.learn.canonical_sql import canonical
from plimsoll.learn.transaction_types import Templates, folded
from plimsoll.spec.workload_file import WorkloadFile


@dataclass(frozen=True, slots=True)
class RunStatements:
    """Statements of a workload, numbered from 0.

    Attributes:
        texts: The first text of each.
        of_text: By canonical text, its number.
        types: By the numbers of its statements in order, repeated blocks once, the names of the transactions that run
            them.
    """

    texts: tuple[str, ...]
    of_text: dict[str, int]
    types: dict[Templates, tuple[str, ...]]

    def of(self, text: str) -> int | None:
        """The number of a statement of a log; None for one that the workload does not run."""
        found = canonical(text)
        return None if found is None else self.of_text.get(found)


def run_statements(file: WorkloadFile) -> RunStatements:
    """The statements of a workload file; those that cannot be parsed are left out."""
    together: list[set[str]] = []
    for transaction in file.transaction:
        for statement in transaction.statement:
            _join(together, {found for text in statement.texts if (found := canonical(text)) is not None})
    of_text = {text: number for number, texts in enumerate(together) for text in texts}
    types: dict[Templates, tuple[str, ...]] = {}
    for transaction in file.transaction:
        firsts = [canonical(one.texts[0]) for one in transaction.statement]
        key = folded([of_text[one] for one in firsts if one is not None])
        types[key] = (*types.get(key, ()), transaction.name)
    return RunStatements(tuple(min(texts) for texts in together), of_text, types)


def _join(together: list[set[str]], texts: set[str]) -> None:
    """Puts texts into the set that has one of them; sets that turn out to be one become one."""
    if not texts:
        return
    shared = [one for one in together if one & texts]
    if not shared:
        together.append(texts)
        return
    first, *others = shared
    first |= texts.union(*others)
    for one in others:
        together.remove(one)
