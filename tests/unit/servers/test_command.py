"""Finding servers: by name and by full command."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import HostError, SpecError
from plimsoll.servers.command import find_server, initialise_words, parse_version
from plimsoll.servers.option_file import FlavourName


def fake_server(folder: Path, name: str, says: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


MARIADB = "mariadbd  Ver 10.11.19-MariaDB for linux"
MYSQL = "/x/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))"


@pytest.mark.parametrize(
    ("text", "name", "version"),
    [
        (MARIADB, "mariadb", (10, 11, 19)),
        (MYSQL, "mysql", (9, 7, 4)),
        ("mysqld  Ver 8.0.36-28 for Linux (Percona Server (GPL))", "mysql", (8, 0, 36)),
    ],
)
def test_versions(text: str, name: str, version: tuple[int, int, int]) -> None:
    flavour = parse_version(text)
    assert (flavour.name.value, flavour.version) == (name, version)


def test_a_program_that_is_no_server() -> None:
    with pytest.raises(HostError, match="must print a version of MySQL or MariaDB, printed 'hello'"):
        parse_version("hello")


def test_a_mysqld_that_is_mariadb_is_not_taken_for_mysql(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_server(tmp_path, "mysqld", MARIADB)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("plimsoll.servers.command._FOLDERS", ())
    with pytest.raises(HostError, match=r"not installed on this machine \(.*mysqld is mariadb\)"):
        find_server("mysql")
    assert find_server("mariadb").flavour.name is FlavourName.MARIADB


def test_absent_server_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("plimsoll.servers.command._FOLDERS", ())
    with pytest.raises(HostError, match="apt-get install mariadb-server-core"):
        find_server("mariadb")


def test_full_command_with_a_loader_is_split_after_the_server(tmp_path: Path) -> None:
    loader = fake_server(tmp_path, "ld.so", MYSQL)
    server = tmp_path / "sbin/mysqld"
    command = find_server(f"{loader} --library-path '/a b' {server} --no-defaults --basedir=/x --defaults-file=/y")
    assert command.program == (str(loader), "--library-path", "/a b", str(server))
    assert command.arguments == ("--basedir=/x",)
    assert command.words(Path("/i/my.cnf"), "--more")[-3:] == ["--defaults-file=/i/my.cnf", "--basedir=/x", "--more"]
    words = initialise_words(command, Path("/i/my.cnf"), ["--datadir=/i/data"])
    assert words[-2:] == ["--datadir=/i/data", "--initialize-insecure"]


@pytest.mark.parametrize("command", ["", "/nonexistent/mysqld", "/etc/passwd", "/bin/false"])
def test_commands_that_cannot_be(command: str) -> None:
    with pytest.raises(HostError, match="server command: "):
        find_server(command)


def test_mariadb_without_its_initialiser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = fake_server(tmp_path / "bin", "mariadbd", MARIADB)
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(HostError, match="mariadb-install-db: not found beside"):
        initialise_words(find_server([str(server)]), Path("/i/my.cnf"), ["--datadir=/i/data"])


def test_a_command_that_names_other_data_is_refused(tmp_path: Path) -> None:
    server = fake_server(tmp_path, "mysqld", MYSQL)
    with pytest.raises(SpecError) as caught:
        find_server(f"{server} --datadir=/var/lib/mysql --user=mysql --Init-File=x --skip-grant-tables --basedir=/usr")
    assert [fault.split()[2] for fault in caught.value.lines] == [
        "--datadir=/var/lib/mysql",
        "--Init-File=x",
        "--skip-grant-tables",
    ]


def test_an_open_quotation_is_told() -> None:
    with pytest.raises(HostError, match="server command: No closing quotation"):
        find_server("mysqld --x='1")


def test_a_program_that_prints_odd_bytes_is_no_server(tmp_path: Path) -> None:
    program = tmp_path / "mysqld"
    program.write_bytes(b"#!/bin/sh\nprintf '\\377\\376'\n")
    program.chmod(0o755)
    with pytest.raises(HostError, match="must print a version"):
        find_server(str(program))
