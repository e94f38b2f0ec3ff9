"""`[learned]` of a workload file: faults are told with their place, and it is no part of what a workload is."""

from __future__ import annotations

import pytest

from plimsoll.spec.workload_file import parse_workload
from plimsoll.spec.workloads import StatementsSpec, reader, shipped
from support.faults import assert_refused

LEARNED = """
[learned]
from = 2026-11-23T16:48:36Z
to = 2026-11-23T17:48:51Z
transactions = 18643
transaction_share = 0.95

[learned.check]
at = 2026-11-24T08:00:00Z
server = "MySQL 9.7.4"
connections = 3
duration_s = 60.0
figures = [{kind = "type-share", judged = 2, met = 1, worst = 0.03, goal = 0.01}]
"""


def text() -> str:
    return reader(shipped()["order-queue"].parent)("order-queue") + LEARNED


def test_it_changes_nothing_of_what_runs() -> None:
    with_it = StatementsSpec(name="queue", file="queue.toml", text=text())
    without = StatementsSpec(name="queue", file="queue.toml", text=text().removesuffix(LEARNED))
    assert with_it.definition.learned is not None
    assert with_it.identity() == without.identity()
    assert with_it.line() == without.line()
    assert with_it.data_line() == without.data_line()


@pytest.mark.parametrize(
    ("was", "written", "fault"),
    [
        ("0.95", "1.5", "learned.transaction_share: "),
        ("18643", "-1", "learned.transactions: "),
        ("2026-11-23T16:48:36Z", "2026-11-23T16:48:36", "learned.from: must be a time with its offset"),
        ("2026-11-24T08:00:00Z", "0001-01-01T00:00:00+14:00", "learned.check.at: must be a time with its offset"),
        ('"type-share"', '"types"', "learned.check.figures[0].kind: "),
        ("connections = 3", "connection = 3", "learned.check.connection: "),
    ],
)
def test_faults_have_their_place(was: str, written: str, fault: str) -> None:
    assert_refused(fault, parse_workload, text().replace(was, written))
