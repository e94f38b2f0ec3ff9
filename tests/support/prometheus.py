"""A real Prometheus that reads pages of a test, and promtool; skipped loudly where they are missing."""

from __future__ import annotations

import json
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plimsoll.servers.managed_server import free_port
from support.exporters import program
from support.waiting import until

CONFIG = """
global: {{scrape_interval: 2s, scrape_timeout: 2s}}
scrape_configs: [{{job_name: plimsoll, static_configs: [{{targets: ["{target}"]}}]}}]
"""


class Prometheus:
    """One that runs.

    Attributes:
        url: Of its API.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The series of an instant query; a wrong expression is an error of the test."""
        words = urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(f"{self.url}/api/v1/query?{words}", timeout=60) as answer:
            return json.load(answer)["data"]["result"]  # type: ignore[no-any-return]

    def values(self, expression: str, *labels: str) -> dict[tuple[str, ...], float]:
        """The values of an instant query, by these labels of their series."""
        return {
            tuple(series["metric"].get(label, "") for label in labels): float(series["value"][1])
            for series in self.query(expression)
        }


@contextmanager
def prometheus(folder: Path, target: str) -> Iterator[Prometheus]:
    """One that reads a target every two seconds, on a loopback port of its own."""
    command, port = program("prometheus"), free_port()
    config = folder / "prometheus.yml"
    config.write_text(CONFIG.format(target=target))
    url = f"http://127.0.0.1:{port}"
    words = [
        command,
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (folder / "log").open("wb") as log, subprocess.Popen(words, stdout=log, stderr=log) as process:
        try:
            assert until(lambda: process.poll() is not None or _is_ready(url)), "Prometheus does not answer"
            assert process.poll() is None, (folder / "log").read_text()
            yield Prometheus(url)
        finally:
            process.kill()


def promtool(*words: str | Path, text: str = "") -> None:
    """Runs a check of promtool's; what it finds is the failure of the test.

    Args:
        words: Of its command line.
        text: What it reads.
    """
    command = [program("promtool"), *map(str, words)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/-/ready", timeout=60) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
