"""A known load is learned and run again: the comparison finds it alike, and finds what was changed by hand."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from plimsoll.servers.capture import CAPTURES
from plimsoll.servers.control import connect
from plimsoll.servers.managed_server import ManagedServer
from support.command import plimsoll, start_forked
from support.initialised_data import created
from support.servers import MYSQL_IN_ENDURE, bare_spec, server_base, server_command
from support.waiting import until

__all__ = ["server_base"]
pytestmark = pytest.mark.e2e

CANARY = "canarycustomer"
CONNECTIONS = 3

Learned = Callable[[str, Path], Path]
"""Writes what was learned from a flavour of server to a folder."""


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """Learns from each flavour once; gives a copy of what was written."""
    base = Path(f"/var/tmp/plimsoll-test-{os.geteuid()}-{os.getpid()}-learned")

    @cache
    def written_from(flavour: str) -> Path:
        folder: Path = tmp_path_factory.mktemp("learned") / flavour
        with created(name=flavour, spec=bare_spec(flavour), base_dir=base) as server:
            server.start()
            learn(server, flavour, folder)
        base.rmdir()
        return folder

    return lambda flavour, to: shutil.copytree(written_from(flavour), to)


def learn(server: ManagedServer, flavour: str, folder: Path) -> None:
    """Learns order-queue from a log of a few seconds, which also holds a literal that must not get out."""
    access = ("--target", str(server.target), "--password-env", "PW")
    environment = {"PW": server.target.password.get_secret_value()}
    load = (*access, "--workload", "order-queue")
    ran = plimsoll("prepare", *load, env=environment)
    assert ran.returncode == 0, ran.stderr
    with connect(server.socket_target) as control:
        for statement in CAPTURES[flavour].on:
            control.rows(statement)
        variables = control.variables()
    times = ("--connections", str(CONNECTIONS), "--warm-up", "0s", "--duration", "3s")
    ran = plimsoll("trial", *load, *times, env=environment)
    assert ran.returncode == 0, ran.stderr
    with connect(server.target) as control:
        control.rows(f"SELECT COUNT(*) FROM queue_orders WHERE state = '{CANARY}'")
        control.rows("SET GLOBAL slow_query_log = OFF")
    log = Path(variables["datadir"]) / variables["slow_query_log_file"]
    ran = plimsoll("learn", "--from", log, *access, "-o", folder, env=environment)
    assert ran.returncode == 0, ran.stderr


def own_folders(tmp_path: Path, server_base: Path) -> dict[str, str]:
    """Has a check make its server and its tables in folders of the test."""
    (tmp_path / "tmp").mkdir(exist_ok=True)
    return {"PLIMSOLL_DATA_DIR": str(server_base / "of-check"), "TMPDIR": str(tmp_path / "tmp")}


def left_behind(folders: dict[str, str]) -> list[Path]:
    """What is in those folders."""
    return [path for folder in folders.values() for path in Path(folder).glob("*")]


def checked(folder: Path, server: str, *options: str, folders: dict[str, str]) -> dict[tuple[str, str], dict[str, Any]]:
    """Runs a check; its figures by kind and what they are of."""
    ran = plimsoll("learn", "check", folder, "--server", server, *options, "--json", env=folders)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert json.loads((folder / "fidelity.json").read_text()) == found
    return {(one["kind"], one["of"]): one for one in found["figures"]}


@pytest.mark.parametrize("flavour", MYSQL_IN_ENDURE)
def test_a_learned_load_is_like_its_log_until_somebody_changes_it(
    flavour: str, learned: Learned, server_base: Path, tmp_path: Path
) -> None:
    command, folders = server_command(flavour), own_folders(tmp_path, server_base)
    folder = learned(flavour, tmp_path / "prod")
    written = (folder / "workload.toml").read_text()
    times = ("--duration", "3s", "--warm-up", "1s")
    found = checked(folder, command, *times, folders=folders)
    assert left_behind(folders) == [], "server, log and tables are removed"

    assert found["statements", "type 1"]["model"] == pytest.approx(found["statements", "type 1"]["log"], rel=0.05)
    examined = [one for (kind, _), one in found.items() if kind in ("rows-examined", "rows-sent", "handler-reads")]
    assert examined
    assert not [one for one in examined if one["is_met"] is False]
    assert ("deadlocks", "all") in found or flavour == "mariadb"
    assert (("handler-reads", "#1") in found) == (flavour == "mysql")
    assert (("pages", "#1") in found) == (flavour == "mariadb")
    shares = [one for (kind, _), one in found.items() if kind == "type-share"]
    assert len(shares) == 2
    assert all(abs(share["model"] - share["log"]) < 0.15 for share in shares)

    text = (folder / "workload.toml").read_text()
    assert text.startswith(written.partition("\n[learned]")[0])
    assert "[learned.check]" in text
    shared = "".join((folder / f"fidelity.{ending}").read_text() for ending in ("json", "html", "md"))
    assert CANARY not in shared + text
    assert "queue_orders" not in shared + text

    first = text.index("weight = ")
    (folder / "workload.toml").write_text(f"{text[:first]}weight = 10{text[text.index(chr(10), first) :]}")
    changed = checked(folder, command, *times, "--connections", "2", folders=folders)
    assert changed["type-share", "type 1"]["is_met"] is False
    assert changed["statement-share", "#1"]["is_met"] is False
    assert "connections = 2" in (folder / "workload.toml").read_text()
    Path(folders["PLIMSOLL_DATA_DIR"]).rmdir()


def test_interrupting_a_check_removes_its_server(learned: Learned, server_base: Path, tmp_path: Path) -> None:
    folder, folders = learned("mariadb", tmp_path / "prod"), own_folders(tmp_path, server_base)
    written = (folder / "workload.toml").read_text()
    process = start_forked("learn", "check", folder, "--server", "mariadb", "--duration", "60s", env=folders)
    assert process.stderr is not None
    for line in process.stderr:
        if " tps " in line:
            break
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "nothing was compared: interrupted" in told
    assert until(lambda: left_behind(folders) == [])
    Path(folders["PLIMSOLL_DATA_DIR"]).rmdir()
    assert (folder / "workload.toml").read_text() == written
    assert not (folder / "fidelity.json").exists()


def test_what_was_not_learned_is_refused(tmp_path: Path) -> None:
    ran = plimsoll("learn", "check", tmp_path)
    assert ran.returncode == 2
    assert "workload.toml: No such file or directory; name a folder that plimsoll learn wrote" in ran.stderr
