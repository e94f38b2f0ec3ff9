"""What a study wants of each server."""

from __future__ import annotations

import pytest

from plimsoll.analyse.findings.machine import Demand
from plimsoll.run.readiness import demand_of, statements_of
from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.study import parse_study
from plimsoll.spec.tpcc import TpccSpec

STUDY = """
[study]
name = "s"
levels = { connections = [4, 65] }

[[workload]]
name = "reads"
kind = "oltp_read_only"
tables = 4

[[workload]]
name = "points"
kind = "oltp_point_select"
tables = 4
prepared = false

[[system]]
name = "a"
server = { managed = "mariadb", instances = 2 }
"""


def test_a_server_has_its_share_of_connections_and_their_statements() -> None:
    assert demand_of(parse_study(STUDY), 2) == Demand(connections=33, prepared_statements=33 * 9 * 4, writes=False)


@pytest.mark.parametrize(
    ("workload", "count"),
    [
        (WorkloadSpec(name="w", kind="oltp_insert"), 0),
        (WorkloadSpec(name="w", kind="oltp_read_write", prepared=False), 0),
        (TpccSpec(), 60),
        (TpccSpec(prepared=False), 0),
    ],
)
def test_text_prepares_nothing(workload: WorkloadSpec | TpccSpec, count: int) -> None:
    assert statements_of(workload) == count
