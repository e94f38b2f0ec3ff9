"""`plimsoll size --demand` as a command: what it answers, and what is wrong with what it is given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.cli.size import _clients
from plimsoll.learn.demand import demand_of
from plimsoll.learn.report import report_of
from plimsoll.learn.transactions import seen_in
from plimsoll.spec.clients import Clients
from support.command import plimsoll
from support.event_logs import Said, write_log
from support.searched import demand as load_demand

READ_ONLY = ("--workload", "oltp complex read-only", "--connections", "16")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Published figures of eight systems, each measured once."""
    folder = tmp_path_factory.mktemp("studies") / "hp"
    table = Path(__file__).parents[3] / "examples" / "published" / "hp-proliant-2008.csv"
    assert plimsoll("import", "table", table, "--to", folder).returncode == 0
    return folder


@pytest.fixture(scope="module")
def demand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two transactions a second for an hour, and ten a second for a minute of it."""
    folder = tmp_path_factory.mktemp("logs")
    said = [Said(1, number / 2, "read") for number in range(7200)]
    said += [Said(2, 1800 + number / 8, "read") for number in range(480)]
    log = write_log(folder, sorted(said, key=lambda one: one.at_s))
    seen = seen_in(log)
    found = demand_of(report_of(log, seen), seen)
    assert found is not None
    path = folder / "demand.json"
    path.write_text(found.model_dump_json(indent=2))
    return path


def test_the_load_is_that_of_the_log_and_has_grown(study: Path, demand: Path) -> None:
    ran = plimsoll("size", study, *READ_ONLY, "--demand", demand, "--growth", "30%/y", "--json")
    assert ran.returncode == 0, "single figures indicate that it fits"
    found = json.loads(ran.stdout)
    assert (found["grade"], {one["grade"] for one in found["systems"]}) == ("indicated", {"indicated"})
    asked = found["asked"]
    assert (asked["demand"]["at"], asked["demand"]["logged_tps"]) == ("peak-minute", 10)
    assert asked["demand"]["logged_on"] == "2023-11-14"
    assert asked["tps"] > 10 * 1.3**2.9
    assert asked["needed_tps"] == pytest.approx(asked["tps"] / 0.7)
    for one in found["systems"]:
        assert one["horizon"]["about_years"] > 10
        assert one["horizon"]["sure_on"] is None
    assert [one["code"] for one in found["doubts"]] == ["log-shorter-than-a-day", "log-doubts"]
    assert all(one["text"] for one in (*found["doubts"], *found["assumptions"]))


def test_each_moment_of_the_log_can_be_asked_for(study: Path, demand: Path) -> None:
    rates = {}
    for moment in ("mean", "p99-minute", "peak-minute", "peak-second"):
        ran = plimsoll("size", study, *READ_ONLY, "--demand", demand, "--at", moment, "--growth", "0", "--json")
        rates[moment] = json.loads(ran.stdout)["asked"]["tps"]
    assert rates["mean"] == pytest.approx(7680 / 3600, rel=0.001)
    assert (rates["p99-minute"], rates["peak-minute"], rates["peak-second"]) == (10, 10, 10)


def test_the_terminal_says_until_when(study: Path, demand: Path) -> None:
    ran = plimsoll("size", study, *READ_ONLY, "--demand", demand, "--growth", "2%/mo")
    assert ran.stdout.startswith("The load is the rate of the busiest minute of the log, 10.0 tps on 2023-11-14;")
    assert "Until when" in ran.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "--tps, --tpm, --demand: give the load to sustain by one of them"),
        (("--tps", "5", "--demand", "DEMAND"), "--tps, --tpm, --demand: give the load to sustain by one of them"),
        (("--tps", "5", "--growth", "30%/y"), "--growth: is for --demand; add it, or leave it out"),
        (("--tps", "5", "--at", "mean"), "--at: is for --demand; add it, or leave it out"),
        (
            ("--demand", "DEMAND", "--growth", "a lot"),
            "--growth: must be a growth such as 30%/y, 2%/mo or 0, is 'a lot'",
        ),
        (
            ("--demand", "DEMAND", "--at", "noon"),
            "--at: must be one of mean, p99-minute, peak-minute, peak-second, is 'noon'",
        ),
        (("--demand", "nothing.json"), "nothing.json: No such file or directory"),
        (("--demand", "STUDY"), "Is a directory"),
        (("--demand", "/dev/null"), "/dev/null: is a device and not a file"),
        (("--demand", "TEXT"), "is no demand.json of plimsoll learn"),
    ],
)
def test_each_fault_is_told(words: tuple[str, ...], expected: str, study: Path, demand: Path) -> None:
    text = demand.with_name("text.json")
    text.write_text("select 1")
    files = {"DEMAND": str(demand), "STUDY": str(study), "TEXT": str(text)}
    ran = plimsoll("size", study, *READ_ONLY, *(files.get(word, word) for word in words))
    assert ran.returncode == 2
    assert expected in " ".join(ran.stderr.split())
    assert ran.stdout == ""


def test_a_confirmation_has_the_bursts_of_the_demand() -> None:
    clients = Clients(burstiness=3.0, connect_per_s=5.0)
    assert _clients(clients, load_demand(burstiness=40.0)) == Clients(burstiness=40.0, connect_per_s=5.0)
    assert _clients(clients, load_demand(burstiness=None)) is clients
    assert _clients(clients, None) is clients


def test_a_load_per_minute_is_answered_per_minute(study: Path) -> None:
    per_minute = plimsoll("size", study, *READ_ONLY, "--tpm", "300000")
    assert "300,000 tpm" in per_minute.stdout
    assert "tps" not in per_minute.stdout
    asked = [json.loads(plimsoll("size", study, *READ_ONLY, *load, "--json").stdout) for load in (
        ("--tpm", "300000"), ("--tps", "5000"))]  # fmt: skip
    assert [one["asked"].pop("rate_unit") for one in asked] == ["tpm", "tps"]
    assert asked[0]["asked"] == asked[1]["asked"]


@pytest.mark.parametrize(
    ("load", "fault"),
    [
        (("--tpm", "60", "--tps", "1"), "--tps, --tpm, --demand: give the load to sustain by one of them"),
        (("--tpm", "-60"), "--tpm: must be a number above 0, is -60"),
    ],
)
def test_a_load_is_given_once_and_is_a_rate(study: Path, load: tuple[str, ...], fault: str) -> None:
    ran = plimsoll("size", study, *READ_ONLY, *load)
    assert ran.returncode == 2
    assert fault in ran.stderr
