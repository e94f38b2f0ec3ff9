"""MariaDB against MySQL 9: what is alike gives few warnings, and planted differences are found."""

from __future__ import annotations

import pytest

from plimsoll.analyse.explain.equivalence import equivalence
from plimsoll.analyse.explain.equivalence_model import Aspect
from plimsoll.analyse.explain.variables import variable_differences
from plimsoll.analyse.model import SystemSummary, VariableReason
from plimsoll.drive.engine import LocalDriver
from plimsoll.run.instance import managed_instance
from plimsoll.run.survey import Surveyor
from plimsoll.run.system_data import DataKeeper
from plimsoll.servers.control import connect
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.spec.oltp import WorkloadSpec
from support.servers import FLAVOURS, StartServer, server_base, start_server

__all__ = ["server_base", "start_server"]
pytestmark = pytest.mark.e2e

TEXT = "ALTER TABLE sbtest1 CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"
WORKLOADS = (
    WorkloadSpec(name="mixed", kind="oltp_read_write", table_size=5_000),
    WorkloadSpec(name="points", kind="select_random_points", table_size=5_000),
)
PLANTED = (
    "ALTER TABLE sbtest1 DROP INDEX k_1, MODIFY c CHAR(120) CHARACTER SET latin1 NOT NULL DEFAULT ''",
    "DELETE FROM sbtest1 WHERE id = 17",
    "SET GLOBAL max_error_count = 77",
)


def run(server: ManagedServer, *statements: str) -> None:
    with connect(server.target) as control:
        for statement in statements:
            control.rows(statement)


def summary(server: ManagedServer, name: str) -> SystemSummary:
    instances, surveyor = [managed_instance(server, name)], Surveyor()
    surveyor.look(instances, WORKLOADS)
    return SystemSummary(name=name, environment=surveyor.environment(instances, WORKLOADS[0], 1))


def test_two_flavours_alike_and_with_planted_differences(start_server: StartServer) -> None:
    servers = [start_server(flavour) for flavour in FLAVOURS]
    for server in servers:
        DataKeeper(driver=LocalDriver(), data_sets=WORKLOADS[:1]).ensure(server.target)
        run(server, TEXT, "ANALYZE TABLE sbtest1")
    mariadb, mysql = (summary(server, flavour) for server, flavour in zip(servers, FLAVOURS, strict=True))
    variables = variable_differences([mariadb, mysql])
    by_reason = {
        reason: {variable.variable for variable in variables if variable.reason is reason} for reason in VariableReason
    }
    defaults = mariadb.environment.instances[0].variable_defaults
    assert (defaults["innodb_buffer_pool_size"], defaults["max_connections"]) == ("134217728", "151")
    assert mysql.environment.instances[0].variable_defaults == {}, "it does not say"
    assert by_reason[VariableReason.UNEXPLAINED] <= {"innodb_change_buffering", "innodb_flush_neighbors"} | {
        "innodb_io_capacity", "innodb_io_capacity_max", "binlog_format", "sync_binlog"
    }  # fmt: skip
    assert len(by_reason[VariableReason.DEFAULT]) > 50, "grouped, not told one by one"
    data = equivalence([mariadb, mysql], variables)[2:]
    assert {one.aspect: one.differences for one in data} == {one.aspect: () for one in data}
    assert all(one.compared_count for one in data)
    plans = [plan for one in (mariadb, mysql) for plan in one.environment.instances[0].data.plans]
    assert [plan.refused for plan in plans] == [None] * 2 * 9

    run(servers[1], *PLANTED)
    changed = summary(servers[1], "mysql")
    found = {
        one.aspect: {each.what for each in one.differences}
        for one in equivalence([mariadb, changed], variable_differences([mariadb, changed]))
    }
    assert found[Aspect.VARIABLES] - by_reason[VariableReason.UNEXPLAINED] == {"max_error_count"}
    assert found[Aspect.DEFINITIONS] == {"sbtest1: index k_1"}
    assert found[Aspect.CHARACTER_SETS] == {"sbtest1.c: collation"}
    assert found[Aspect.ROWS] == {"sbtest1: rows"}
    assert found[Aspect.PLANS] == {"points: random_points"}
