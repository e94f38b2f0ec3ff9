"""A run of a workload is compared with the log that it was learned from, on logs whose truth is known."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.guide.html import page_html, page_markdown
from plimsoll.guide.learned_load import fidelity_page
from plimsoll.learn.event_log import EventLog
from plimsoll.learn.fidelity import ComparedLoad, fidelity_of, kinds_of, model_run, run_statements
from plimsoll.learn.fidelity_model import CheckConditions, Fidelity, FidelityFigure, LogPeriod
from plimsoll.learn.profile_model import LoopProfile, Profile, TypeProfile
from plimsoll.learn.report import report_of
from plimsoll.learn.workload_text import with_learned
from plimsoll.spec.workload_file import parse_workload
from support.event_logs import Said, write_log

WORKLOAD = """# as it was
description = "learned"

[[table]]
name = "secrettable"
rows = 10
primary_key = ["secretcolumn"]
[[table.column]]
name = "secretcolumn"
type = "INT"
generate = "sequence"
[[table.column]]
name = "c"
type = "INT"
generate = "integer"
from = 1
to = 9
[[table.column]]
name = "k"
type = "INT"
generate = "integer"
from = 1
to = 9

[[transaction]]
name = "type 1"
weight = 1
[[transaction.statement]]
sql = "SELECT c FROM secrettable WHERE secretcolumn = :v"
values.v = {generate = "integer", from = 1, to = 10}   # any

[[transaction]]
name = "type 2"
weight = 3
begin = true
[[transaction.statement]]
sql = "UPDATE secrettable SET k = k + 1 WHERE secretcolumn = :v"
values.v = {generate = "integer", from = 1, to = 10}
repeat = 2
"""
STATEMENTS = run_statements(parse_workload(WORKLOAD))
PERIOD = LogPeriod(
    first_unix_s=1_700_000_000, last_unix_s=1_700_000_900, transactions_count=900, transaction_share=0.9, time_share=0.8
)
CONDITIONS = CheckConditions(
    checked_unix_s=1_700_100_000,
    server="MariaDB 11.8.2",
    connections=3,
    connections_from="log",
    scale=1,
    duration_s=60,
    warm_up_s=1,
)


def load(count: int, *, reads: int = 2, writes: int = 2, deadlocks: int = 0) -> list[Said]:
    """Of each nine transactions `reads` times three only read; each other has so many writes."""
    said = [Said(9, 0.0, "set"), Said(9, 0.1, "insert")]
    for number in range(count):
        session, at_s = number % 3, 1 + 0.01 * number
        if number // 3 % 3 < reads:
            said.append(Said(session, at_s, "read", 500))
            continue
        what = ["begin", *["write"] * writes, "commit"]
        errors = {1: 1213} if number < deadlocks else {}
        said += [Said(session, at_s + place * 0.001, one, errno=errors.get(place, 0)) for place, one in enumerate(what)]
    return said


def compared(log: EventLog, run: EventLog, warm_up_s: float = 0) -> Fidelity:
    report = report_of(log)
    types = tuple(
        TypeProfile(
            name=one.name, share=one.share, time_share=None, statements=one.statements, is_explicit=True,
            rollback_ratio=0, loops=(LoopProfile(first=1, last=1, rounds={2: 5}),) if one.statements > 1 else (),
        )
        for one in report.types
    )  # fmt: skip
    learned = ComparedLoad(statements=STATEMENTS, report=report, profile=Profile(types=types), period=PERIOD)
    return fidelity_of(learned, model_run(run, STATEMENTS, warm_up_s=warm_up_s), CONDITIONS)


def figure(found: Fidelity, kind: str, of: str) -> FidelityFigure:
    return next(one for one in found.figures if (one.kind, one.of) == (kind, of))


def logs(tmp_path: Path, log: list[Said], run: list[Said]) -> tuple[EventLog, EventLog]:
    folders = tmp_path / "log", tmp_path / "run"
    for folder in folders:
        folder.mkdir()
    return write_log(folders[0], log), write_log(folders[1], run)


def test_a_run_like_its_log_is_within_all_goals(tmp_path: Path) -> None:
    found = compared(*logs(tmp_path, load(90_000), load(90_000)))
    judged = [one for one in found.figures if one.is_met is not None]
    assert all(one.is_met for one in judged)
    assert {one.kind for one in judged} >= {"type-share", "statement-share", "statements", "rows-examined", "rollbacks"}
    assert figure(found, "statements", "all").model == pytest.approx(4 / 3)
    assert figure(found, "rows-examined", "all").log == pytest.approx((10 * 2 + 2) / 4)
    assert found.transactions_count == 90_000
    assert found.unlike_count == 0


def test_another_mix_is_found(tmp_path: Path) -> None:
    found = compared(*logs(tmp_path, load(9_000), load(9_000, reads=1)))
    share = figure(found, "type-share", "type 1")
    assert (share.log, share.model, share.is_met) == (pytest.approx(2 / 3), pytest.approx(1 / 3), False)
    assert {kind.kind: kind.met < kind.judged for kind in kinds_of(found)}["statement-share"]


def test_more_statements_in_a_transaction_are_found(tmp_path: Path) -> None:
    found = compared(*logs(tmp_path, load(9_000), load(9_000, writes=3)))
    statements = figure(found, "statements", "type 2")
    assert (statements.log, statements.model, statements.is_met) == (2, 3, False)


def test_deadlocks_are_found(tmp_path: Path) -> None:
    found = compared(*logs(tmp_path, load(9_000), load(9_000, deadlocks=3_000)))
    assert figure(found, "deadlocks", "all").is_met is False
    assert figure(found, "lock-waits", "all").unjudged == "too-few"


def test_the_warm_up_does_not_count(tmp_path: Path) -> None:
    run = load(1_000, reads=0) + [
        Said(one.session, one.at_s + 20, one.what, errno=one.errno) for one in load(30_000) if one.session != 9
    ]
    found = compared(*logs(tmp_path, load(30_000), run), warm_up_s=19.5)
    assert figure(found, "type-share", "type 1").model == pytest.approx(2 / 3, abs=1e-3)
    assert found.transactions_count == 30_000


def test_a_small_run_says_that_it_is_small(tmp_path: Path) -> None:
    found = compared(*logs(tmp_path, load(9_000), load(60)))
    assert figure(found, "type-share", "type 1").unjudged == "too-few"
    kinds = {kind.kind: kind for kind in kinds_of(found)}
    assert kinds["type-share"].judged == 0
    assert kinds["type-share"].worst is None


def test_the_workload_file_gets_a_summary_and_keeps_all_else(tmp_path: Path) -> None:
    never = with_learned(WORKLOAD, PERIOD)
    assert never.startswith(WORKLOAD)
    assert parse_workload(never).learned is not None
    found = compared(*logs(tmp_path, load(9_000), load(9_000)))
    checked = with_learned(never, PERIOD, found)
    assert checked.startswith(WORKLOAD)
    assert with_learned(checked, PERIOD, found) == checked
    assert with_learned(checked, PERIOD) == never
    assert tomllib.loads(checked)["learned"]["check"]["server"] == "MariaDB 11.8.2"
    learned = parse_workload(checked).learned
    assert learned is not None
    assert learned.check is not None
    for told, kind in zip(learned.check.figures, kinds_of(found), strict=True):
        assert (told.kind, told.judged, told.met, told.goal) == (kind.kind, kind.judged, kind.met, kind.goal)
        assert told.worst == (None if kind.worst is None else pytest.approx(kind.worst, abs=1e-6))


def test_a_statement_that_the_report_lacks_in_part_is_not_judged(tmp_path: Path) -> None:
    log, run = logs(tmp_path, load(9_000), load(9_000))
    report = report_of(log)
    texts = {**STATEMENTS.of_text, "SELECT c FROM othertable WHERE secretcolumn = ?": 0}
    learned = ComparedLoad(
        statements=replace(STATEMENTS, of_text=texts), report=report, profile=Profile(), period=PERIOD
    )
    found = fidelity_of(learned, model_run(run, STATEMENTS, warm_up_s=0), CONDITIONS)
    assert figure(found, "statement-share", "#1").unjudged == "not-in-log"
    assert figure(found, "statement-share", "#2").model == 1


def test_a_log_of_nothing_that_runs_has_no_figures(tmp_path: Path) -> None:
    log, run = logs(tmp_path, load(900), [Said(0, number, "insert") for number in range(50)])
    found = compared(log, run)
    assert found.transactions_count == 0
    assert {one.is_met for one in found.figures} == {None}


def test_pages_and_json_have_no_literal(tmp_path: Path) -> None:
    said = [Said(0, number, "read", literals=(987_654_321,)) for number in range(50)]
    found = compared(*logs(tmp_path, said, said))
    page = fidelity_page(found)
    texts = page_html(page), page_markdown(page), found.model_dump_json(), with_learned(WORKLOAD, PERIOD, found)
    assert not any("987654321" in text or "987,654,321" in text or "secretslow" in text for text in texts)
    assert Fidelity.model_validate_json(texts[2]) == found
