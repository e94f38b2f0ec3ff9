"""A study whose data is kept, used again, refused where it does not fit, and what is said of options and data."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.record.store import read_study
from plimsoll.run.events import DataKept, DataPutBack, read_events
from support.command import plimsoll

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "aged"
levels = {{ connections = [2] }}
warm_up = "1s"
settle_limit = "1s"
duration = "2s"
repetitions = {repetitions}
reset = "{reset}"

[[workload]]
name = "inserts"
kind = "oltp_insert"
table_size = {rows}

[[system]]
name = "one"
server = {{ managed = "mariadb", profile = "bare", buffer_pool = "64M", {more} }}
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """On a disk: data in memory is refused."""
    place = Path(f"/var/tmp/plimsoll-test-aged-{os.getpid()}")
    place.mkdir()
    yield place
    for path in sorted(place.rglob("*"), reverse=True):
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()
    place.rmdir()


@pytest.mark.endure
def test_data_is_kept_used_again_and_refused_where_it_does_not_fit(tmp_path: Path, folder: Path) -> None:
    env, kept = {"PLIMSOLL_DATA_DIR": str(folder / "servers")}, folder / "kept"

    def run(name: str, more: str, *, rows: int = 1000, reset: str = "never", repetitions: int = 1) -> tuple[int, str]:
        file = tmp_path / f"{name}.toml"
        file.write_text(STUDY.format(more=more, rows=rows, reset=reset, repetitions=repetitions))
        ran = plimsoll("study", "run", file, "--to", tmp_path / name, env=env)
        return ran.returncode, ran.stderr

    assert run("young", f'keep_data = "{kept}", options = {{ loose_innodb_nothing = 1 }}')[0] == 0
    (young,) = read_study(tmp_path / "young").recordings
    rows = young.outcome.data.rows_after if young.outcome.data else None
    assert rows is not None
    assert rows > 1000
    events = [event.event for event in read_events(tmp_path / "young/events.jsonl")]
    assert [event.folder for event in events if isinstance(event, DataKept)] == [str(kept)]
    guide = json.loads((tmp_path / "young/guide.json").read_text())
    warned = {one["code"]: one["evidence"][0]["text"] for one in guide["warnings"]}
    assert warned["option-not-in-effect"].startswith("innodb_nothing = 1 was given; the server has no such variable")
    assert guide["data"][0]["rows_ratio"] == pytest.approx(rows / 1000 - 1)

    code, said = run("old", f'aged_data = "{kept}"', reset="per_trial", repetitions=2)
    assert code == 0, said
    first, second = sorted(read_study(tmp_path / "old").recordings, key=lambda recording: recording.trial.position)
    assert first.outcome.data is not None
    assert first.outcome.data.reset is not None
    assert first.outcome.data.reset.is_aged
    assert first.outcome.data.rows_after is not None
    assert first.outcome.data.rows_after > rows, "it began with the rows of the earlier study"
    put_back = [
        event.event for event in read_events(tmp_path / "old/events.jsonl") if isinstance(event.event, DataPutBack)
    ]
    assert [(one.reset.way, one.reset.is_aged) for one in put_back] == [("fresh", True), ("copy", True)]
    assert second.outcome.data is not None
    assert second.outcome.data.rows_before is None or second.outcome.data.rows_before >= rows

    code, said = run("other", f'aged_data = "{kept}"', rows=2000)
    assert code == 3
    assert f"aged_data: {kept} is other data: tables is" in said
    assert not any((folder / "servers").iterdir())
