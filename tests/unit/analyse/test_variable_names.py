"""Variables of unlike servers under common names: MySQL 5.0 of 2008, MariaDB and MySQL 9."""

from __future__ import annotations

import pytest

from plimsoll.analyse.explain.variables import GONE, MATERIAL, RENAMED, variable_differences
from plimsoll.analyse.model import SystemSummary, VariableReason
from plimsoll.record.environment import Environment, InstanceFacts

OLD, NEW, MARIADB = "5.0.51b", "9.0.1", "10.11.6-MariaDB"


def system(
    name: str, version: str, *, chosen: tuple[str, ...] | None = (), factors: dict[str, str] | None = None, **own: str
) -> SystemSummary:
    instance = InstanceFacts(name=name, version=version, flavour="mysql", variables=own, variables_set=chosen)
    return SystemSummary(name=name, factors=factors or {}, environment=Environment(instances=(instance,)))


def reasons(one: SystemSummary, other: SystemSummary) -> dict[str, VariableReason]:
    return {difference.variable: difference.reason for difference in variable_differences([one, other])}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"tx_isolation": "REPEATABLE-READ"}, {"transaction_isolation": "REPEATABLE-READ"}),
        ({"table_cache": "64"}, {"table_open_cache": "64"}),
        ({"storage_engine": "InnoDB"}, {"default_storage_engine": "InnoDB"}),
        ({"table_type": "INNODB"}, {"default_storage_engine": "InnoDB"}),
        ({"log_slow_queries": "OFF"}, {"slow_query_log": "0"}),
        ({"expire_logs_days": "1"}, {"binlog_expire_logs_seconds": "86400"}),
        ({"innodb_checksums": "OFF"}, {"innodb_checksum_algorithm": "NONE"}),
        (
            {"innodb_log_file_size": "5242880", "innodb_log_files_in_group": "2"},
            {"innodb_redo_log_capacity": "10485760"},
        ),
        ({"innodb_log_file_size": "100663296"}, {"innodb_redo_log_capacity": "104857600"}),
        ({"query_cache_type": "OFF"}, {}),
        ({"innodb_support_xa": "ON"}, {}),
        ({"slave_net_timeout": "60"}, {"replica_net_timeout": "60"}),
        ({"character_set_server": "utf8"}, {"character_set_server": "utf8mb3"}),
        ({"long_query_time": "10"}, {"long_query_time": "10.000000"}),
        ({}, {"performance_schema": "OFF"}),
    ],
)
def test_the_same_by_another_name_is_no_difference(old: dict[str, str], new: dict[str, str]) -> None:
    assert reasons(system("a", OLD, x="1", **old), system("b", NEW, x="1", **new)) == {}


@pytest.mark.parametrize(
    ("old", "new", "variable"),
    [
        ({"tx_isolation": "READ-COMMITTED"}, {"transaction_isolation": "REPEATABLE-READ"}, "transaction_isolation"),
        ({"query_cache_type": "ON"}, {}, "query_cache_type"),
        ({"innodb_support_xa": "OFF"}, {}, "innodb_support_xa"),
        ({"innodb_log_file_size": "5242880", "innodb_log_files_in_group": "2"},
         {"innodb_redo_log_capacity": "104857600"}, "innodb_redo_log_capacity"),
        ({"log_bin": "OFF"}, {"log_bin": "ON"}, "log_bin"),
        ({}, {"performance_schema": "ON"}, "performance_schema"),
    ],
)  # fmt: skip
def test_a_material_difference_is_found_behind_other_names_and_defaults(
    old: dict[str, str], new: dict[str, str], variable: str
) -> None:
    found = reasons(system("a", OLD, x="1", **old), system("b", NEW, x="1", **new))
    assert found == {variable: VariableReason.UNEXPLAINED}


def test_other_defaults_are_grouped_and_chosen_values_are_not() -> None:
    one, other = {"back_log": "80", "thread_stack": "1"}, {"back_log": "151", "thread_stack": "2"}
    default = VariableReason.DEFAULT
    assert set(reasons(system("a", MARIADB, **one), system("b", NEW, **other)).values()) == {default}
    chosen = reasons(system("a", MARIADB, chosen=("back_log",), **one), system("b", NEW, **other))
    assert chosen == {"back_log": VariableReason.UNEXPLAINED, "thread_stack": default}
    unknown = reasons(system("a", OLD, chosen=None, **one), system("b", NEW, **other))
    assert set(unknown.values()) == {VariableReason.UNEXPLAINED}, "a server that does not say what was set"


def test_a_value_chosen_under_the_old_name_counts_under_the_new_one() -> None:
    one = system("a", OLD, chosen=("slave_net_timeout",), slave_net_timeout="60")
    assert reasons(one, system("b", NEW, replica_net_timeout="61")) == {
        "replica_net_timeout": VariableReason.UNEXPLAINED
    }


def test_servers_of_one_version_keep_their_own_names() -> None:
    one, other = system("a", OLD, tx_isolation="SERIALIZABLE"), system("b", OLD, tx_isolation="READ-COMMITTED")
    assert reasons(one, other) == {"tx_isolation": VariableReason.UNEXPLAINED}


def test_the_variables_of_a_study_of_2008_against_a_server_of_today() -> None:
    """What a my.cnf of MySQL 5.0 has, and what MySQL 9 has of it: what is left are the differences in fact."""
    old = {
        "innodb_additional_mem_pool_size": "20971520", "innodb_buffer_pool_size": "21474836480",
        "innodb_checksums": "ON", "innodb_doublewrite": "ON", "innodb_file_io_threads": "4",
        "innodb_flush_log_at_trx_commit": "1", "innodb_flush_method": "", "innodb_locks_unsafe_for_binlog": "OFF",
        "innodb_log_buffer_size": "8388608", "innodb_log_file_size": "1073741824", "innodb_log_files_in_group": "2",
        "innodb_support_xa": "ON", "innodb_thread_concurrency": "0", "key_buffer_size": "8388608",
        "query_cache_size": "0", "query_cache_type": "ON", "table_cache": "2048", "thread_concurrency": "64",
        "tx_isolation": "REPEATABLE-READ", "storage_engine": "MyISAM", "log_bin": "OFF",
    }  # fmt: skip
    new = {
        "innodb_buffer_pool_size": "21474836480", "innodb_checksum_algorithm": "crc32", "innodb_doublewrite": "ON",
        "innodb_flush_log_at_trx_commit": "1", "innodb_flush_method": "fsync", "innodb_log_buffer_size": "8388608",
        "innodb_redo_log_capacity": "2147483648", "innodb_read_io_threads": "4", "innodb_thread_concurrency": "0",
        "key_buffer_size": "8388608", "table_open_cache": "2048", "transaction_isolation": "REPEATABLE-READ",
        "default_storage_engine": "InnoDB", "log_bin": "OFF", "performance_schema": "OFF",
    }  # fmt: skip
    found = reasons(system("2008", OLD, chosen=None, **old), system("today", NEW, **new))
    unexplained = {name for name, reason in found.items() if reason is VariableReason.UNEXPLAINED}
    assert unexplained == {"query_cache_type", "default_storage_engine", "innodb_checksum_algorithm"}
    assert found["thread_concurrency"] is VariableReason.ABSENT


def test_tables_of_names_are_consistent() -> None:
    assert not {new for new, _ in RENAMED.values()} & RENAMED.keys(), "a chain of names would depend on the order"
    assert GONE.keys() <= MATERIAL
