"""The map of an audit log as users write it: where the values of a record stand.

Deliberately not here: the maps of known logs (`run/audit_maps.toml`), and reading logs (the engine's).
"""

from __future__ import annotations

import tomllib
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from plimsoll.errors import Fault, SpecError
from plimsoll.spec.fields import Written, faults_of

COLUMNS_MAX = 1000

Place = Annotated[int, Field(ge=0, lt=COLUMNS_MAX)]


class AuditMap(Written):
    """Where the values of an audit log stand. Positions of columns count from 0.

    Attributes:
        columns: How many a record has.
        separator: Between two columns.
        quote: Around values that may hold the separator or line ends; empty for none.
        escape: How a quote is written within quotes: twice, or after a backslash.
        session: Column of the connection's id.
        time: Column of the time.
        sql: Column of the statement's text.
        time_format: Date and time, or seconds, milliseconds or microseconds since 1970.
        time_is_end: The time is that of the end of the statement, not that of its start.
        query_time: Column of the duration.
        query_unit_us: Microseconds in a unit of the duration.
        user: Column of the user.
        client: Column of the client's host.
        schema: Column of the default schema.
        operation: Column of the operation; records with others than statements, connects and disconnects are left out.
        errno: Column of the error number.
        rows_sent: Column of the number of rows sent; `rows_examined` and `rows_affected` likewise.
    """

    columns: Annotated[int, Field(ge=3, le=COLUMNS_MAX)]
    separator: Annotated[str, Field(min_length=1, max_length=8)] = ","
    quote: Annotated[str, Field(max_length=8)] = ""
    escape: Literal["doubled", "backslash"] = "doubled"
    session: Place
    time: Place
    sql: Place
    time_format: Literal["date_time", "unix_s", "unix_ms", "unix_us"] = "date_time"
    time_is_end: bool = False
    query_time: Place | None = None
    query_unit_us: Literal[1, 1_000, 1_000_000] = 1
    user: Place | None = None
    client: Place | None = None
    schema_: Annotated[Place | None, Field(alias="schema")] = None
    operation: Place | None = None
    errno: Place | None = None
    rows_sent: Place | None = None
    rows_examined: Place | None = None
    rows_affected: Place | None = None

    def line(self) -> dict[str, Any]:
        """The same as the engine takes it."""
        return {"audit": self.model_dump(by_alias=True, exclude_none=True)}


_KEYS = tuple(field.alias or name for name, field in AuditMap.model_fields.items())
_COLUMN_KEYS = (
    "session",
    "time",
    "sql",
    "query_time",
    "user",
    "client",
    "schema_",
    "operation",
    "errno",
    "rows_sent",
    "rows_examined",
    "rows_affected",
)


def parse_audit_map(text: str) -> AuditMap:
    """Checks the text of a map.

    Raises:
        SpecError: All faults at once, one line each.
    """
    try:
        written = tomllib.loads(text)
    except ValueError as error:  # not TOML, or a number of thousands of digits
        raise SpecError(f"is not TOML: {error}") from None
    except RecursionError:
        raise SpecError("is nested too deeply; this is no map of an audit log") from None
    return checked_audit_map(written)


def checked_audit_map(written: dict[str, Any]) -> AuditMap:
    """Checks the keys of a map. Raises as `parse_audit_map`."""
    try:
        audit_map = AuditMap.model_validate(written)
    except ValidationError as error:
        raise SpecError(*faults_of(error, known={"": _KEYS})) from None
    if faults := _place_faults(audit_map):
        raise SpecError(*faults)
    return audit_map


def _place_faults(audit_map: AuditMap) -> list[Fault]:
    """Columns that a record does not have, and columns that are named twice."""
    places = {name: place for name in _COLUMN_KEYS if (place := getattr(audit_map, name)) is not None}
    keys_by_place: dict[int, str] = {}
    faults = list[Fault]()
    for name, place in places.items():
        key = name.rstrip("_")
        if place >= audit_map.columns:
            faults.append(
                Fault((key,), f"must be below columns ({audit_map.columns}; positions count from 0), is {place}")
            )
        elif place in keys_by_place:
            faults.append(Fault((key,), f"is column {place}, as {keys_by_place[place]} is"))
        keys_by_place.setdefault(place, key)
    return faults
