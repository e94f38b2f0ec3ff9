"""Files of real servers, seen from outside: on which path and device each is open, and what a cold start reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plimsoll.servers import data_copy
from plimsoll.servers.control import connect
from plimsoll.servers.data_facts import tables_bytes
from plimsoll.servers.facts import huge_pages_bytes, huge_pages_fault
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.spec.paths import ROLES, Role
from support.loop_mount import mounted
from support.servers import FLAVOURS, StartServer, bare_spec, server_base, start_server

__all__ = ["server_base", "start_server"]
pytestmark = pytest.mark.e2e

OPEN: dict[str, dict[Role, str]] = {
    "mariadb": {"redo": "ib_logfile0", "undo": "undo001", "binlog": "binlog.0", "tmp": "#"},
    "mysql": {"redo": "#innodb_redo/#ib_redo", "undo": "undo_001", "binlog": "binlog.0", "tmp": "temp_"},
}
"""How the names of files begin that each server has open while it runs."""


def open_files(pid: int) -> dict[str, int]:
    """Paths of a process' open files, and the number of the device that each is on."""
    found = {}
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found[str(entry.readlink())] = entry.stat().st_dev
        except OSError:  # closed since it was listed
            continue
    return found


def read_bytes(pid: int) -> int:
    """What a process has read from devices so far, by the kernel's account."""
    match = re.search(r"^read_bytes: (\d+)", Path(f"/proc/{pid}/io").read_text(), re.MULTILINE)
    assert match is not None
    return int(match[1])


def fill(server: ManagedServer) -> None:
    """A table of more than 8 MB with 32,000 rows."""
    with connect(server.target) as control:
        control.rows("CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT, b CHAR(250) NOT NULL) ENGINE=InnoDB")
        control.rows("INSERT INTO t (b) SELECT 'x' FROM information_schema.columns LIMIT 1000")
        for _ in range(5):
            control.rows("INSERT INTO t (b) SELECT b FROM t")
        control.rows("COMMIT")
        size = tables_bytes(control)
    assert size is not None
    assert size > 8_000_000


def read_by_a_scan(server: ManagedServer, count: int) -> int:
    """Bytes that the server reads from the device for one scan of the table, which must have so many rows."""
    before = read_bytes(server.pid)
    with connect(server.target) as control:
        assert control.rows("SELECT COUNT(*) FROM t WHERE b <> 'y'") == [(count,)]
    return read_bytes(server.pid) - before


BUFFERED = {"innodb_flush_method": "fsync"}
"""Through the page cache, so that it is the page cache too that must be cold."""


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_each_path_has_its_files_copies_keep_them_together_and_a_cold_start_reads(
    flavour: str, server_base: Path
) -> None:
    with mounted(server_base / "disk", "xfs", 1200) as disk:
        places = {role: disk / role if role in {"redo", "binlog"} else server_base / role for role in ROLES}
        cold = {**BUFFERED, "innodb_buffer_pool_load_at_startup": False}
        spec = bare_spec(flavour, role_dirs=places, start="cold", options=cold)
        with ManagedServer.create(name="x", spec=spec, base_dir=server_base / "data") as server:
            server.start()
            files = open_files(server.pid)
            for role, folder in places.items():
                begin = f"{folder}/{server.directory.path.name}/{role}/{OPEN[flavour][role]}"
                devices = {device for path, device in files.items() if path.startswith(begin)}
                assert devices == {folder.stat().st_dev}, f"{role}: {begin} is not open: {sorted(files)}"
            on_disk = {path for path, device in files.items() if device == disk.stat().st_dev}
            assert all("/redo/" in path or "/binlog/" in path for path in on_disk)
            fill(server)
            server.stop()
            server.save_data()
            server.start()
            assert read_by_a_scan(server, 32_000) > 8_000_000
            with connect(server.target) as control:
                control.rows("DELETE FROM t")
                control.rows("COMMIT")
            server.stop()
            server.restore_data()
            server.start()
            assert read_by_a_scan(server, 32_000) > 8_000_000
        for folder in (*places.values(), server_base / "data"):
            assert not any(folder.iterdir())
            folder.rmdir()


def test_a_warm_start_has_what_was_in_the_pool(start_server: StartServer) -> None:
    warm = {**BUFFERED, "innodb_buffer_pool_load_at_startup": True, "innodb_buffer_pool_dump_pct": 100}
    server = start_server("mariadb", start="warm", options=warm)
    fill(server)
    server.stop()
    data_copy.drop_caches(server.directory)
    server.start()
    assert read_by_a_scan(server, 32_000) < 1_000_000


def test_large_pages_are_seen_in_the_process(start_server: StartServer) -> None:
    if (fault := huge_pages_fault(64 * 2**20)) is not None:
        pytest.skip(fault)
    server = start_server("mariadb", derived={"large_pages": True})
    assert (huge_pages_bytes(server.pid) or 0) >= 64 * 2**20
