"""The format of logs as `--format` names it, and as the engine takes it.

Deliberately not here: the keys of a map (`plimsoll.spec.audit_map`).
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from plimsoll.errors import SpecError
from plimsoll.regular_file import text_regular
from plimsoll.spec.audit_map import AuditMap, checked_audit_map, parse_audit_map

PLAIN_FORMATS = ("auto", "slow", "general", "binlog")
"""Formats that need no map."""

_MAP_BYTES_MAX = 100_000


def log_format(text: str) -> str | dict[str, Any]:
    """What `read_logs` takes as `form`.

    Args:
        text: A plain format, the name of a known map, or the path of a TOML file with the keys of a map.

    Raises:
        SpecError: It is none of them, or the file has faults; all of them at once.
    """
    if text in PLAIN_FORMATS:
        return text
    if text in known_audit_maps():
        return known_audit_maps()[text].line()
    path = Path(text)
    if path.suffix != ".toml" and not path.exists():
        known = ", ".join((*PLAIN_FORMATS, *known_audit_maps()))
        raise SpecError(f"--format: must be {known} or a TOML file with the map of an audit log, is {text[:80]!r}")
    try:
        written = text_regular(path, _MAP_BYTES_MAX)
    except OSError as error:
        raise SpecError(f"--format: {text}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # too long, or not UTF-8
        raise SpecError(f"--format: {text}: is no map of an audit log: {error}") from None
    try:
        return parse_audit_map(written).line()
    except SpecError as error:
        raise SpecError(*(f"{path.name}: {fault}" for fault in error.faults)) from None


@cache
def known_audit_maps() -> dict[str, AuditMap]:
    """The maps of audit logs that have a name."""
    written = tomllib.loads(files("plimsoll.run").joinpath("audit_maps.toml").read_text(encoding="utf-8"))
    return {name: checked_audit_map(keys) for name, keys in written.items()}
