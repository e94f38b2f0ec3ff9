"""The guide's files: all three, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.analyse.model import Analysis
from plimsoll.errors import HostError
from plimsoll.guide import files
from plimsoll.guide.answer import worded
from plimsoll.guide.files import write_guide, write_texts
from support.analyses import hostile_analysis, measured_analysis


def test_three_files_and_nothing_else(tmp_path: Path) -> None:
    analysis = measured_analysis()
    paths = write_guide(analysis, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == ["guide.html", "guide.md", "guide.json"]
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(p.name for p in paths)
    assert Analysis.model_validate_json(paths[2].read_text(encoding="utf-8")) == worded(analysis)
    assert all(path.stat().st_mode & 0o777 == 0o644 for path in paths)


def test_the_analysis_is_kept_as_it_was(tmp_path: Path) -> None:
    analysis = hostile_analysis()
    document = write_guide(analysis, tmp_path)[2]
    assert Analysis.model_validate_json(document.read_text(encoding="utf-8")) == worded(analysis)


def test_a_failed_write_leaves_the_old_guide_and_no_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = write_guide(measured_analysis(), tmp_path)
    before = first[0].read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(HostError, match=r"No space left on device; choose another folder$"):
        write_guide(measured_analysis(), tmp_path)
    assert first[0].read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 3


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(HostError, match="taken: the guide cannot be written"):
        write_guide(measured_analysis(), tmp_path / "taken")


def test_texts_that_utf_8_cannot_have_are_written_all_the_same(tmp_path: Path) -> None:
    (path,) = write_texts(tmp_path, {"a.md": "é \ud800\n"}, "the page")
    assert path.read_bytes() == "é ?\n".encode()
