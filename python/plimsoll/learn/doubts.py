"""What a log cannot tell: inferred from its entries, since no log says with which settings it was written.

Deliberately not here: the words for it (`plimsoll.guide.log_words`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from plimsoll.learn.report_model import LogDoubt
from plimsoll.learn.source_model import SourceFacts

_FAST_US = 1_000
"""A server that logs everything logs statements that are faster."""

_ENTRIES_MIN = 50
"""Of fewer entries none need be fast."""

_SECOND_US = 1_000_000


def source_doubts(sources: Sequence[SourceFacts]) -> Iterator[LogDoubt]:
    """Doubts about the files themselves.

    A log whose fastest statement took a millisecond or more was written with a threshold (`long_query_time`,
    `min_examined_row_limit`): point queries, COMMIT and BEGIN take less on any server. It is the tail of the load.
    """
    timed = [one for one in sources if one.query_us_min is not None]
    entries = sum(one.entries_count for one in timed)
    if timed and entries >= _ENTRIES_MIN:
        fastest_us = min(one.query_us_min or 0 for one in timed)
        if fastest_us >= _FAST_US:
            yield _doubt("slow-statements-only", is_refusal=True, figures={"fastest_ms": fastest_us / 1000})
    yield from _of_binary_logs([one for one in sources if one.format == "binlog"])
    limits = sorted({limit for one in sources for limit in one.rate_limits if limit > 1})
    if limits:
        yield _doubt("sampled", figures={"one_in": limits[-1]})
    if any(one.entries_count for one in sources) and not timed:
        yield _doubt("no-durations")
    if any(one.resolution_us >= _SECOND_US for one in sources):
        yield _doubt("times-in-seconds")
    if any(one.first_us is None and one.entries_count for one in sources):
        yield _doubt("no-times")
    yield from _of_damaged_files(sources)
    damaged, read = sum(one.damaged_count for one in sources), sum(one.entries_count for one in sources)
    if damaged:
        yield _doubt("entries-damaged", figures={"damaged_count": damaged, "entries_count": damaged + read})
    if cut := sum(one.cut_count for one in sources):
        yield _doubt("statements-cut", figures={"cut_count": cut})
    yield from _overlaps(sources)


def _of_damaged_files(sources: Sequence[SourceFacts]) -> Iterator[LogDoubt]:
    faults = [(one.name, one.fault) for one in sources if one.fault is not None]
    if faults:
        first, fault = faults[0]
        figures: dict[str, float | str] = {"damaged_count": len(faults), "files_count": len(sources)}
        figures |= {"first": first, "line": fault.line, "reason": fault.reason}
        yield _doubt("files-damaged", figures=figures)


def _of_binary_logs(sources: Sequence[SourceFacts]) -> Iterator[LogDoubt]:
    if sources:
        yield _doubt("writes-only", is_refusal=True)
    if any(one.flavour == "mariadb" for one in sources):
        yield _doubt("no-sessions")


def _overlaps(sources: Sequence[SourceFacts]) -> Iterator[LogDoubt]:
    """Rotated files of one server follow each other. Files that overlap are of several servers, or copies."""
    spans = sorted((one.first_us, one.last_us, one.name) for one in sources if one.first_us and one.last_us)
    for (_, before_us, first), (from_us, _, second) in itertools.pairwise(spans):
        if from_us < before_us - _SECOND_US:
            yield _doubt("files-overlap", figures={"first": first, "second": second})
            return


def content_doubts(
    *, statements: float, transactions: float, unfinished: float, has_begin: bool, reads: float
) -> Iterator[LogDoubt]:
    """Doubts about what the files hold.

    Args:
        statements: That do work.
        transactions: That these are part of.
        unfinished: Transactions whose end is not in the log.
        has_begin: Any transaction was begun by a statement.
        reads: Statements that only read.
    """
    if not statements:
        yield _doubt("no-statements", is_refusal=True)
        return
    if not reads:
        yield _doubt("no-reads", is_refusal=True)
    if unfinished > 0.05 * max(transactions, 1):
        yield _doubt("transactions-open", figures={"share": unfinished / transactions})
    if not has_begin:
        yield _doubt("no-begin")


def _doubt(code: str, *, is_refusal: bool = False, figures: dict[str, float | str] | None = None) -> LogDoubt:
    return LogDoubt(code=code, is_refusal=is_refusal, figures=figures or {})
