"""Threads, disks and waits, from made-up folders and a made-up connection."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import TargetError
from plimsoll.spec.target import Target, parse_target
from plimsoll.telemetry.device import DisksSampler
from plimsoll.telemetry.process import LOOKS_MAX, ThreadsSampler
from plimsoll.telemetry.sampler import matches
from plimsoll.telemetry.server_waits import OptionalTables, SummariesSampler, WaitsSampler


def thread(proc: Path, tid: int, waited_ns: int, slices: int) -> None:
    folder = proc / "7/task" / str(tid)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "schedstat").write_text(f"5 {waited_ns} {slices}\n")


def test_threads_add_up(tmp_path: Path) -> None:
    for tid in (7, 8):
        thread(tmp_path, tid, 0, 100)
    sampler = ThreadsSampler(7, tmp_path)
    assert sampler.sample(0.0) == []
    thread(tmp_path, 7, 1_000_000_000, 300)
    thread(tmp_path, 8, 500_000_000, 150)
    thread(tmp_path, 9, 9_000_000_000, 9_000)  # began in between: of it only what follows counts
    found = {one.metric: one.value for one in sampler.sample(2.0)}
    assert found == {"server_context_switches_per_s": 125.0, "server_run_delay_s_per_s": 0.75}


def test_many_threads_are_looked_at_in_turn(tmp_path: Path) -> None:
    """Each second some; their rates add up to those of all, whatever each one's time was."""
    tids = range(1000, 1000 + 2 * LOOKS_MAX + 10)
    for tid in tids:
        thread(tmp_path, tid, 0, 0)
    sampler = ThreadsSampler(7, tmp_path)
    assert [sampler.sample(float(at)) for at in range(3)] == [[], [], []]
    for tid in tids:
        thread(tmp_path, tid, 300_000_000, 30)
    assert sampler.sample(3.0) == sampler.sample(4.0) == []
    found = {one.metric: one.value for one in sampler.sample(5.0)}
    assert found["server_context_switches_per_s"] == pytest.approx(10 * len(tids))
    assert found["server_run_delay_s_per_s"] == pytest.approx(0.1 * len(tids))


def test_a_process_without_threads_has_ended(tmp_path: Path) -> None:
    with pytest.raises(ProcessLookupError):
        ThreadsSampler(8, tmp_path).sample(0.0)


def test_disks(tmp_path: Path) -> None:
    for name in ("vda", "loop0"):
        (tmp_path / "block" / name).mkdir(parents=True)

    def write(busy_ms: int) -> None:
        line = "1 0 {} 1 0 8 1 1 0 8 1 0 {} 1\n"
        (tmp_path / "diskstats").write_text("".join(line.format(name, busy_ms) for name in ("vda", "vda1", "loop0")))

    write(100)
    sampler = DisksSampler(tmp_path, tmp_path / "block")
    assert sampler.sample(0.0) == []
    write(600)
    assert [(one.metric, one.value) for one in sampler.sample(1.0)] == [("disk_vda_busy_ratio", 0.5)]


class Connection:
    """Answers like MySQL: no table of MariaDB's."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def rows(self, statement: str, *_: object, columns: int = 1) -> list[tuple[object, ...]]:
        assert columns == 2
        self.asked.append(statement)
        if "information_schema" in statement:
            raise TargetError("unknown table", code=1109)
        if "data_locks" in statement:
            return [("`shop`.`stock`", 4)]
        return [("wait/io/file/sql/binlog", 3e12)]

    def close(self) -> None:
        pass


def test_waits_and_a_refusal_that_is_no_fault() -> None:
    connection = Connection()

    def give(_: Target) -> Connection:
        return connection

    sampler = WaitsSampler(parse_target("mysql://u@127.0.0.1/db"), open_connection=give)
    seen = [{one.metric: one.value for one in sampler.sample(float(at))} for at in range(6)]
    locks = {"row_lock_waiters_shop.stock": 4.0}
    assert seen[0] == seen[5] == {"wait_binlog_file_ms": 3000.0, **locks}
    assert seen[1] == seen[4] == {}
    assert sum("information_schema" in one for one in connection.asked) == 1


class Asked:
    """A server whose answers are told: rows, or an error."""

    def __init__(self, *answers: list[tuple[object, ...]] | TargetError) -> None:
        self.answers = list(answers)
        self.opened = 0

    def __call__(self, _: Target) -> Asked:
        self.opened += 1
        return self

    def rows(self, *_: object, **__: object) -> list[tuple[object, ...]]:
        answer = self.answers.pop(0)
        if isinstance(answer, TargetError):
            raise answer
        return answer

    def close(self) -> None:
        pass


def tables(*answers: list[tuple[object, ...]] | TargetError) -> tuple[OptionalTables, Asked]:
    server = Asked(*answers)
    return OptionalTables(parse_target("mysql://u@127.0.0.1/db"), ["one"], server), server  # type: ignore[arg-type]


def test_what_was_never_answered_is_asked_once() -> None:
    optional, server = tables(TargetError("no such table", code=1146))
    assert optional.rows("one", columns=1) == optional.rows("one", columns=1) == []
    assert server.answers == []


def test_what_was_answered_before_and_is_refused_now_is_told_once() -> None:
    optional, _ = tables([(1,)], TargetError("denied", code=1142))
    assert optional.rows("one", columns=1) == [(1,)]
    with pytest.raises(TargetError, match="denied"):
        optional.rows("one", columns=1)
    assert optional.rows("one", columns=1) == []


def test_a_lost_connection_is_opened_again_ever_less_often() -> None:
    lost = TargetError("gone", code=2013)
    optional, server = tables([(1,)], lost, lost, [(2,)])
    assert [optional.rows("one", columns=1) for _ in range(7)] == [[(1,)], [], [], [], [], [], [(2,)]]
    assert server.opened == 3


def test_summaries_are_totals_by_event_in_milliseconds() -> None:
    def answer(statement: str) -> list[tuple[object, ...]]:
        if "file_summary" in statement:
            return [("wait/io/file/sql/binlog", 0, 0, 0, 7, 2e9, 4096, 5, 9e9)]
        if "statements" in statement:
            return [("statement/sql/select", 10, 5e9, 1e9, 0, 100, 50, None)]
        return [("wait/io/table/sql/handler", 3, 4e9), ("wait/synch/mutex/a'b", 1, 1e9)]

    class Server(Asked):
        def rows(self, statement: str, **_: object) -> list[tuple[object, ...]]:  # type: ignore[override]
            return answer(statement)

    sampler = SummariesSampler(parse_target("mysql://u@127.0.0.1/db"), open_connection=Server())  # type: ignore[arg-type]
    seen = {one.metric: one.value for one in sampler.sample(0.0)}
    assert seen["wait_io.table.sql.handler_ms"] == 4.0
    assert seen["wait_synch.mutex.ab_count"] == 1.0, "a name of a metric has no quotes"
    assert seen["file_sql.binlog_write_bytes"] == 4096.0
    assert seen["file_sql.binlog_other_ms"] == 9.0
    assert (seen["statement_sql.select_ms"], seen["statement_sql.select_lock_ms"]) == (5.0, 1.0)
    assert seen["statement_sql.select_tmp_disk_tables_count"] == 0.0
    assert all(any(matches(name, pattern) for pattern in SummariesSampler.metrics) for name in seen)
    assert [sampler.sample(float(at)) for at in range(1, 5)] == [[], [], [], []]
    assert len(sampler.sample(5.0)) == len(seen)
