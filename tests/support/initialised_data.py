"""Data that a server initialised once, copied for others: an initialisation takes 0.5 s (MariaDB) or 1.4 s (MySQL).

Copies are for servers whose options lead to the same data, as far as this file knows them; all others initialise
theirs, and so do those that a test makes with `ManagedServer.create`. What is copied stays in a folder below /var/tmp
for later runs, as the servers do that tests download; it may be removed whenever no test runs.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

from plimsoll.servers import data_copy
from plimsoll.servers.managed_server import ManagedServer, ManagedSpec

FOLDER = Path(f"/var/tmp/plimsoll-test-initialised-{os.geteuid()}")
"""Some ten kinds of data, of 10 to 50 MB each on the disk."""

_SHAPING = frozenset(
    {"innodb_log_file_size", "innodb_redo_log_capacity", "innodb_doublewrite", "log_bin", "skip_log_bin"}
)
_NEUTRAL = frozenset({
    "bind_address", "binlog_expire_logs_seconds", "binlog_format", "datadir", "enforce_gtid_consistency",
    "gtid_mode", "gtid_strict_mode", "innodb_buffer_pool_chunk_size", "innodb_buffer_pool_dump_pct",
    "innodb_buffer_pool_load_at_startup", "innodb_buffer_pool_size", "innodb_flush_log_at_trx_commit",
    "innodb_flush_method", "innodb_io_capacity", "innodb_io_capacity_max", "innodb_lock_wait_timeout",
    "local_infile", "log_replica_updates", "log_slave_updates", "loose_mysqlx",
    "max_binlog_size", "max_connections", "max_prepared_stmt_count", "performance_schema",
    "performance_schema_digests_size", "pid_file", "plugin_load_add", "port", "relay_log", "relay_log_recovery",
    "rpl_semi_sync_master_wait_point", "secure_file_priv", "server_id", "skip_name_resolve", "skip_replica_start",
    "skip_slave_start", "socket", "sync_binlog", "tmpdir", "user"
})  # fmt: skip
"""Options of which initialised data shows nothing; with any that stands in neither set, data is initialised."""

_initialise = ManagedServer._initialise


def created(*, name: str, spec: ManagedSpec, base_dir: Path) -> ManagedServer:
    """A server as `ManagedServer.create` makes it, with a copy of data where that is the same."""
    server = ManagedServer.create(name=name, spec=replace(spec, is_copy=True), base_dir=base_dir)
    try:
        copy_or_initialise(server)
    except BaseException:
        server.remove()
        raise
    return server


def copy_initialised_data() -> None:
    """Lets all servers that this process makes have copies."""
    setattr(ManagedServer, "_initialise", copy_or_initialise)  # noqa: B010  (mypy: a method)


def copy_or_initialise(server: ManagedServer) -> None:
    """Fills the data directory of a server that was just made."""
    kind = _kind(server)
    if kind is None:
        _initialise(server)
        return
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    source = FOLDER / kind
    with (FOLDER / f"{kind}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not source.exists():
            _initialise(server)
            partial = Path(mkdtemp(dir=FOLDER, prefix="partial-")) / kind
            subprocess.run(["cp", "-a", "--sparse=always", server.directory.data, partial], check=True)
            (partial / "auto.cnf").unlink(missing_ok=True)  # names the server
            partial.rename(source)
            partial.parent.rmdir()
            return
    data_copy.replace_tree(source, server.directory.data)
    _allocate(server.directory.data)
    server.renew_accounts()


def _allocate(folder: Path) -> None:
    """What is kept has holes where it has zeros; a server's files have all their blocks."""
    for path in folder.rglob("*"):
        if path.is_file() and (size_bytes := path.stat().st_size):
            with path.open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, size_bytes)


def _kind(server: ManagedServer) -> str | None:
    """Names the data that the server would initialise; None where it may be of a kind of its own."""
    program = Path(server.command.program[-1])
    with program.open("rb") as file:
        is_script = file.read(2) == b"#!"  # a test's own
    lines = [line.partition("=") for line in server.option_file.text.splitlines() if line and line[0] not in "#["]
    options = {name: value for name, _, value in lines}
    if is_script or server.directory.roles or options.keys() - _SHAPING - _NEUTRAL:
        return None
    built = program.stat()
    shape = [(name, options[name]) for name in sorted(options.keys() & _SHAPING)]
    facts = (server.command.program, server.command.arguments, built.st_size, built.st_mtime_ns, shape)
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
