"""What the server's performance schema counted at the highest throughput: tables of waits and of statements.

Deliberately not here: how they are found (`plimsoll.analyse.server_summaries`).
"""

from __future__ import annotations

from plimsoll.analyse.where_model import WhereLevel, WhereTime
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.units import format_number


def counted_tables(one: WhereTime) -> tuple[Table, ...]:
    """The tables of one curve; none where the performance schema is off."""
    level = next((level for level in one.levels if level.level == one.limit_level), None)
    if level is None:
        return ()
    place = f"{one.workload}, {one.kind.axis.lower()} {level.level.figure()}"
    return tuple(table for table in (_waits(one.system, place, level), _statements(one.system, place, level)) if table)


def _waits(system: str, place: str, level: WhereLevel) -> Table | None:
    if not level.server_waits:
        return None
    columns = (
        Column(heading="wait", numeric=False),
        Column(heading="count", group="per transaction"),
        Column(heading="ms", group="per transaction"),
    )
    rows = tuple(
        (Entry(wait.event), Entry(format_number(wait.count)), Entry(format_number(wait.ms)))
        for wait in level.server_waits
    )
    caption = f"{place}: waits of all threads, as the performance schema counts them"
    return Table(caption=caption, system=system, columns=columns, rows=rows)


def _statements(system: str, place: str, level: WhereLevel) -> Table | None:
    if not level.server_statements:
        return None
    columns = (
        Column(heading="statement", numeric=False),
        Column(heading="count", group="per transaction"),
        Column(heading="ms", group="per transaction"),
        Column(heading="rows examined", group="per transaction"),
    )
    rows = tuple(
        (
            Entry(one.kind),
            Entry(format_number(one.count)),
            Entry(format_number(one.ms)),
            Entry(format_number(one.rows_examined)),
        )
        for one in level.server_statements
    )
    caption = f"{place}: statements in the server, as the performance schema counts them"
    return Table(caption=caption, system=system, columns=columns, rows=rows)
