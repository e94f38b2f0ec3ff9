"""Every command line that a page shows is begun as it stands, on a machine that runs no program and reaches no server.

What the command's parser cannot know is checked that way: the form of each value, and options that exclude each other.
Deliberately not here: what a line prints, which pages have from real runs (`make tutorial`, `tools/write_readme.py`).
"""

from __future__ import annotations

import getpass
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from plimsoll.cli import main
from plimsoll.cli.failures import BUG, exit_code_of
from plimsoll.errors import SpecError
from support.command import COMMAND
from support.command_lines import PAGES, arguments_of, command_lines, is_synopsis
from support.repository import ROOT, blocks, shown

WRONG = (SpecError.exit_code, BUG)
FILE_OF_THE_READER = re.compile(r"No such file or directory|holds no run of sysbench")
ALONE = re.compile(r"capture --print|workload show|study plan|import (?:table|sysbench) examples/[^*]+ --to|size hp ")
"""Commands that need nothing but what their page gives: they run to their end."""


def no_program(*_: object, **__: object) -> NoReturn:
    raise PermissionError(13, "no program is run here")


def no_server(*_: object, **__: object) -> NoReturn:
    raise ConnectionRefusedError(111, "Connection refused")


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with the examples, on a machine where nothing can be started or reached."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PW", "secret")
    monkeypatch.setattr(getpass, "getpass", lambda *_: "secret")
    for of, name in ((subprocess, "Popen"), (os, "fork"), (os, "posix_spawn"), (os, "execv")):
        monkeypatch.setattr(of, name, no_program)
    monkeypatch.setattr(socket.socket, "connect", no_server)
    monkeypatch.setattr(socket, "getaddrinfo", no_server)
    return tmp_path


def begun(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["plimsoll", *arguments])
    return exit_code_of(lambda: main._obey(arguments))


def save_files(page: Path, folder: Path) -> None:
    """The study and workload files that a page tells its readers to save."""
    for block in blocks(page):
        if block.language == "toml" and "[study]" in block.text and "[[system]]" in block.text:
            (folder / "study.toml").write_text(block.text)
    for name, text in re.findall(r"<!-- example: (\S+) -->\n```toml\n(.*?)```", page.read_text(), re.DOTALL):
        (folder / name).write_text(text)


@pytest.mark.parametrize("page", [page for page in PAGES if any(command_lines(page))], ids=shown)
def test_shown_commands_begin(
    page: Path, alone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    save_files(page, alone)
    faults = []
    for place, line in command_lines(page):
        for arguments in () if is_synopsis(line) else arguments_of(line):
            code = begun(arguments, monkeypatch)
            message = capsys.readouterr().err
            is_alone = ALONE.match(" ".join(arguments)) and not FILE_OF_THE_READER.search(message)
            if (code in WRONG and not FILE_OF_THE_READER.search(message)) or (code and is_alone):
                faults.append(f"{place}: {line}: exit code {code}: {message}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "line",
    [
        "plimsoll trial --target managed --rate fast",
        "plimsoll trial --target managed --retry 1213:often",
        "plimsoll trial --target mysql://u@h/d?tls=disabled --tls required --password-env PW",
        "plimsoll learn report --time-zone CET slow.log",
    ],
)
def test_wrong_values_would_be_found(line: str, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (arguments,) = arguments_of(line)
    assert begun(arguments, monkeypatch) == SpecError.exit_code
    assert not any(alone.glob("[!e]*"))


def test_imports_that_readers_are_shown_become_guides(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (script,) = (block.text for block in blocks(ROOT / "docs" / "reading-the-guide.md") if block.language == "sh")
    path = f"{COMMAND.parent}:{os.environ['PATH']}"
    subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env={**os.environ, "PATH": path}, check=True)
    assert all((tmp_path / study / "guide.html").is_file() for study in ("hp", "logs"))
