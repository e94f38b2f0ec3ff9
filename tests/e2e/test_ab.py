"""`plimsoll ab` on real servers: a ratio with its interval, the same from the saved study, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.run.events import RampsCompared, read_events
from plimsoll.spec.study import read_study
from support.command import plimsoll, start_forked
from support.recordings import finished_ids
from support.servers import StartServer, server_base, start_server
from support.waiting import until, where_grown
from support.waiting_load import write_waiting_load

__all__ = ["server_base", "start_server"]

pytestmark = pytest.mark.e2e

FLUSH = "innodb_flush_log_at_trx_commit"
SIDES = ("--set", f"{FLUSH}=1", "--set", f"{FLUSH}=2")
LOAD = ("--connections", "4", "--for", "65s")


@pytest.fixture
def places(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Where servers and temporary folders are made: both are empty at the end."""
    servers, folders = Path(f"/var/tmp/plimsoll-test-ab-{os.getpid()}"), tmp_path / "tmp"
    folders.mkdir()
    yield {"PLIMSOLL_DATA_DIR": str(servers), "TMPDIR": str(folders)}
    if servers.exists():
        servers.rmdir()


def left_in(places: dict[str, str]) -> list[Path]:
    return [path for place in places.values() for path in Path(place).glob("*")]


def test_two_settings_are_compared_and_the_study_is_saved(tmp_path: Path, places: dict[str, str]) -> None:
    """Under a load that waits both are equal, which is decided as soon as that may be."""
    study, load = tmp_path / "kept" / "study", (*LOAD, "--workload", write_waiting_load(tmp_path))
    ran = plimsoll("ab", *SIDES, *load, "--equal-within", "20%", "--json", "--save", study, env=places)
    assert ran.returncode == 0, ran.stderr
    assert f"{FLUSH}=2 against =1: waiting, 4 connections" in ran.stderr
    assert "raise it in the study file" not in ran.stderr
    answer = json.loads(ran.stdout)
    (compared,) = answer["comparisons"]
    assert (compared["base"], compared["system"]) == (f"{FLUSH}=1", f"{FLUSH}=2")
    assert compared["rounds"] >= 3
    if compared["verdict"] == "disturbed":  # what the machine was like
        assert compared["ratio"]["bounds"] is None
    else:
        bounds = compared["ratio"]["bounds"]
        assert bounds["low"] < compared["ratio"]["value"] < bounds["high"]
        assert (compared["verdict"] == "unresolved") == (compared["rounds_needed"] != 0)
    assert [one["name"] for one in answer["sides"]] == [f"{FLUSH}=1", f"{FLUSH}=2"]
    assert answer["sides"][1]["settings_causing_loss"] == [[FLUSH, "2"]]
    assert left_in(places) == []

    assert (study / "guide.html").is_file()
    assert read_study(study / "study.toml").study.is_duet
    found = json.loads((study / "guide.json").read_text())["differences"]
    assert [one["ratio"] for one in found if one["level"] is not None] == [compared["ratio"]]


@pytest.mark.endure  # the same of running servers, in runs of their own, is below
def test_an_interruption_shows_the_answer_so_far_and_leaves_nothing(tmp_path: Path, places: dict[str, str]) -> None:
    ended = start_forked("ab", *SIDES, *LOAD, "--table-size", "1000", "--for", "10m", env=places)
    events = tmp_path / "tmp"
    assert until(lambda: any(map(_has_answer, events.glob("plimsoll-ab-*/study/events.jsonl"))), 600)
    ended.send_signal(signal.SIGINT)
    told, errors = ended.communicate()
    assert ended.returncode == 130, errors
    first, *_ = told.splitlines()
    ways = ("undecided", "indicated", "disturbed")  # by rounds, or fewer than three, or by what the machine was like
    assert first.startswith(tuple(f"{how}: {FLUSH}=" for how in ways)), first
    assert "times as fast as =" in first
    assert f"  {FLUSH}=1 " in told
    assert left_in(places) == []


def test_loads_that_two_sides_bear_are_compared_by_ramps_and_go_on_where_they_stopped(
    tmp_path: Path, places: dict[str, str]
) -> None:
    """Eight connections that wait for 20 ms bear at most 400 transactions per second."""
    workload, study = write_waiting_load(tmp_path, wait_ms=20), tmp_path / "study"
    load = ("--workload", workload, "--connections", "8", "--capacity", "200ms", "--for", "30m")
    ended = start_forked("ab", *SIDES, *load, "--save", study, env=places)
    has_ratio = where_grown(study / "events.jsonl", lambda: bool(_pairs_of(study)))
    assert until(lambda: has_ratio() or ended.poll() is not None, 600)
    ended.send_signal(signal.SIGINT)
    told, errors = ended.communicate()
    assert ended.returncode == 130, errors
    first, *_ = told.splitlines()
    assert first.startswith(tuple(f"{how}: {FLUSH}=" for how in ("indicated", "undecided", "disturbed"))), first
    assert "times the load of =" in first
    assert left_in(places) == []

    pairs, recorded = _pairs_of(study), len(finished_ids(study))
    goes_on = start_forked("study", "run", study, env=places)
    has_another = where_grown(study / "events.jsonl", lambda: len(finished_ids(study)) > recorded)
    assert until(lambda: has_another() or goes_on.poll() is not None, 600)
    goes_on.send_signal(signal.SIGINT)
    assert goes_on.wait() == 130
    ramps = [path for path in (study / "recordings").iterdir() if "-ramp0-" in path.name]
    assert len(ramps) == 2  # of each side one: what was recorded did not run again
    found = json.loads(plimsoll("guide", study, "--json").stdout)
    (ratio,) = found["capacity_ratios"]
    assert ratio["ratio"]["value"] > 0
    ramps_of_sides = [_ramps(one) for one in found["capacities"]]
    assert all(set(range(pairs)) <= {run["pair"] for run in runs} for runs in ramps_of_sides)
    # A ramp that a busy machine breaks off has no knee.
    knees = [{run["pair"]: run["knee_tps"] for run in runs if run["knee_tps"] is not None} for runs in ramps_of_sides]
    assert all(0 < knee < 800 for side in knees for knee in side.values())
    assert ratio["pairs_count"] == len(set.intersection(*map(set, knees)))
    assert left_in(places) == []


def _pairs_of(study: Path) -> int:
    """After how many pairs of ramps a ratio was told last; there is none while machines break off ramps."""
    told = [said.event for said in read_events(study / "events.jsonl") if isinstance(said.event, RampsCompared)]
    return max((event.pair_count for event in told if event.ratios), default=0)


def _ramps(capacity: dict[str, Any]) -> list[dict[str, Any]]:
    """Of a side, from the guide's JSON."""
    runs = [run for search in capacity["searches"] for run in search["capacity"]["runs"]]
    return [run for run in runs if run["role"] == "ramp"]


def test_running_servers_are_compared_and_an_interruption_shows_the_answer_so_far_and_leaves_nothing(
    tmp_path: Path, start_server: StartServer, places: dict[str, str]
) -> None:
    target = start_server("mariadb").target
    urls = [f"mysql://{target.user}@{host}:{target.port}/{target.database}" for host in ("127.0.0.1", "localhost")]
    password = {"PLIMSOLL_TEST_TARGET": target.password.get_secret_value()}
    options = ("--target", urls[0], "--target", urls[1], "--password-env", "PLIMSOLL_TEST_TARGET")
    load = (*LOAD, "--for", "10m", "--workload", write_waiting_load(tmp_path), "--equal-within", "20%")
    ended = start_forked("ab", *options, *load, env={**places, **password, "COLUMNS": "200"})
    events = Path(places["TMPDIR"])
    assert until(
        lambda: ended.poll() is not None or any(map(_has_answer, events.glob("plimsoll-ab-*/study/events.jsonl"))),
        600,
        step_s=0.2,
    )
    ended.send_signal(signal.SIGINT)
    told, errors = ended.communicate()
    assert ended.returncode == 130, errors
    first, *_ = told.splitlines()
    # By runs of each, of which there are fewer than three, or by what the machine was like.
    assert first.startswith(("undecided: ", "indicated: ", "disturbed: ")), first
    assert "times as fast as" in first
    assert "localhost" in first
    assert "127.0.0.1" in first
    assert "not frozen" in told
    assert password["PLIMSOLL_TEST_TARGET"] not in told + errors
    assert left_in(places) == []


def _has_answer(events: Path) -> bool:
    return "answer_progressed" in events.read_text()
