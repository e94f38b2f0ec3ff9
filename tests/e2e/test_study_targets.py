"""Studies of servers that run already: refused before anything is loaded, put back as asked, told when they change."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from plimsoll.record.store import read_study
from plimsoll.run.events import DataProgressed, EnvironmentChanged, SystemBegan, read_events
from plimsoll.run.running_servers import MAKING, RESETTING, missing_privileges
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.facts import instance_facts
from plimsoll.servers.managed_server import ManagedServer, free_port
from plimsoll.spec.target import Target
from support.command import plimsoll
from support.servers import (
    StartServer,
    bare_spec,
    mysql_in_endure,
    own_address,
    running_server,
    server_base,
    start_server,
)
from support.waiting import until

__all__ = ["running_server", "server_base", "start_server"]

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "theirs"
levels = { connections = [1, 2] }
warm_up = "1s"
settle_limit = "1s"
clients = { think_time = "20ms" }
duration = "2s"
repetitions = 2
reset = "per_system"

[[workload]]
name = "rw"
kind = "oltp_read_write"
table_size = 1000

[[system]]
name = "ours"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"

[[system]]
name = "theirs"
target = "mysql://USER@HOST:PORT/DATABASE"
password_env = "PLIMSOLL_TEST_TARGET"
"""


def only_theirs(text: str) -> str:
    before, _, after = text.partition('[[system]]\nname = "ours"')
    return before + after[after.index("[[system]]") :]


def write(path: Path, target: Target, *, user: str | None = None, text: str = STUDY) -> Path:
    values = {"USER": user or target.user, "HOST": target.host, "PORT": str(target.port), "DATABASE": target.database}
    for name, value in values.items():
        text = text.replace(name, value)
    path.write_text(text)
    return path


def env(target: Target, password: str | None = None) -> dict[str, str]:
    return {"PLIMSOLL_TEST_TARGET": password or target.password.get_secret_value()}


@pytest.fixture
def control(running_server: ManagedServer) -> Iterator[ControlConnection]:
    """A connection to a database without tables, and without the account `poor`."""
    with connect(running_server.target) as control:
        yield control
        for table in control.rows("SHOW TABLES"):
            control.rows(f"DROP TABLE `{table[0]}`")
        control.rows("DROP USER IF EXISTS poor@localhost, poor@'127.0.0.1'")


def poor(control: ControlConnection, *privileges: str, table: str = "*") -> Target:
    """An account with these privileges only."""
    database = control.target.database
    for host in ("localhost", "127.0.0.1"):
        control.rows(f"CREATE USER IF NOT EXISTS poor@'{host}' IDENTIFIED BY 'p'")
        if privileges:
            control.rows(f"GRANT {', '.join(privileges)} ON `{database}`.{table} TO poor@'{host}'")
    return replace(control.target, user="poor", password=SecretStr("p"))


def tables(control: ControlConnection) -> list[str]:
    return [str(row[0]) for row in control.rows("SHOW TABLES")]


@pytest.mark.parametrize("lacking", RESETTING)
def test_each_privilege_that_is_missing_is_found_and_no_other(control: ControlConnection, lacking: str) -> None:
    target = poor(control, *(one for one in RESETTING if one != lacking))
    with connect(target) as connection:
        assert missing_privileges(connection, RESETTING) == (lacking,)
    assert tables(control) == []


def test_an_account_that_may_do_everything_lacks_nothing(control: ControlConnection) -> None:
    control.rows("CREATE TABLE plimsoll_none (id INT)")
    assert missing_privileges(control, RESETTING) == ()
    assert tables(control) == ["plimsoll_none"]


def test_privileges_on_single_tables_are_taken_at_their_word(control: ControlConnection) -> None:
    control.rows("CREATE TABLE sbtest1 (id INT)")
    with connect(poor(control, "ALL PRIVILEGES", table="sbtest1")) as connection:
        assert missing_privileges(connection, MAKING) == ()


def test_what_is_missing_is_told_before_anything_is_loaded(control: ControlConnection, tmp_path: Path) -> None:
    poor(control, "SELECT", "INSERT")
    file = write(tmp_path / "s.toml", control.target, user="poor")
    ran = plimsoll("study", "run", file, "--to", tmp_path / "out", env=env(control.target, "p"))
    assert ran.returncode == 3, ran.stderr
    assert "the account poor lacks CREATE, ALTER, INDEX, DROP to put data back" in ran.stderr.replace(
        "\n          ", " "
    )
    assert "GRANT CREATE, ALTER, INDEX, DROP ON" in ran.stderr
    assert not (tmp_path / "out" / "events.jsonl").exists(), "no system was started"
    assert tables(control) == []


def test_tables_of_others_are_told_before_anything_is_loaded(control: ControlConnection, tmp_path: Path) -> None:
    control.rows("CREATE TABLE sbtest1 (id INT PRIMARY KEY, mine TEXT)")
    control.rows("INSERT INTO sbtest1 VALUES (1, 'keep')")
    file = write(tmp_path / "s.toml", control.target)
    ran = plimsoll("study", "run", file, "--to", tmp_path / "out", env=env(control.target))
    assert ran.returncode == 3, ran.stderr
    assert "system theirs: sbtest1 not made by Plimsoll, so it cannot be put back" in ran.stderr
    never = write(tmp_path / "n.toml", control.target, text=STUDY.replace('"per_system"', '"never"'))
    ran = plimsoll("study", "run", never, "--to", tmp_path / "out", env=env(control.target))
    assert ran.returncode == 3, ran.stderr
    assert "sbtest1 exists and was not made by Plimsoll" in ran.stderr
    assert not (tmp_path / "out" / "events.jsonl").exists(), "no system was started"
    assert control.rows("SELECT mine FROM sbtest1") == [("keep",)]


@mysql_in_endure
def test_data_is_put_back_once_for_each_block_and_not_made_twice(control: ControlConnection, tmp_path: Path) -> None:
    study = tmp_path / "out"
    file = write(tmp_path / "s.toml", control.target, text=only_theirs(STUDY))
    ran = plimsoll("study", "run", file, "--to", study, env=env(control.target))
    assert ran.returncode == 0, ran.stderr
    events = [event.event for event in read_events(study / "events.jsonl")]
    assert sum(isinstance(event, SystemBegan) for event in events) == 2
    done = Counter(
        event.phase
        for event in events
        if isinstance(event, DataProgressed) and event.done_count == event.total_count > 0
    )
    assert done["create"] == 2, "made for the first block, made again for the second"
    assert done["drop"] == 1
    notes = [recording.trial.states[0].note for recording in read_study(study).recordings]
    said = sorted(str(note).partition(":")[0] for note in notes)
    assert said == ["data as prepared"] * 2 + ["data as the last trial left it"] * 2
    trials = [recording.trial for recording in read_study(study).recordings]
    assert len({trial.server_start_id for trial in trials}) == 1
    assert len({trial.session_id for trial in trials}) == 1
    assert [trial.block for trial in trials] == [0, 0, 1, 1]


def test_a_server_says_the_same_start_until_it_is_restarted(start_server: StartServer) -> None:
    server = start_server("mariadb")

    def started() -> int | None:
        with connect(server.target) as control:
            return instance_facts(control, name="a").started_unix_s

    first = started()
    assert first is not None
    assert [started() for _ in range(5)] == [first] * 5
    server.stop()
    assert until(lambda: time.time() >= first + 1, 2), "it tells whole seconds"
    server.start()
    second = started()
    assert second is not None
    assert second > first


def test_another_server_under_the_same_url_is_not_pooled(
    tmp_path: Path, server_base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The upgrade at its most brutal: MariaDB in the first session, MySQL in the second."""
    study, text = tmp_path / "out", only_theirs(STUDY).replace("[1, 2]", "[1]")
    address = own_address()
    port = free_port(address)
    for flavour, repetitions in (("mariadb", 1), ("mysql", 2)):
        spec = bare_spec(flavour)
        with ManagedServer.create(name="t", spec=spec, base_dir=server_base, address=address) as server:
            monkeypatch.setattr(server, "_port", port)
            server.start()
            assert server.target.port == port
            said = text.replace("repetitions = 2", f"repetitions = {repetitions}")
            file = write(tmp_path / "s.toml", server.target, text=said)
            ran = plimsoll("study", "run", file, "--to", study, env=env(server.target))
            assert ran.returncode == 0, ran.stderr
    assert "warning: environment-changed: theirs has changed since theirs-rw-c1-r0-" in ran.stderr
    assert "version of theirs/0 from 10." in ran.stderr
    told = [event.event for event in read_events(study / "events.jsonl") if isinstance(event.event, EnvironmentChanged)]
    assert len(told) == 1, "each change is told once"
    trials = [recording.trial for recording in read_study(study).recordings]
    assert len({trial.session_id for trial in trials}) == 2
    assert len({trial.server_start_id for trial in trials}) == 2
    assert len({trial.block for trial in trials}) == 2
    shown = plimsoll("guide", study, "--json")
    analysis = json.loads(shown.stdout)
    found = {one["system"]: [len(cell["trials"]) for cell in one["cells"]] for one in analysis["curves"]}
    assert found == {"theirs (environment 1)": [1], "theirs (environment 2)": [1]}
    (warning,) = [one for one in analysis["warnings"] if one["code"] == "environment-changed"]
    assert "version of theirs/0 from 10." in warning["evidence"][0]["text"]
