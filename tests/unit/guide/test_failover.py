"""The page of a test of failover: what is broken comes first, and text from servers is escaped."""

from __future__ import annotations

from pathlib import Path

from plimsoll.analyse.answers.fault_tests import with_outcomes
from plimsoll.guide.fault_tests import INCOMPLETE, failover_page, write_page
from plimsoll.guide.html import page_html, page_markdown
from plimsoll.record.environment import StorageFacts
from plimsoll.record.fault_tests import (
    ErrorSeen,
    FailoverOutcome,
    FailoverRecord,
    FailoverTimeline,
    NotFollowing,
    Outage,
)

TIMELINE = FailoverTimeline(
    last_good_s=0.0, first_error_s=0.01, detected_s=0.02, chosen_s=0.03, applied_s=0.6, followed_s=0.9,
    first_good_s=1.0, all_good_s=1.1,
)  # fmt: skip
OUTAGE = Outage(total_s=1.0, detect_s=0.02, choose_s=0.01, apply_s=0.57, follow_s=0.3, reconnect_s=0.1)


def outcome(**changes: object) -> FailoverOutcome:
    fixed = {
        "load_s": 2.0, "throughput_tps": 1000.0, "promoted": "failover/1", "is_behind": False, "timeline": TIMELINE,
        "outage": OUTAGE, "errors": (ErrorSeen(code=2013, count=8, first_s=0.01, last_s=0.02),), "failed": 8,
        "failed_found": 0, "acknowledged": 4000, "lost": 0, "torn": 0, "foreign": 0,
    }  # fmt: skip
    return FailoverOutcome.model_validate(fixed | changes)


def record(*each: FailoverOutcome, semisync: int | None = None, is_complete: bool = True) -> FailoverRecord:
    empty = FailoverRecord(
        fault="kill", server="mysqld <9.7>", storage=StorageFacts(), replicas=2,
        replication="async" if semisync is None else "semisync", semisync_replicas=semisync, replication_delay_s=0.002,
        promote="most-advanced", connections=8, seed=1,
    )  # fmt: skip
    return with_outcomes(empty, each, is_complete=is_complete)


def test_no_loss_has_its_limit_and_the_longest_part_is_named() -> None:
    first, second, *_ = failover_page(record(*[outcome()] * 50)).sentences
    assert first == "Outage: 1.000 s (median of 50), from 1.000 to 1.000 s; the longest part is apply (0.570 s)."
    assert second == (
        "0 of 200,000 acknowledged transactions are missing; 0 of 50 faults lost anything: below 5.8 % of faults."
    )


def test_a_broken_promise_is_said_first_and_marked() -> None:
    page = failover_page(record(outcome(), outcome(lost=3, lost_ms=20.0), semisync=1))
    assert page.sentences[0].startswith("BROKEN PROMISE: with semi-synchronous replication, 1 replica had received")
    marks = [entry.mark for table in page.tables for row in table.rows for entry in row if entry.mark]
    assert marks == ["BROKEN"]


def test_what_async_lost_is_no_broken_promise() -> None:
    text = " ".join(failover_page(record(outcome(lost=3, lost_ms=20.0, failed_found=2))).sentences)
    assert "BROKEN" not in text
    assert "3 of 4,000 acknowledged transactions are missing, the oldest 20.0 ms before the kill" in text
    assert "2 of 8 transactions that failed for their clients are there" in text


def test_a_replica_that_cannot_follow_is_named() -> None:
    left = NotFollowing(name="failover/2", reason="it has transactions that failover/1 lacks; it must be made again")
    text = " ".join(failover_page(record(outcome(is_behind=True, not_following=(left,)))).sentences)
    assert "In 1 of 1 faults another replica had received more" in text
    assert "Fault 1: failover/2 did not follow failover/1: it has transactions" in text


def test_pages_are_escaped_and_say_where_the_test_was_ended(tmp_path: Path) -> None:
    found = record(outcome(), is_complete=False)
    page = failover_page(found)
    html = page_html(page.page)
    assert "mysqld &lt;9.7&gt;" in html
    assert "<9.7>" not in html
    assert "<script" not in html
    assert INCOMPLETE in html
    assert INCOMPLETE in page_markdown(page.page)
    assert "semisync" not in page_markdown(page.page).splitlines()[2]
    names = [path.name for path in write_page(page, found, tmp_path / "new")]
    assert names == ["failover.json", "failover.md", "failover.html"]
    assert FailoverRecord.model_validate_json((tmp_path / "new" / names[0]).read_text()) == found
