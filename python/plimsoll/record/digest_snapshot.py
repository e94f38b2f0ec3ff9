"""What performance_schema counted of each statement up to some moment, as a file to compare a later snapshot with.

Such a file is private: it holds the texts of statements with their names. Deliberately not here: reading it from a
server (`servers.digests`), and what two of them show (`learn.digests`).
"""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.document import Document, UnixSeconds

SNAPSHOT_FORMAT = 1


class DigestCounts(Document):
    """Statements that differ in literals only, in one default schema: sums since the server forgot them last.

    Attributes:
        schema_name: Default schema; None where there was none.
        digest: The server's hash; None for statements that found no room in the table.
        text: With `?` for literals; the server cuts long ones.
        first_seen_unix_s: When the server began to count them.
        time_ps: Picoseconds, as are `lock_ps` and `max_ps`, which is the longest one.
        histogram: Upper bounds of buckets of durations, picoseconds, with the statements in each; empty buckets are
            left out, and all where the server has no histograms.
    """

    schema_name: str | None
    digest: str | None
    text: str | None
    first_seen_unix_s: UnixSeconds
    count: int
    time_ps: int
    lock_ps: int
    max_ps: int
    errors: int
    rows_sent: int
    rows_examined: int
    rows_affected: int
    histogram: tuple[tuple[int, int], ...] = ()


class DigestSnapshot(Document):
    """All statements that a server has counted.

    Attributes:
        server: Which it is, as it says itself.
        version: As `SELECT VERSION()` says.
        taken_unix_s: When, by the server's clock.
        uncounted: Statements that clients had executed and that have no row, nor can have one: MariaDB counts no
            prepared statements of the binary protocol.
        size: Rows that its table has room for; None where it does not say.
    """

    snapshot_format: int = SNAPSHOT_FORMAT
    server: str
    version: str
    taken_unix_s: UnixSeconds
    uncounted: int
    size: int | None
    digests: tuple[DigestCounts, ...] = Field(default=())
