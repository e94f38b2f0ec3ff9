"""What two snapshots of a server's counters show, as values: figures and findings, no sentences."""

from __future__ import annotations

from plimsoll.learn.report_model import LogDoubt, TemplateFigures
from plimsoll.record.document import Document

DIGEST_REPORT_FORMAT = 1


class DigestFigures(TemplateFigures):
    """Statements that differ in literals only.

    Attributes:
        is_cut: The server keeps only the begin of its text.
        p95_ms: Null where the server has no histograms, as is `p99_ms`. They are upper ends of buckets, at most 4.7 %
            too high.
    """

    is_cut: bool
    p95_ms: float | None


class DigestReport(Document):
    """What a server executed between two snapshots.

    Attributes:
        version: As the server says.
        from_unix_s: Begin, by the server's clock; null where its counters were reset in between.
        to_unix_s: End.
        statements_count: That do work; `other_count` are SET, COMMIT, SHOW and the like.
        read_statements: Share of statements that only read, 0..1; `read_time` of statement time.
        busy_mean: Statements in execution at a time, on average (Little's law); null where the begin is not known.
        templates: Those with the most time first.
        templates_count: All of them.
    """

    report_format: int = DIGEST_REPORT_FORMAT
    version: str
    doubts: tuple[LogDoubt, ...]
    from_unix_s: float | None
    to_unix_s: float
    statements_count: float
    other_count: float
    errors_count: float
    read_statements: float
    read_time: float | None
    busy_mean: float | None
    templates: tuple[DigestFigures, ...]
    templates_count: int
