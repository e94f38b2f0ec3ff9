"""What would fail after hours is refused before anything starts, all of it at once."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from plimsoll.errors import Fault, HostError, SpecError
from plimsoll.hosts.local import HERE
from plimsoll.plan.build import recordings_bytes
from plimsoll.run import preflight, server_faults
from plimsoll.run.preflight import refuse_before_start
from plimsoll.spec.study import parse_study

STUDY = """
[study]
name = "s"
levels = { connections = [1] }
[[workload]]
name = "ro"
kind = "oltp_read_only"
"""
TEXT = (
    STUDY
    + """[[system]]
name = "a"
target = "mysql://u@127.0.0.1:1/d"
password_env = "PLIMSOLL_TEST_NO_SUCH_VARIABLE"
[[system]]
name = "b"
target = "mysql://u@127.0.0.1:2/d"
defaults_file = "/nonexistent"
"""
)


def refuse(text: str) -> None:
    spec = parse_study(text)
    refuse_before_start(spec, Path("/var/tmp"), 3)


def test_passwords_that_are_not_there_are_told_at_once() -> None:
    with pytest.raises(SpecError) as caught:
        refuse(TEXT)
    first, second = caught.value.lines
    assert first.startswith("system[0].password_env: the environment has no variable of the name that was given")
    assert second.startswith("system[1].defaults_file: /nonexistent cannot be read")


def test_servers_that_do_not_answer_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIMSOLL_TEST_NO_SUCH_VARIABLE", "x")
    text = TEXT.replace('defaults_file = "/nonexistent"\n', "")
    with socket.socket() as first, socket.socket() as second:
        for number, free in ((1, first), (2, second)):
            free.bind(("127.0.0.1", 0))
            text = text.replace(f":{number}/d", f":{free.getsockname()[1]}/d")
        with pytest.raises(HostError) as caught:
            refuse(text)
    assert str(caught.value).count("nothing listens there") == 2


def test_a_command_of_the_other_family_is_refused() -> None:
    text = (
        STUDY
        + """[[system]]
name = "a"
server = { managed = "mysql", command = ["COMMAND"] }
"""
    )
    mariadbd = shutil.which("mariadbd", path=f"{os.environ['PATH']}:/usr/sbin")
    assert mariadbd is not None, "tools/install-test-tools installs it"
    with pytest.raises(HostError, match='write managed = "mariadb"'):
        refuse(text.replace("COMMAND", mariadbd))


def test_levels_that_managed_servers_would_not_let_in_are_told_with_the_option() -> None:
    text = (
        STUDY.replace("[1]", "[8, 2045]")
        + """[[system]]
name = "enough"
server = { managed = "mariadb", options = { max-connections = 5000 } }
[[system]]
name = "the profile's"
server = { managed = "mariadb" }
[[system]]
name = "the server's own"
server = { managed = "mariadb", profile = "server-defaults" }
"""
    )
    with pytest.raises(HostError) as caught:
        refuse(text)
    faults = str(caught.value).splitlines()
    assert [fault.split(", ")[0] for fault in faults] == [
        "system[1].server.options: max_connections is 2048",
        "system[2].server.options: max_connections is 151",
    ]
    assert faults[0].endswith("set options = { max_connections = 2053 }")


def test_each_instance_lets_in_its_share_of_a_level() -> None:
    text = (
        STUDY.replace("[1]", "[4082]")
        + """tables = 2
[[system]]
name = "a"
server = { managed = "mariadb", instances = 2 }
"""
    )
    with pytest.raises(HostError, match=r"too few for the level of 2,041 .* max_connections = 2049"):
        refuse(text)
    refuse(text.replace("4082", "4080"))


def test_long_trials_need_space_for_what_they_record() -> None:
    times = (
        'levels = { connections = [1] }\nduration = "60s"\nwarm_up = "1s"',
        'levels = { connections = [1] }\nduration = "4h"\nwarm_up = "1s"',
    )
    short, long = (parse_study(TEXT.replace("levels = { connections = [1] }", text)) for text in times)
    assert recordings_bytes(long, 1) > 100 * recordings_bytes(short, 1)


MANAGED = (
    STUDY
    + """[[system]]
name = "first"
server = { managed = "mariadb" }
"""
)


def server(name: str, keys: str) -> str:
    return f'[[system]]\nname = "{name}"\nserver = {{ managed = "mariadb", {keys} }}\n'


def test_what_would_keep_the_last_system_from_starting_is_told_before_the_first_one_starts(tmp_path: Path) -> None:
    """Folders, options and passwords alike, of all systems, in one list. Nothing is made anywhere."""
    in_memory = Path("/dev/shm/plimsoll-not-made")
    plain_file = tmp_path / "file"
    plain_file.touch()
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    text = MANAGED + "".join(
        (
            server("redo", f'redo_dir = "{in_memory}"'),
            server("tmp", f'tmp_dir = "{in_memory}"'),
            server("file", f'data_dir = "{plain_file}/below"'),
            server("deep", f'data_dir = "{deep}"'),
            server("long", f'undo_dir = "{tmp_path}/{"x" * 300}"'),
            server("option", 'options = { innodb_flush_log_at_trx_comit = 2, sync_binlog = "often" }'),
            server(
                "replica", 'replicas = 1, replica = { options = { relay_log_purged = true }, data_dir = "/dev/shm" }'
            ),
        )
    )
    text += '[[system]]\nname = "target"\ntarget = "mysql://u@127.0.0.1:1/d"\npassword_env = "PLIMSOLL_TEST_NO_SUCH"\n'
    with pytest.raises(SpecError) as caught:
        refuse(text)
    faults = caught.value.lines
    expected = (
        "system[8].password_env: the environment has no variable",
        f"system[1].server.redo_dir: {in_memory.parent} is on tmpfs, which is in memory",
        f"system[3].server.data_dir: {plain_file}/below cannot be used: Not a directory",
        f"system[4].server.data_dir: {deep} is ",
        f"system[5].server.undo_dir: {tmp_path}/{'x' * 300} cannot be used: File name too long",
        "system[6].server.options: /",
        "system[7].server.replica.data_dir: /dev/shm is on tmpfs",
        "system[7].server.replica.options: /",
    )
    for start in expected:
        assert any(fault.startswith(start) for fault in faults), (start, faults)
    assert not any(fault.startswith(("system[0]", "system[2]")) for fault in faults)
    of_options = [fault.partition("refuses to start: ")[2] for fault in faults if ".options: " in fault]
    assert any("sync_binlog" in line for line in of_options)
    assert "unknown variable 'innodb_flush_log_at_trx_comit=2'; correct the option" in of_options
    assert "unknown variable 'relay_log_purged=ON'; correct the option" in of_options
    assert not deep.parent.exists()
    assert not in_memory.exists()


SHARED_POOL = (
    STUDY
    + """tables = 2
table_size = ROWS
[[system]]
name = "a"
server = { managed = "mariadb", pool_ratio = RATIO }
"""
)


@pytest.mark.parametrize(
    ("rows", "ratio", "is_refused"), [(1_000, 0.05, True), (1_000, 0.5, False), (10**6, 0.05, False)]
)
def test_a_share_of_tables_that_is_no_buffer_pool_is_told_before_they_are_loaded(
    rows: int, ratio: float, is_refused: bool
) -> None:
    spec = parse_study(SHARED_POOL.replace("ROWS", str(rows)).replace("RATIO", str(ratio)))
    faults = list(preflight._small_pools(spec))
    assert len(faults) == is_refused
    if faults:
        assert faults[0].path == ("system", 0, "server", "pool_ratio")
        assert faults[0].reason.startswith("0.05 of at most 21.0 MiB of data is 1.05 MiB, and a")


def test_a_data_directory_that_keeps_no_modes_is_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_faults, "private_fault", lambda folder, key: f"{key}: {folder}: has no modes")
    text = SHARED_POOL.replace("ROWS", "10").replace("pool_ratio = RATIO", f'data_dir = "{tmp_path}/later"')
    server = parse_study(text).system[0].server
    assert server is not None
    found = list(server_faults.server_faults("a", server, HERE))
    assert Fault(("data_dir",), f"{tmp_path}: has no modes") in found
