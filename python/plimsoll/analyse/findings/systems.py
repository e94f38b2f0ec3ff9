"""Warnings about systems that differ in more than what they are compared for.

Data, machines, execution plans, encryption of connections, and a system's own environment from one trial to the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import ClassVar

from plimsoll.analyse.explain.equivalence_model import Aspect
from plimsoll.analyse.findings.doubts import Observation, Voids, WarningKind
from plimsoll.wording import changes_words, counted, listed, shortened

DATA_DIFFERS = WarningKind(
    "data-differs",
    Voids.ABSOLUTE,
    "Make the tables of all systems with the same definitions, character set and rows; or state what differs as a"
    " factor.",
)
MACHINES_DIFFER = WarningKind(
    "machines-differ",
    Voids.ABSOLUTE,
    "Give both environments the same CPUs and memory and measure again; or state what differs as a parameter, if it is"
    " what you compare.",
)
PLANS_DIFFER = WarningKind(
    "plans-differ",
    Voids.CERTAINTY,
    "Run ANALYZE TABLE on all systems and compare indexes; if the plans still differ, that is part of what is"
    " compared.",
)

_DIFFERENCES_MAX = 3


class _Differences(Observation):
    """Differences of one aspect that no factor explains.

    Attributes:
        differences: What differs, and its value for each system.
        systems: In the order of the values.
        differences_count: All of them.
    """

    noun: ClassVar[str]
    differences: tuple[tuple[str | None, ...], ...]
    systems: tuple[str, ...]
    differences_count: int

    def __str__(self) -> str:
        shown = [(str(what), dict(zip(self.systems, values, strict=True))) for what, *values in self.differences]
        rest = self.differences_count - _DIFFERENCES_MAX
        more = f"; and {rest} more" if rest > 0 else ""
        return f"{self.noun} differ: {differences_words(shown[:_DIFFERENCES_MAX])}{more}"


def differences_words(differences: Iterable[tuple[str, Mapping[str, str | None]]]) -> str:
    """Differences with the systems by value, such as `CPUs is 2 (metal), 1 (virtual)`."""
    return "; ".join(f"{what} is {_by_value(values)}" for what, values in differences)


def _by_value(values: Mapping[str, str | None]) -> str:
    systems: dict[str, list[str]] = {}
    for system, value in values.items():
        systems.setdefault("missing" if value is None else shortened(value), []).append(system)
    return ", ".join(f"{value} ({', '.join(names)})" for value, names in systems.items())


class MachinesDiffer(_Differences, kind=MACHINES_DIFFER, seen="machines-differ"):
    """CPUs or memory."""

    noun = "CPUs or memory of the environments"


class DefinitionsDiffer(_Differences, kind=DATA_DIFFERS, seen="definitions-differ"):
    """Columns, indexes and options of tables."""

    noun = "table definitions"


class CharacterSetsDiffer(_Differences, kind=DATA_DIFFERS, seen="character-sets-differ"):
    """Of tables and columns."""

    noun = "character sets or collations"


class RowsDiffer(_Differences, kind=DATA_DIFFERS, seen="rows-differ"):
    """How many rows tables have."""

    noun = "numbers of rows"


class StatisticsDiffer(_Differences, kind=PLANS_DIFFER, seen="statistics-differ"):
    """What the optimiser knows of indexes."""

    noun = "index statistics"


class PlansDiffer(_Differences, kind=PLANS_DIFFER, seen="plans-differ"):
    """How statements are executed."""

    noun = "execution plans"


OF_ASPECTS: Mapping[Aspect, type[_Differences]] = {
    Aspect.MACHINES: MachinesDiffer,
    Aspect.DEFINITIONS: DefinitionsDiffer,
    Aspect.CHARACTER_SETS: CharacterSetsDiffer,
    Aspect.ROWS: RowsDiffer,
    Aspect.STATISTICS: StatisticsDiffer,
    Aspect.PLANS: PlansDiffer,
}
"""What is observed where an aspect differs; other aspects are told and not warned of."""

ENVIRONMENT_CHANGED = WarningKind(
    "environment-changed",
    Voids.NOTHING,
    "Undo the change, or remove the recordings from before it, and run the study again.",
)


class EnvironmentChanged(Observation, kind=ENVIRONMENT_CHANGED, seen="environment-changed"):
    """A trial ran in another environment than the one before it.

    Attributes:
        changes: Name, value before, value after.
        shown_as: What its trials before and after are shown as.
    """

    system: str
    trial_before: str
    began_before_unix_s: float
    trial_after: str
    began_after_unix_s: float
    changes: tuple[tuple[str, str, str], ...]
    shown_as: tuple[str, ...]

    def __str__(self) -> str:
        before = _began(self.trial_before, self.began_before_unix_s)
        after = _began(self.trial_after, self.began_after_unix_s)
        return (
            f"{self.system} changed between trials {before} and {after}: {changes_words(self.changes)}; they are shown"
            f" separately, as {' and '.join(self.shown_as)}"
        )


def _began(trial_id: str, unix_s: float) -> str:
    return f"{trial_id} ({datetime.fromtimestamp(unix_s, UTC):%Y-%m-%d %H:%M} UTC)" if unix_s else trial_id


ENCRYPTION_DIFFERS = WarningKind(
    "encryption-differs",
    Voids.NOTHING,
    'Encrypt the connections of all systems alike, or set tls = "disabled" for those that are to be unencrypted.',
)


class EncryptionWithin(Observation, kind=ENCRYPTION_DIFFERS, seen="encryption-within"):
    """Trials of a system that were not encrypted alike.

    Attributes:
        trials: Each way, and how many trials went it.
    """

    system: str
    trials: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        ways = ", ".join(f"{way} ({counted(count, 'trial')})" for way, count in self.trials)
        return f"connections of {self.system} were not encrypted alike: {ways}"


class EncryptionBetween(Observation, kind=ENCRYPTION_DIFFERS, seen="encryption-between"):
    """Systems that were not encrypted alike.

    Attributes:
        ways: Each way, and the systems that went it.
    """

    ways: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        ways = "; ".join(f"{way} for {listed(names)}" for way, *names in self.ways)
        return f"connections were not encrypted alike: {ways}"
