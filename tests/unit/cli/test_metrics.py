"""`--metrics` and OTEL_* variables: what is refused before anything starts, what is said, and who is waited for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.request
from contextlib import nullcontext
from pathlib import Path

import pytest
import typer

from plimsoll.cli import capacity
from plimsoll.cli.failures import INTERRUPTED
from plimsoll.cli.metrics import metrics_out
from plimsoll.errors import TargetError
from plimsoll.metrics.families import REMAINING, TRANSACTIONS
from plimsoll.metrics.prometheus import SCRAPER, Address, Endpoint
from plimsoll.metrics.totals import Totals
from plimsoll.record.capacity import CapacityRun, RunRole, RunVerdict
from plimsoll.record.model import State
from plimsoll.run.capacity_search import Searched
from plimsoll.run.capacity_target import SearchListeners
from plimsoll.run.live import LiveFeed
from support.command import assert_one_clear_message, plimsoll
from support.live_intervals import live_interval_of

COMMANDS = {
    "trial": ("trial", "--target", "managed", "--duration", "1s"),
    "capacity": ("capacity", "--target", "managed", "--response-p99", "20ms"),
    "ab": ("ab", "--set", "sync_binlog=0", "--set", "sync_binlog=1"),
    "study": ("study", "run", "study.toml", "--to", "out"),
}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_an_address_in_use_is_refused_before_anything_starts(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    env = {"PLIMSOLL_DATA_DIR": str(tmp_path / "servers")}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ran = plimsoll(*words, "--metrics", address, env=env, cwd=tmp_path)
    assert_one_clear_message(ran, 3, f"--metrics {address}: cannot be listened on: Address already in use")
    assert not (tmp_path / "servers").exists()
    assert not (tmp_path / "out").exists()


STUDY = """
[study]
name = "s"
levels = { connections = [1] }
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "a"
[system.server]
managed = "mariadb"
"""


def test_wrong_words_are_refused(tmp_path: Path) -> None:
    assert_one_clear_message(plimsoll(*COMMANDS["trial"], "--metrics", "9464"), 2, "such as 127.0.0.1:9464, is '9464'")
    ran = plimsoll(*COMMANDS["trial"], env={"OTEL_METRICS_EXPORTER": "console"})
    assert_one_clear_message(ran, 2, "OTEL_METRICS_EXPORTER: must be otlp or none, is 'console'")


def test_nothing_is_imported_where_nobody_reads() -> None:
    code = (
        "import sys\n"
        "from plimsoll.cli.metrics import metrics_out\n"
        "with metrics_out(None, is_quiet=False) as totals: assert totals is None\n"
        "assert not {'plimsoll.metrics', 'prometheus_client', 'opentelemetry', 'numpy'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def tell(folder: Path) -> None:
    """An interval of load, as a run tells observers of it."""
    LiveFeed(folder).tell(live_interval_of({"t": [10**6]}, state=State.MEASURE))


def url_of(said: str) -> str:
    return said.partition("metrics: ")[2].split()[0].rstrip(";")


def scrape(url: str) -> str:
    with urllib.request.urlopen(urllib.request.Request(url, headers={SCRAPER: "1"}), timeout=60) as answer:
        return str(answer.read().decode())


def test_intervals_of_the_run_are_read_where_it_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with metrics_out("127.0.0.1:0", is_quiet=False) as totals:
        said = capsys.readouterr().err
        assert "anybody" not in said
        tell(tmp_path)
        with urllib.request.urlopen(url_of(said), timeout=60) as answer:
            assert b'plimsoll_transactions_total{outcome="completed",system="a",' in answer.read()
    assert isinstance(totals, Totals)
    tell(tmp_path)
    assert totals.readings[TRANSACTIONS]["a", "w", "t", "completed"] == 1, "it is over"


def test_others_can_read_at_an_address_that_is_not_loopback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Address, "is_loopback", False)
    with metrics_out("127.0.0.1:0", is_quiet=True):
        assert "anybody who reaches this address can read them" in capsys.readouterr().err


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Each wait for a last read; whether any load still ran then."""
    waits: list[bool] = []

    def wait(endpoint: Endpoint) -> bool:
        waits.append('state="measure"} 1' in scrape(endpoint.url))
        raise KeyboardInterrupt  # whoever waits no longer

    monkeypatch.setattr(Endpoint, "wait_for_last_read", wait)
    return waits


@pytest.mark.parametrize(
    ("ending", "is_waited_for"),
    [
        (None, True),
        (typer.Exit(0), True),
        (typer.Exit(4), True),
        (typer.Exit(INTERRUPTED), False),
        (KeyboardInterrupt(), False),
        (TargetError("gone"), False),
    ],
    ids=repr,
)
def test_the_last_values_wait_for_a_scraper_that_came_before(
    ending: BaseException | None,
    is_waited_for: bool,
    waits: list[bool],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(type(ending)) if ending else nullcontext(), metrics_out("127.0.0.1:0", is_quiet=False):
        tell(tmp_path)
        scrape(url_of(capsys.readouterr().err))
        if ending is not None:
            raise ending
    assert waits == ([False] if is_waited_for else [])


def test_a_search_tells_its_display_and_the_metrics() -> None:
    totals, shown = Totals(), list[Searched]()
    run = CapacityRun(
        role=RunRole.BRACKET,
        connections=4,
        throughput_tps=1.0,
        over_ratio=0.0,
        duration_s=1.0,
        verdict=RunVerdict.HOLDS,
    )
    searched = Searched(run=run, low_tps=1.0, high_tps=2.0, remaining_s=7.0)
    told = SearchListeners(searched=shown.append)
    assert capacity._listeners(told, None) is told
    capacity._listeners(told, totals).searched(searched)
    assert shown == [searched]
    assert totals.readings[REMAINING] == {(): 7.0}


def test_nobody_waits_where_nobody_scraped(waits: list[bool], tmp_path: Path) -> None:
    with metrics_out("127.0.0.1:0", is_quiet=True):
        tell(tmp_path)
    assert not waits
