"""Commands of tests that are forked and not started: their folder, environment, exit code, and their end at a limit."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest

from support.command import plimsoll
from support.vanishing import PROC, link, processes
from support.waiting import until


def test_each_has_its_own_folder_environment_and_exit_code(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "s.toml").write_text(f"[study]\nname = '{name}'\n{name} = 1\n")
        ran = plimsoll("study", "plan", "s.toml", cwd=tmp_path / name)
        assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
        assert f"study.{name}" in ran.stderr
    told = ["trial", "--target", "mysql://u@127.0.0.1:1/d", "--duration", "1s", "--password-env", "THEIRS"]
    assert plimsoll(*told, env={"THEIRS": "x"}).returncode == 3, "nobody listens there"
    assert plimsoll(*told).returncode == 2, "what the command before was told is gone"
    assert plimsoll("--version").returncode == 0


def test_it_ends_at_its_limit(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"mysql://u@127.0.0.1:{silent.getsockname()[1]}/d"
        with pytest.raises(subprocess.TimeoutExpired):
            plimsoll("trial", "--target", url, cwd=tmp_path, timeout_s=2)
        assert until(lambda: not _are_in(tmp_path))


def _are_in(folder: Path) -> list[int]:
    return [pid for pid in processes() if link(PROC / str(pid) / "cwd") == str(folder)]
