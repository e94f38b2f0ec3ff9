"""YCSB's workloads and pgbench's transaction as shipped files: what servers executed, and their page's commands."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest

from plimsoll.servers.control import connect
from plimsoll.servers.managed_server import ManagedServer
from support.command import plimsoll
from support.command_lines import arguments_of, command_lines
from support.endure import in_endure
from support.repository import ROOT
from support.servers import mysql_in_endure, running_server
from support.shipped_workloads import Ran

pytestmark = pytest.mark.e2e

__all__ = ["running_server"]

RECORDS = 1000
OPERATIONS = 2000

READ = re.compile(r"SELECT \* FROM usertable WHERE ycsb_key = (\d+)")
SCAN = re.compile(r"SELECT \* FROM usertable WHERE ycsb_key >= (\d+) ORDER BY ycsb_key LIMIT (\d+)")
UPDATE = re.compile(r"UPDATE usertable SET field(\d) = '([a-z]{100})' WHERE ycsb_key = (\d+)")
INSERT = re.compile(r"INSERT INTO usertable \((?:field\d(?:, )?){10}\)\s+VALUES \((?:'[a-z]{100}'(?:, )?){10}\)")


def ycsb(server: ManagedServer, letter: str) -> Ran:
    """One connection, so that the server's log has all in the order in which it was done."""
    parameters = {"records": RECORDS}
    return Ran(server, f"ycsb-{letter}", parameters=parameters, transactions=OPERATIONS, connections=1, logged=True)


def matches(ran: Ran, pattern: re.Pattern[str]) -> list[tuple[int, ...]]:
    """The numbers of each statement that the pattern describes."""
    found = (pattern.fullmatch(statement) for statement in ran.statements)
    return [tuple(int(group) for group in match.groups() if group.isdigit()) for match in found if match]


def is_near(count: int, share: float, of: int) -> bool:
    """A count within five standard deviations of what is expected: the seed is fixed, so it is so always or never."""
    return abs(count - share * of) <= 5 * math.sqrt(of * share * (1 - share))


def zipf(ranks: Iterable[int]) -> float:
    """The share of requests that these ranks have among all records, under YCSB's exponent."""
    return sum(rank**-0.99 for rank in ranks) / sum(rank**-0.99 for rank in range(1, RECORDS + 1))


def assert_keys_are_zipfian(keys: list[int]) -> None:
    """The most frequent records have their share, lie far apart, and the others have theirs."""
    assert set(keys) <= set(range(1, RECORDS + 1))
    frequent = Counter(keys).most_common(10)
    assert is_near(frequent[0][1], zipf([1]), len(keys))
    assert is_near(sum(count for _, count in frequent), zipf(range(1, 11)), len(keys))
    nearest = min(high - low for low, high in pairwise(sorted(key for key, _ in frequent)))
    assert nearest > 10, "the most frequent records are spread over the table"
    assert len(set(keys)) > 300


def assert_each_found_its_row(ran: Ran, name: str) -> None:
    counts = ran.counts[name]
    assert counts["rows_returned"] == counts["reads"]
    assert counts["rows_affected"] == counts["writes"]


@mysql_in_endure
@pytest.mark.parametrize(("letter", "updates"), [("a", 0.5), ("b", 0.05), ("c", 0)])
def test_a_to_c_read_and_update_by_zipfian_keys(running_server: ManagedServer, letter: str, updates: float) -> None:
    ran = ycsb(running_server, letter)
    read, updated = matches(ran, READ), matches(ran, UPDATE)
    assert is_near(len(updated), updates, OPERATIONS)
    assert len(read) + len(updated) == len(ran.statements) == OPERATIONS
    assert ran.completed == {"read": len(read), "update": len(updated)} if updates else {"read": len(read)}
    for name in ran.counts:
        assert_each_found_its_row(ran, name)
    assert_keys_are_zipfian([key for (key,) in read] + [key for _, key in updated])
    for field in range(10) if letter == "a" else ():
        assert is_near(sum(number == field for number, _ in updated), 0.1, len(updated))
    with connect(running_server.target) as control:
        assert control.count("SELECT COUNT(*) FROM usertable") == RECORDS


@mysql_in_endure
def test_d_reads_the_latest_records_most(running_server: ManagedServer) -> None:
    ran = ycsb(running_server, "d")
    newest, distances = RECORDS, []
    for statement in ran.statements:
        if match := READ.fullmatch(statement):
            distances.append(newest - int(match[1]))
        else:
            assert INSERT.fullmatch(statement), statement
            newest += 1
    inserted = newest - RECORDS
    assert is_near(inserted, 0.05, OPERATIONS)
    assert ran.completed == {"read": len(distances), "insert": inserted}
    assert_each_found_its_row(ran, "read")
    assert ran.counts["insert"]["rows_affected"] == inserted
    for ranks in (1, 10, 100):
        near = sum(distance < ranks for distance in distances)
        assert is_near(near, zipf(range(1, ranks + 1)), len(distances)), ranks
    assert min(distances) == 0
    with connect(running_server.target) as control:
        assert control.count("SELECT MAX(ycsb_key) FROM usertable") == newest


@mysql_in_endure
def test_e_scans_up_to_a_hundred_records(running_server: ManagedServer) -> None:
    ran = ycsb(running_server, "e")
    newest, rows, lengths, keys = RECORDS, 0, [], []
    for statement in ran.statements:
        if match := SCAN.fullmatch(statement):
            key, length = int(match[1]), int(match[2])
            keys.append(key)
            lengths.append(length)
            rows += min(length, newest - key + 1)
        else:
            assert INSERT.fullmatch(statement), statement
            newest += 1
    assert is_near(newest - RECORDS, 0.05, OPERATIONS)
    assert ran.completed == {"scan": len(keys), "insert": newest - RECORDS}
    assert ran.counts["scan"]["rows_returned"] == rows
    assert set(lengths) == set(range(1, 101))
    for quarter in range(4):
        assert is_near(sum((length - 1) // 25 == quarter for length in lengths), 0.25, len(lengths))
    assert_keys_are_zipfian(keys)


@mysql_in_endure
def test_f_writes_back_what_it_read(running_server: ManagedServer) -> None:
    ran = ycsb(running_server, "f")
    read, updated = matches(ran, READ), matches(ran, UPDATE)
    assert is_near(len(updated), 0.5, OPERATIONS)
    assert ran.completed == {"read": OPERATIONS - len(updated), "read-modify-write": len(updated)}
    assert (len(read), len(ran.statements)) == (OPERATIONS, OPERATIONS + len(updated))
    for name in ran.counts:
        assert_each_found_its_row(ran, name)
    for before, after in pairwise(ran.statements):
        if match := UPDATE.fullmatch(after):
            assert READ.fullmatch(before)[1] == match[3]  # type: ignore[index]  # any other statement fails too
    assert_keys_are_zipfian([key for (key,) in read])


@mysql_in_endure
def test_what_a_bank_books_adds_up(running_server: ManagedServer) -> None:
    """TPC-B's consistency: balances of branches, tellers and accounts have the sum of the history's deltas."""
    transactions, small = 500, {"pgbench_accounts": 2000}
    ran = Ran(running_server, "tpcb-like", parameters={"scale": 3}, rows=small, transactions=transactions, logged=True)
    assert ran.completed == {"tpcb-like": transactions}
    counts = ran.counts["tpcb-like"]
    assert (counts["reads"], counts["writes"]) == (transactions, 4 * transactions)
    assert counts["rows_returned"] == transactions
    verbs = Counter(" ".join(statement.split()[:2]) for statement in ran.statements)
    for verb in ("UPDATE pgbench_accounts", "UPDATE pgbench_tellers", "UPDATE pgbench_branches", "INSERT INTO"):
        assert verbs[verb] == transactions
    with connect(running_server.target) as control:
        assert control.count("SELECT COUNT(*) FROM pgbench_history") == transactions
        for table, key, balance, rows in (
            ("pgbench_branches", "bid", "bbalance", 3),
            ("pgbench_tellers", "tid", "tbalance", 30),
            ("pgbench_accounts", "aid", "abalance", 2000),
        ):
            assert control.count(f"SELECT COUNT(*) FROM {table}") == rows
            wrong = f"""SELECT COUNT(*) FROM {table} LEFT JOIN
                (SELECT {key}, SUM(delta) AS booked FROM pgbench_history GROUP BY {key}) AS history USING ({key})
                WHERE {balance} <> COALESCE(booked, 0)"""
            assert control.count(wrong) == 0
            booked = f"SELECT COUNT(DISTINCT {key}) FROM pgbench_history"
            assert control.count(booked) == rows if rows < 100 else control.count(booked) > 300  # type: ignore[operator]
        total = control.count("SELECT SUM(delta) FROM pgbench_history")
        assert total != 0
        assert total == control.count("SELECT SUM(bbalance) FROM pgbench_branches")
        assert control.count("SELECT COUNT(*) FROM pgbench_tellers WHERE bid <> CEIL(tid / 10)") == 0


COMMANDS = [line for _, line in command_lines(ROOT / "docs" / "ycsb.md")]


@pytest.mark.parametrize("command", [COMMANDS[1], in_endure(COMMANDS[0]), in_endure(COMMANDS[2])])
def test_the_commands_of_the_page_run(command: str, tmp_path: Path) -> None:
    """With fewer rows and for a shorter time."""
    (words,) = arguments_of(command)
    short = [re.sub(r"^(parameters.scale=)16|(parameters.records=)8000000$", r"\g<1>1", word) for word in words]
    ran = plimsoll(*short[:-1], "1s", "--warm-up", "0s", "--think-time", "10ms", "--json", cwd=tmp_path)
    assert (short[-2], ran.returncode) == ("--duration", 0), ran.stderr
    result = json.loads(ran.stdout)
    assert result["transactions"] > 0
    assert result["failed"] == 0
