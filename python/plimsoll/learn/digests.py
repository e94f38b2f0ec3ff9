"""Two snapshots of a server's counters, subtracted: which statements ran in between, how often, at what cost.

Counters only grow until somebody truncates their table or the server restarts. Which happened shows in a statement that
is gone, counts less than before, or was first seen at another time; then the later snapshot alone counts. What kind of
statement a digest is, is told by the words of its text; the kinds are those that the engine finds in logs. Deliberately
not here: reading snapshots (`plimsoll.servers.digests`), and the words (`plimsoll.guide`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.errors import SpecError
from plimsoll.learn.names import Pseudonyms
from plimsoll.learn.report_model import DigestFigures, DigestReport, LogDoubt
from plimsoll.learn.transactions import DATA_KINDS, READ_KINDS
from plimsoll.record.server_facts import DigestCounts, DigestSnapshot

TOP_DIGESTS = 100
"""Statements that the report holds, those with the most time first."""

OVERFLOW_SHARE_MAX = 0.05
"""With more than this share of statements without a row of their own, the mix is not known."""

_OWN = "`performance_schema`"
"""Statements with this in them are those of snapshots and of monitoring."""

_PS_PER_S = 1e12
_PS_PER_MS = 1e9
_UNBOUNDED_PS = 1 << 63
"""Upper ends of buckets above that stand for no end."""


@dataclass(frozen=True, slots=True)
class _Digest:
    """What one digest counted in between, with the kind of its statements."""

    counts: DigestCounts
    kind: str
    text: str


def _digest(counts: DigestCounts) -> _Digest:
    text = executed_text(counts.text or "")
    return _Digest(counts, digest_kind(text), text.rstrip())


def digest_report(before: DigestSnapshot, after: DigestSnapshot) -> DigestReport:
    """What ran between two snapshots of one server.

    Raises:
        SpecError: They are of two servers, or in the wrong order.
    """
    if before.server != after.server:
        raise SpecError("the snapshots are of two servers: compare those of one")
    if after.taken_unix_s < before.taken_unix_s:
        raise SpecError(
            "the snapshot of --since is later than the other: give the earlier one with --since. If that is the earlier"
            " one, the clocks of the machines that took them differ."
        )
    was_reset = _was_reset(before, after)
    counted = after.digests if was_reset else tuple(_differences(before, after))
    overflow = sum(counts.count for counts in counted if counts.digest is None)
    known = [_digest(counts) for counts in counted if counts.digest is not None and not _is_own(counts)]
    counted_known = sum(digest.counts.count for digest in known)
    work = [digest for digest in known if digest.kind in DATA_KINDS]
    work.sort(key=lambda digest: (-digest.counts.time_ps, -digest.counts.count, digest.text))
    uncounted = after.uncounted - (0 if after.uncounted < before.uncounted else before.uncounted)
    everything = max(1, overflow + uncounted + counted_known)
    shares = overflow / everything, uncounted / everything
    statements, total_ps = sum(digest.counts.count for digest in work), sum(digest.counts.time_ps for digest in work)
    reads = [digest for digest in work if digest.kind in READ_KINDS]
    length_s = None if was_reset else after.taken_unix_s - before.taken_unix_s
    return DigestReport(
        version=after.version,
        doubts=tuple(_doubts(work, after, shares, was_reset=was_reset)),
        from_unix_s=None if was_reset else before.taken_unix_s,
        to_unix_s=after.taken_unix_s,
        statements_count=statements,
        other_count=counted_known - statements,
        errors_count=sum(digest.counts.errors for digest in work),
        read_statements=sum(read.counts.count for read in reads) / statements if statements else 0.0,
        read_time=sum(read.counts.time_ps for read in reads) / total_ps if total_ps else None,
        busy_mean=total_ps / _PS_PER_S / length_s if length_s else None,
        templates=tuple(_figures(number, digest, total_ps) for number, digest in enumerate(work[:TOP_DIGESTS])),
        templates_count=len(work),
    )


def digests_without_names(report: DigestReport) -> DigestReport:
    """The same report, fit to be shared: no names of tables and columns."""
    given = Pseudonyms()
    templates = tuple(
        template.model_copy(update={"text": given.statement("" if template.is_cut else template.text, template.kind)})
        for template in report.templates
    )
    return report.model_copy(update={"templates": templates})


def _was_reset(before: DigestSnapshot, after: DigestSnapshot) -> bool:
    later = {(digest.schema_name, digest.digest): digest for digest in after.digests}
    for digest in before.digests:
        now = later.get((digest.schema_name, digest.digest))
        if now is None or now.count < digest.count or now.first_seen_unix_s != digest.first_seen_unix_s:
            return True
    return False


def _differences(before: DigestSnapshot, after: DigestSnapshot) -> Iterator[DigestCounts]:
    earlier = {(digest.schema_name, digest.digest): digest for digest in before.digests}
    for digest in after.digests:
        was = earlier.get((digest.schema_name, digest.digest))
        if was is None:
            yield digest
        elif digest.count > was.count:
            sums = ("count", "time_ps", "lock_ps", "errors", "rows_sent", "rows_examined", "rows_affected")
            less = {name: max(0, getattr(digest, name) - getattr(was, name)) for name in sums}
            had = dict(was.histogram)
            buckets = ((high_ps, count - had.get(high_ps, 0)) for high_ps, count in digest.histogram)
            histogram = tuple((high_ps, count) for high_ps, count in buckets if count > 0)
            yield digest.model_copy(update={**less, "histogram": histogram})


def _is_own(digest_counts: DigestCounts) -> bool:
    return _OWN in (digest_counts.text or "")


def _doubts(
    work: list[_Digest], after: DigestSnapshot, shares: tuple[float, float], *, was_reset: bool
) -> Iterator[LogDoubt]:
    """What the counters cannot tell. Shares are those of all statements, 0..1."""
    overflow_share, uncounted_share = shares
    if not work:
        yield _doubt("digests-none", is_refusal=True)
    if overflow_share:
        yield _doubt(
            "digests-overflow",
            is_refusal=overflow_share > OVERFLOW_SHARE_MAX,
            figures={"share": overflow_share, "size": float(after.size or 0)},
        )
    if uncounted_share:
        is_refusal = uncounted_share > OVERFLOW_SHARE_MAX
        yield _doubt("digests-prepared", is_refusal=is_refusal, figures={"share": uncounted_share})
    if was_reset:
        yield _doubt("digests-reset")
    if cut := sum(_is_cut(digest) for digest in work):
        yield _doubt("digests-cut", figures={"cut_count": cut})
    if work and not any(digest.counts.histogram for digest in work):
        yield _doubt("digests-no-histograms")
    yield _doubt("digests-only")


def _is_cut(digest: _Digest) -> bool:
    """The server ends what it cut with three dots; a list of values ends with a parenthesis behind them."""
    return digest.text.endswith("...")


def _figures(number: int, digest: _Digest, total_ps: int) -> DigestFigures:
    counts = digest.counts
    return DigestFigures(
        template=number,
        kind=digest.kind,
        text=digest.text,
        count=counts.count,
        time_share=counts.time_ps / total_ps if total_ps else None,
        mean_ms=counts.time_ps / counts.count / _PS_PER_MS,
        p95_ms=_quantile_ms(counts, 0.95),
        p99_ms=_quantile_ms(counts, 0.99),
        lock_ratio=counts.lock_ps / counts.time_ps if counts.time_ps else None,
        rows_sent=counts.rows_sent / counts.count,
        rows_examined=counts.rows_examined / counts.count,
        rows_affected=counts.rows_affected / counts.count,
        pages=None,
        errors_count=counts.errors,
        is_cut=_is_cut(digest),
    )


def _quantile_ms(counts: DigestCounts, share: float) -> float | None:
    """Upper end of the bucket that the quantile lies in, milliseconds, as the server's own quantiles are.

    The longest duration ever bounds it, and stands for the end of the last bucket, which has none.
    """
    total = sum(count for _, count in counts.histogram)
    seen = 0
    for high_ps, count in counts.histogram:
        seen += count
        if seen >= share * total:
            bound_ps = counts.max_ps if high_ps >= _UNBOUNDED_PS else min(high_ps, max(counts.max_ps, 1))
            return bound_ps / _PS_PER_MS
    return None


def _doubt(code: str, *, is_refusal: bool = False, figures: dict[str, float | str] | None = None) -> LogDoubt:
    return LogDoubt(code=code, is_refusal=is_refusal, figures=figures or {})


_WORD = re.compile(r"[A-Za-z_]+")
_LOCKING = re.compile(r"\bFOR (UPDATE|SHARE)\b|\bLOCK IN SHARE MODE\b")
_QUOTED = re.compile(r"`(?:[^`]|``)*`")
_VERBS = ("SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE")

_KINDS = {
    **{word: word.lower() for word in (*_VERBS, "CALL", "LOAD", "COMMIT", "ROLLBACK", "SAVEPOINT", "SET", "USE")},
    **dict.fromkeys(("VALUES", "TABLE"), "select"),
    **dict.fromkeys(("BEGIN", "START"), "begin"),
    **dict.fromkeys(("SHOW", "DESCRIBE", "DESC", "EXPLAIN", "HELP"), "show"),
    **dict.fromkeys(("CREATE", "ALTER", "DROP", "TRUNCATE", "RENAME"), "ddl"),
    **dict.fromkeys(("PREPARE", "DEALLOCATE"), "prepare"),
    "RELEASE": "savepoint",
    "LOCK": "lock_tables",
    "UNLOCK": "unlock_tables",
    "EXECUTE": "execute",
}
_ADMIN = (
    *("ANALYZE", "OPTIMIZE", "CHECK", "REPAIR", "FLUSH", "KILL", "RESET", "GRANT", "REVOKE", "INSTALL", "UNINSTALL"),
    *("PURGE", "CHANGE", "STOP", "SHUTDOWN", "CLONE", "BINLOG", "CACHE"),
)


_EXECUTED = re.compile(r"EXECUTE (?!IMMEDIATE\b)(?=[A-Z(])")


def executed_text(text: str) -> str:
    """The text of a statement without MySQL's mark that it was prepared: `EXECUTE SELECT ...` is a SELECT."""
    match = _EXECUTED.match(text)
    return text if match is None else text[match.end() :]


def digest_kind(text: str) -> str:
    """The kind of a statement, one of those that docs/logs.md lists."""
    bare = _QUOTED.sub("x", text)
    words = (match[0].upper() for match in _WORD.finditer(bare))
    first = next(words, "")
    if first == "WITH":
        first = next((word for word in words if word in _VERBS), "SELECT")
    if first == "ROLLBACK" and " TO " in bare:
        return "savepoint"
    if first in _ADMIN:
        return "admin"
    kind = _KINDS.get(first, "other")
    return "select_locking" if kind == "select" and _LOCKING.search(bare) else kind
