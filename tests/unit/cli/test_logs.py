"""`--verbose` and `--log-file`: what is done is told step by step, without passwords, and loses no command."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from pathlib import Path

import pytest

from support.command import assert_one_clear_message, plimsoll

SECRET = "Pf9-unmistakable-Kw3"
REFUSED = ("prepare", "--target", f"mysql://bench:{SECRET}@127.0.0.1:1/d")
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (DEBUG|INFO|WARNING) plimsoll\.[\w.]+\[\d+\]: .+|    .*")


def test_a_file_gets_everything_and_standard_error_what_was_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "all.log"
    quiet = plimsoll("--log-file", file, *REFUSED)
    before = file.read_text()
    loud = plimsoll("-vv", "--log-file", file, *REFUSED)
    assert quiet.returncode == loud.returncode == 3
    assert "arguments:" not in quiet.stderr
    for said in (before, loud.stderr):
        assert "arguments: " in said
        assert "mysql://bench:…@127.0.0.1:1/d" in said
        assert "engine" in said
        assert "ends with exit code 3" in said
    assert file.read_text().startswith(before), "it is added to"
    assert len(file.read_text()) > len(before)
    assert SECRET not in quiet.stderr + loud.stderr + file.read_text()
    assert all(LINE.fullmatch(line) for line in file.read_text().splitlines())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_no_program_is_asked_for_the_machines_name(tmp_path: Path) -> None:
    """It would get the environment, and with it a password."""
    program, asked = tmp_path / "uname", tmp_path / "asked"
    program.write_text(f"#!/bin/sh\ntouch {asked}\n")
    program.chmod(0o755)
    ran = plimsoll("-v", *REFUSED, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert ", Linux " in ran.stderr
    assert not asked.exists()


def test_one_v_says_less_than_two() -> None:
    one, two = plimsoll("-v", *REFUSED).stderr, plimsoll("-vv", *REFUSED).stderr
    assert "engine" in one
    assert " says " not in one
    assert " says " in two


def test_a_password_in_place_of_its_variable_is_not_told() -> None:
    ran = plimsoll("-vv", "prepare", "--target", "mysql://bench@127.0.0.1:1/d", "--password-env", SECRET)
    assert "--password-env …" in ran.stderr
    assert SECRET not in ran.stderr


def test_what_is_no_file_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    for name in ("pipe", "link", "absent/all.log", "."):
        ran = plimsoll("--log-file", tmp_path / name, "workload", "show")
        assert_one_clear_message(ran, 3, f"--log-file: {tmp_path / name}"[:-1] if name == "." else f"/{name}: ")
        assert ran.stdout == ""
    assert (tmp_path / "precious").read_text() == "kept"


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_loses_messages_and_no_command(tmp_path: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "plimsoll-test", tmp_path], check=True)
    try:
        (tmp_path / "filler").write_bytes(b"x" * 4096)
        ran = plimsoll("--log-file", tmp_path / "all.log", "workload", "show")
        assert (ran.returncode, ran.stderr) == (0, "")
        assert (tmp_path / "all.log").read_bytes() == b""
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_options_behind_the_command_are_explained() -> None:
    ran = plimsoll("workload", "show", "-v")
    assert ran.returncode == 2
    assert "Put it before the command" in ran.stderr
