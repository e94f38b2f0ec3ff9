"""`plimsoll doctor`: this machine, and its client against the fake server, over both ways."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.plans import sources, trial_line
from plimsoll.drive.protocol import Interval
from plimsoll.run.calibrate import fake_server, shapes_of
from plimsoll.run.single import SingleRun, run_single
from plimsoll.run.system_data import DataKeeper
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.target import Target
from plimsoll.spec.workloads import StatementsSpec
from support.command import login, plimsoll
from support.repository import ROOT
from support.servers import mysql_in_endure, running_server

__all__ = ["running_server"]
pytestmark = pytest.mark.e2e

SCHEMA = json.loads((ROOT / "docs" / "doctor.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_the_machine_is_looked_at() -> None:
    ran = plimsoll("doctor")
    assert ran.returncode == 0, ran.stderr
    assert "load engine" in ran.stdout
    assert "flush" in ran.stdout
    with Path("/proc/cpuinfo").open() as file:
        is_guest = any(" hypervisor " in f"{line} " for line in file if line.startswith("flags"))
    assert ("cannot be seen from inside a guest; ask the provider" in " ".join(ran.stdout.split())) is is_guest


def test_strictness_follows_from_the_findings() -> None:
    ran = plimsoll("doctor", "--strict", "--json")
    jsonschema.validate(json.loads(ran.stdout), SCHEMA)
    found = [finding for check in json.loads(ran.stdout) for finding in check["findings"]]
    refused = [one for one in found if one["severity"] != "context"]
    assert ran.returncode == (3 if refused else 0), ran.stderr
    assert all(one["code"] in ran.stderr and one["consequence"] for one in refused)


def test_the_clients_limit_is_measured_kept_and_compared_with(tmp_path: Path) -> None:
    words = ["--workload", "oltp_point_select", "--connections", "4", "--duration", "1s"]
    ran = plimsoll("doctor", "--client", *words, "--json")
    jsonschema.validate(json.loads(ran.stdout), SCHEMA)
    assert ran.returncode == 0, ran.stderr
    by_tcp, by_socket = json.loads(ran.stdout)
    assert (by_tcp["by_socket"], by_socket["by_socket"]) == (False, True)
    assert min(one["throughput_tps"] for one in (by_tcp, by_socket)) > 0
    assert (tmp_path / "plimsoll/client-limits.json").exists()
    # Against the fake server itself a trial reaches the limit, and is warned about.
    workload = WorkloadSpec(name="points", kind="oltp_point_select")
    with fake_server(LocalDriver(), shapes_of(workload), by_socket=False) as target:
        lowered(tmp_path / "plimsoll/client-limits.json")
        run = SingleRun(workload=workload, target=target, connections=4, warm_up_s=1, duration_s=1, seed=1,
                        look_first=False)  # fmt: skip
        summary = run_single(run)
    assert "client-saturated" in {warning.code for warning in summary.outcome.warnings}


OWN = """
[[table]]
name = "people"
rows = 2_000

[[table.column]]
name = "id"
generate = "sequence"

[[table.column]]
name = "town"
generate = "integer"
from = 1
to = 100

[[table.column]]
name = "name"
generate = "letters"
length = [5, 20]

[[transaction]]
name = "visit"
weight = 3
begin = true
think_time = "50ms"
values.town = { generate = "integer", from = 1, to = 100 }

[[transaction.statement]]
sql = "SELECT MIN(id) AS first, name FROM people WHERE town = :town GROUP BY name ORDER BY 1 LIMIT 1"
keep = { first = "first", name = "name" }

[[transaction.statement]]
sql = "SELECT * FROM people WHERE id BETWEEN :first AND :last AND name <> 'it''s'"
values.last = { sum_of = "first", add = 9 }

[[transaction.statement]]
sql = "SELECT id FROM people WHERE town = :town"

[[transaction.statement]]
sql = "UPDATE people SET name = :name WHERE id = :first"
no_row = "continue"

[[transaction]]
name = "move"

[[transaction.statement]]
sql = "UPDATE people SET town = town WHERE id = :id"
values.id = { generate = "reference", table = "people" }
no_row = "continue"
"""


@pytest.fixture
def own_file(tmp_path: Path) -> Path:
    file = tmp_path / "own.toml"
    file.write_text(OWN, encoding="utf-8")
    return file


def test_a_workload_file_is_measured_and_its_trials_are_compared_with_that(own_file: Path, tmp_path: Path) -> None:
    words = ["--workload", own_file, "--connections", "4", "--duration", "1s"]
    ran = plimsoll("doctor", "--client", "--target", "managed", *words)
    assert ran.returncode == 0, ran.stderr
    assert "The most that this client drives with own, against a local fake server" in ran.stdout
    limits_file = tmp_path / "plimsoll/client-limits.json"
    (entry,) = json.loads(limits_file.read_text())
    by_tcp = next(limit for limit in entry["limits"] if not limit["by_socket"])
    assert by_tcp["throughput_tps"] > 200, "connections do not think here"
    assert by_tcp["statements_per_s"] / by_tcp["throughput_tps"] == pytest.approx((3 * 6 + 1) / 4, rel=0.1)
    for limit in entry["limits"]:
        limit["throughput_tps"] = (
            2.0  # a slow client: the trial below reaches about 100, and a few on the busiest machine
        )
    limits_file.write_text(json.dumps([entry]))
    ran = plimsoll("trial", "--target", "managed", *words, "--warm-up", "1s", "--json")
    assert ran.returncode == 0, ran.stderr
    assert "client-saturated" in {warning["code"] for warning in json.loads(ran.stdout)["warnings"]}


@mysql_in_endure
@pytest.mark.parametrize("prepared", [True, False])
def test_the_fake_server_answers_as_a_real_one(
    own_file: Path, running_server: ManagedServer, *, prepared: bool
) -> None:
    own = StatementsSpec(name="own", file="own", text=own_file.read_text(), prepared=prepared).without_pauses()
    DataKeeper(driver=LocalDriver(), data_sets=(own,), changing=True).reset(running_server.target)
    real = rows_each(own, running_server.target)
    shapes = shapes_of(own, running_server.target)
    DataKeeper(driver=LocalDriver(), data_sets=(own,)).check(running_server.target)  # all runs were rolled back
    with fake_server(LocalDriver(), shapes, by_socket=True) as target:
        fake = rows_each(own, target)
    assert set(real) == set(fake) == {"visit", "move"}
    for name, (rows, statements) in real.items():
        # A visit gets 31 rows, give or take 5: of only 50 visits 15 % are five deviations of the difference of means.
        assert fake[name] == (pytest.approx(rows, rel=0.15), statements), name


def rows_each(workload: StatementsSpec, target: Target) -> dict[str, tuple[float, int]]:
    """By type of transaction: the rows that it gets and its statements, on average."""
    line = trial_line(workload, sources({"x": target}), connections=2, duration_s=2.0, seed=1, look_first=False)
    sums: dict[str, list[int]] = {}
    with LocalDriver().launch("trial", line) as engine:
        engine.ready(lambda warning: pytest.fail(str(warning)))
        engine.start()
        for message in engine.messages():
            for group in message.groups if isinstance(message, Interval) else ():
                assert not group.snapshot.errors
                for name, transaction in group.snapshot.transactions.items():
                    counts = transaction.counts
                    statements = counts.reads + counts.writes + counts.others
                    sums.setdefault(name, [0, 0, 0])
                    for place, number in enumerate((counts.completed, counts.rows_returned, statements)):
                        sums[name][place] += number
    return {name: (rows / done, round(statements / done)) for name, (done, rows, statements) in sums.items()}


def test_a_workload_file_needs_a_server_to_record_answers_from(own_file: Path) -> None:
    ran = plimsoll("doctor", "--client", "--workload", own_file, "--connections", "1", "--duration", "1s")
    assert ran.returncode == 2, ran.stderr
    assert "--target: is missing; what a server answers to the statements of own is recorded from one" in ran.stderr


@mysql_in_endure
def test_tables_that_are_missing_are_told_with_the_place_of_the_statement(
    own_file: Path, running_server: ManagedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = own_file.with_name("missing.toml")
    missing.write_text(OWN.replace("people", "nobody"), encoding="utf-8")
    ran = plimsoll("doctor", "--client", "--workload", missing, *login(running_server, monkeypatch))
    assert ran.returncode == 3, ran.stderr
    assert "transaction[0].statement[0]: " in ran.stderr
    assert "the table does not exist: plimsoll prepare" in ran.stderr


def lowered(file: Path) -> None:
    """The limit as a slower machine has it, so that noise cannot keep a trial below 80 % of it."""
    entries = json.loads(file.read_text())
    for limit in entries[0]["limits"]:
        limit["throughput_tps"] /= 100
    file.write_text(json.dumps(entries))


@pytest.mark.parametrize("wrong", ["0", "1,x", "", "8,-1"])
def test_numbers_of_connections_that_are_none_are_refused(wrong: str) -> None:
    ran = plimsoll("doctor", "--client", "--connections", wrong)
    assert ran.returncode == 2
    assert "--connections: must be whole numbers above 0" in ran.stderr
