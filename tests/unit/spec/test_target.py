"""Targets and passwords: read from URLs, option files and variables, never shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.errors import SpecError
from plimsoll.spec.target import parse_target, with_secrets


def test_a_tcp_target_is_read() -> None:
    target = parse_target("mysql://us%40er:p%2Fw@db.example:3307/shop")
    assert (target.user, target.host, target.port, target.database) == ("us@er", "db.example", 3307, "shop")
    assert target.password.get_secret_value() == "p/w"


def test_a_socket_target_is_read() -> None:
    target = parse_target("mysql://root@/sbtest?socket=/run/mysqld.sock")
    assert target.endpoint == "/run/mysqld.sock"


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("postgres://u@h/d", "must begin with mysql://"),
        ("mysql://h/d", "the user is missing"),
        ("mysql://u@h/", "the database is missing"),
        ("mysql://u@/d", "host or ?socket= is missing"),
        ("mysql://u@h/d?socket=/s", "exclude each other"),
        ("mysql://u@h:99999/d", "target: "),
        ("mysql://u:secret@h:x/d", "target: "),
        ("mysql://u:secret/2@h/d", "%2F"),
        ("mysql://u:secret#2@h/d", "%23"),
        ("mysql://u:secret?2@h/d", "%3F"),
        (
            "mysql://u@h/d?ssl-mode=REQUIRED",
            "behind the ? only socket, tls, ca, cert, key, server_public_key_path, get_server_public_key are known",
        ),
        ("mysql://u@h/d#x", "mean nothing"),
    ],
)
def test_a_wrong_url_says_what_is_wrong_without_its_password(url: str, fault: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_target(url)
    assert fault in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_password_is_never_shown() -> None:
    target = parse_target("mysql://u:hunter2@h/d")
    assert "hunter2" not in f"{target} {target!r} {target.password} {target.password!r}"


def test_a_password_comes_from_an_option_file(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text("!include /etc/x\n[mysqld]\nskip-name-resolve\n[client]\nuser=u\npassword = 'p=w#1'\n")
    target = with_secrets(parse_target("mysql://u@h/d"), defaults_file=str(path))
    assert target.password.get_secret_value() == "p=w#1"


def test_a_password_comes_from_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PW", "x")
    assert with_secrets(parse_target("mysql://u@h/d"), password_env="PW").password.get_secret_value() == "x"
    assert "PW" not in os.environ, "child processes would inherit it"
    assert with_secrets(parse_target("mysql://u@h/d"), password_env="PW").password.get_secret_value() == "x"
    monkeypatch.setenv("PW", "another")
    assert with_secrets(parse_target("mysql://u@h/d"), password_env="PW").password.get_secret_value() == "another"
    with pytest.raises(SpecError, match="has no variable of the name that was given"):
        with_secrets(parse_target("mysql://u@h/d"), password_env="NOPE")


def test_an_option_file_without_a_password_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text("[client]\nuser=u\n")
    with pytest.raises(SpecError, match="no password"):
        with_secrets(parse_target("mysql://u@h/d"), defaults_file=str(path))
    with pytest.raises(SpecError, match="cannot be read"):
        with_secrets(parse_target("mysql://u@h/d"), defaults_file=str(tmp_path / "none"))
