"""The first line of commands that reach or start servers: before whatever takes long is imported, without secrets."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.main import get_command

from plimsoll.cli.main import command_line
from plimsoll.cli.streams import say_connecting, say_reaching, say_starting

URL = "mysql://bench@db1/shop"
CONNECTING = "connecting to bench@db1:3306"
COMMANDS = {
    "trial --target managed": "starting mariadb",
    f"trial --target {URL}": CONNECTING,
    f"capacity --target {URL} --response-p99 20ms": CONNECTING,
    f"prepare --target {URL}": CONNECTING,
    f"check --target {URL}": CONNECTING,
    f"cleanup --target {URL}": CONNECTING,
    "doctor": "checking this machine",
    "doctor --client": "measuring this client",
    f"doctor --target {URL}": "checking this machine",
    "ab --server /opt/a/bin/mariadbd --server mysql": "starting mariadbd and mysql",
    f"ab --target {URL} --target mysql://bench@db2/shop": "connecting to bench@db1:3306 and bench@db2:3306",
    "durability --server mysql": "starting mysql",
    "failover": "starting mariadb",
    "storage /data": "measuring /data",
    "demo": "running two studies of MariaDB servers, in demo-study",
    "study run s.toml": "reading s.toml",
    "size results --tps 1 --confirm": "reading results",
    f"learn schema --target {URL} -o s.json": CONNECTING,
    f"learn digests --target {URL}": CONNECTING,
    "learn check prod": "reading prod",
    f"learn --from slow.log --target {URL} -o prod": "reading a log",
}
WITHOUT_ONE = {"sysbench", "new", "learn report", "k8s job"}
"""The engine's lines are sysbench's; the others drive and ask no server."""

UNTIL_SAID = """
import json, sys
from plimsoll.cli import streams as first_line

def stop(text, *, is_quiet=False):
    if is_quiet:
        return
    print(json.dumps([text, sorted(sys.modules)]))
    sys.exit(0)

first_line.say_first = stop
from plimsoll.cli.main import main
main()
"""


@pytest.mark.parametrize(("words", "text"), COMMANDS.items())
def test_it_comes_before_anything_that_takes_long_is_imported(words: str, text: str) -> None:
    command = [sys.executable, "-c", UNTIL_SAID, *words.split()]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    said, modules = json.loads(done.stdout)
    assert said == text
    taking_long = {"cryptography", "jinja2", "numpy", "polars", "pymysql", "rich", "scipy"}
    assert taking_long & set(modules) == set()
    assert {module.split(".")[1] for module in modules if module.startswith("plimsoll.")} <= {
        *("cli", "errors", "interruption", "regular_file", "spec", "units")
    }


def test_every_command_that_names_a_server_has_one() -> None:
    said = {words.partition(" -")[0] for words in COMMANDS}

    def naming(command: object, words: str) -> set[str]:
        below = getattr(command, "commands", {})
        options = {option for one in command.params for option in one.opts}  # type: ignore[attr-defined]
        own = {words} if options & {"--target", "--server"} else set()
        return own.union(*(naming(one, f"{words} {name}".strip()) for name, one in below.items()))

    assert {one for one in naming(get_command(command_line()), "") if not _begins(said, one)} <= WITHOUT_ONE


def _begins(said: set[str], words: str) -> bool:
    return any(one == words or one.startswith(f"{words} ") for one in said)


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("mysql://bench:hunter2@db1:3307/shop", "connecting to bench@db1:3307 ...\n"),
        ("mariadb://bench@/shop?socket=/run/m.sock", "connecting to bench@/run/m.sock ...\n"),
        ("mysql://bench:hunter2/x@db1/shop", ""),
        ("mysql://bench:12@hunter2?x@db1/shop", ""),
        ("mysql://bench:p@hunter2#y@db1/shop", ""),
        ("bench:hunter2@db1/shop", ""),
    ],
)
def test_no_password_is_said(url: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    say_connecting(url)
    assert tuple(capsys.readouterr()) == ("", line)


def test_nothing_is_said_where_the_result_is_printed_alone(capsys: pytest.CaptureFixture[str]) -> None:
    say_reaching("managed", "mariadb", is_quiet=True)
    say_connecting(URL, is_quiet=True)
    assert tuple(capsys.readouterr()) == ("", "")


def test_options_of_a_server_are_not_said(capsys: pytest.CaptureFixture[str]) -> None:
    say_starting("'/opt/my sql/mysqld' --x=hunter2", "'")
    assert capsys.readouterr().err == "starting mysqld and a server ...\n"
