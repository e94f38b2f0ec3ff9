"""A server that is stopped (SIGSTOP) or killed while load runs: what that hides is counted and named."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.servers.managed_server import ManagedServer
from support.command import Running, login, plimsoll, real_server, start_forked
from support.waiting_load import write_waiting_load
from support.warned import codes_of

pytestmark = pytest.mark.e2e

AWAY = r"target: no connection to the server could be opened again from \d+\.\d s until the load ended at \d+\.\d s"


@pytest.fixture(scope="module")
def server() -> Iterator[ManagedServer]:
    """For tests that stop it and let it go on, and for one that kills it."""
    with real_server(Path("/var/tmp/plimsoll-test-stalls")) as running:
        yield running


@pytest.fixture
def trial(tmp_path: Path) -> tuple[str, ...]:
    """The options of a trial's load."""
    return ("--workload", str(write_waiting_load(tmp_path)), "--warm-up", "1s")


@pytest.fixture
def target(server: ManagedServer, trial: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return [*login(server, monkeypatch), *trial]


def wait_for_second(process: Running, second: int) -> str:
    """The lines of the intervals up to the one that ends so many seconds after the load began."""
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if line.strip().startswith(f"{second}.0 s"):
            return "".join(lines)
    pytest.fail(f"it ended before: {lines} {process.communicate()}")


def stopped(server: ManagedServer, arguments: list[str], *, from_s: int, to_s: int | None) -> tuple[int, str, str]:
    """Exit code and output of a trial whose server is stopped from one second of the load to another, or to its end."""
    process = start_forked("trial", *arguments, env={"COLUMNS": "200"})
    try:
        seen = wait_for_second(process, from_s)
        os.kill(server.pid, signal.SIGSTOP)
        if to_s is not None:
            seen += wait_for_second(process, to_s)
            os.kill(server.pid, signal.SIGCONT)
        output, errors = process.communicate(timeout=300)
    finally:
        os.kill(server.pid, signal.SIGCONT)
        process.kill()
        process.wait()
    return process.returncode, output, seen + errors


def test_at_a_rate_all_that_fell_due_while_the_server_was_stopped_counts_with_its_age(
    server: ManagedServer, target: list[str]
) -> None:
    rate = ["--rate", "200", "--arrivals", "uniform", "--connections", "8", "--duration", "13s", "--json"]
    code, output, errors = stopped(server, [*target, *rate], from_s=10, to_s=None)
    result = json.loads(output)
    assert code == 3, errors
    assert re.search(r"the server answered nothing from \d+\.0 s until the load ended at \d+\.\d s", errors), errors
    assert (result["verdict"], "answered nothing" in result["reason"]) == ("failed", True)
    loop = result["open_loop"]
    assert loop["offered"] == loop["completed"] + loop["failed"] + loop["dropped"] + loop["unfinished"] == 14 * 200
    # One falls due every 5 ms from when the server was stopped, a moment after 10 s, until the load ends at 14 s. On a
    # busy machine some had been waiting for longer: how old the oldest is says how many there must be.
    unfinished, oldest_ms = result["unfinished"], result["unfinished_ms_max"]
    assert unfinished == loop["unfinished"] >= 250
    assert 5 * unfinished - 100 <= oldest_ms <= 5 * unfinished + 1_000
    response = result["response_ms"]
    assert {"p90", "p95", "p99", "p999", "max", "mean"} <= set(response["lower_bounds"])
    assert "p50" not in response["lower_bounds"]
    # 1 % of the 2,600 of the window are 26. The oldest 26 fell due within 130 ms and are older than the percentile.
    assert min(oldest_ms, 5 * unfinished) - 200 <= response["p99"] <= oldest_ms
    assert response["max"] == oldest_ms
    assert "max" in result["service_ms"]["lower_bounds"]
    assert {"throughput-stalled", "transactions-unfinished"} <= {warning["code"] for warning in result["warnings"]}
    assert 14.0 in [one["to_s"] for one in result["stalls"]]  # a loaded machine may stall elsewhere too


def test_a_closed_loop_says_first_for_how_long_nothing_completed(server: ManagedServer, target: list[str]) -> None:
    level = ["--connections", "4", "--duration", "12s"]
    code, output, errors = stopped(server, [*target, *level], from_s=3, to_s=7)
    assert code == 0, errors
    first, second, *_ = output.splitlines()
    # Stopped a moment after 3 s, until a moment after 7 s. The second in which it is stopped counts as well where
    # that was near enough to its begin. A busy machine stops it later, lets it go on later, and may stall elsewhere.
    share = re.fullmatch(r"stalled +(?:nothing|hardly anything) completed for (\d+\.\d) % of the time", first)
    assert share, output
    stall = r"^ +from (\d+)\.0 s for (\d+)\.0 s: (?:1 transaction|(?!1 )\d+ transactions) completed"
    stalls = [(int(from_s), int(length_s)) for from_s, length_s in re.findall(stall, output, re.MULTILINE)]
    from_s, length_s = next(one for one in stalls if sum(one) >= 7)
    assert 3 <= from_s <= 6, output
    assert float(share[1]) >= round(100 * length_s / 12, 1)
    assert output.index("\nthroughput") > output.index(second)
    assert re.search(
        rf"warning: throughput-stalled: .* of 12\.0 s \(.*\), from {from_s}\.0 s after the start of the load\. Look",
        output,
    )
    assert "never ended" not in output
    sign, longest_s = longest(output, "response time")
    assert sign == ""
    assert longest_s > length_s - 1, "the four that were in flight took as long"
    assert re.search(r"7\.0 s +0\.00 tps  nothing completed, the oldest in flight for [1-4]\.\d\d s", errors)


def longest(output: str, line: str) -> tuple[str, float]:
    """The maximum of a line of the text: its sign, and seconds."""
    found = re.search(rf"^{line}.* max (>= |)(\d+\.\d+) s", output, re.MULTILINE)
    assert found is not None, output
    return found[1], float(found[2])


def test_a_closed_loop_whose_server_is_silent_to_the_end_is_no_success(
    server: ManagedServer, target: list[str]
) -> None:
    level = ["--connections", "4", "--duration", "9s"]
    code, output, errors = stopped(server, [*target, *level], from_s=4, to_s=None)
    assert code == 3, output
    assert re.search(r"the server answered nothing from [4-8]\.0 s until", errors)
    assert output.startswith("stalled ")
    told = re.search(
        r"^unfinished +4 never ended, the oldest (\d\.\d\d) s old when the load ended", output, re.MULTILINE
    )
    assert told is not None, output
    assert 1 < float(told[1]) <= 7, "a busy machine stops the server a little later"
    for name in ("response time", "service time"):
        assert longest(output, name) == (">= ", float(told[1]))
    assert "p50 >=" not in output, "what completed before is many times as much"


def test_silence_that_began_shortly_before_the_end_is_noticed(server: ManagedServer, target: list[str]) -> None:
    level = ["--connections", "4", "--duration", "4s", "--json"]
    # The line of the last but one interval comes when the last one has begun.
    code, output, errors = stopped(server, [*target, *level], from_s=4, to_s=None)
    result = json.loads(output)
    # A busy machine stops the server when the load has ended: then nothing was silent.
    assert (code, result["unfinished"]) in {(3, 4), (0, 0)}, errors
    assert ("max" in result["response_ms"]["lower_bounds"]) == (code == 3)


def test_a_short_stall_of_a_few_transactions_per_second_is_none(target: list[str]) -> None:
    """At two transactions per second many a second has none."""
    ran = plimsoll("trial", *target, "--rate", "2", "--connections", "4", "--duration", "12s", "--json")
    result = json.loads(ran.stdout)
    assert (ran.returncode, result["stalls"], codes_of(result["warnings"])) == (0, [], []), ran.stderr
    assert result["response_ms"]["lower_bounds"] == []


def test_a_server_that_stays_away_and_one_that_is_away_when_the_load_ends_are_no_success(
    server: ManagedServer, target: list[str]
) -> None:
    """Two trials of a server that is killed under both of them: the last test that it serves."""
    giving_up = start_forked("trial", *target, "--connections", "4", "--duration", "30s", "--give-up", "2s", "--json")
    waiting = start_forked("trial", *target, "--connections", "4", "--duration", "20s")
    for process in (giving_up, waiting):
        wait_for_second(process, 3)
    os.kill(server.pid, signal.SIGKILL)

    output, errors = giving_up.communicate(timeout=300)
    result = json.loads(output)
    assert giving_up.returncode == 3, errors
    assert re.search(AWAY, errors), errors
    assert (result["verdict"], result["outages"][0]["to_s"]) == ("failed", None)
    assert result["duration_s"] < 20, "what never ran is no part of the window"

    output, errors = waiting.communicate(timeout=300)
    assert waiting.returncode == 3, errors
    assert re.search(AWAY, errors), errors
    assert "outage            from " in output
