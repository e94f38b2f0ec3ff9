"""Which system, workload and level a run belongs to: what its log, its file's name and the user say, in agreement.

Deliberately not here: reading logs (`sysbench_log`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import SpecError
from plimsoll.importers.sysbench_lines import CONNECTIONS_MAX
from plimsoll.importers.sysbench_log import Run

_FIELDS = {"system": ".+", "workload": ".+", "connections": r"\d{1,7}", "any": ".*"}
_CURES = {
    "system": "Say --system NAME",
    "workload": "Say --workload NAME",
    "connections": "Say --connections N",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """What the user says about logs that they do not.

    Attributes:
        pattern: Of the files' names, such as `{system}-{workload}-{connections}.log`; `{any}` is text of no meaning.
        system: Name of the system of all logs.
        workload: Name of the workload of all logs.
        connections: Of all logs.
    """

    pattern: str | None = None
    system: str | None = None
    workload: str | None = None
    connections: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run belongs in a study."""

    system: str
    workload: str
    connections: int


class Placing:
    """Finds the place of runs.

    Attributes:
        faults: What is unknown, or said in two ways: one line each.
    """

    def __init__(self, options: LogOptions) -> None:
        """Raises SpecError when the options are wrong."""
        self._options = options
        self._expressions = _expressions(options.pattern) if options.pattern else None
        if options.connections is not None and not 0 < options.connections <= CONNECTIONS_MAX:
            raise SpecError(f"--connections: must be 1 to {CONNECTIONS_MAX}, is {options.connections}")
        self.faults: list[str] = []

    def place(self, path: Path, run: Run) -> Place | None:
        """Where the run belongs; None with new faults when that cannot be said."""
        before = len(self.faults)
        named = self._of_name(path)
        log = {"workload": run.command.workload if run.command else None, "connections": run.connections}
        found = {}
        for what in _CURES:
            told = {
                "the log": log.get(what),
                "the file's name": named.get(what),
                f"--{what}": getattr(self._options, what),
            }
            said = {source: str(value) for source, value in told.items() if value}
            self._judge(f"{path}: line {run.lines[0]}: {what}", what, said)
            found[what] = next(iter(said.values()), "")
        if len(self.faults) > before:
            return None
        return Place(found["system"], found["workload"], int(found["connections"]))

    def _judge(self, where: str, what: str, said: dict[str, str]) -> None:
        unseen = next((value for value in said.values() if not value.isprintable()), None)
        if unseen is not None:
            self.faults.append(f"{where} must be printable text, is {unseen!r}. Give it another name")
        elif not said:
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
        if "connections" in groups:
            groups["connections"] = int(groups["connections"])
        return groups

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
    if not set(names) & _CURES.keys():
        yield f"--pattern: {pattern!r} names nothing. {cure}"
    if re.search(r"[{}]", re.sub(r"\{\w+\}", "", pattern)):
        yield f"--pattern: {pattern!r}: a bracket is left over. {cure}"
