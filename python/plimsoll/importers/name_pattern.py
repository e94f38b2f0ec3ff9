"""What the name of a file says, read by a pattern such as `{factor:vendor}/{factor:version}/{connections}.log`.

Deliberately not here: what the log and the user say (`log_places`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import SpecError

_NUMBER = r"\d{1,8}"
_FIELDS = {"system": ".+", "workload": ".+", "connections": _NUMBER, "warehouses": _NUMBER, "any": ".*"}
_NUMBERS = ("connections", "warehouses")
_PACKED = ".gz"
_FACTOR = "factor:"
_PART = re.compile(r"\{(factor:[\w .-]{1,64}|\w+)\}", re.ASCII)
_KNOWN = f"Known are {', '.join(f'{{{name}}}' for name in _FIELDS)} and {{factor:NAME}}"


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


class NamePattern:
    """Reads names. Each is read twice, with parts as short and as long as can be: where both agree there is one way."""

    def __init__(self, pattern: str) -> None:
        """Raises SpecError when the pattern is wrong."""
        if faults := list(_faults(pattern)):
            raise SpecError(*faults)
        self._pattern = pattern
        self._names = [found[1] for found in _PART.finditer(pattern)]
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
        told = [(one.fields, one.factors) for one in readings]
        if told[0] != told[1]:
            ways = " or ".join(_shown({**fields, **factors}) for fields, factors in told)
            raise SpecError(
                f"{path}: --pattern {self._pattern!r} reads its name in several ways: {ways}. Rename it, or use folders"
            )
        return readings[0]

    def _read(self, texts: tuple[str, ...]) -> NameRead:
        parts: dict[str, list[str]] = {}
        for name, text in zip(self._names, texts, strict=True):
            parts.setdefault(name, []).append(str(int(text)) if name in _NUMBERS else text)
        passed_over = tuple(parts.pop("any", ()))
        joined = {name: " ".join(found) for name, found in parts.items()}
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


def _shown(said: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in said.items())
