"""What tells systems apart, as name and text: what users or sources say, size, durability, encryption.

What a server says of itself comes before what a study file says of it: a factor that is a setting of the server is
compared by its effective value, also where only one of two systems states it. A study file says all of a server that
Plimsoll manages: a key that it does not set is not set there, and differs from one that is. What is known of one
system only, of targets and imports, is never a difference: the other may be the same.

How the connections of trials were encrypted, and whether systems that are compared were connected to alike. Encryption
takes processor time of client and server, and other versions and ciphers take other shares of it. A system whose `tls`
was disabled is in plain because the study says so: that is a factor and no doubt. Everything else, a server that
offers no encryption included, is a difference that nobody asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from plimsoll.analyse.explain.durability import causing_variables
from plimsoll.analyse.explain.equivalence import makes_machines_equal
from plimsoll.analyse.findings.doubts import Doubt, Place
from plimsoll.analyse.findings.systems import EncryptionBetween, EncryptionWithin
from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.trial.instances import sources_of
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.environment import InstanceFacts
from plimsoll.spec.server_options import switch_spelling
from plimsoll.units import parse_whole

TLS_FACTOR = "tls"
"""The factor that says how a system's connections were to be encrypted; one of `plimsoll.spec.target.MODES`."""

_ENCRYPTION = "encryption"
_BUFFER_POOL = "buffer_pool_bytes"
_SERVER = "server"

PER_INSTANCE = "connections per instance"

_ONLY_SOME_HAVE = frozenset({"target", "host", TLS_FACTOR, "profile", "data_dir", PER_INSTANCE})
"""Factors that say how a study file or a table describes a system. Others lack them, and nothing follows from that."""

NOT_SET = "not set"
"""The value of a factor that a study file sets for another system and not for this one: the server's default."""

_SIZE_TOLERANCE = 0.02
"""Servers round the sizes of their buffer pools, and several of them divide one by whole MiB."""

FactorDifference = tuple[str, str, str]
"""Name, the base's value, the system's value."""

OneSidedFactor = tuple[str, str | None, str | None]
"""Name, the base's value, the system's value; None for the one that is not known."""


@dataclass(frozen=True, slots=True)
class Factors:
    """What is known of one point of a system.

    Attributes:
        system: Whose.
        stated: By name: what the study file, the source of an import or the level says.
    """

    system: SystemSummary
    stated: Mapping[str, str]

    def value(self, name: str) -> str | None:
        """The effective value, else what is stated; None when neither is known."""
        effective = effective_value(self.system, name)
        return self.stated.get(name) if effective is None else effective

    def value_by_name(self, name: str) -> str | None:
        """The value as a study file or a table calls it, whatever the server says; None where it has no such factor."""
        return self.system.factor_values.get(name, self.stated.get(name))

    def value_beside(self, name: str, other: SystemSummary) -> str | None:
        """The value; `NOT_SET` where a study file sets it for another system and says all of this one."""
        value = self.value(name)
        return NOT_SET if value is None and is_unset(name, self.system, other) else value


@dataclass(frozen=True, slots=True)
class FactorComparison:
    """How two systems differ.

    Attributes:
        differing: Factors whose values are known of both and not the same, in the order in which the two state them.
        one_sided: Factors that are known of one of them only.
    """

    differing: tuple[FactorDifference, ...] = ()
    one_sided: tuple[OneSidedFactor, ...] = ()


def factors_of(system: SystemSummary, extra: Mapping[str, str] | None = None) -> Factors:
    """All factors of a system: stated, reported, size, encryption, and `extra`, which only some point has.

    What a system is called is no factor. Empty values are as good as missing and left out.
    """
    stated = {
        **system.environment.reported_factors,
        **system.factors,
        **(extra or {}),
        "instances": str(system.instances),
    }
    stated[_ENCRYPTION] = encryption_words(system.encryptions) or ""
    return Factors(system, {name: text.strip() for name, text in stated.items() if text.strip()})


def compare_factors(base: Factors, system: Factors) -> FactorComparison:
    """How two points of systems differ.

    Plain connections that `tls` asks for follow from it, and are no second factor. Settings that put two servers into
    different classes of durability are one factor, whichever and however many they are.
    """
    names = dict.fromkeys((*base.stated, *system.stated))
    known = [(name, base.value_beside(name, system.system), system.value_beside(name, base.system)) for name in names]
    differing = tuple(
        (name, base_value, system_value)
        for name, base_value, system_value in known
        if base_value is not None
        and system_value is not None
        and _differs(name, base_value, system_value)
        and not (NOT_SET in (base_value, system_value) and makes_machines_equal(name, base.system, system.system))
    )
    asked = any(name == TLS_FACTOR and "disabled" in values for name, *values in differing)
    return FactorComparison(
        _by_durability(
            tuple(factor for factor in differing if not (asked and factor[0] == _ENCRYPTION and PLAIN in factor[1:])),
            base,
            system,
        ),
        tuple(
            factor
            for factor in known
            if None in factor[1:]
            and factor[0] not in _ONLY_SOME_HAVE
            and not makes_machines_equal(factor[0], base.system, system.system)
        ),
    )


def is_unset(name: str, system: SystemSummary, other: SystemSummary) -> bool:
    """Whether a study file sets a factor for another system, and says all of this one without it."""
    is_written_out = system.origin == "measured" and _SERVER in system.factors
    return is_written_out and name in other.factors and name not in {*system.factors, *_ONLY_SOME_HAVE}


def _by_durability(
    differing: tuple[FactorDifference, ...], base: Factors, system: Factors
) -> tuple[FactorDifference, ...]:
    base_durability, system_durability = base.system.durability, system.system.durability
    if base_durability is None or system_durability is None or base_durability.name == system_durability.name:
        return differing
    causing = causing_variables(base_durability, system_durability)
    rest = tuple(factor for factor in differing if _variable_name(factor[0]) not in causing)
    return (("durability", base_durability.name, system_durability.name), *rest)


def effective_value(system: SystemSummary, name: str) -> str | None:
    """What the servers of a system say of themselves about a factor; None where they do not."""
    instances = sources_of(system.environment)
    if name == _SERVER:
        return _together(instance.flavour for instance in instances)
    if name == _BUFFER_POOL:
        sizes = [parse_whole(instance.variables.get("innodb_buffer_pool_size", "")) for instance in instances]
        known = [size for size in sizes if size is not None]
        return str(sum(known)) if known and len(known) == len(sizes) else None
    return _together(_variable(instance, name) for instance in instances)


def _differs(name: str, value: str, other: str) -> bool:
    sizes = (parse_whole(value), parse_whole(other)) if name == _BUFFER_POOL else (None, None)
    if sizes[0] is not None and sizes[1] is not None:
        return abs(sizes[0] - sizes[1]) > _SIZE_TOLERANCE * max(sizes[0], sizes[1])
    return switch_spelling(value) != switch_spelling(other)


def _variable(instance: InstanceFacts, factor: str) -> str | None:
    return instance.variables.get(_variable_name(factor))


def _variable_name(factor: str) -> str:
    return factor.replace("-", "_").rsplit(".", 1)[-1].strip().lower().removeprefix("loose_")


def _together(values: Iterable[str | None]) -> str | None:
    """The value of all instances; all their values where they disagree, None where one is not known."""
    distinct = dict.fromkeys(values)
    return None if None in distinct or not distinct else " | ".join(value for value in distinct if value is not None)


PLAIN = "none"
"""Stands for connections in plain."""


def encryptions_of(trials: Iterable[TrialSummary]) -> dict[str, int]:
    """In how many trials connections were encrypted how, as version and cipher suite; empty where that is unknown."""
    return dict(Counter(way for trial in trials if (way := _way(trial)) is not None))


def encryption_words(encryptions: Mapping[str, int]) -> str | None:
    """How a system's connections were encrypted, in one line; None where that is unknown.

    >>> encryption_words({"none": 3}), encryption_words({"none": 3, "TLSv1.2 X": 1})
    ('none', 'none (3 trials), TLSv1.2 X (1 trial)')
    """
    if len(encryptions) < 2:
        return next(iter(encryptions), None)
    return ", ".join(f"{way} ({count} trial{'' if count == 1 else 's'})" for way, count in encryptions.items())


def check_encryption(systems: Sequence[SystemSummary]) -> Iterator[Doubt]:
    """Doubts about trials of a system that were not encrypted alike, and about systems that were not."""
    for system in systems:
        if len(system.encryptions) > 1:
            ways = tuple(system.encryptions.items())
            yield Place(system.name).doubt(EncryptionWithin(system=system.name, trials=ways))
    yield from _between([system for system in systems if len(system.encryptions) == 1])


def _between(systems: Sequence[SystemSummary]) -> Iterator[Doubt]:
    """Systems of which each was connected to in one way."""
    ways: dict[str, list[str]] = {}
    for system in systems:
        ways.setdefault(next(iter(system.encryptions)), []).append(system.name)
    doubted = {system.name for pair in combinations(systems, 2) if _is_doubt(*pair) for system in pair}
    systems_by_way = tuple((way, *names) for way, names in ways.items())
    for system in systems:
        if system.name in doubted:
            yield Place(system.name).doubt(EncryptionBetween(ways=systems_by_way), 1.0)


def _is_doubt(system_summary: SystemSummary, other: SystemSummary) -> bool:
    meant = any(
        PLAIN in system.encryptions and system.factors.get(TLS_FACTOR) == "disabled"
        for system in (system_summary, other)
    )
    return system_summary.encryptions.keys() != other.encryptions.keys() and not meant


def _way(trial_summary: TrialSummary) -> str | None:
    made = trial_summary.outcome.connections
    ways = {record.agreed or PLAIN for record in made.encryptions} if made is not None else set()
    return " and ".join(sorted(ways)) or None
