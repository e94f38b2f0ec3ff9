"""What error logs mean, with lines that real servers wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.servers.server_process import explain_exit, explain_log, read_tail


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        (
            "[ERROR] /usr/sbin/mariadbd: unknown variable 'innodb_redo_log_capacity=1'",
            "option innodb_redo_log_capacity",
        ),
        ("[ERROR] [MY-000067] [Server] unknown variable 'query_cache_size=1'.", "option query_cache_size"),
        ("[ERROR] /usr/sbin/mariadbd: unknown option '--skip-foo'", "option skip-foo"),
        ("Error while setting value 'quick' to 'binlog_format'", "value of the option binlog_format"),
        ("Unknown suffix 'x' used for variable 'innodb_buffer_pool_size' (value '12x')", "innodb_buffer_pool_size"),
        ("[ERROR] Can't start server: Bind on TCP/IP port: Address already in use", "port is used"),
        ("[ERROR] InnoDB: Error number 28 means 'No space left on device'", "disk is full"),
        ("[ERROR] InnoDB: Cannot allocate memory for the buffer pool", "smaller buffer_pool"),
        ("[ERROR] InnoDB: Unable to lock ./ibdata1 error: 11", "another server"),
        ('[ERROR] mysqld: Can\'t create file (errno: 13 "Permission denied")', "check the permissions"),
    ],
)
def test_known_lines(line: str, meaning: str) -> None:
    assert meaning in (explain_log(f"something\n{line}\nAborting") or "")


def test_unknown_lines() -> None:
    assert explain_log("[Note] ready for connections") is None


def test_tail(tmp_path: Path) -> None:
    log = tmp_path / "error.log"
    assert read_tail(log) == ""
    log.write_text("".join(f"line {n}\n" for n in range(100)))
    assert read_tail(log, lines=2) == "line 98\nline 99"
    assert read_tail(log, offset=log.stat().st_size - 8) == "line 99"


def test_the_initialisers_guesses_are_left_out(tmp_path: Path) -> None:
    log = tmp_path / "error.log"
    log.write_text("[ERROR] Aborting\n\nInstallation of system tables failed!  Examine the logs\nguess\n")
    assert read_tail(log) == "[ERROR] Aborting"


def test_exits() -> None:
    assert explain_exit(-9).startswith("was killed by SIGKILL")
    assert explain_exit(-9, 2**29).endswith("needs more than its memory_limit, here 512 MiB)")
    assert explain_exit(-11) == "was ended by signal 11"
    assert explain_exit(1) == "ended with exit code 1"
