"""What performance_schema counted of each statement: `events_statements_summary_by_digest`, and its histograms.

Snapshots of these counters are taken, waited for, and kept in files that only their owner can read. Nothing is changed
on the server. Sources: MySQL 8.4 Reference Manual 29.12.20.3 (statement summary tables) and 29.12.20.4 (statement
histogram summary tables); MariaDB documentation. Deliberately not here: what two snapshots show
(`plimsoll.learn.digests`).
"""

from __future__ import annotations

import threading
from pathlib import Path

from pydantic import ValidationError

from plimsoll.errors import RecordError, TargetError
from plimsoll.record.document import is_newer
from plimsoll.record.server_facts import SNAPSHOT_FORMAT, DigestCounts, DigestSnapshot
from plimsoll.regular_file import read_regular
from plimsoll.servers.control import ControlConnection, Row, connect
from plimsoll.servers.private_file import write_private
from plimsoll.spec.target import Target
from plimsoll.units import parse_whole

_SUMMARY = (
    "SELECT SCHEMA_NAME, DIGEST, DIGEST_TEXT, UNIX_TIMESTAMP(FIRST_SEEN), COUNT_STAR, SUM_TIMER_WAIT, SUM_LOCK_TIME,"
    " MAX_TIMER_WAIT, SUM_ERRORS, SUM_ROWS_SENT, SUM_ROWS_EXAMINED, SUM_ROWS_AFFECTED"
    " FROM performance_schema.events_statements_summary_by_digest WHERE COUNT_STAR > 0"
)
_HISTOGRAM = (
    "SELECT SCHEMA_NAME, DIGEST, BUCKET_TIMER_HIGH, COUNT_BUCKET"
    " FROM performance_schema.events_statements_histogram_by_digest WHERE COUNT_BUCKET > 0"
)
_CONSUMERS = ("global_instrumentation", "thread_instrumentation", "statements_digest")
_INSTRUMENT = (
    "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'statement/%';"
)
_INSTRUMENTS = ("statement/sql/select", "statement/sql/update")
_INSTRUMENTED = (
    "SELECT NAME FROM performance_schema.setup_instruments"
    " WHERE NAME IN ('statement/sql/select', 'statement/sql/update') AND ENABLED = 'YES' AND TIMED = 'YES'"
)
_NOW = "SELECT UNIX_TIMESTAMP(NOW(6)) FROM performance_schema.setup_consumers LIMIT 1"
"""Of a table that is always there, so that it is told from the load like all statements of a snapshot."""

_DENIED = {1044, 1142, 1143, 1227}
_NO_TABLE = {1109, 1146}


def digest_snapshot(control: ControlConnection) -> DigestSnapshot:
    """Everything that the server has counted up to now.

    Raises:
        TargetError: The server does not count statements, or the user may not see what it counted; says what to do.
    """
    try:
        return _snapshot(control)
    except (ValueError, TypeError, KeyError) as error:
        raise TargetError(f"{control.target}: performance_schema holds what no server writes: {error}") from error


def _snapshot(control: ControlConnection) -> DigestSnapshot:
    variables = control.variables()
    _refuse_uncounted(control, variables)
    histograms = _histograms(control)
    rows, version = _rows(control, _SUMMARY, columns=12), variables.get("version", "")
    return DigestSnapshot(
        server=_identity(variables),
        version=version,
        taken_unix_s=float(_rows(control, _NOW)[0][0]),
        uncounted=int(control.status()["com_stmt_execute"]) if "mariadb" in version.lower() else 0,
        size=parse_whole(variables.get("performance_schema_digests_size", "")),
        digests=tuple(_counts(row, histograms.get(_key(row), ())) for row in rows),
    )


def _refuse_uncounted(control: ControlConnection, variables: dict[str, str]) -> None:
    """Says what to switch on, where the server counts nothing."""
    if variables.get("performance_schema", "OFF") != "ON":
        raise TargetError(
            f"{control.target}: performance_schema is OFF, as is the default of MariaDB, so the server counts no"
            " statements. It can only be switched on at the start: put performance_schema=ON into the server's option"
            " file and restart it. Without a restart, learn from a log: plimsoll capture prints how"
        )
    rows = _rows(control, "SELECT NAME, ENABLED FROM performance_schema.setup_consumers", columns=2)
    consumers = {str(row[0]): str(row[1]) for row in rows}
    if off := [name for name in _CONSUMERS if consumers.get(name) != "YES"]:
        names = ", ".join(f"'{name}'" for name in off)
        cure = f"UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN ({names});"  # noqa: S608
        raise TargetError(
            f"{control.target}: performance_schema counts no statements: {', '.join(off)} is switched off. Run: {cure}"
        )
    if len(_rows(control, _INSTRUMENTED)) < len(_INSTRUMENTS):
        raise TargetError(f"{control.target}: performance_schema does not instrument statements. Run: {_INSTRUMENT}")


def _identity(variables: dict[str, str]) -> str:
    """What tells this server from others; a restart does not change it."""
    names = ("server_uuid",) if "server_uuid" in variables else ("hostname", "port", "datadir")
    return ":".join(variables.get(name, "") for name in names)


def _histograms(control: ControlConnection) -> dict[tuple[str | None, str | None], tuple[tuple[int, int], ...]]:
    """Buckets with statements in them, by schema and digest; none where the server has no histograms."""
    by_digest: dict[tuple[str | None, str | None], list[tuple[int, int]]] = {}
    try:
        rows = _rows(control, _HISTOGRAM, columns=4)
    except TargetError as error:
        if error.code in _NO_TABLE:
            return {}
        raise
    for row in rows:
        by_digest.setdefault(_key(row), []).append((int(row[2]), int(row[3])))
    return {key: tuple(sorted(buckets)) for key, buckets in by_digest.items()}


def _rows(control: ControlConnection, statement: str, *, columns: int = 1) -> list[Row]:
    """Rows of a table of performance_schema. Says which privilege is missing."""
    try:
        return control.rows(statement, columns=columns)
    except TargetError as error:
        if error.code not in _DENIED:
            raise
        user = control.value("SELECT CURRENT_USER()")
        name, _, host = str(user).rpartition("@")
        raise TargetError(
            f"{control.target}: {user} may not read performance_schema. Run as an administrator: GRANT SELECT ON"
            f" performance_schema.* TO `{name}`@`{host}`;",
            code=error.code,
            sqlstate=error.sqlstate,
        ) from None


def _key(row: Row) -> tuple[str | None, str | None]:
    return _text(row[0]), _text(row[1])


def _counts(row: Row, histogram: tuple[tuple[int, int], ...]) -> DigestCounts:
    schema, digest, text, first_seen, *sums = row
    count, time_ps, lock_ps, max_ps, errors, sent, examined, affected = map(int, sums)
    return DigestCounts(
        schema_name=_text(schema),
        digest=_text(digest),
        text=_text(text),
        first_seen_unix_s=float(first_seen),
        count=count,
        time_ps=time_ps,
        lock_ps=lock_ps,
        max_ps=max_ps,
        errors=errors,
        rows_sent=sent,
        rows_examined=examined,
        rows_affected=affected,
        histogram=histogram,
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


_SNAPSHOT_BYTES_MAX = 1 << 30


def take_snapshot(target: Target) -> DigestSnapshot:
    """What the server counted up to now. Raises as `servers.digests.digest_snapshot`."""
    with connect(target) as control:
        return digest_snapshot(control)


def snapshots_apart(target: Target, seconds: float) -> tuple[DigestSnapshot, DigestSnapshot]:
    """Two snapshots with some time between them, without a connection that stays open. Raises as `take_snapshot`."""
    before = take_snapshot(target)
    threading.Event().wait(seconds)
    return before, take_snapshot(target)


def write_snapshot(path: Path, snapshot: DigestSnapshot) -> None:
    """Keeps a snapshot in a file that only its owner can read: it holds the texts of statements.

    Raises:
        HostError: The file cannot be written.
    """
    write_private(path, snapshot.model_dump_json() + "\n", cure="name another file with --snapshot")


def read_snapshot(path: Path) -> DigestSnapshot:
    """A snapshot that was kept.

    Raises:
        RecordError: The file cannot be read, or holds no snapshot.
    """
    try:
        content = read_regular(path, _SNAPSHOT_BYTES_MAX)
        if is_newer(content, "snapshot_format", SNAPSHOT_FORMAT):
            raise RecordError(f"{path}: was written by a newer version of Plimsoll")
        return DigestSnapshot.model_validate_json(content)
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise RecordError(f"{path}: is no snapshot that plimsoll learn digests --snapshot wrote") from error
