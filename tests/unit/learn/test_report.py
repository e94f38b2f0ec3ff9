"""What a log shows, from a log whose truth is known; and that nothing of it that is private gets out."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.guide.html import page_html, page_markdown
from plimsoll.guide.log_report import log_page
from plimsoll.learn import event_log
from plimsoll.learn.names import without_names
from plimsoll.learn.report import report_of
from support.event_logs import Said, write_log


def orders(count: int) -> list[Said]:
    """A write transaction and two reads in each second, of three sessions; value 7 is hot."""
    said = []
    for number in range(count):
        session, at_s = number % 3, float(number)
        for place, what in enumerate(("begin", "read", "write", "write", "commit")):
            literals = {"read": (7 if number % 2 else number,), "write": (1, number)}.get(what, ())
            said.append(Said(session, at_s + place * 0.001, what, literals=literals))
        said += [Said(session, at_s + 0.5 + place * 0.1, "read", 300, literals=(7,)) for place in range(2)]
        said.append(Said(session, at_s + 0.9, "set"))
    return said


def test_figures(tmp_path: Path) -> None:
    found = report_of(write_log(tmp_path, orders(200)))
    assert (found.statements_count, found.other_count) == (1000, 600)
    assert found.transactions_count == 600
    assert found.read_statements == pytest.approx(0.6)
    assert found.read_transactions == pytest.approx(2 / 3)
    assert found.read_time == pytest.approx(700 / 900)
    first, second = found.templates[:2]
    assert (first.kind, first.count, first.rows_examined) == ("select", 600, 10)
    assert first.mean_ms == pytest.approx(0.7 / 3)
    assert second.kind == "update"
    reads, writes = found.types
    assert (reads.name, reads.reads_only) == ("type 1", True)
    assert reads.share == pytest.approx(2 / 3)
    assert (writes.statements, writes.statements_max, len(writes.templates)) == (3, 3, 2)
    assert writes.rollback_ratio == 0
    assert found.sessions.count == 3
    assert found.arrivals is not None
    assert found.arrivals.mean_tps == pytest.approx(3)
    assert found.arrivals.duration_s == 200
    assert found.doubts == ()


def test_hot_values_are_told_in_shares(tmp_path: Path) -> None:
    found = report_of(write_log(tmp_path, orders(200)))
    hot = next(one for one in found.hot if one.template == found.templates[0].template)
    assert hot.observed_count == 600
    assert hot.top_share == pytest.approx(500 / 600)
    assert hot.distinct_count == 101


def test_parts_of_a_large_log_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = write_log(tmp_path, orders(100))
    whole = report_of(log)
    monkeypatch.setattr(event_log, "PARTITION_EVENTS", 300)
    assert report_of(log) == whole


def test_a_log_of_slow_statements_is_no_mix(tmp_path: Path) -> None:
    said = [Said(1, number, "read", 20_000 + number) for number in range(100)]
    doubts = report_of(write_log(tmp_path, said)).doubts
    assert [(doubt.code, doubt.is_refusal) for doubt in doubts] == [("slow-statements-only", True), ("no-begin", False)]


def test_a_log_without_durations_is_counted(tmp_path: Path) -> None:
    said = [Said(1, number, "read", None) for number in range(100)]
    found = report_of(write_log(tmp_path, said, format="general"))
    assert found.read_time is None
    assert found.templates[0].mean_ms is None
    assert found.types[0].share == 1
    assert "no-durations" in {doubt.code for doubt in found.doubts}
    assert "mean ms" not in page_markdown(log_page(found))


def test_an_empty_log_is_told(tmp_path: Path) -> None:
    found = report_of(write_log(tmp_path, []))
    assert [doubt.code for doubt in found.doubts] == ["no-statements"]
    assert "no statement" in page_html(log_page(found))


def test_what_may_be_shared_holds_no_name_and_no_value(tmp_path: Path) -> None:
    said = [*orders(100), *(Said(1, 200, "write", literals=(424_242, 191_919)) for _ in range(200))]
    found = without_names(report_of(write_log(tmp_path, said)))
    shared = (found.model_dump_json(), page_html(log_page(found)), page_markdown(log_page(found)))
    for text in shared:
        assert "secret" not in text.lower()
        assert "424242" not in text.replace(",", "")
        assert "191919" not in text.replace(",", "")
    assert "SELECT c1 FROM t1 WHERE c2 = ?" in shared[1]


def test_every_doubt_has_words(tmp_path: Path) -> None:
    facts = {"rate_limits": (10.0,), "resolution_us": 1_000_000, "damaged_count": 3, "cut_count": 2}
    found = report_of(write_log(tmp_path, [Said(1, 0, "begin"), Said(1, 1, "read"), Said(1, 2, "write")], **facts))
    text = page_markdown(log_page(found))
    assert {doubt.code for doubt in found.doubts} == {
        "sampled",
        "times-in-seconds",
        "entries-damaged",
        "statements-cut",
        "transactions-open",
    }
    assert "one in 10" in text
    assert "left out: 3 of 6." in text
    assert "100.0 % of the transactions" in text


def test_tables_are_private_and_kept_once(tmp_path: Path) -> None:
    write_log(tmp_path, orders(3))
    tables = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir() if path.suffix == ".parquet"}
    assert tables == {"events.parquet": 0o600, "literals.parquet": 0o600}
    assert not (tmp_path / "events.csv").exists()
