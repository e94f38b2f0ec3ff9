"""A password in an argument can no longer be read from the list of processes."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from pathlib import Path
from plimsoll.cli.wipe import wipe_passwords
wipe_passwords(sys.argv)
print(Path("/proc/self/cmdline").read_bytes())
print(sys.argv)
"""


def run(url: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CODE, "trial", "--target", url], capture_output=True, text=True, check=True
    )


def test_a_password_is_wiped_with_a_warning_and_still_understood() -> None:
    ran = run("mysql://bench:hunter2@127.0.0.1/sbtest")
    shown, understood = ran.stdout.splitlines()
    assert "hunter2" not in shown
    assert "bench:xxxxxxx@127.0.0.1" in shown
    assert "hunter2" in understood
    assert "--password-env" in ran.stderr
    assert "hunter2" not in ran.stderr


def test_a_password_with_delimiters_in_it_is_wiped_whole() -> None:
    for secret in ("hun@ter2", "hun/ter2", "h:u@n/ter2"):
        shown, _ = run(f"mysql://bench:{secret}@127.0.0.1/sbtest").stdout.splitlines()
        assert f"bench:{'x' * len(secret)}@127.0.0.1" in shown


def test_odd_bytes_are_no_reason_to_fail() -> None:
    assert run("mysql://\udcff").stderr == ""


def test_without_a_password_nothing_is_said() -> None:
    assert run("mysql://bench@127.0.0.1/sbtest").stderr == ""


def test_a_password_of_sysbench_is_wiped_in_silence() -> None:
    ran = run("--mysql-password=hunter2")
    shown, understood = ran.stdout.splitlines()
    assert "--mysql-password=xxxxxxx" in shown
    assert "hunter2" in understood
    assert ran.stderr == ""
    assert "--password-env=hunter2" in run("--password-env=hunter2").stdout.splitlines()[0]
