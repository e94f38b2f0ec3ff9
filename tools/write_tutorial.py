"""Runs the commands of tutorials and puts their real output below them (`make tutorial`).

Pages are given as arguments. It starts a throwaway MariaDB server on port 3306, where tutorials expect one; it logs all
statements to `slow.log` in the folder where the commands run. In that folder, which is empty, it runs each line
that begins with `$` in a console block. A command that fails ends it and leaves the page as it was. Deliberately not
here: commands in other blocks, which are for the reader's own server and shell.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PASSWORD = "secret"  # noqa: S105 - of a server that lives as long as this script
ACCOUNT = f"""
CREATE DATABASE sbtest;
CREATE USER bench@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';
GRANT ALL ON sbtest.* TO bench@'127.0.0.1';
"""
START_S_MAX = 60
_LOGGING = (
    "--slow-query-log=1",
    "--long-query-time=0",
    "--log-slow-verbosity=query_plan,innodb",
    "--slow-query-log-file=../../work/slow.log",
)


def main() -> None:
    """Writes each page with new output."""
    for name in sys.argv[1:]:
        _write(Path(name))


def _write(page: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="tutorial-") as folder:
        work = Path(folder) / "work"
        work.mkdir()  # the server logs into it
        with _server(Path(folder) / "server"):
            text = re.sub(r"^```(\w+)\n(.*?)^```\n", lambda one: _block(one, work), page.read_text(), flags=re.M | re.S)
    page.write_text(text, encoding="utf-8")


def _block(found: re.Match[str], work: Path) -> str:
    """A block with its output; the study file is saved and stays as it is."""
    language, text = found[1], found[2]
    if language == "toml":
        (work / "study.toml").write_text(text, encoding="utf-8")
    if language != "console":
        return found[0]
    commands = re.findall(r"^\$ (.*(?<!\\)(?:\\\n.*(?<!\\))*)$", text, re.MULTILINE)
    return "```console\n" + "".join(f"$ {command}\n{_output(command, work)}" for command in commands) + "```\n"


def _output(command: str, work: Path) -> str:
    sys.stderr.write(f"$ {command}\n")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    variables = {**os.environ, "PATH": path, "PW": PASSWORD, "COLUMNS": "80"}
    ran = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=work,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        sys.exit(f"exit code {ran.returncode}: {ran.stdout}")
    return "".join(f"{line.rstrip()}\n" for line in ran.stdout.splitlines())


@contextmanager
def _server(folder: Path) -> Iterator[None]:
    """A server with the tutorial's account; it is gone afterwards."""
    folder.mkdir()
    user = f"--user={os.environ.get('USER', 'root')}"
    install = ["mariadb-install-db", "--no-defaults", user, f"--datadir={folder}/data", "--skip-test-db"]
    subprocess.run([*install, "--auth-root-authentication-method=normal"], stdout=subprocess.DEVNULL, check=True)
    socket = f"--socket={folder}/socket"
    places = [f"--datadir={folder}/data", socket, "--port=3306", "--bind-address=127.0.0.1"]
    server = subprocess.Popen(
        ["/usr/sbin/mariadbd", "--no-defaults", user, *places, "--innodb-buffer-pool-size=512M", *_LOGGING],
        cwd=folder,
        stderr=subprocess.DEVNULL,
    )
    try:
        _make_account(["mariadb", "--no-defaults", socket, "--user=root"])
        yield
    finally:
        server.terminate()
        server.wait()


def _make_account(client: list[str]) -> None:
    end = time.monotonic() + START_S_MAX
    while subprocess.run(client, input=ACCOUNT, stderr=subprocess.DEVNULL, text=True, check=False).returncode != 0:
        if time.monotonic() > end:
            sys.exit("the server does not answer; does another one use port 3306?")
        time.sleep(0.5)


if __name__ == "__main__":
    main()
