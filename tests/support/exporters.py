"""The distribution's exporters as processes of a test on loopback ports; skipped loudly where they are missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from plimsoll.errors import HostError
from plimsoll.servers.managed_server import free_port
from plimsoll.spec.target import Target
from plimsoll.telemetry.exporters.page import fetch_page
from support.servers import missing
from support.waiting import until

_FOLDER = "PLIMSOLL_TEST_EXPORTERS"


@contextmanager
def node_exporter() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The URL of a node_exporter's page, and its process."""
    with _exporter("prometheus-node-exporter", ()) as running:
        yield running


@contextmanager
def mysqld_exporter(target: Target, folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The same of a mysqld_exporter that asks a server; its password is in a file of the test's folder."""
    file = folder / "exporter.cnf"
    file.touch(mode=0o600)
    file.write_text(
        f"[client]\nuser={target.user}\npassword={target.password.get_secret_value()}\nhost=127.0.0.1\n"
        f"port={target.port}\n"
    )
    arguments = (f"--config.my-cnf={file}", "--collect.info_schema.innodb_metrics")
    with _exporter("prometheus-mysqld-exporter", arguments) as running:
        yield running


@contextmanager
def _exporter(command: str, arguments: Sequence[str]) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    path, port = program(command), free_port()
    url = f"http://127.0.0.1:{port}/metrics"
    words = [path, f"--web.listen-address=127.0.0.1:{port}", *arguments]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            assert until(lambda: process.poll() is None and _answers(url)), f"{command} does not answer"
            yield url, process
        finally:
            process.kill()


def program(command: str) -> str:
    """The path of one of the distribution's programs."""
    folder = os.environ.get(_FOLDER)
    path = shutil.which(command, path=folder) if folder else None
    return path or missing(f"{command} is not here: set {_FOLDER}=$(tests/tools/get-exporters DIR)")


def _answers(url: str) -> bool:
    try:
        return bool(fetch_page(url).text)
    except HostError:
        return False
