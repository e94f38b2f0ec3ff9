"""A MariaDB whose start, stop, snapshot and reset are scripts of the user's, as hooks call them."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from plimsoll.servers.managed_server import free_port
from support.servers import own_address, server_command

PASSWORD = "hooks-only-0451"

SCRIPT = """#!/bin/sh
# server.sh HOOK: what hooks do to the server of this folder.
set -eu
cd FOLDER
echo "$1 $PLIMSOLL_HOOK trial=${PLIMSOLL_TRIAL_ID:-none} repetition=${PLIMSOLL_REPETITION:-none}" >> calls
is_up() { [ -f server.pid ] && kill -0 "$(cat server.pid)" 2>/dev/null; }
start() {
  mariadbd --no-defaults --datadir="$PWD/data" --socket="$PWD/s" --port=PORT --bind-address=HOST USER \
    --pid-file="$PWD/server.pid" --init-file="$PWD/init.sql" --innodb-buffer-pool-size=32M LOG_SIZE >> server.log 2>&1 &
  started=$!
}
stop() {
  if is_up; then
    pid=$(cat server.pid)
    kill "$pid"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  fi
}
wait_up() {
  until [ -f server.pid ]; do
    kill -0 "$started" 2>/dev/null || { tail server.log >&2; exit 1; }
    sleep 0.1
  done
}
case $1 in
  start) start ;;
  stop) stop ;;
  snapshot) stop; rm -rf copy; cp -a data copy; start; wait_up ;;
  reset) stop; rm -rf data; cp -a copy data; start; wait_up ;;
esac
echo "$1 is done; the password is $PW"
"""


LOG_SIZE = "--innodb-log-file-size=8M"
"""Snapshots and resets copy the redo log, too."""


@dataclass(frozen=True)
class HookedServer:
    """The folder of a server that only its script starts.

    Attributes:
        folder: Holds `server.sh`, and `calls`, a line for each call.
        host: An address of its own, so that nobody takes its port while it is down.
    """

    folder: Path
    host: str
    port: int

    @property
    def url(self) -> str:
        """How it is reached, without its password."""
        return f"mysql://bench@{self.host}:{self.port}/sbtest"

    @property
    def env(self) -> dict[str, str]:
        """The variable that holds its password."""
        return {"PW": PASSWORD}

    @property
    def calls(self) -> list[str]:
        """Each call of the script: what was asked, and what it was told."""
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def is_up(self) -> bool:
        """Whether its process is there."""
        try:
            os.kill(int((self.folder / "server.pid").read_text()), 0)
        except (OSError, ValueError):
            return False
        return True

    def end(self) -> None:
        """Ends the server, if it runs."""
        environment = {**os.environ, "PLIMSOLL_HOOK": "end", "PW": ""}
        subprocess.run([self.folder / "server.sh", "stop"], check=True, env=environment, stdout=subprocess.DEVNULL)


def make_hooked_server(folder: Path) -> HookedServer:
    """Makes the data directory and the script of a server; nothing runs yet."""
    server_command("mariadb")
    folder.mkdir()
    host = own_address()
    port = free_port(host)
    shutil.copytree(_initial_data(), folder / "data")
    (folder / "init.sql").write_text(
        "CREATE DATABASE IF NOT EXISTS sbtest;\n"
        f"CREATE USER IF NOT EXISTS bench@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';\n"
        "GRANT ALL PRIVILEGES ON *.* TO bench@'127.0.0.1';\n"
    )
    script = folder / "server.sh"
    text = SCRIPT.replace("FOLDER", str(folder)).replace("PORT", str(port)).replace("HOST", host)
    script.write_text(text.replace("USER", _user()).replace("LOG_SIZE", LOG_SIZE))
    script.chmod(0o755)
    return HookedServer(folder, host, port)


@cache
def _initial_data() -> Path:
    """A data directory as each of the servers begins with; removed with this process."""
    folder = Path(tempfile.mkdtemp(prefix="plimsoll-test-hooked-", dir="/var/tmp"))
    atexit.register(shutil.rmtree, folder)
    install = ["mariadb-install-db", "--no-defaults", f"--datadir={folder / 'data'}", "--skip-test-db", LOG_SIZE]
    made = subprocess.run([*install, *_user().split()], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    return folder / "data"


def _user() -> str:
    return "--user=root" if os.geteuid() == 0 else ""
