"""Field types of what users write: durations, sizes, names; and faults as lines with path, value and cure.

Files are TOML. Names are those that people read, and in workload files those of tables, columns and values in
statements.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from plimsoll.errors import Fault, Loc, SpecError
from plimsoll.regular_file import text_regular
from plimsoll.spec.server_options import OptionValue
from plimsoll.units import parse_duration_s, parse_percent, parse_size_bytes


class Written(BaseModel):
    """Something a person wrote. Unknown keys are faults, values are not converted behind the writer's back."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def parse_toml(text: str, kind: str) -> dict[str, Any]:
    """Parses the text of a file.

    Args:
        text: All of it.
        kind: What the file ought to be, such as "study file".

    Raises:
        SpecError: It is no TOML.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"is not TOML: {error}") from None
    except ValueError as error:  # a number of thousands of digits
        raise SpecError(f"holds a value that cannot be read: {error}") from None
    except RecursionError:
        raise SpecError(f"is nested too deeply; this is no {kind}") from None


def read_toml(path: Path, bytes_max: int, kind: str) -> dict[str, Any]:
    """Reads and parses a file.

    Args:
        path: The file.
        bytes_max: A larger one is refused.
        kind: As `parse_toml` takes it.

    Raises:
        SpecError: It cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(text_regular(path, bytes_max))
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # not TOML, not UTF-8, or a number of thousands of digits
        raise SpecError(f"{path}: is not TOML: {error}") from None
    except RecursionError:
        raise SpecError(f"{path}: is nested too deeply; this is no {kind}") from None


class WithLaterKeys(Written):
    """Something written that got more keys later: those are not said while they are not given.

    So what says nothing of them keeps the identity that it had before there were such keys.
    """

    LATER: ClassVar[frozenset[str]] = frozenset()
    """The keys that came later."""

    @model_serializer(mode="wrap")
    def _without_later(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return self.without_later(serialize(self))

    def without_later(self, fields: dict[str, Any]) -> dict[str, Any]:
        """What was serialised, without later keys that were not given."""
        unsaid: set[str] = set()
        for key in self.LATER:
            field = type(self).model_fields[key]
            if getattr(self, key) == field.get_default(call_default_factory=True):
                unsaid |= {key, field.alias or key}
        return {key: value for key, value in fields.items() if key not in unsaid}


def reader(parse: Callable[[str], float | None], example: str) -> BeforeValidator:
    """A validator that reads text with `parse`. A number without a unit is a fault."""

    def read(value: object) -> float | None:
        if not isinstance(value, str):
            raise ValueError(f'must be text with a unit, such as "{example}", is {_shown(value)}')
        try:
            return parse(value)
        except SpecError as error:
            raise ValueError(str(error)) from None

    return BeforeValidator(read)


def _shown(value: object) -> str:
    """The value as people wrote it, shortened, and never with the password of a URL."""
    text = _URL_PASSWORD.sub(r"\1…@", repr(value)[:1000])
    return text if len(text) <= 80 else f"{text[:77]}…"


_URL_PASSWORD = re.compile(r"(://[^\s:@/]*:)\S*@")

DurationS = Annotated[float, reader(parse_duration_s, "60s")]
"""Written as "60s"; kept in seconds."""

SizeBytes = Annotated[int, reader(parse_size_bytes, "2G")]
"""Written as "2G"; kept in bytes."""

WarmUp = Annotated[
    float | None, reader(lambda text: None if text == "auto" else parse_duration_s(text), '120s" or "auto')
]
"""Written as "auto" (kept as None: found from the data) or as a duration; kept in seconds."""


def _read_repetitions(value: object) -> object:
    """None for "auto"."""
    if value is None or (isinstance(value, str) and value != "auto"):
        raise ValueError(f'must be a whole number or "auto", is {_shown(value)}')
    return None if value == "auto" else value


Length = Annotated[
    float | None, reader(lambda text: None if text == "auto" else parse_duration_s(text), '60s" or "auto')
]
"""Written as "auto" (kept as None: found from the data) or as a duration; kept in seconds."""


def _parse_share(text: str) -> float:
    share = parse_percent(text)
    if not 0 < share < 1:
        raise SpecError(f'must be above "0%" and below "100%", is {share * 100:g} %')
    return share


Share = Annotated[float, reader(_parse_share, "5%")]
"""Written as "5%"; kept as 0.05."""

TimeLimit = Annotated[
    float | None, reader(lambda text: None if text == "none" else parse_duration_s(text), '60s" or "none')
]
"""Written as "none" (kept as None: there is no limit) or as a duration; kept in seconds."""


def name_fault(name: str) -> str | None:
    """What is wrong with a name that people read and tell from others; None when nothing is.

    >>> name_fault("two words"), name_fault("two ")
    (None, "must not begin or end with a space, is 'two '")
    """
    if not name.strip():
        return f"must not be empty or blank, is {name!r}"
    if not name.isprintable():
        return f"must not contain control characters or others that are not to be seen, is {name!a}"
    if name != name.strip():
        return f"must not begin or end with a space, is {name!r}"
    return None


def _checked_name(name: str) -> str:
    if fault := name_fault(name):
        raise ValueError(fault)
    return name


Name = Annotated[str, Field(max_length=100), AfterValidator(_checked_name)]
"""A name that people read."""


def _checked_place(path: str) -> str:
    if not path or "\0" in path:
        raise ValueError(f"must be a path, without a NUL character in it, is {path!a}")
    return path


Place = Annotated[str, AfterValidator(_checked_place)]
"""The path of a file or folder."""


def _checked_variable(name: str) -> str:
    """A fault does not repeat what may be the password itself."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError("must be the name of an environment variable: letters, digits and _")
    return name


VariableName = Annotated[str, AfterValidator(_checked_variable)]
"""The name of an environment variable."""


def _plain_value(value: object) -> object:
    if not isinstance(value, OptionValue):
        raise ValueError(f"must be text, a number, true or false, is {str(value)[:60]!r}")
    return value


PlainValue = Annotated[OptionValue, BeforeValidator(_plain_value)]
"""Text, a number, true or false."""

Count = Annotated[int, Field(gt=0, le=2**31 - 1)]
"""A number of things, at least one; the engine counts them in 32 bits."""

Repetitions = Annotated[Count | None, BeforeValidator(_read_repetitions)]
"""Written as a number, or as "auto" (kept as None: until the answer is decided)."""

_MESSAGES = {
    "missing": "is missing",
    "extra_forbidden": "is not a known key",
    "greater_than": "must be > {gt}",
    "greater_than_equal": "must be >= {ge}",
    "less_than": "must be < {lt}",
    "less_than_equal": "must be <= {le}",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "finite_number": "must be a finite number",
    "literal_error": "must be one of {expected}",
    "model_type": "must be a table such as {{ key = value }}",
    "dict_type": "must be a table such as {{ key = value }}",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must be of the form {pattern}",
    "string_too_long": "must have at most {max_length} characters",
}


def faults_of(error: ValidationError, *, known: dict[str, tuple[str, ...]] | None = None) -> tuple[Fault, ...]:
    """The faults that pydantic found. A list that counts as empty only because its items are wrong is none.

    Args:
        error: What pydantic found.
        known: By the path of a table (without indexes), the keys that it may have, to suggest the nearest.
    """
    details: list[dict[str, Any]] = [dict(fault) for fault in error.errors()]
    lists = {
        detail["loc"][:index] for detail in details for index, part in enumerate(detail["loc"]) if isinstance(part, int)
    }
    return tuple(
        _fault(detail, known or {}) for detail in details if detail["type"] != "too_short" or detail["loc"] not in lists
    )


GENERATOR = "(generator)"
"""Where models have the keys of a way to make values; no part of a fault's path."""


def sound_path(loc: Loc) -> Loc:
    """The path of a fault as the document has it: pydantic names in parentheses which of several models was meant."""
    return tuple(part for part in loc if not (isinstance(part, str) and part.startswith("(")))


def _fault(fault: dict[str, Any], known: dict[str, tuple[str, ...]]) -> Fault:
    loc, kind, value = fault["loc"], fault["type"], fault["input"]
    path, way = sound_path(loc), loc[-2].strip("()") if loc[-3:-2] == (GENERATOR,) else None
    if kind == "extra_forbidden":
        is_of_another = way is not None and str(path[-1]) in known.get(GENERATOR, ())
        unknown = f"does not belong to {way!r}" if is_of_another else f"is not a known key{_suggestion(path, known)}"
        return Fault(path, unknown)
    if kind == "missing":
        return Fault(path, "is missing" if way is None else f"is missing; {way!r} needs it")
    if kind == "union_tag_invalid" and loc[-1] == GENERATOR:
        return Fault((*path, "generate"), _no_way(fault["ctx"]))
    if kind == "value_error":
        return Fault(path, str(fault["ctx"]["error"]))
    text = _MESSAGES.get(kind, fault["msg"]).format(**fault.get("ctx", {}))
    return Fault(path, f"{text}, is {_shown(value)}")


def _suggestion(path: Loc, known: dict[str, tuple[str, ...]]) -> str:
    parent = ".".join(part for part in path[:-1] if isinstance(part, str))
    keys = known.get(parent, ())
    return " for what stands beside it" if str(path[-1]) in keys else suggestion(str(path[-1]), keys)


def _no_way(context: dict[str, Any]) -> str:
    tag, ways = context["tag"].strip("()"), context["expected_tags"].replace("(", "").replace(")", "")
    plain = ways.replace("'", "")
    return f"must be one of {ways}, is {tag!r}" if tag else f"is missing; one of {plain}"


def suggestion(written: str, known: Sequence[str]) -> str:
    """The end of a message about a name that is not known: the nearest one, else all that are.

    >>> suggestion("durabel", ["durable", "relaxed"]), suggestion("x", ["durable", "relaxed"])
    ('; did you mean durable?', '; known are durable, relaxed')
    """
    import difflib

    near = difflib.get_close_matches(written, known, n=1)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; known are {', '.join(known)}" if known else ""


NAME_MAX = 64

ValueName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
"""A name as it stands behind the colon in a statement."""


def _plain_name(name: str) -> str:
    """Servers take 64 characters of Unicode's first plane; people must be able to tell names from each other."""
    if fault := name_fault(name):
        raise ValueError(fault)
    if len(name) > NAME_MAX or any(ord(character) > 0xFFFF for character in name):
        raise ValueError(
            f"must be 1 to {NAME_MAX} characters, none beyond U+FFFF, which servers do not take, is {name!r}"
        )
    return name


SqlName = Annotated[str, AfterValidator(_plain_name)]
"""The name of a table, a column or an index; it is quoted, whatever is in it."""


def a_list(value: object) -> object:
    """TOML has lists, the models have tuples."""
    return tuple(value) if isinstance(value, list) else value
