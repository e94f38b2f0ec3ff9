"""The parameters of a workload file, put in before it is looked at: `"$name"` stands for a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any


def overridden(written: dict[str, Any], rows: Mapping[str, int], parameters: Mapping[str, Any]) -> Iterator[str]:
    """Puts other numbers of rows and other parameters in; tells which there are none of."""
    listed = written.get("table")
    tables = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    for name, count in rows.items():
        found = [table for table in tables if table.get("name") == name]
        if not found:
            known = ", ".join(str(table.get("name")) for table in tables)
            yield f"rows.{name}: there is no such table; the file has {known or 'none'}"
        for table in found:
            table["rows"] = count
    stated = written.get("parameters")
    known_parameters = stated if isinstance(stated, dict) else {}
    for name, value in parameters.items():
        if name in known_parameters:
            known_parameters[name] = value
        else:
            known = ", ".join(known_parameters)
            yield f"parameters.{name}: there is no such parameter; the file has {known or 'none'}"


_REFERENCE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


def filled(written: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The file with the values of its parameters in place of `"$name"`, and the names that are no parameters."""
    stated = written.get("parameters")
    values = stated if isinstance(stated, dict) else {}
    faults: list[str] = []

    def fill(value: Any, path: str) -> Any:
        if isinstance(value, dict):
            return {key: fill(one, f"{path}.{key}" if path else str(key)) for key, one in value.items()}
        if isinstance(value, list):
            return [fill(one, f"{path}[{index}]") for index, one in enumerate(value)]
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        if value.startswith("$$"):
            return value[1:]
        found = _REFERENCE.fullmatch(value)
        if found and found[1] in values:
            return values[found[1]]
        known = ", ".join(f"${name}" for name in values)
        faults.append(f"{path}: {value!r} is no parameter; known are {known or 'none'}; write $$ for a $ itself")
        return value

    whole = {key: one if key == "parameters" else fill(one, str(key)) for key, one in written.items()}
    return whole, faults
