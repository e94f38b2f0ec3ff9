"""A study is sent and opened by the commands; what is no bundle, and a bundle where a folder is due, say what to do."""

from __future__ import annotations

from pathlib import Path

from plimsoll.record.bundle import Manifest, write_bundle
from support.command import assert_one_clear_message, plimsoll
from support.repository import ROOT

MEASURED = ROOT / "tests" / "golden" / "study_format_1"


def test_a_study_is_sent_and_opened(tmp_path: Path) -> None:
    made = plimsoll("bundle", MEASURED, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("Bundle: study_format_1.zip (3 trials, ")
    assert made.stderr == ""
    opened = plimsoll("open", "study_format_1.zip", "--to", "there", cwd=tmp_path)
    assert opened.returncode == 0, opened.stderr
    assert opened.stdout.endswith("Guide: there/guide.html\n")
    assert opened.stderr == ""
    again = plimsoll("guide", "there", "--json", cwd=tmp_path)
    assert again.stdout == (tmp_path / "there" / "guide.json").read_text()


def test_a_guide_that_is_not_of_its_recordings_is_replaced_and_told(tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    members = {path.relative_to(MEASURED).as_posix(): path for path in MEASURED.rglob("*.*") if path.is_file()}
    del members["events.jsonl"]
    for name in ("guide.html", "guide.json"):
        packed.mkdir(exist_ok=True)
        members[name] = packed / name
        members[name].write_text("<script>alert(1)</script>")
    write_bundle(tmp_path / "s.zip", Manifest(plimsoll_version="0.0\x1b[2J", study="s", files={}), members)
    opened = plimsoll("open", "s.zip", cwd=tmp_path)
    assert opened.returncode == 0, opened.stderr
    assert "made by Plimsoll 0.0\\x1b[2J, is not the one" in opened.stderr
    assert "<script>alert(1)" not in (tmp_path / "s" / "guide.html").read_text()


def test_a_bundle_is_no_folder_and_a_folder_no_bundle(tmp_path: Path) -> None:
    (tmp_path / "s.zip").write_bytes(b"PK")
    opens = "If it is a bundle: plimsoll open s.zip"
    assert_one_clear_message(plimsoll("size", "s.zip", "--tps", "5", cwd=tmp_path), 5, opens)
    assert_one_clear_message(plimsoll("compare", "s.zip", "s.zip", cwd=tmp_path), 5, opens)
    assert_one_clear_message(plimsoll("open", "s.zip", cwd=tmp_path), 5, "s.zip: is cut short, or no bundle")
    assert_one_clear_message(plimsoll("open", "nothing.zip", cwd=tmp_path), 5, "No such file or directory")
    assert_one_clear_message(plimsoll("open", tmp_path, cwd=tmp_path), 5, "Is a directory")
    assert_one_clear_message(plimsoll("bundle", tmp_path, "--to", "s.zip", cwd=tmp_path), 2, "s.zip", "--force")
    assert [path.name for path in tmp_path.iterdir()] == ["s.zip"]
