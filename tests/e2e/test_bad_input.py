"""What people give by mistake: each is one clear message with the cure and the exit code of its class."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plimsoll.servers.control import connect
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.spec.target import parse_target
from support.command import assert_one_clear_message, plimsoll, real_server
from support.waiting import until

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def server() -> Iterator[ManagedServer]:
    with real_server(Path("/var/tmp/plimsoll-test-bad-input"), max_connections=20) as running:
        yield running


def url(server: ManagedServer, *, user: str | None = None, database: str | None = None, port: int | None = None) -> str:
    target = server.target
    return f"mysql://{user or target.user}@127.0.0.1:{port or target.port}/{database or target.database}"


def password(server: ManagedServer) -> dict[str, str]:
    return {"PW": server.target.password.get_secret_value()}


def trial(server: ManagedServer, *more: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return plimsoll(
        "trial", "--target", url(server), "--duration", "1s", "--password-env", "PW", *more, env=env or password(server)
    )


def test_a_wrong_password(server: ManagedServer) -> None:
    ran = trial(server, env={"PW": "hunter2"})
    assert_one_clear_message(ran, 3, "1045", "28000", "password")
    assert "hunter2" not in ran.stderr


def test_a_server_that_is_down() -> None:
    with socket.socket() as silent:  # it holds the port, so that no other process listens there, and does not listen
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        ran = plimsoll("trial", "--target", f"mysql://u@127.0.0.1:{port}/d", "--duration", "1s")
    assert_one_clear_message(ran, 3, f"127.0.0.1:{port}", "refused")


def test_an_unknown_host() -> None:
    ran = plimsoll("trial", "--target", "mysql://u@no-such-host.invalid/d", "--duration", "1s")
    assert_one_clear_message(ran, 3, "no-such-host.invalid")


@contextmanager
def speaking(greeting: bytes) -> Iterator[int]:
    """A server on a free port that greets once and waits."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet() -> None:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.sendall(greeting)
                connection.recv(1)

        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        yield listening.getsockname()[1]


def test_a_server_that_speaks_another_protocol() -> None:
    with speaking(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n") as port:
        ran = plimsoll("trial", "--target", f"mysql://u@127.0.0.1:{port}/d", "--duration", "1s")
    assert_one_clear_message(ran, 3, f"127.0.0.1:{port}", "MySQL")


def test_a_missing_privilege(server: ManagedServer) -> None:
    with connect(server.target) as control:
        control.rows("CREATE USER 'poor'@'%%' IDENTIFIED BY 'x'")
    ran = plimsoll("prepare", "--target", url(server, user="poor"), "--password-env", "PW", env={"PW": "x"})
    assert_one_clear_message(ran, 3, "1044", "42000")


def test_a_missing_table(server: ManagedServer) -> None:
    ran = trial(server, "--tables", "7")
    assert_one_clear_message(ran, 3, "sbtest", "plimsoll prepare")


def test_a_missing_database(server: ManagedServer) -> None:
    ran = plimsoll("prepare", "--target", url(server, database="nope"), "--password-env", "PW", env=password(server))
    assert_one_clear_message(ran, 3, "nope")


def test_more_connections_than_the_server_takes(server: ManagedServer) -> None:
    prepared = plimsoll(
        "prepare", "--target", url(server), "--table-size", "100", "--password-env", "PW", env=password(server)
    )
    assert prepared.returncode == 0, prepared.stderr
    ran = trial(server, "--table-size", "100", "--connections", "50")
    assert_one_clear_message(ran, 3, "max_connections")


def test_every_connection_taken(server: ManagedServer) -> None:
    """The server itself says 1040 when others hold its connections."""
    account = server.target.with_password(password(server)["PW"])
    with connect(account) as control:
        control.rows("CREATE USER IF NOT EXISTS 'plain'@'%%' IDENTIFIED BY 'x'")
        control.rows("GRANT ALL ON sbtest.* TO 'plain'@'%%'")
        # those of tests before go a moment after they were closed
        assert until(
            lambda: control.rows("SHOW GLOBAL STATUS LIKE 'threads_connected'") == [("Threads_connected", "1")]
        )
    held = [connect(account) for _ in range(18)]
    try:
        ran = plimsoll(
            "trial", "--target", url(server, user="plain"), "--table-size", "100", "--connections", "8",
            "--duration", "1s", "--password-env", "PW", env={"PW": "x"},
        )  # fmt: skip
    finally:
        for control in held:
            control.close()
    assert_one_clear_message(ran, 3, "connections")


def test_a_server_that_cannot_be_watched_is_a_warning_of_the_trial(server: ManagedServer, tmp_path: Path) -> None:
    """The load takes the account's last connections, so that the server's counters cannot be read.

    It takes four, and whoever asks before it takes one at a time: a server counts a connection for a moment after it
    was closed. The load waits a moment for those.
    """
    with connect(server.target) as control:
        control.rows("CREATE USER 'one'@'%%' IDENTIFIED BY 'x' WITH MAX_USER_CONNECTIONS 12")
        control.rows("GRANT ALL ON sbtest.* TO 'one'@'%%'")
    study = tmp_path / "study.toml"
    study.write_text(
        '[study]\nname = "s"\nlevels = { connections = [4] }\nduration = "2s"\nwarm_up = "1s"\nsettle_limit = "1s"\n'
        'repetitions = 1\nreset = "never"\n[[workload]]\nname = "w"\nkind = "oltp_read_only"\ntable_size = 100\n'
        f'[[system]]\nname = "a"\npassword_env = "PW"\ntarget = "{url(server, user="one")}"\n'
    )
    account = parse_target(url(server, user="one")).with_password("x")
    held = [connect(account) for _ in range(8)]
    try:
        ran = plimsoll("study", "run", study, "--to", tmp_path / "out", env={"PW": "x"})
    finally:
        for control in held:
            control.close()
    assert ran.returncode == 0, ran.stderr
    told = (tmp_path / "out" / "guide.md").read_text()
    assert "telemetry-missing" in told
    assert "max_user_connections" in told


def test_a_foreign_table_is_refused_and_stays(server: ManagedServer) -> None:
    with connect(server.target) as control:
        control.rows("CREATE TABLE sbtest9 (precious INT)")
        control.rows("INSERT INTO sbtest9 VALUES (1)")
        for command in ("prepare", "cleanup"):
            ran = plimsoll(
                command, "--target", url(server), "--tables", "9", "--table-size", "100",
                "--password-env", "PW", env=password(server),
            )  # fmt: skip
            assert_one_clear_message(ran, 3, "sbtest9")
            assert control.rows("SELECT precious FROM sbtest9") == [(1,)]


def test_a_study_file_with_five_faults(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(
        '[study]\nname = "s"\nlevels = { connections = [0] }\nduration = 5\nnonsense = 1\n'
        '[[workload]]\nname = "w"\nkind = "tpch"\n[[system]]\nname = "a"\nserver = { managed = "oracle" }\n'
    )
    ran = plimsoll("study", "run", file)
    assert_one_clear_message(
        ran, 2, "connections[0]", "study.duration", "study.nonsense", "workload[0].kind", "system[0].server.managed"
    )


def test_a_study_folder_that_cannot_be_written(tmp_path: Path) -> None:
    ran = plimsoll("demo", "--to", "/proc/none")
    assert_one_clear_message(ran, 3, "/proc/none", "choose another folder")


def test_no_study(tmp_path: Path) -> None:
    assert_one_clear_message(plimsoll("guide", tmp_path / "none"), 5, "none")
    assert_one_clear_message(plimsoll("guide", tmp_path), 5, str(tmp_path))
    assert_one_clear_message(plimsoll("study", "status", tmp_path), 5, str(tmp_path))
    assert_one_clear_message(plimsoll("study", "run", tmp_path / "none.toml"), 2, "none.toml")


def test_a_recording_cut_short(tmp_path: Path) -> None:
    """The others still make a guide, which names the damaged one; alone it is refused."""
    table = Path(__file__).parents[2] / "examples" / "published" / "vmware-esx-2009.csv"
    imported = plimsoll("import", "table", table, "--to", tmp_path / "s")
    assert imported.returncode == 0, imported.stderr
    recordings = sorted((tmp_path / "s" / "recordings").iterdir())
    damaged = recordings[0] / "trial.json"
    damaged.write_bytes(damaged.read_bytes()[:-30])
    shown = plimsoll("guide", tmp_path / "s")
    assert shown.returncode == 0, shown.stderr
    assert recordings[0].name in (tmp_path / "s" / "guide.md").read_text()
    for other in recordings[1:]:
        shutil.rmtree(other)
    assert_one_clear_message(plimsoll("guide", tmp_path / "s"), 5, recordings[0].name)


def test_a_full_disk_while_loading(tmp_path: Path) -> None:
    """A small tmpfs of our own as the data's place; needs the right to mount."""
    small = tmp_path / "small"
    small.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=170m", "tmpfs", str(small)], check=False, capture_output=True
        ).returncode
    ):
        if os.environ.get("CI"):
            pytest.fail("this needs the right to mount a tmpfs")
        pytest.skip("SKIPPED: no right to mount a tmpfs")
    try:
        from plimsoll.servers.managed_server import ManagedSpec

        spec = ManagedSpec(
            profile="bare", buffer_pool_bytes=64 * 2**20, allow_tmpfs=True, options={"innodb_log_file_size": 2**24}
        )
        with ManagedServer.create(name="full", spec=spec, base_dir=small) as server:
            server.start()
            ran = plimsoll(
                "prepare", "--target", url(server), "--table-size", "3000000", "--password-env", "PW",
                env=password(server),
            )  # fmt: skip
            assert_one_clear_message(ran, 3, "full", "space")
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_password_in_a_url_is_warned_about_and_not_repeated(server: ManagedServer) -> None:
    secret = password(server)["PW"]
    ran = plimsoll("trial", "--target", url(server).replace("@", f":{secret}@"), "--tables", "7")
    assert "--password-env" in ran.stderr
    assert secret not in ran.stderr + ran.stdout


def test_nothing_is_imported_into_a_study_that_is_measured_here(tmp_path: Path) -> None:
    """Its guide would show none of it."""
    table = Path(__file__).parents[2] / "examples" / "published" / "vmware-esx-2009.csv"
    (tmp_path / "plan.json").write_text("{}")
    assert_one_clear_message(plimsoll("import", "table", table, "--to", tmp_path), 2, "plan.json", "another folder")
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]
