"""Which system, workload and level a run belongs to: what its log, its file's name and the user say, in agreement.

Deliberately not here: reading logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import SpecError

CONNECTIONS_MAX = 1_000_000
WAREHOUSES_MAX = 10_000_000

_NUMBER = r"\d{1,8}"
_FIELDS = {"system": ".+", "workload": ".+", "connections": _NUMBER, "warehouses": _NUMBER, "any": ".*"}
_NUMBERS_MAX = {"connections": CONNECTIONS_MAX, "warehouses": WAREHOUSES_MAX}
_CURES = {
    "system": "Say --system NAME",
    "workload": "Say --workload NAME",
    "connections": "Say --connections N",
}
_OPTIONAL = ("warehouses",)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """What the user says about logs that they do not.

    Attributes:
        pattern: Of the files' names, such as `{system}-{workload}-{connections}.log`; `{any}` is text of no meaning.
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
    """

    system: str
    workload: str
    connections: int
    warehouses: int | None = None


class Placing:
    """Finds the place of runs.

    Attributes:
        faults: What is unknown, or said in two ways: one line each.
    """

    def __init__(self, options: LogOptions) -> None:
        """Raises SpecError when the options are wrong."""
        self._options = options
        self._expressions = _expressions(options.pattern) if options.pattern else None
        for what, most in _NUMBERS_MAX.items():
            told = getattr(options, what)
            if told is not None and not 0 < told <= most:
                raise SpecError(f"--{what}: must be 1 to {most}, is {told}")
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
        found = {}
        for what in (*_CURES, *_OPTIONAL):
            told = {
                "the log": log.get(what),
                "the file's name": named.get(what),
                f"--{what}": getattr(self._options, what),
            }
            said = {source: str(value) for source, value in told.items() if value}
            if what == "workload" and workload and not said:
                said = {"the kit": workload}
            self._judge(f"{path}: line {line}: {what}", what, said)
            found[what] = next(iter(said.values()), "")
        if len(self.faults) > before:
            return None
        return Place(
            found["system"], found["workload"], int(found["connections"]), int(found["warehouses"] or 0) or None
        )

    def _judge(self, where: str, what: str, said: dict[str, str]) -> None:
        most = _NUMBERS_MAX.get(what)
        if most is not None and any(not 0 < int(value) <= most for value in said.values()):
            self.faults.append(f"{where}: must be 1 to {most}, is {', '.join(said.values())}")
            return
        unseen = next((value for value in said.values() if not value.isprintable()), None)
        if unseen is not None:
            self.faults.append(f"{where} must be printable text, is {unseen!r}. Give it another name")
        elif not said and what not in _OPTIONAL:
            self.faults.append(
                f"{where} is unknown: the log does not say it. {_CURES[what]}, or --pattern with {{{what}}}"
            )
        elif len(set(said.values())) > 1:
            words = ", ".join(f"{source} says {value!r}" for source, value in said.items())
            self.faults.append(f"{where} is contradictory: {words}. Correct what is wrong, or leave it out")

    def _of_name(self, path: Path) -> dict[str, str | int]:
        if self._expressions is None:
            return {}
        pattern = self._options.pattern or ""
        name = "/".join(path.parts[-1 - pattern.count("/") :])
        first, last = (expression.fullmatch(name) for expression in self._expressions)
        if first is None or last is None:
            self._say(f"{path}: its name does not fit --pattern {pattern!r}. Leave the file out, or change the pattern")
            return {}
        if first.groupdict() != last.groupdict():
            ways = " or ".join(_shown(match.groupdict()) for match in (first, last))
            self._say(
                f"{path}: --pattern {pattern!r} reads its name in several ways: {ways}. Rename it, or use folders"
            )
            return {}
        groups: dict[str, str | int] = dict(first.groupdict())
        return groups | {what: int(groups[what]) for what in _NUMBERS_MAX if what in groups}

    def _say(self, fault: str) -> None:
        if fault not in self.faults:
            self.faults.append(fault)


def _shown(groups: dict[str, str]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in groups.items())


def _expressions(pattern: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The pattern with names as short, and as long as can be: where both agree, there is one way to read a name."""
    if faults := list(_pattern_faults(pattern)):
        raise SpecError(*faults)
    return _expression(pattern, "?"), _expression(pattern, "")


def _expression(pattern: str, lazy: str) -> re.Pattern[str]:
    parts = []
    for part in re.split(r"(\{\w+\})", pattern):
        name = part[1:-1]
        if not part.startswith("{"):
            parts.append(re.escape(part))
        elif name == "any":
            parts.append(_FIELDS[name] + lazy)
        else:
            parts.append(f"(?P<{name}>{_FIELDS[name]}{lazy})")
    return re.compile("".join(parts), re.ASCII | re.DOTALL)


def _pattern_faults(pattern: str) -> Iterator[str]:
    names = re.findall(r"\{(\w+)\}", pattern)
    cure = f"Known are {', '.join(f'{{{name}}}' for name in _FIELDS)}"
    for name in dict.fromkeys(names):
        if name not in _FIELDS:
            yield f"--pattern: {{{name}}} is unknown. {cure}"
        elif name != "any" and names.count(name) > 1:
            yield f"--pattern: {{{name}}} stands twice. Use {{any}} for text without a meaning"
    if not set(names) & (_FIELDS.keys() - {"any"}):
        yield f"--pattern: {pattern!r} names nothing. {cure}"
    if re.search(r"[{}]", re.sub(r"\{\w+\}", "", pattern)):
        yield f"--pattern: {pattern!r}: a bracket is left over. {cure}"
