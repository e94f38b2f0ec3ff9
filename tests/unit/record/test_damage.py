"""Recordings that changed since they were written, and those that a newer Plimsoll wrote."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from plimsoll.errors import RecordError
from plimsoll.record.model import RECORD_FORMAT, RECORD_FORMAT_MAX
from plimsoll.record.store import read_recording, read_study
from support.recordings import finished_ids, rewrite, telemetry, write

NEWER = json.dumps({"record_format": RECORD_FORMAT_MAX + 1, "surprise": []}).encode()


def test_a_newer_format_is_refused_whatever_else_changed(tmp_path: Path) -> None:
    path = write(tmp_path)
    rewrite(path, "trial.json", NEWER)
    with pytest.raises(RecordError, match=r"newer Plimsoll.*Upgrade"):
        read_recording(path)
    assert "newer Plimsoll" in read_study(tmp_path).damaged[0].reason


def test_a_run_leaves_recordings_of_a_newer_format_alone(tmp_path: Path) -> None:
    path = write(tmp_path)
    rewrite(path, "trial.json", NEWER)
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    with pytest.raises(RecordError, match=r"newer Plimsoll.*Upgrade"):
        finished_ids(tmp_path)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_a_version_that_a_flipped_bit_made_newer_is_damage(tmp_path: Path) -> None:
    path = write(tmp_path)
    text = (path / "trial.json").read_text()
    (path / "trial.json").write_text(text.replace(f'"record_format": {RECORD_FORMAT}', '"record_format": 9'))
    with pytest.raises(RecordError, match="its bytes changed"):
        read_recording(path)
    assert finished_ids(tmp_path) == {}


@pytest.mark.parametrize("name", ["telemetry.parquet", "environment.json", "trial.json"])
def test_a_flipped_bit_makes_a_recording_damaged_though_size_and_time_are_the_same(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, telemetry=telemetry(0, 3, cpu_idle_ratio=0.5))
    stamp = (path / name).stat()
    content = bytearray((path / name).read_bytes())
    content[len(content) // 2] ^= 1
    (path / name).write_bytes(content)
    os.utime(path / name, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert finished_ids(tmp_path) == {}


@pytest.mark.parametrize("content", [b"{}", b"[]", b"null", b'{"record_format": "2"}', b"[" * 100_000, b"\xff"])
def test_a_trial_without_a_format_is_refused(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path)
    rewrite(path, "trial.json", content)
    with pytest.raises(RecordError, match=r"trial\.json"):
        read_recording(path)


def test_a_pipe_in_the_place_of_an_outcome_keeps_nobody_waiting(tmp_path: Path) -> None:
    """Of a recording whose version says that a newer Plimsoll wrote it, the digest is looked for there."""
    path = write(tmp_path)
    (path / "trial.json").write_bytes(NEWER)
    (path / "outcome.json").unlink()
    os.mkfifo(path / "outcome.json")
    with pytest.raises(RecordError, match="newer Plimsoll"):
        read_recording(path)
