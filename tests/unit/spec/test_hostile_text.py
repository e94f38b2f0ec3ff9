"""What passes for a name, a path, a number or an option, and what only looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import SpecError
from plimsoll.spec.study import parse_study, read_study
from plimsoll.spec.target import parse_target
from support.faults import faults_of

MANAGED = """
[study]
name = "s"
levels = { connections = [1] }
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "a"
server = { managed = "mariadb" }
"""
TARGET = MANAGED.replace('server = { managed = "mariadb" }', 'target = "mysql://u@h/d"\npassword_env = "PW"')


@pytest.mark.parametrize(
    "name", ["", "  ", " a", "a ", "a\\u0000", "a\\nb", "a\\u009bb", "a\\u202eb", "a\\u200bb", "a\\u2028", "a" * 101]
)
def test_names_that_nobody_could_read_or_tell_from_others(name: str) -> None:
    found = faults_of(
        parse_study, MANAGED.replace('name = "s"', f'name = "{name}"').replace('name = "a"', f'name = "{name}"')
    )
    assert [fault.split(":")[0] for fault in found] == ["study.name", "system[0].name"]


@pytest.mark.parametrize("name", ["two words", "größer", "8 × 64 GB", "a/b"])
def test_ordinary_names(name: str) -> None:
    assert parse_study(MANAGED.replace('name = "a"', f'name = "{name}"')).system[0].name == name


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ('"mariadb" }', '"mariadb", data_dir = "/x\\u0000" }', "system[0].server.data_dir"),
        ('"mariadb" }', '"mariadb", data_dir = "" }', "system[0].server.data_dir"),
        ('"mariadb" }', '"mariadb", command = ["/x\\u0000"] }', "system[0].server.command[0]"),
        ('"mariadb" }', '"mariadb", buffer_pool = "0" }', "system[0].server.buffer_pool"),
        ('"mariadb" }', '"mariadb", instances = true }', "system[0].server.instances"),
        ("[1]", "[true]", "study.levels.connections[0]"),
        ("[1]", '["1"]', "study.levels.connections[0]"),
        ("[1]", "[1], rate_tps = [true]", "study.levels.rate_tps[0]"),
        ("[1]", '[1], rate_tps = ["1"]', "study.levels.rate_tps[0]"),
        ("[1]", "[1], rate_tps = [nan]", "study.levels.rate_tps[0]"),
        ('name = "a"', 'name = "a"\ncost_per_month = true', "system[0].cost_per_month"),
        ('name = "a"', 'name = "a"\ncost_per_month = "1"', "system[0].cost_per_month"),
        ('name = "w"', 'name = "w"\ntable_size = true', "workload[0].table_size"),
        ('name = "w"', 'name = "w"\ndistribution = { kind = "zipfian", exponent = true }', "workload[0].distribution"),
        ('name = "w"', 'name = "w"\ndistribution = { kind = "zipfian", exponent = nan }', "workload[0].distribution"),
        ('name = "s"', 'name = "s"\nduration = "１s"', "study.duration"),
        ('name = "s"', 'name = "s"\nrepetitions = "3"', "study.repetitions"),
        ('name = "s"', 'name = "s"\n[study.clients]\nconnect_per_s = "5"', "study.clients.connect_per_s"),
        (
            'name = "s"',
            'name = "s"\n[study.clients.reconnect]\nback_ratio = true',
            "study.clients.reconnect.back_ratio",
        ),
    ],
)
def test_what_only_looks_right(old: str, new: str, path: str) -> None:
    text = MANAGED.replace(old, new)
    if "[study." in new:
        text = text.replace("levels = { connections = [1] }", "") + "[study.levels]\nconnections = [1]\n"
    assert any(fault.startswith(path) for fault in faults_of(parse_study, text))


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ('{ datadir = "/x" }', "options.datadir: is set by Plimsoll"),
        ('{ "a b" = 1 }', "options.a b: must consist of letters"),
        ('{ sync_binlog = 1, "sync-binlog" = 0 }', "is stated twice"),
        ("{ a = [1] }", "options.a: must be text, a number, true or false, is '[1]'"),
        ("{ a = 2026-01-01 }", "options.a: must be text, a number, true or false"),
    ],
)
def test_options_of_servers_are_looked_at_without_one(options: str, fault: str) -> None:
    (found,) = faults_of(parse_study, MANAGED.replace('"mariadb" }', f'"mariadb", options = {options} }}'))
    assert found.startswith("system[0].server.options.")
    assert fault in found


def test_a_command_that_leads_to_other_data_is_refused_without_a_server() -> None:
    (found,) = faults_of(
        parse_study, MANAGED.replace('"mariadb" }', '"mariadb", command = ["mysqld", "--datadir=/x"] }')
    )
    assert found.startswith("system[0].server.command: --datadir=/x is set by Plimsoll")


@pytest.mark.parametrize("variable", ["", "A=B", "A\\u0000", "hunter2!", "1A"])
def test_what_is_no_variable_is_not_repeated(variable: str) -> None:
    (found,) = faults_of(parse_study, TARGET.replace('"PW"', f'"{variable}"'))
    assert found == "system[0].password_env: must be the name of an environment variable: letters, digits and _"


@pytest.mark.parametrize(
    "url", ["mysql://u%00@h/d", "mysql://u@h/d%0a", "mysql://u@/d?socket=/a%00", "mysql://u@h/d?tls=required&cert=%00"]
)
def test_targets_with_hidden_characters(url: str) -> None:
    with pytest.raises(SpecError, match="not to be seen"):
        parse_target(url)


def test_a_key_that_belongs_elsewhere_is_not_suggested_to_itself() -> None:
    found = faults_of(parse_study, MANAGED.replace('kind = "oltp_read_only"', 'file = "key-value"\ntable_size = 5'))
    assert found == ["workload[0].table_size: is not a known key for what stands beside it"]


def test_a_study_file_as_editors_of_other_systems_write_it(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_bytes(b"\xef\xbb\xbf" + MANAGED.replace("\n", "\r\n").encode())
    assert read_study(tmp_path / "s.toml") == parse_study(MANAGED)
