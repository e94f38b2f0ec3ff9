"""A server that asks for the password gets it from no connection that Plimsoll opens, and no file of this machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.command import plimsoll
from support.endure import in_endure
from support.rogue import LOGIN_DONE, QUESTIONS, Rogue

pytestmark = pytest.mark.e2e

PASSWORD = "Pf9-unmistakable-Kw3"
STUDY = """
[study]
name = "s"
levels = {{ connections = [1] }}
duration = "1s"
[[workload]]
name = "w"
kind = "oltp_read_only"
table_size = 100
[[system]]
name = "a"
password_env = "PW"
target = "{url}"
"""
TARGET = ["--target", "{url}", "--password-env", "PW"]
SYSBENCH = [
    "oltp_read_only", "--mysql-host=127.0.0.1", "--mysql-port={port}", "--mysql-user=bench",
    "--mysql-password={password}", "--time=1",
]  # fmt: skip
COMMANDS = {
    "trial": ["trial", *TARGET, "--duration", "1s"],
    "prepare": ["prepare", *TARGET],
    "check": ["check", *TARGET],
    "check of tpcc": ["check", *TARGET, "--workload", "tpcc", "--warehouses", "1"],
    "cleanup": ["cleanup", *TARGET],
    "study run": ["study", "run", "{folder}/study.toml", "--to", "{folder}/out"],
    "sysbench prepare": ["sysbench", *SYSBENCH, "prepare"],
    "sysbench run": ["sysbench", *SYSBENCH, "run"],
    "sysbench recorded": ["sysbench", *SYSBENCH, "--plimsoll-record", "{folder}/out", "run"],
}
"""Every command that connects to a server which is not Plimsoll's own."""


def run(command: str, rogue: Rogue, folder: Path) -> subprocess.CompletedProcess[str]:
    url = f"mysql://bench@127.0.0.1:{rogue.port}/d"
    (folder / "study.toml").write_text(STUDY.format(url=url))
    words = [word.format(url=url, port=rogue.port, password=PASSWORD, folder=folder) for word in COMMANDS[command]]
    return plimsoll(*words, env={"PW": PASSWORD}, cwd=folder)


BOTH_KINDS = ("study run", "sysbench run")
"""A command of the control connection alone, and of the engine alone: all others connect as these do."""

QUESTIONED = [
    (command, question) if question == "dialog" or command in BOTH_KINDS else in_endure(command, question)
    for question in ("mysql_clear_password", "dialog", "mysql_old_password")
    for command in COMMANDS
]
"""Each command meets one question in every run, and both kinds of connections meet all."""


@pytest.mark.parametrize(("command", "question"), QUESTIONED)
def test_the_password_is_not_told(command: str, question: str, tmp_path: Path) -> None:
    with Rogue(QUESTIONS[question]).listening() as rogue:
        ran = run(command, rogue, tmp_path)
    assert rogue.asked > 0, ran.stderr
    assert ran.returncode in {1, 3}, ran.stderr
    assert question in ran.stdout + ran.stderr
    assert len(rogue.heard) == rogue.asked, "from each client the login and nothing after it"
    assert PASSWORD.encode() not in b"".join(rogue.heard)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_file_is_sent(command: str, tmp_path: Path) -> None:
    """As if every reply were to LOAD DATA LOCAL."""
    precious = tmp_path / "precious"
    precious.write_text("Zq4-precious-Ty8")
    with Rogue(LOGIN_DONE, then=b"\xfb" + bytes(precious)).listening() as rogue:
        ran = run(command, rogue, tmp_path)
    assert rogue.asked > 0, ran.stderr
    assert ran.returncode in {1, 3}, ran.stderr
    assert "Traceback" not in ran.stderr
    assert precious.read_bytes() not in b"".join(rogue.heard)


def test_both_kinds_of_connections_were_looked_at(tmp_path: Path) -> None:
    """The control connection says who it is, the engine does not."""
    kinds = []
    for command in BOTH_KINDS:
        with Rogue(QUESTIONS["dialog"]).listening() as rogue:
            run(command, rogue, tmp_path)
        kinds.append({b"pymysql" in heard for heard in rogue.heard})
    assert kinds == [{True}, {False}]
