"""The option file: what each profile says, what users may state, what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.analyse.explain.variables import parsed_options
from plimsoll.errors import SpecError
from plimsoll.servers.option_file import (
    GIB,
    MIB,
    Flavour,
    FlavourName,
    InstancePaths,
    MachineSizes,
    OptionFile,
    Profile,
    default_buffer_pool_bytes,
    io_capacity,
    make_option_file,
    place_words,
)
from plimsoll.spec.server_options import checked_options

MARIADB = Flavour(FlavourName.MARIADB, (10, 11, 19))
MYSQL = Flavour(FlavourName.MYSQL, (9, 7, 4))
PATHS = InstancePaths(
    data_dir=Path("/b/i/data"), socket=Path("/b/i/sock"), pid_file=Path("/b/i/p"), temporary_dir=Path("/b/i/t"), port=7
)
MACHINE = MachineSizes(memory_bytes=8 * GIB, free_bytes=100 * GIB, flush_ms_min=0.1)


def written(flavour: Flavour = MARIADB, profile: Profile = Profile.PRODUCTION, **more: Any) -> OptionFile:
    """As a server is given it: what users state is checked and in one spelling by then."""
    given = {"machine": MACHINE, "paths": PATHS, **more, "options": checked_options(more.get("options", {}))}
    return make_option_file(flavour=flavour, profile=profile, **given)


def text(*arguments: Any, **more: Any) -> str:
    return written(*arguments, **more).text


def settings(*arguments: Any, **more: Any) -> dict[str, str]:
    lines = [line for line in text(*arguments, **more).splitlines() if line and line[0] not in "#["]
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


def test_production_is_durable() -> None:
    for flavour in (MARIADB, MYSQL):
        said = settings(flavour)
        assert said["innodb_flush_log_at_trx_commit"] == "1"
        assert said["innodb_doublewrite"] == "ON"
        assert said["sync_binlog"] == "1"
        assert said["log_bin"] == "binlog"
        assert said["innodb_flush_method"] == "O_DIRECT"
        assert said["innodb_buffer_pool_size"] == str(2 * GIB)
        assert (said["innodb_io_capacity"], said["innodb_io_capacity_max"]) == ("10000", "20000")


def test_what_is_taken_of_a_machine_is_divided_among_instances() -> None:
    shared = replace(MACHINE, instances=4)
    said = settings(machine=shared)
    assert said["innodb_buffer_pool_size"] == str(2 * GIB // 4)
    assert said["innodb_log_file_size"] == str(GIB // 4)
    assert (said["innodb_io_capacity"], said["innodb_io_capacity_max"]) == ("2500", "5000")
    assert said["max_connections"] == settings()["max_connections"]
    assert settings(machine=shared, buffer_pool_bytes=GIB)["innodb_buffer_pool_size"] == str(256 * MIB)
    assert settings(MARIADB, Profile.SERVER_DEFAULTS, machine=shared, buffer_pool_bytes=GIB) == {
        **settings(MARIADB, Profile.SERVER_DEFAULTS, machine=shared),
        "innodb_buffer_pool_size": str(256 * MIB),
    }


def test_shares_are_whole_mebibytes_and_never_less_than_servers_take() -> None:
    assert settings(machine=replace(MACHINE, instances=3))["innodb_buffer_pool_size"] == str(682 * MIB)
    small = MachineSizes(memory_bytes=GIB // 4, free_bytes=GIB, flush_ms_min=9.0, instances=64)
    said = settings(machine=small)
    assert said["innodb_buffer_pool_size"] == said["innodb_log_file_size"] == str(8 * MIB)
    assert said["innodb_io_capacity"] == "100"


def test_options_that_users_name_go_to_each_instance_as_written() -> None:
    said = settings(machine=replace(MACHINE, instances=4), options={"innodb_buffer_pool_size": "1G"})
    assert said["innodb_buffer_pool_size"] == "1G"


def test_redo_is_named_as_each_server_does() -> None:
    assert settings(MARIADB)["innodb_log_file_size"] == str(GIB)
    assert settings(MYSQL)["innodb_redo_log_capacity"] == str(GIB)
    assert "innodb_log_file_size" not in settings(MYSQL)
    old = Flavour(FlavourName.MYSQL, (5, 7, 44))
    assert settings(old)["innodb_log_file_size"] == str(GIB // 2), "two files"


def test_binary_logs_expire_as_each_server_can_say() -> None:
    for flavour in (MARIADB, MYSQL, Flavour(FlavourName.MARIADB, (10, 6, 1))):
        assert settings(flavour)["binlog_expire_logs_seconds"] == "900"
    for flavour in (Flavour(FlavourName.MARIADB, (10, 5, 29)), Flavour(FlavourName.MYSQL, (5, 7, 44))):
        assert "binlog_expire_logs_seconds" not in settings(flavour)
        assert settings(flavour)["expire_logs_days"] == "1"


def test_redo_leaves_room_on_a_small_disk() -> None:
    small = MachineSizes(memory_bytes=8 * GIB, free_bytes=2 * GIB)
    assert int(settings(machine=small)["innodb_log_file_size"]) <= 2 * GIB // 10


def test_server_defaults_say_nothing_but_where() -> None:
    places = {"datadir", "socket", "pid_file", "tmpdir", "bind_address", "port"}
    assert set(settings(MARIADB, Profile.SERVER_DEFAULTS)) == places
    assert set(settings(MYSQL, Profile.SERVER_DEFAULTS)) == places | {"loose_mysqlx", "secure_file_priv"}
    assert settings(MARIADB, Profile.SERVER_DEFAULTS, buffer_pool_bytes=5)["innodb_buffer_pool_size"] == "5"


def test_the_place_is_repeated_as_arguments() -> None:
    assert place_words(MYSQL, PATHS, as_root=True) == [
        "--datadir=/b/i/data",
        "--socket=/b/i/sock",
        "--pid_file=/b/i/p",
        "--tmpdir=/b/i/t",
        "--bind_address=127.0.0.1",
        "--port=7",
        "--loose_mysqlx=OFF",
        "--secure_file_priv=NULL",
        "--user=root",
    ]


def test_bare_is_not_durable_and_has_no_binary_log() -> None:
    said = settings(MYSQL, Profile.BARE)
    assert said["innodb_flush_log_at_trx_commit"] == "2"
    assert said["innodb_doublewrite"] == "OFF"
    assert said["performance_schema"] == "OFF"
    assert "skip_log_bin" in said
    assert "log_bin" not in said


def test_every_server_listens_on_this_machine_only() -> None:
    for profile in Profile:
        assert settings(MARIADB, profile)["bind_address"] == "127.0.0.1"
    assert settings(as_root=True)["user"] == "root"
    assert "user" not in settings()


def test_what_the_user_states_wins_once() -> None:
    options = {"innodb-flush-log-at-trx-commit": 2, "sync_binlog": 0, "innodb_doublewrite": False}
    lines = text(options=options).splitlines()
    assert "innodb_flush_log_at_trx_commit=2" in lines
    assert not any(line.startswith("innodb_flush_log_at_trx_commit=1") for line in lines)
    assert lines.count("innodb_doublewrite=OFF") == 1
    assert "innodb_doublewrite=ON" not in lines


def test_skipping_replaces_what_the_profile_states() -> None:
    lines = text(options={"skip_log_bin": True}).splitlines()
    assert "skip_log_bin" in lines
    assert "log_bin=binlog" not in lines
    lines = text(profile=Profile.BARE, options={"log_bin": "binlog"}).splitlines()
    assert "skip_log_bin" not in lines


@pytest.mark.parametrize("flavour", [MARIADB, MYSQL])
@pytest.mark.parametrize("profile", Profile)
def test_what_the_file_states_is_known_without_reading_it(flavour: Flavour, profile: Profile) -> None:
    stated = {
        "sync_binlog": 0,
        "skip_name_resolve": True,
        "skip_log_bin": False,
        "skip_innodb_doublewrite": True,
        "loose_skip_performance_schema": True,
        "loose_innodb_adaptive_hash_index": False,
        "enable_x": False,
        "maximum_sort_buffer_size": "1M",
        "init_connect": 'SET @a = "\\#1"',
        "sql_mode": "",
        "long_query_time": 0.5,
    }
    derived = {"character_set_server": "latin1", "large_pages": True}
    for options in ({}, stated):
        found = written(flavour, profile, options=options, derived=derived, as_root=True)
        assert found.options == parsed_options(found.text)
        assert (found.options["character_set_server"], found.options["large_pages"]) == ("latin1", "ON")
    assert found.options["init_connect"] == stated["init_connect"]
    assert found.options["log_bin"] == "ON"


def test_values_that_an_option_file_would_misread_are_quoted() -> None:
    assert 'init_connect="SET @a = \\"#1\\""' in text(options={"init_connect": 'SET @a = "#1"'}).splitlines()
    assert "default_time_zone=+01:00" in text(options={"default_time_zone": "+01:00"}).splitlines()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("datadir", "/etc"),
        ("DataDir", "x"),
        ("socket", "x"),
        ("port", 3306),
        ("bind-address", "0.0.0.0"),
        ("user", "mysql"),
        ("pid-file", "x"),
        ("plugin-load", "x"),
        ("plugin_load_add", "x"),
        ("loose-plugin-load", "x"),
        ("loose_skip_grant_tables", True),
        ("skip-grant-tables", True),
        ("skip_networking", True),
        ("init_file", "x"),
        ("datad", "x"),  # servers accept any unambiguous beginning
        ("soc", "x"),
        ("innodb_log_group_home_dir", "."),
        ("tmpdir", "x"),
        ("skip_", "x"),
        ("log_bin", "/elsewhere/binlog"),
        ("log_bin", "../binlog"),
        ("innodb_data_file_path", "a/../../x"),
        ("x", "1\nplugin_load=evil.so"),
        ("x\n[mysqld]", "1"),
        ("x=1", "1"),
        ("", "1"),
        ("x", float("nan")),
    ],
)
def test_refused(name: str, value: Any) -> None:
    with pytest.raises(SpecError) as caught:
        checked_options({name: value})
    assert caught.value.lines[0].startswith(f"options.{name}: ")


def test_all_faults_at_once_and_twice_the_same() -> None:
    with pytest.raises(SpecError) as caught:
        checked_options({"port": 1, "socket": "x", "sync_binlog": 1, "sync-binlog": 0})
    assert len(caught.value.lines) == 3


@pytest.mark.parametrize(
    "name",
    [
        "general_log",
        "log_bin",
        "innodb_flush_log_at_trx_commit",
        "innodb_page_size",
        "innodb_thread_concurrency",
        "query_cache_type",
        "character_set_server",
        "max_connections",
        "local_infile",
        "server_id",
        "sql_mode",
    ],
)
def test_ordinary_options_are_allowed(name: str) -> None:
    assert checked_options({name: "1"}) == {name: "1"}


@given(st.text(), st.text())
def test_no_option_can_add_a_line(name: str, value: str) -> None:
    """Whatever is stated either is refused or is exactly one line below our own."""
    base = text().splitlines()
    try:
        lines = text(options={name: value}).splitlines()
    except SpecError:
        return
    assert len(lines) - len(base) in {-1, 0, 1}
    assert sum(line.startswith("datadir=") for line in lines) == 1


@given(st.integers(min_value=2**20, max_value=2**45))
def test_default_buffer_pool_is_at_most_a_quarter_of_memory(memory_bytes: int) -> None:
    pool = default_buffer_pool_bytes(memory_bytes)
    assert pool == 128 * MIB or pool <= memory_bytes / 4
    assert 128 * MIB <= pool <= 4 * GIB
    assert pool % (128 * MIB) == 0


@pytest.mark.parametrize(("flush_ms", "capacity"), [(8.0, 200), (1.5, 1000), (0.3, 4000), (0.05, 10_000), (None, 1000)])
def test_io_capacity_follows_the_device(flush_ms: float | None, capacity: int) -> None:
    assert io_capacity(flush_ms) == capacity
