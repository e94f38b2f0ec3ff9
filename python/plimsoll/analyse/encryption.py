"""How the connections of trials were encrypted, and whether systems that are compared were connected to alike.

Encryption takes processor time of client and server, and other versions and ciphers take other shares of it. A system
whose `tls` was disabled is in plain because the study says so: that is a factor and no doubt. Everything else, a server
that offers no encryption included, is a difference that nobody asked for.

Deliberately not here: which encryption there can be (`plimsoll.spec.tls`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from plimsoll.analyse.doubts import Code, Doubt, Place
from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.trial_summary import TrialSummary

PLAIN = "none"
"""Stands for connections in plain."""

TLS_FACTOR = "tls"
"""The factor that says how a system's connections were to be encrypted; one of `plimsoll.spec.tls.MODES`."""


def encryptions_of(trials: Iterable[TrialSummary]) -> dict[str, int]:
    """In how many trials connections were encrypted how, as version and cipher suite; empty where that is unknown."""
    return dict(Counter(way for one in trials if (way := _way(one)) is not None))


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
    for one in systems:
        if len(one.encryptions) > 1:
            ways = tuple(one.encryptions.items())
            yield Place(one.name).doubt(Code.ENCRYPTION_DIFFERS, "encryption-within", system=one.name, trials=ways)
    yield from _between([one for one in systems if len(one.encryptions) == 1])


def _between(systems: Sequence[SystemSummary]) -> Iterator[Doubt]:
    """Systems of which each was connected to in one way."""
    ways: dict[str, list[str]] = {}
    for one in systems:
        ways.setdefault(next(iter(one.encryptions)), []).append(one.name)
    doubted = {one.name for pair in combinations(systems, 2) if _is_doubt(*pair) for one in pair}
    told = tuple((way, *names) for way, names in ways.items())
    for one in systems:
        if one.name in doubted:
            yield Place(one.name).doubt(Code.ENCRYPTION_DIFFERS, "encryption-between", 1.0, ways=told)


def _is_doubt(one: SystemSummary, other: SystemSummary) -> bool:
    meant = any(PLAIN in system.encryptions and system.factors.get(TLS_FACTOR) == "disabled" for system in (one, other))
    return one.encryptions.keys() != other.encryptions.keys() and not meant


def _way(one: TrialSummary) -> str | None:
    made = one.outcome.connections
    ways = {record.agreed or PLAIN for record in made.encryptions} if made is not None else set()
    return " and ".join(sorted(ways)) or None
