"""What is no run against a server, or no place for a recording, is refused before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import HostError, SpecError
from plimsoll.run.folder import HeldFolder
from plimsoll.run.single import RecordingWanted
from plimsoll.run.sysbench import record_sysbench


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever starts one gets another error than is expected."""
    monkeypatch.setenv("PLIMSOLL_ENGINE", "/nowhere")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("cpu run", "cpu does not use a server"),
        ("fileio --file-test-mode=rndrd run", "fileio does not use a server"),
        ("oltp_read_only prepare", "not prepare"),
        ("--test=oltp cleanup", "not cleanup"),
        ("oltp_read_only", "command run are missing"),
        ("", "command run are missing"),
        ("- run", "command run are missing"),
        ("oltp_read_only --mysql-dry-run run", "--mysql-dry-run"),
        ("oltp_read_only --help run", "--help"),
    ],
)
def test_only_runs_against_a_server_are_recorded(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(SpecError, match=why):
        record_sysbench(line.split(), RecordingWanted(study=tmp_path / "study"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "a\nb"])
def test_names_can_be_shown(tmp_path: Path, name: str) -> None:
    with pytest.raises(SpecError, match="--plimsoll-record-system: must be printable"):
        record_sysbench(["oltp_read_only", "run"], RecordingWanted(study=tmp_path / "study", system=name))


@pytest.mark.parametrize("held", ["notes.txt", "study.toml", "plan.json"])
def test_a_folder_of_something_else_is_refused(tmp_path: Path, held: str) -> None:
    (tmp_path / held).touch()
    with pytest.raises(SpecError, match="choose another folder"):
        record_sysbench(["oltp_read_only", "run"], RecordingWanted(study=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == [held]


def test_a_file_is_no_study(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SpecError, match="is not a folder"):
        record_sysbench(["oltp_read_only", "run"], RecordingWanted(study=tmp_path / "file"))


def test_one_process_at_a_time_records_into_a_study(tmp_path: Path) -> None:
    with HeldFolder(tmp_path), pytest.raises(HostError, match="another plimsoll process is using this folder"):
        record_sysbench(["oltp_read_only", "run"], RecordingWanted(study=tmp_path))
