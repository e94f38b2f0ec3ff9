"""What hooks leave in a recording: kept, covered by digests, or dropped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.errors import RecordError
from plimsoll.record.environment import Environment
from plimsoll.record.files import Dropped, attached_files, drop_unfit, is_attached
from plimsoll.record.model import Outcome, Verdict
from plimsoll.record.partial import PartialRecording, recover
from plimsoll.record.store import intact_outcome, read_recording
from support.recordings import a_trial


def begun(study: Path) -> PartialRecording:
    """A recording with the output of a hook and two collected files."""
    partial = PartialRecording.begin(study, "t1")
    assert partial.attach_output("0-start.txt", b"hello") == "hooks/0-start.txt"
    folder = partial.folder_to_collect()
    (folder / "below").mkdir()
    (folder / "below" / "server.log").write_text("log")
    (folder / "empty").touch()
    return partial


def test_attached_files_are_part_of_the_recording(tmp_path: Path) -> None:
    path = begun(tmp_path).commit(a_trial(), Environment(), Outcome(verdict=Verdict.COMPLETE))
    names = ["collected/below/server.log", "collected/empty", "hooks/0-start.txt"]
    assert attached_files(path) == names
    assert set(names) < set(read_recording(path).outcome.files)
    assert intact_outcome(path) is not None
    (path / names[0]).write_text("gol")
    assert intact_outcome(path) is None


def test_a_recording_that_lacks_only_its_name_keeps_them(tmp_path: Path) -> None:
    path = begun(tmp_path).commit(a_trial(), Environment(), Outcome(verdict=Verdict.COMPLETE))
    path.rename(path.with_name(".partial-t1-00000000"))
    (found,) = recover(tmp_path)
    assert found.path == path
    assert len(attached_files(path)) == 3
    assert intact_outcome(path) is not None


@pytest.mark.parametrize("name", ["hooks", "hooks/", "hooks/../../../etc/passwd", "other/x", "/etc/passwd", "hooks//x"])
def test_a_recording_cannot_list_files_elsewhere(tmp_path: Path, name: str) -> None:
    assert not is_attached(name)
    path = begun(tmp_path).commit(a_trial(), Environment(), Outcome(verdict=Verdict.COMPLETE))
    text = (path / "outcome.json").read_text().replace("hooks/0-start.txt", name)
    (path / "outcome.json").write_text(text)
    with pytest.raises(RecordError, match="is unknown"):
        read_recording(path)


def test_only_regular_files_that_can_be_read_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "collected"
    folder.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (folder / "good").write_text("x")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "folder").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(folder / "pipe")
    (Path(os.fsdecode(bytes(folder) + b"/\xff"))).write_text("y")
    dropped = drop_unfit(tmp_path)
    assert sorted(dropped.unfit) == ["collected/\\udcff", "collected/folder", "collected/link", "collected/pipe"]
    assert attached_files(tmp_path) == ["collected/good"]
    assert (tmp_path / "elsewhere").is_dir()
    assert Path("/etc/passwd").exists()


def test_smaller_files_are_kept_first(tmp_path: Path) -> None:
    folder = tmp_path / "collected"
    folder.mkdir()
    for size in (60, 10, 30):
        (folder / f"of-{size}").write_bytes(b"x" * size)
    assert drop_unfit(tmp_path, bytes_max=50) == Dropped(beyond=("collected/of-60",))
    assert drop_unfit(tmp_path, files_max=1) == Dropped(beyond=("collected/of-30",))
    assert attached_files(tmp_path) == ["collected/of-10"]
