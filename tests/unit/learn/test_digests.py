"""Two snapshots subtracted give what ran in between; what cannot be known from them is said."""

from __future__ import annotations

import pytest

from plimsoll.errors import SpecError
from plimsoll.guide.html import page_html, page_markdown
from plimsoll.guide.log_report import digest_page, doubt_sentence
from plimsoll.learn.digests import digest_kind, digest_report, digests_without_names, executed_text
from plimsoll.record.server_facts import DigestCounts, DigestSnapshot

MS = 1_000_000_000
READ = "SELECT `c` FROM `secrettable` WHERE `secretcolumn` = ?"
WRITE = "UPDATE `secrettable` SET `k` = `k` + ? WHERE `secretcolumn` = ?"
LAST_BUCKET = 18446744073709551615


def counts(text: str | None, count: int, **changes: object) -> DigestCounts:
    values: dict[str, object] = {
        "schema_name": "shop",
        "digest": None if text is None else f"d{text}",
        "text": text,
        "first_seen_unix_s": 5.0,
        "count": count,
        "time_ps": count * MS,
        "lock_ps": 0,
        "max_ps": 40 * MS,
        "errors": 0,
        "rows_sent": count,
        "rows_examined": 10 * count,
        "rows_affected": 0,
    }
    return DigestCounts.model_validate({**values, **changes})


def snapshot(at_s: float, *digests: DigestCounts, server: str = "a", uncounted: int = 0) -> DigestSnapshot:
    told = {"server": server, "version": "9.7.4", "taken_unix_s": at_s, "uncounted": uncounted, "size": 10_000}
    return DigestSnapshot.model_validate({**told, "digests": digests})


def codes(before: DigestSnapshot, after: DigestSnapshot) -> dict[str, bool]:
    return {doubt.code: doubt.is_refusal for doubt in digest_report(before, after).doubts}


def test_what_ran_in_between() -> None:
    before = snapshot(100, counts(READ, 1000), counts("COMMIT", 7), counts("DELETE FROM `old`", 5))
    after = snapshot(
        110,
        counts(READ, 1900, errors=9, time_ps=2800 * MS),
        counts(WRITE, 100, rows_affected=200),
        counts("COMMIT", 107),
        counts("DELETE FROM `old`", 5),
    )
    found = digest_report(before, after)
    assert (found.statements_count, found.other_count, found.errors_count) == (1000, 100, 9)
    assert found.read_statements == pytest.approx(0.9)
    assert found.read_time == pytest.approx(1800 / 1900)
    assert found.busy_mean == pytest.approx(1.9 / 10)
    assert [(template.kind, template.count) for template in found.templates] == [("select", 900), ("update", 100)]
    read, write = found.templates
    assert (read.mean_ms, read.rows_examined, read.errors_count) == (pytest.approx(2), pytest.approx(10), 9)
    assert (write.rows_affected, write.p99_ms) == (2, None)
    assert codes(before, after) == {"digests-no-histograms": False, "digests-only": False}


def test_percentiles_are_those_of_the_time_in_between() -> None:
    before = snapshot(0, counts(READ, 100, histogram=((50 * MS, 100),)))
    buckets = ((1 * MS, 90), (2 * MS, 8), (50 * MS, 100), (LAST_BUCKET, 2))
    after = snapshot(1, counts(READ, 200, histogram=buckets, max_ps=7777 * MS))
    (found,) = digest_report(before, after).templates
    assert (found.p95_ms, found.p99_ms) == (2, 7777)


def test_executions_of_prepared_statements_are_statements() -> None:
    found = digest_report(snapshot(0), snapshot(1, counts(f"EXECUTE {READ}", 3), counts(f"PREPARE {READ}", 1)))
    assert [(template.kind, template.text, template.count) for template in found.templates] == [("select", READ, 3)]
    assert executed_text("EXECUTE `p` USING @?") == "EXECUTE `p` USING @?"
    assert executed_text("EXECUTE IMMEDIATE ?") == "EXECUTE IMMEDIATE ?"
    assert digest_kind(executed_text("EXECUTE COMMIT")) == "commit"


@pytest.mark.parametrize(
    "later",
    [
        [counts(READ, 999)],
        [counts(READ, 5000, first_seen_unix_s=50.0)],
        [counts(WRITE, 5)],
    ],
)
def test_counters_that_were_reset_count_from_there(later: list[DigestCounts]) -> None:
    before = snapshot(0, counts(READ, 1000))
    found = digest_report(before, snapshot(60, *later))
    assert (found.from_unix_s, found.busy_mean) == (None, None)
    assert found.statements_count == later[0].count
    assert "digests-reset" in {doubt.code for doubt in found.doubts}


@pytest.mark.parametrize(("lost", "is_refusal"), [(50, False), (60, True)])
def test_statements_without_a_row_are_told(lost: int, is_refusal: bool) -> None:
    before = snapshot(0, counts(None, 1000))
    after = snapshot(1, counts(None, 1000 + lost), counts(READ, 950), counts("COMMIT", 50))
    found = {doubt.code: doubt for doubt in digest_report(before, after).doubts}["digests-overflow"]
    assert found.is_refusal == is_refusal
    assert found.figures["share"] == pytest.approx(lost / (1000 + lost))


@pytest.mark.parametrize(("before", "after", "is_refusal"), [(900, 950, False), (900, 960, True), (9000, 60, True)])
def test_prepared_statements_that_mariadb_does_not_count(before: int, after: int, is_refusal: bool) -> None:
    found = codes(snapshot(0, uncounted=before), snapshot(1, counts(READ, 950), uncounted=after))
    assert found["digests-prepared"] == is_refusal


def test_own_statements_and_an_idle_server() -> None:
    own = counts("SELECT `SCHEMA_NAME` FROM `performance_schema` . `events_statements_summary_by_digest`", 1)
    assert codes(snapshot(0), snapshot(1, own)) == {"digests-none": True, "digests-only": False}


def test_snapshots_that_do_not_belong_together() -> None:
    with pytest.raises(SpecError, match="two servers"):
        digest_report(snapshot(0), snapshot(1, server="b"))
    with pytest.raises(SpecError, match="later than the other"):
        digest_report(snapshot(2), snapshot(1))


def test_shared_files_have_no_names_and_no_cut_texts() -> None:
    cut = "SELECT `secretcolumn` , `secretcol ..."
    found = digest_report(
        snapshot(0), snapshot(1, counts(READ, 10), counts(cut, 5), counts("SELECT `secretfun`(?) (", 1))
    )
    assert "digests-cut" in {doubt.code for doubt in found.doubts}
    shared = digests_without_names(found)
    page = digest_page(shared)
    assert "secret" not in page_html(page) + page_markdown(page) + shared.model_dump_json()
    assert "FROM t1 WHERE c2 = ?" in page_markdown(page).replace("\\_", "_").replace("\\", "")
    assert all(doubt_sentence(doubt) for doubt in found.doubts)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT * FROM `t` WHERE `id` = ? FOR UPDATE", "select_locking"),
        ("SELECT `FOR UPDATE` FROM `t`", "select"),
        ("( SELECT ? ) UNION ( SELECT ? )", "select"),
        ("WITH `x` AS ( SELECT ? ) SELECT * FROM `x`", "select"),
        ("INSERT INTO `t` VALUES (...) /* , ... */", "insert"),
        ("START TRANSACTION", "begin"),
        ("ROLLBACK TO `s`", "savepoint"),
        ("TRUNCATE TABLE `t`", "ddl"),
        ("FLUSH LOGS", "admin"),
        ("", "other"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert digest_kind(text) == kind
