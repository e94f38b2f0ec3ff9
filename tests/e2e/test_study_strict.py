"""`study run --strict`: refused before anything starts, refused before data is loaded, and a study that is fit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.analyse.findings.machine import Readiness
from plimsoll.errors import HostError
from plimsoll.record.store import read_study
from plimsoll.run import preflight
from plimsoll.run.events import DataProgressed, SystemBegan, TrialBegan, read_events
from plimsoll.run.folder import resolve
from plimsoll.run.study import StudyResult, run_study
from support.command import assert_one_clear_message, plimsoll
from support.placing import needs_two_cpus
from support.servers import server_command
from support.studies import wait_until_gone

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "strict"
levels = {{ connections = [2] }}
warm_up = "1s"
settle_limit = "1s"
clients = {{ think_time = "20ms" }}
duration = "2s"
repetitions = 1
reset = "never"
{client}

[[workload]]
name = "rw"
kind = "oltp_read_write"
table_size = 1000

[[system]]
name = "a"
server = {{ managed = "mariadb", profile = "bare", buffer_pool = "256M", {server} }}
"""
FIT = "options = { innodb_log_file_size = 67108864 }"
SMALL = "options = { innodb_log_file_size = 4194304 }"


@pytest.fixture
def data_dir(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    server_command("mariadb")
    folder = Path(f"/var/tmp/plimsoll-test-strict-{os.getpid()}")
    monkeypatch.setenv("PLIMSOLL_DATA_DIR", str(folder))
    yield folder
    wait_until_gone(str(folder))
    if folder.exists():
        folder.rmdir()


def written(folder: Path, server: str, client: str = "") -> Path:
    file = folder / "s.toml"
    file.write_text(STUDY.format(server=server, client=client))
    return file


def run(file: Path, study: Path, monkeypatch: pytest.MonkeyPatch) -> StudyResult:
    """With a machine that is fit, whichever this is: its load and its settings are not what is tested."""
    monkeypatch.setattr(preflight, "machine_readiness", lambda *_: Readiness())
    file, spec, folder = resolve(file, study)
    return run_study(file, spec, folder, lambda _: None, strict=True)


def events(study: Path, *kinds: type) -> list[object]:
    return [event.event for event in read_events(study / "events.jsonl") if isinstance(event.event, kinds)]


def test_what_options_tell_is_refused_before_anything_starts(tmp_path: Path, data_dir: Path) -> None:
    study = tmp_path / "out"
    ran = plimsoll("study", "run", written(tmp_path, SMALL), "--to", study, "--strict")
    told = "redo-log-small: the redo log has 4.00 MiB, the buffer pool 256 MiB"
    assert_one_clear_message(ran, 3, "--strict refuses to measure:", told)
    assert events(study, SystemBegan, DataProgressed, TrialBegan) == []
    assert not data_dir.exists(), "no directory was made"
    assert read_study(study).recordings == ()


def test_what_a_running_server_tells_is_refused_before_data_is_loaded(
    tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(HostError, match="--strict refuses to measure:\nclient-on-server-host: client and a/0 may both"):
        run(written(tmp_path, FIT), tmp_path / "out", monkeypatch)
    assert len(events(tmp_path / "out", SystemBegan)) == 1
    assert events(tmp_path / "out", DataProgressed, TrialBegan) == []
    assert not any(data_dir.iterdir()), "the server and its directory are gone"


def test_a_study_that_is_fit_is_measured(tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_two_cpus()
    client, server = sorted(os.sched_getaffinity(0))[:2]
    file = written(tmp_path, f'cpus = "{server}", {FIT}', f'client = {{ cpus = "{client}" }}')
    result = run(file, tmp_path / "out", monkeypatch)
    assert (result.complete_count, result.failed_count, result.missing_count) == (1, 0, 0)
    assert len(read_study(tmp_path / "out").recordings) == 1
    assert events(tmp_path / "out", DataProgressed)
