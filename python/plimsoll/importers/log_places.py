"""Which system, workload and level a run belongs to: what its log, its file's name and the user say, in agreement.

The name of a file is read by a pattern such as `{factor:vendor}/{factor:version}/{connections}.log`. Deliberately not
here: reading logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.errors import SpecError
from plimsoll.importers.systems import name_of_factors


@dataclass(frozen=True, slots=True)
class NameRead:
    """What a name says.

    Attributes:
        fields: `system`, `workload`, `connections`, `warehouses`, where the pattern has them; parts of one are joined
            by spaces.
        factors: By their names, in the order of the pattern.
        passed_over: The texts that `{any}` stood for.
    """

    fields: Mapping[str, str]
    factors: Mapping[str, str]
    passed_over: tuple[str, ...]


CONNECTIONS_MAX = 1_000_000
WAREHOUSES_MAX = 10_000_000

_NUMBERS_MAX = {"connections": CONNECTIONS_MAX, "warehouses": WAREHOUSES_MAX}
_CURES = {
    "system": "Say --system NAME",
    "workload": "Say --workload NAME",
    "connections": "Say --connections N",
}
_OPTIONAL = ("warehouses",)
_NOTHING_READ = NameRead({}, {}, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """What the user says about logs that they do not.

    Attributes:
        pattern: Of the files' names, such as `{system}-{workload}-{connections}.log`; `{factor:NAME}` tells systems
            apart, `{any}` is text of no meaning.
        system: Name of the system of all logs.
        workload: Name of the workload of all logs.
        connections: Of all logs.
        warehouses: Scale of the TPC-C-derived tables of all logs.
    """

    pattern: str | None = None
    system: str | None = None
    workload: str | None = None
    connections: int | None = None
    warehouses: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run belongs in a study.

    Attributes:
        warehouses: None where nobody says.
        factors: What tells the system from others, by name; its name is made of them.
        passed_over: What stood in the file's name where the pattern has `{any}`.
    """

    system: str
    workload: str
    connections: int
    warehouses: int | None = None
    factors: Mapping[str, str] = field(default_factory=dict)
    passed_over: tuple[str, ...] = ()


class Placing:
    """Finds the place of runs.

    Attributes:
        faults: What is unknown, or said in two ways: one line each.
    """

    def __init__(self, options: LogOptions) -> None:
        """Raises SpecError when the options are wrong."""
        self._options = options
        self._pattern = NamePattern(options.pattern) if options.pattern else None
        for what, most in _NUMBERS_MAX.items():
            value = getattr(options, what)
            if value is not None and not 0 < value <= most:
                raise SpecError(f"--{what}: must be 1 to {most}, is {value}")
        self.faults: list[str] = []

    def place(
        self, path: Path, line: int, log: Mapping[str, str | int | None], *, workload: str | None = None
    ) -> Place | None:
        """Where a run belongs; None with new faults when that cannot be said.

        Args:
            path: Its file.
            line: Its first line there.
            log: What the log itself says.
            workload: Its name where nobody says another.
        """
        before = len(self.faults)
        named = self._of_name(path)
        fields = {}
        for what in (*_CURES, *_OPTIONAL):
            sources = {
                "the log": log.get(what),
                "the file's name": named.fields.get(what),
                f"--{what}": getattr(self._options, what),
            }
            claims = {source: str(value) for source, value in sources.items() if value}
            if what == "workload" and workload and not claims:
                claims = {"the kit": workload}
            if what == "system" and not claims and named.factors:
                claims = {"the file's name": name_of_factors("", named.factors)}
            elif what == "system" and named.factors:
                claims = {source: name_of_factors(name, named.factors) for source, name in claims.items()}
            self._judge(f"{path}: line {line}: {what}", what, claims)
            fields[what] = next(iter(claims.values()), "")
        if len(self.faults) > before:
            return None
        warehouses = int(fields["warehouses"] or 0) or None
        connections = int(fields["connections"])
        return Place(fields["system"], fields["workload"], connections, warehouses, named.factors, named.passed_over)

    def _judge(self, where: str, what: str, claims: dict[str, str]) -> None:
        most = _NUMBERS_MAX.get(what)
        if most is not None and any(not 0 < int(value) <= most for value in claims.values()):
            self.faults.append(f"{where}: must be 1 to {most}, is {', '.join(claims.values())}")
            return
        unseen = next((value for value in claims.values() if not value.isprintable()), None)
        if unseen is not None:
            self.faults.append(f"{where} must be printable text, is {unseen!r}. Give it another name")
        elif not claims and what not in _OPTIONAL:
            self.faults.append(
                f"{where} is unknown: the log does not say it. {_CURES[what]}, or --pattern with {{{what}}}"
            )
        elif len(set(claims.values())) > 1:
            words = ", ".join(f"{source} says {value!r}" for source, value in claims.items())
            self.faults.append(f"{where} is contradictory: {words}. Correct what is wrong, or leave it out")

    def _of_name(self, path: Path) -> NameRead:
        try:
            return self._pattern.read(path) if self._pattern else _NOTHING_READ
        except SpecError as error:
            self._say(str(error))
            return _NOTHING_READ

    def _say(self, fault: str) -> None:
        if fault not in self.faults:
            self.faults.append(fault)


_NUMBER = r"\d{1,8}"
_FIELDS = {"system": ".+", "workload": ".+", "connections": _NUMBER, "warehouses": _NUMBER, "any": ".*"}
_NUMBERS = ("connections", "warehouses")
_PACKED = ".gz"
_FACTOR = "factor:"
_PART = re.compile(r"\{(factor:[\w .-]{1,64}|\w+)\}", re.ASCII)
_KNOWN = f"Known are {', '.join(f'{{{name}}}' for name in _FIELDS)} and {{factor:NAME}}"


class NamePattern:
    """Reads names. Each is read twice, with parts as short and as long as can be: where both agree there is one way."""

    def __init__(self, pattern: str) -> None:
        """Raises SpecError when the pattern is wrong."""
        if faults := list(_faults(pattern)):
            raise SpecError(*faults)
        self._pattern = pattern
        self._names = [match[1] for match in _PART.finditer(pattern)]
        self._expressions = [_expression(pattern, lazy) for lazy in ("?", "")]

    def read(self, path: Path) -> NameRead:
        """What a file's name says, with as many of its folders as the pattern has.

        Raises:
            SpecError: It does not fit, or can be read in several ways.
        """
        name = "/".join(path.parts[-1 - self._pattern.count("/") :])
        name = name if self._pattern.endswith(_PACKED) else name.removesuffix(_PACKED)
        first, last = (expression.fullmatch(name) for expression in self._expressions)
        if first is None or last is None:
            raise SpecError(
                f"{path}: its name does not fit --pattern {self._pattern!r}. Leave the file out, or change the pattern"
            )
        readings = [self._read(match.groups()) for match in (first, last)]
        pairs = [(reading.fields, reading.factors) for reading in readings]
        if pairs[0] != pairs[1]:
            ways = " or ".join(_shown({**fields, **factors}) for fields, factors in pairs)
            raise SpecError(
                f"{path}: --pattern {self._pattern!r} reads its name in several ways: {ways}. Rename it, or use folders"
            )
        return readings[0]

    def _read(self, texts: tuple[str, ...]) -> NameRead:
        parts: dict[str, list[str]] = {}
        for name, text in zip(self._names, texts, strict=True):
            parts.setdefault(name, []).append(str(int(text)) if name in _NUMBERS else text)
        passed_over = tuple(parts.pop("any", ()))
        joined = {name: " ".join(part) for name, part in parts.items()}
        factors = {name.removeprefix(_FACTOR): text for name, text in joined.items() if name.startswith(_FACTOR)}
        return NameRead({name: text for name, text in joined.items() if name in _FIELDS}, factors, passed_over)


def _expression(pattern: str, lazy: str) -> re.Pattern[str]:
    texts = _PART.split(pattern)  # text and names in turn
    parts = (
        f"({_FIELDS.get(part, '.+')}{lazy})" if number % 2 else re.escape(part) for number, part in enumerate(texts)
    )
    return re.compile("".join(parts), re.ASCII | re.DOTALL)


def _faults(pattern: str) -> Iterator[str]:
    names = _PART.findall(pattern)
    for name in dict.fromkeys(names):
        if name not in _FIELDS and not name.startswith(_FACTOR):
            yield f"--pattern: {{{name}}} is unknown. {_KNOWN}"
        elif name in _NUMBERS and names.count(name) > 1:
            yield f"--pattern: {{{name}}} stands twice. Use {{any}} for text without a meaning"
    if not [name for name in names if name != "any" and (name in _FIELDS or name.startswith(_FACTOR))]:
        yield f"--pattern: {pattern!r} names nothing. {_KNOWN}"
    if re.search(r"[{}]", _PART.sub("", pattern)):
        yield f"--pattern: {pattern!r}: a bracket is left over. {_KNOWN}"


def _shown(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in values.items())
