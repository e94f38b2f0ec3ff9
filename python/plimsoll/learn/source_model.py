"""What is known of each log that was read, as values."""

from __future__ import annotations

from plimsoll.record.document import Document


class SourceFault(Document):
    """Why a compressed file could not be read to its end, and where that was noticed.

    Attributes:
        line: Of the decompressed content, from 1.
        content_bytes: Decompressed bytes that came before.
        reason: What the decompressor said.
    """

    line: int
    content_bytes: int
    reason: str


class SourceFacts(Document):
    """One file.

    Attributes:
        name: As the user named it.
        format: `slow`, `general`, `audit` or `binlog`.
        flavour: `mysql`, `percona` or `mariadb`; None where it does not show.
        program: What the server called itself when it opened the file; None where it did not.
        entries_count: Statements that were read.
        damaged_count: Entries that could not be read.
        cut_count: Statements whose text was longer than what is read.
        bytes_read: Of the file, decompressed.
        first_us: Microseconds since 1970 of the first statement; None where no entry has a time.
        last_us: Of the last one.
        resolution_us: To how many microseconds times are exact.
        query_us_min: The shortest statement, microseconds; None where durations are not logged.
        rate_limits: Each `n` for which one in n was logged; empty for none.
        is_extended: Entries carry more than the plain format.
        fault: Why it could not be read to its end; None where it could.
    """

    name: str
    format: str
    flavour: str | None = None
    program: str | None = None
    entries_count: int = 0
    damaged_count: int = 0
    cut_count: int = 0
    bytes_read: int = 0
    first_us: int | None = None
    last_us: int | None = None
    resolution_us: int = 1
    query_us_min: int | None = None
    rate_limits: tuple[float, ...] = ()
    is_extended: bool = False
    fault: SourceFault | None = None
