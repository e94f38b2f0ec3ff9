"""Which differences between effective variables are expected."""

from __future__ import annotations

import pytest

from plimsoll.analyse.explain.variables import variable_differences
from plimsoll.analyse.model import SystemSummary
from plimsoll.record.environment import Environment, InstanceFacts


def system(
    name: str, version: str = "10.11.6", factors: dict[str, str] | None = None, **variables: str
) -> SystemSummary:
    instance = InstanceFacts(name=name, version=version, flavour="mariadb", variables=variables)
    return SystemSummary(name=name, factors=factors or {}, environment=Environment(instances=(instance,)))


@pytest.mark.parametrize(
    "variable",
    ["port", "socket", "pid_file", "datadir", "tmpdir", "server_id", "server_uuid", "timestamp", "hostname",
     "innodb_data_home_dir", "innodb_log_group_home_dir", "log_error", "slow_query_log_file", "general_log_file",
     "gtid_current_pos", "gtid_executed", "log_bin_basename", "report_port", "ssl_cert", "pseudo_thread_id",
     "admin_port", "mysqlx_socket", "secure_file_priv", "innodb_undo_directory", "relay_log_index"],
)  # fmt: skip
def test_what_no_two_servers_share_is_expected(variable: str) -> None:
    (found,) = variable_differences([system("a", **{variable: "1"}), system("b", **{variable: "2"})])
    assert found.expected


@pytest.mark.parametrize(
    "variable",
    ["innodb_io_capacity", "innodb_buffer_pool_size", "sync_binlog", "innodb_flush_method", "thread_handling",
     "innodb_log_file_size", "innodb_page_size", "binlog_format", "max_connections", "sql_mode", "key_buffer_size"],
)  # fmt: skip
def test_what_changes_results_is_not(variable: str) -> None:
    (found,) = variable_differences([system("a", **{variable: "1"}), system("b", **{variable: "2"})])
    assert not found.expected


@pytest.mark.parametrize("name", ["innodb_io_capacity", "innodb-io-capacity", "options.innodb_io_capacity"])
def test_what_the_study_varies_is_expected(name: str) -> None:
    one = system("a", factors={name: "200"}, innodb_io_capacity="200")
    other = system("b", factors={name: "2000"}, innodb_io_capacity="2000")
    assert variable_differences([one, other])[0].expected


def test_a_factor_with_the_same_value_explains_nothing() -> None:
    one = system("a", factors={"innodb_io_capacity": "200"}, innodb_io_capacity="200")
    other = system("b", factors={"innodb_io_capacity": "200"}, innodb_io_capacity="2000")
    assert not variable_differences([one, other])[0].expected


def test_spellings_of_the_same_value_are_no_difference() -> None:
    assert variable_differences([system("a", x="ON"), system("b", x="1")]) == ()


def test_a_variable_that_another_version_does_not_have_is_expected() -> None:
    (found,) = variable_differences([system("a", x="1"), system("b", version="9.0.1", y="2")])[:1]
    assert found.expected
    (same,) = variable_differences([system("a", x="1", z="1"), system("b", z="1")])
    assert not same.expected
    assert same.values == {"a": "1", "b": None}


def test_systems_without_variables_are_not_compared() -> None:
    assert variable_differences([system("a", x="1"), system("b")]) == ()


def test_what_follows_from_a_factor_is_expected() -> None:
    """MariaDB 10.11 turns innodb_log_file_buffering on by itself with innodb_flush_log_at_trx_commit=2."""
    flush = "innodb_flush_log_at_trx_commit"
    one = system("a", factors={flush: "1"}, innodb_log_file_buffering="OFF")
    other = system("b", factors={flush: "2"}, innodb_log_file_buffering="ON")
    assert variable_differences([one, other])[0].expected
    small = system(
        "a", factors={"buffer_pool_bytes": "1"}, innodb_buffer_pool_size="1", innodb_buffer_pool_instances="1"
    )
    large = system(
        "b", factors={"buffer_pool_bytes": "2"}, innodb_buffer_pool_size="2", innodb_buffer_pool_instances="8"
    )
    assert all(difference.expected for difference in variable_differences([small, large]))


def test_a_profile_explains_what_its_option_file_sets_and_nothing_else() -> None:
    def with_profile(profile: str, doublewrite: str, capacity: str) -> SystemSummary:
        text = f"[mysqld]\n# a comment\ninnodb-doublewrite = {doublewrite}\nskip-name-resolve\n"
        variables = {"innodb_doublewrite": doublewrite, "innodb_io_capacity": capacity}
        instance = InstanceFacts(name="x", variables=variables, option_file=text)
        return SystemSummary(name=profile, factors={"profile": profile}, environment=Environment(instances=(instance,)))

    found = variable_differences([with_profile("production", "ON", "200"), with_profile("bare", "OFF", "2000")])
    assert {one.variable: one.expected for one in found} == {"innodb_io_capacity": False, "innodb_doublewrite": True}


def test_a_profile_explains_what_its_option_file_turns_off() -> None:
    def with_profile(profile: str, line: str, log_bin: str) -> SystemSummary:
        instance = InstanceFacts(name="x", variables={"log_bin": log_bin}, option_file=f"[mysqld]\n{line}\n")
        return SystemSummary(name=profile, factors={"profile": profile}, environment=Environment(instances=(instance,)))

    found = variable_differences(
        [with_profile("server-defaults", "", "ON"), with_profile("bare", "skip_log_bin", "OFF")]
    )
    assert {one.variable: one.expected for one in found} == {"log_bin": True}


def test_what_follows_from_the_processors_of_a_server_is_expected() -> None:
    """MariaDB makes a thread pool of as many groups as it sees processors."""
    one = system("a", factors={"cpu_count": "1"}, thread_pool_size="1")
    other = system("b", factors={"cpu_count": "4"}, thread_pool_size="4")
    assert variable_differences([one, other])[0].expected
    whole = system("whole", factors={"cpus": "0-1"}, thread_pool_size="2")
    halves = system("halves", factors={"cpus": "0-1"}, thread_pool_size="1").model_copy(update={"instances": 2})
    assert variable_differences([whole, halves])[0].expected
