"""The cache of scripts: used when it is whole, and no harm when it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.guide.figures import cached


def refused() -> str:
    raise AssertionError("made again")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "plimsoll"


def test_a_text_is_made_once() -> None:
    assert cached("a.js", lambda: "α\n1") == "α\n1"
    assert cached("a.js", refused) == "α\n1"
    assert cached("b.js", lambda: "2") == "2"


@pytest.mark.parametrize("damage", [b"", b"\xff\n", b"0123\ntext", b"no line"])
def test_a_damaged_text_is_made_again(folder: Path, damage: bytes) -> None:
    cached("a.js", lambda: "old")
    (folder / "a.js").write_bytes(damage)
    assert cached("a.js", lambda: "new") == "new"
    assert cached("a.js", refused) == "new"


def test_a_text_cut_short_is_made_again(folder: Path) -> None:
    cached("a.js", lambda: "whole")
    content = (folder / "a.js").read_bytes()
    (folder / "a.js").write_bytes(content[:-1])
    assert cached("a.js", lambda: "whole again") == "whole again"


def test_what_another_user_owns_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    cached("a.js", lambda: "theirs")
    monkeypatch.setattr("os.geteuid", lambda: 12345)
    assert cached("a.js", lambda: "ours") == "ours"


def test_without_a_place_to_write_the_text_is_made_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert [cached("a.js", lambda: "1"), cached("a.js", lambda: "2")] == ["1", "2"]
