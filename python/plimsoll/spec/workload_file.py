"""A workload file as users write it: tables, transactions and parameters; all faults at once.

Deliberately not here: its tables (`workload_tables`), what transactions do (`transactions`), what must hold between its
parts (`workload_checks`), where files lie (`statements`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from plimsoll.errors import SpecError
from plimsoll.spec.fields import Written, faults_of
from plimsoll.spec.generators import GeneratorSpec
from plimsoll.spec.learned import CheckedKind, LearnedCheck, LearnedSpec
from plimsoll.spec.sound_part import Loc, untouched, without
from plimsoll.spec.sql_names import ValueName, a_list
from plimsoll.spec.transactions import StatementSpec, TransactionSpec
from plimsoll.spec.workload_parameters import filled, overridden
from plimsoll.spec.workload_tables import ForeignKeySpec, IndexSpec, TableSpec

TABLES_MAX = 10_000


class WorkloadFile(Written):
    """A whole workload file, its parameters put in.

    Attributes:
        description: What it is for; shown nowhere but in the file.
        prepared: Statements are prepared once for each connection; otherwise they are sent as text.
        parameters: Names for values: `"$name"` anywhere else stands for one.
        learned: The log that it was learned from; changes nothing that runs.
    """

    description: str | None = None
    prepared: bool = True
    parameters: dict[ValueName, Any] = Field(default_factory=dict)
    table: Annotated[tuple[TableSpec, ...], BeforeValidator(a_list)] = ()
    transaction: Annotated[tuple[TransactionSpec, ...], BeforeValidator(a_list), Field(min_length=1)]
    learned: LearnedSpec | None = None

    @cached_property
    def tables(self) -> dict[str, TableSpec]:
        """By name."""
        return {table.name: table for table in self.table}


_GENERATOR = tuple(field.alias or name for name, field in GeneratorSpec.model_fields.items())
_KNOWN = {
    "": tuple(WorkloadFile.model_fields),
    "table": tuple(TableSpec.model_fields),
    "table.column": ("name", "type", "auto_increment", "nullable", *_GENERATOR),
    "table.index": tuple(IndexSpec.model_fields),
    "table.foreign_key": tuple(ForeignKeySpec.model_fields),
    "transaction": tuple(TransactionSpec.model_fields),
    "transaction.statement": tuple(StatementSpec.model_fields),
    "learned": tuple(field.alias or name for name, field in LearnedSpec.model_fields.items()),
    "learned.check": tuple(LearnedCheck.model_fields),
    "learned.check.figures": tuple(CheckedKind.model_fields),
}


def parse_workload(
    text: str, *, rows: Mapping[str, int] | None = None, parameters: Mapping[str, Any] | None = None
) -> WorkloadFile:
    """Checks the text of a workload file.

    Args:
        text: All of it.
        rows: By table, another number of rows than the file has.
        parameters: By name, other values than the file has.

    Raises:
        SpecError: All faults at once, one line each.
    """
    from plimsoll.spec.workload_checks import contradictions

    written = _loaded(text)
    faults = [*overridden(written, rows or {}, parameters or {})]
    written, unknown = filled(written)
    faults += unknown
    try:
        file = WorkloadFile.model_validate(written)
    except ValidationError as error:
        explained = {line.split(":")[0] for line in faults}
        found = _without_empty(faults_of(error, known=_KNOWN))
        faults += (line for line in found if line.split(":")[0] not in explained)
        faults += _between_sound_parts(written, [one["loc"] for one in error.errors()])
        raise SpecError(*faults) from None
    faults += contradictions(file)
    if faults:
        raise SpecError(*faults)
    return file


def _between_sound_parts(written: dict[str, Any], locs: list[Loc]) -> Iterator[str]:
    """What else does not hold in a file that is wrong at these places."""
    from plimsoll.spec.workload_checks import contradictions

    try:
        file = WorkloadFile.model_validate(without(written, locs))
    except ValidationError:
        return
    yield from untouched(contradictions(file), written, locs)


def _loaded(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"is not TOML: {error}") from None
    except ValueError as error:  # a number of thousands of digits
        raise SpecError(f"holds a value that cannot be read: {error}") from None
    except RecursionError:
        raise SpecError("is nested too deeply; this is no workload file") from None


def _without_empty(faults: tuple[str, ...]) -> list[str]:
    """Leaves out lists that count as empty only because their items are wrong."""
    inner = {line.split(":")[0].rpartition("[")[0] for line in faults if "[" in line.split(":")[0]}
    return [line for line in faults if not (line.split(":")[0] in inner and "must not be empty" in line)]
