"""Logs of real servers, read by the engine: what was sent is what is found, at the time at which it was sent."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

from plimsoll.drive.executable import find_engine
from plimsoll.drive.plans import read_logs_line
from plimsoll.servers.control import ControlConnection, connect
from support.servers import FLAVOURS, StartServer, server_base, start_server
from support.waiting import until

__all__ = ["server_base", "start_server"]
pytestmark = pytest.mark.e2e

SLEEP_S = 1.4
"""More than a second: only then do the second of the start and that of the end differ in every run."""

PAUSE = f"SELECT SLEEP({SLEEP_S})"
"""The last statement of one session."""

LAST = "SELECT n + 1.5 FROM shop.items LIMIT 1"
"""That of the other."""

EXTENDED = {
    "mysql": "SET GLOBAL log_slow_extra = ON",
    "mariadb": "SET GLOBAL log_slow_verbosity = 'query_plan,innodb'",
}


def read(folder: Path, log: Path, form: str) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, object]]:
    """Statements with kind and text of their templates, their literals, and the facts of the log."""
    to = folder / form
    to.mkdir(mode=0o700)
    line = json.dumps(read_logs_line(to, [(log, log.name)], form=form)) + "\n"
    plan = folder / f"{form}.json"
    plan.write_text(line)
    with plan.open() as stdin:
        done = subprocess.run([find_engine(), "read-logs"], stdin=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert {path.stat().st_mode & 0o777 for path in to.iterdir()} == {0o600}
    templates = pl.read_csv(to / "templates.csv").select("template", "kind", "text")
    events = pl.read_csv(to / "events.csv", infer_schema_length=None).join(templates, on="template").sort("event")
    facts = json.loads((to / "facts.json").read_text())
    literals = pl.read_csv(to / "literals.csv", schema_overrides={"value": pl.String})
    return events, literals, facts["sources"][0]


def send(one: ControlConnection, other: ControlConnection) -> tuple[float, float]:
    """Transactions of two sessions, an error and a pause; returns when the pause began and ended."""
    one.rows("CREATE DATABASE shop")
    one.rows("CREATE TABLE shop.items (id INT PRIMARY KEY, n INT, note VARCHAR(40))")
    for number in range(1, 4):
        one.rows(f"INSERT INTO shop.items VALUES ({number}, {-number}, 'it''s {number}'), ({number + 10}, NULL, 'x')")
    for number in range(1, 4):
        one.rows("BEGIN")
        other.rows("START TRANSACTION")
        one.rows(f"SELECT * FROM shop.items WHERE id = {number} FOR UPDATE")
        other.rows(f"/* page */ select n from shop.items where id in ({number}, 77, {number + 10})")
        one.rows(f"UPDATE shop.items SET n = n + 1 WHERE id = {number}")
        other.rows("ROLLBACK")
        one.rows("COMMIT")
    with pytest.raises(Exception, match="nosuch"):
        one.rows("SELECT * FROM shop.nosuch WHERE id = 5")
    began = time.time()
    one.rows(PAUSE)
    ended = time.time()
    other.rows(LAST)
    return began, ended


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_what_was_sent_is_found_at_its_time(flavour: str, start_server: StartServer, tmp_path: Path) -> None:
    logs = {"slow": tmp_path / "slow.log", "general": tmp_path / "general.log"}
    server = start_server(flavour)
    with connect(server.socket_target) as control:
        control.rows(f"SET GLOBAL slow_query_log_file = '{logs['slow']}'")
        control.rows(f"SET GLOBAL general_log_file = '{logs['general']}'")
        control.rows("SET GLOBAL long_query_time = 0")
        control.rows(EXTENDED[flavour])
        control.rows("SET GLOBAL slow_query_log = ON")
        control.rows("SET GLOBAL general_log = ON")
        with connect(server.socket_target) as one, connect(server.socket_target) as other:
            began, ended = send(one, other)
        # servers answer first and write to the slow log then, each session for itself
        assert until(lambda: all(last in logs["slow"].read_text() for last in (PAUSE, LAST)))
        control.rows("SET GLOBAL general_log = OFF")
        control.rows("SET GLOBAL slow_query_log = OFF")
    for form, log in logs.items():
        events, literals, facts = read(tmp_path, log, form)
        assert (facts["format"], facts["flavour"], facts["damaged_count"]) == (form, flavour, 0)
        ours = events.filter(pl.col("text").str.contains("items|nosuch|SLEEP|BEGIN|START|COMMIT|ROLLBACK"))
        changes = ours.filter(
            pl.col("kind").is_in(["begin", "select_locking", "update", "commit", "rollback", "select"])
        )
        by_session = changes.group_by("session", maintain_order=True).agg(pl.col("kind"))["kind"].to_list()
        changing = ["begin", "select_locking", "update", "commit"] * 3 + ["select", "select"]
        reading = ["begin", "select", "rollback"] * 3 + ["select"]
        # which of two sessions is written first is the server's affair
        assert sorted(list(kinds) for kinds in by_session) == [reading, changing]
        check_literals(ours, literals)
        check_pause(ours, facts, form, began, ended)


def check_literals(events: pl.DataFrame, literals: pl.DataFrame) -> None:
    """Exactly those that were sent, in their order."""

    def of(text: str) -> list[list[tuple[str, str | None]]]:
        found = events.filter(pl.col("text") == text)["event"].to_list()
        return [literals.filter(pl.col("event") == event).select("kind", "value").rows() for event in found]

    locking = of("SELECT * FROM shop.items WHERE id = ? FOR UPDATE")
    assert locking == [[("int", str(number))] for number in (1, 2, 3)]
    lists = of("SELECT n FROM shop.items WHERE id IN (...)")
    assert lists == [[("list", "3"), *(("int", str(one)) for one in (number, 77, number + 10))] for number in (1, 2, 3)]
    rows = of("INSERT INTO shop.items VALUES (...)")
    for number, row in zip((1, 2, 3), rows, strict=True):
        kinds = [kind for kind, _ in row]
        assert kinds == ["rows", "int", "int", "text", "int", "null", "text"]
        assert [row[at][1] for at in (0, 1, 2, 4)] == ["2", str(number), str(-number), str(number + 10)]
    texts = {row[3][1] for row in rows}, {row[6][1] for row in rows}
    assert [len(text) for text in texts] == [3, 1], "equal texts have equal hashes"


def check_pause(events: pl.DataFrame, facts: dict[str, object], form: str, began: float, ended: float) -> None:
    """The long statement lies where the client saw it; within the resolution of the log."""
    exact_s = int(str(facts["resolution_us"])) / 1e6
    pause = events.filter(pl.col("text").str.contains("SLEEP")).row(0, named=True)
    slack_s = exact_s + 0.05  # the server may read a coarser clock
    assert began - slack_s <= pause["start_us"] / 1e6 <= ended - SLEEP_S + slack_s
    if form == "slow":
        assert pause["end_us"] - pause["start_us"] == pause["query_us"] >= SLEEP_S * 1e6
        assert began + SLEEP_S - slack_s <= pause["end_us"] / 1e6 <= ended + slack_s
