"""Workload files on the command line: which one is meant, and what is changed in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from plimsoll.errors import SpecError
from plimsoll.spec.fields import faults_of
from plimsoll.spec.workloads import StatementsSpec, reader

_OF_BUILT_IN = ("tables", "table_size", "distribution", "warehouses")


def workload_from_file(name: str, written: Iterable[str], given: Mapping[str, object]) -> StatementsSpec:
    """A workload from a file, or from one that is shipped.

    Args:
        name: Path of the file, or name of a shipped one.
        written: Changes as KEY=VALUE, keys being `rows.TABLE` or `parameters.NAME`.
        given: Options of the command that were given, by the name of the key.

    Raises:
        SpecError: The file cannot be read or is wrong, or cannot be changed so; all faults at once.
    """
    faults = [
        f"--{key.replace('_', '-')}: belongs to built-in workloads; use --option rows.TABLE=N or parameters.NAME=V"
        for key in _OF_BUILT_IN
        if key in given
    ]
    changes: dict[str, dict[str, object]] = {"rows": {}, "parameters": {}}
    faults += _sorted_into(changes, written)
    if faults:
        raise SpecError(*faults)
    try:
        text = reader(Path())(name)
    except SpecError as error:
        raise SpecError(f"--workload: {error}") from None
    stem = Path(name).stem
    try:
        spec = StatementsSpec.model_validate(
            {"name": stem, "file": name, "text": text, "prepared": given.get("prepared"), **changes}
        )
    except ValidationError as error:
        raise SpecError(*(f"--option {fault}" for fault in faults_of(error))) from None
    try:
        _ = spec.definition
    except SpecError as error:
        raise SpecError(*(f"{name}: {fault}" for fault in error.faults)) from None
    return spec


def changes_of(written: Iterable[str]) -> dict[str, dict[str, object]]:
    """What is changed in a workload file, as the keys of its `[[workload]]`; what is no change is left out."""
    changes: dict[str, dict[str, object]] = {"rows": {}, "parameters": {}}
    list(_sorted_into(changes, written))
    return {key: value for key, value in changes.items() if value}


def _sorted_into(changes: dict[str, dict[str, object]], written: Iterable[str]) -> Iterator[str]:
    """Sorts changes by what they change; tells which are none."""
    from plimsoll.cli.option_values import toml_value

    for change in written:
        key, equals, value = change.partition("=")
        part, dot, name = key.strip().partition(".")
        if equals and dot and part in changes:
            changes[part][name] = toml_value(value.strip())
        else:
            yield f"--option: must be rows.TABLE=N or parameters.NAME=VALUE with a workload file, is {change[:60]!r}"
