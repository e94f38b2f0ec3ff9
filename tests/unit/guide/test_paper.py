"""Printing: without a browser a message with the cure, and a browser that hangs or fails leaves nothing behind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.guide import build
from plimsoll.guide.build import print_pdf
from plimsoll.guide.html import style_sheet


def fake_browser(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    command = folder / "chromium"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    monkeypatch.setattr(build.shutil, "which", lambda name: str(command) if name == "chromium" else None)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))


def test_without_a_browser_the_message_has_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build.shutil, "which", lambda _: None)
    with pytest.raises(HostError, match=r"needs Chromium or Chrome.*Open guide\.html in a browser and print it"):
        print_pdf(tmp_path / "guide.html", tmp_path / "guide.pdf")


@pytest.mark.parametrize(
    ("script", "limit_s", "message"),
    [
        ("exit 3", 60, "failed to print"),
        ("exit 0", 60, "made no PDF"),
        ("sleep 60", 0.3, "did not print within 0 s and was ended"),
    ],
)
def test_a_failed_print_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, limit_s: float, message: str
) -> None:
    fake_browser(tmp_path, monkeypatch, script)
    before = {path.name for path in tmp_path.iterdir()}
    with pytest.raises(HostError, match=message):
        print_pdf(tmp_path / "guide.html", tmp_path / "guide.pdf", limit_s=limit_s)
    assert {path.name for path in tmp_path.iterdir()} == before


def test_a_print_takes_the_place_of_the_old_one_and_the_profile_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = 'for one in "$@"; do case $one in --print-to-pdf=*) printf "%%PDF-1.4 new" > "${one#*=}";; esac; done'
    fake_browser(tmp_path, monkeypatch, script)
    (tmp_path / "guide.pdf").write_text("old")
    assert print_pdf(tmp_path / "guide.html", tmp_path / "guide.pdf").read_text() == "%PDF-1.4 new"
    assert {path.name for path in tmp_path.iterdir()} == {"chromium", "guide.pdf"}


def test_a_title_stays_text_in_the_style() -> None:
    style = style_sheet('a"; } </style><script>ü')
    assert "<" not in style
    assert r'content: "a\22 \3b \20 \7d \20 \3c \2f style\3e \3c script\3e \fc "' in style
