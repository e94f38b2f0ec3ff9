"""Systems of several managed instances on real servers: what each has, what is recorded, and that none is left."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import Recording, read_study
from support.command import plimsoll, start_forked
from support.placing import needs_controllers, needs_two_cpus
from support.recordings import finished_ids
from support.studies import (
    is_running_server,
    kill_server,
    servers_below,
    wait_for_load,
    wait_for_trials,
    wait_until_gone,
)

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "small"
levels = {{ connections = [3] }}
warm_up = "1s"
settle_limit = "1s"
clients = {{ think_time = "20ms" }}
duration = "2s"
repetitions = 1
reset = "{reset}"

[[workload]]
name = "read/write"
kind = "oltp_read_write"
tables = 2
table_size = 1000

[[system]]
name = "two"
server = {{ instances = 2, {server} }}
"""
PLACED = """
[[system]]
name = "placed"
server = {{ instances = 2, cpu_count = 2, cpu_quota = 3.0, memory_limit = "1G", {server} }}
"""
ONE = """
[[system]]
name = "one"
server = {{ {server} }}
"""
SERVER = 'managed = "mariadb", profile = "bare", buffer_pool = "64M"'


@pytest.fixture
def data_dir() -> Iterator[dict[str, str]]:
    folder = Path(f"/var/tmp/plimsoll-test-instances-{os.getpid()}")
    yield {"PLIMSOLL_DATA_DIR": str(folder)}
    if folder.exists():  # nothing is in it
        folder.rmdir()


def written(path: Path, text: str, *, reset: str = "per_trial", server: str = SERVER) -> Path:
    path.write_text(text.format(reset=reset, server=server))
    return path


def per_instance(recording: Recording, table: pl.DataFrame | None, column: str) -> dict[str, int]:
    assert table is not None
    return {name: table.filter(instance=name)[column].n_unique() for name in instance_names(recording)}


def instance_names(recording: Recording) -> list[str]:
    return [instance.name for instance in recording.environment.instances]


def test_each_instance_has_its_share_and_its_own_rows(tmp_path: Path, data_dir: dict[str, str]) -> None:
    """Of memory, CPUs and limits; the client has a CPU of its own, and one instance beside has everything."""
    needs_two_cpus()
    needs_controllers("cpu", "memory")
    client = min(os.sched_getaffinity(0))
    text = STUDY.partition("[[system]]")[0].replace(
        "repetitions = 1", f'repetitions = 1\nclient = {{{{ cpus = "{client}" }}}}'
    )
    study, file = tmp_path / "out", written(tmp_path / "s.toml", text + PLACED + ONE)
    ran = plimsoll("study", "run", file, "--to", study, env=data_dir)
    assert ran.returncode == 0, ran.stderr
    recordings = {recording.trial.system.name: recording for recording in read_study(study).recordings}
    check_two_instances(recordings["placed"])
    check_placement(recordings["placed"], client)
    one = recordings["one"]
    assert (one.trial.system.instances, instance_names(one)) == (1, ["one/0"])
    assert list(one.environment.instances[0].tables) == ["sbtest1", "sbtest2"]
    assert one.environment.instances[0].variables["innodb_buffer_pool_size"] == str(64 * 2**20)
    assert "placed, 2 instances" in ran.stdout
    assert "variables-differ-unexpectedly" not in ran.stdout
    guide = (study / "guide.html").read_text()
    assert "each of 2 instances" in guide
    assert "CPU quota" in guide
    assert "skew" in guide
    wait_until_gone(data_dir["PLIMSOLL_DATA_DIR"])


def check_two_instances(recording: Recording) -> None:
    assert recording.trial.system.instances == 2
    assert instance_names(recording) == ["placed/0", "placed/1"]
    first, second = recording.environment.instances
    assert list(first.tables) == list(second.tables) == ["sbtest1"]
    assert first.variables["innodb_buffer_pool_size"] == second.variables["innodb_buffer_pool_size"] == str(32 * 2**20)
    assert first.variables["datadir"] != second.variables["datadir"]
    verify = recording.trial.states[-1].note
    assert verify == "2000 rows"
    assert min(per_instance(recording, recording.intervals(), "interval").values()) >= 3
    telemetry = recording.telemetry()
    assert telemetry is not None
    for source in ("server", "process", "device"):
        assert min(per_instance(recording, telemetry.filter(source=source), "unix_s").values()) >= 2
    opened = telemetry.filter(pl.col("metric") == "connected_count").group_by("instance").agg(pl.col("value").max())
    assert dict(opened.iter_rows()) == {"placed/0": 2, "placed/1": 1}
    host = telemetry.filter(pl.col("source") == "host")
    assert host["instance"].unique().to_list() == [""]
    assert host.height == host.unique(["unix_s", "metric"]).height


def check_placement(recording: Recording, client: int) -> None:
    found = [instance.placement for instance in recording.environment.instances]
    assert None not in found
    first, second = (one for one in found if one is not None)
    assert (len(first.cpus or ()), len(second.cpus or ())) == (1, 1)
    assert first.cpus != second.cpus
    assert first.cpu_quota == second.cpu_quota == 1.5
    assert first.memory_limit_bytes == second.memory_limit_bytes == 2**29
    assert recording.environment.client.cpus == (client,)
    factors = {"cpu_count": "2", "cpu_quota": "3", "memory_limit_bytes": str(2**30)}
    assert factors.items() <= recording.trial.system.factors.items()


def test_an_instance_that_dies_while_rows_are_loaded_ends_all_with_one_message(
    tmp_path: Path, data_dir: dict[str, str]
) -> None:
    """Rows take much longer than it takes to see the first; nothing is left of either, nor of what loads the other."""
    text, study = STUDY.replace("table_size = 1000", "table_size = 3000000"), tmp_path / "out"
    process = start_forked("study", "run", written(tmp_path / "s.toml", text), "--to", study, env=data_dir)
    folder = data_dir["PLIMSOLL_DATA_DIR"]
    try:
        wait_for_load(study, process)
        kill_server(folder)
        _, errors = process.communicate(timeout=300)  # the engine waits a minute for a server that may come back
    finally:
        process.kill()
    assert process.returncode == 3, errors
    assert len([line for line in errors.splitlines() if line.startswith("plimsoll:")]) == 1
    wait_until_gone(folder)


def test_no_instance_is_left_and_one_that_dies_fails_only_its_trial(tmp_path: Path, data_dir: dict[str, str]) -> None:
    """A server is killed in the first of three trials, Plimsoll in the third; going on mends the first."""
    study, folder = tmp_path / "out", data_dir["PLIMSOLL_DATA_DIR"]
    file = written(tmp_path / "s.toml", STUDY.replace("[3]", "[2, 3, 4]"), reset="per_system")
    process = start_forked("study", "run", file, "--to", study, env=data_dir)
    wait_for_trials(study, 0, process)
    running = [words for words in servers_below(folder) if is_running_server(words)]
    assert len(running) == 2
    kill_server(folder)
    wait_for_trials(study, 2, process)
    process.kill()
    _, errors = process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL, errors
    wait_until_gone(folder)
    verdicts = finished_ids(study)
    assert sorted(verdicts.values()) == [Verdict.COMPLETE, Verdict.FAILED], "only its trial fails"
    (kept,) = [trial for trial, verdict in verdicts.items() if verdict is Verdict.COMPLETE]
    outcome = study / "recordings" / kept / "outcome.json"
    written_ns = outcome.stat().st_mtime_ns

    again = plimsoll("study", "run", study, env=data_dir)
    assert again.returncode == 0, again.stderr
    assert "1 of them already finished" in again.stderr
    assert list(finished_ids(study).values()) == [Verdict.COMPLETE] * 3, "running again mends it"
    assert outcome.stat().st_mtime_ns == written_ns, "was measured again"
    wait_until_gone(folder)
