"""A password in an argument can no longer be read from the list of processes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from plimsoll.cli.logs import without_passwords

CODE = """
import sys
from pathlib import Path
from plimsoll.cli.logs import wipe_passwords
wipe_passwords(sys.argv)
print(Path("/proc/self/cmdline").read_bytes())
print(sys.argv)
"""


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", CODE, "trial", *words], capture_output=True, text=True, check=True)


def test_a_password_is_wiped_with_a_warning_and_still_understood() -> None:
    ran = run("--target", "mysql://bench:hunter2@127.0.0.1/sbtest")
    shown, understood = ran.stdout.splitlines()
    assert "hunter2" not in shown
    assert "bench:xxxxxxx@127.0.0.1" in shown
    assert "hunter2" in understood
    assert "--password-env" in ran.stderr
    assert "hunter2" not in ran.stderr


def test_a_password_with_delimiters_in_it_is_wiped_whole() -> None:
    for secret in ("hun@ter2", "hun/ter2", "h:u@n/ter2"):
        shown, _ = run("--target", f"mysql://bench:{secret}@127.0.0.1/sbtest").stdout.splitlines()
        assert f"bench:{'x' * len(secret)}@127.0.0.1" in shown


def test_odd_bytes_are_no_reason_to_fail() -> None:
    assert run("mysql://\udcff").stderr == ""


def test_without_a_password_nothing_is_said() -> None:
    for url in (
        "mysql://bench@127.0.0.1:3306/sbtest",
        "mysql://bench@/sbtest?socket=/tmp/a:b@c",
        "managed",
        "h:3306/d",
    ):
        for words in ([url], ["--target", url], [f"--target={url}"]):
            ran = run(*words)
            assert ran.stderr == ""
            assert url in ran.stdout.splitlines()[0]


@pytest.mark.parametrize("form", [
    "mysqll://bench:{}@h/d", "postgres://bench:{}@h/d", "mysql:/bench:{}@h/d", "//bench:{}@h/d", "mysql:bench:{}@h/d",
    "bench:{}@h/d", "mysql://:{}@h/d",
])  # fmt: skip
def test_a_scheme_that_is_mistyped_changes_nothing(form: str) -> None:
    for secret in ("hunter2", "h:u@n/ter2"):
        for words in (["--target", form.format(secret)], [f"--target={form.format(secret)}"]):
            ran = run(*words)
            assert secret not in ran.stdout.splitlines()[0]
            assert "--password-env" in ran.stderr


def test_a_password_in_place_of_its_variable_is_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELD", "x")
    for words in (["--password-env", "hunter2"], ["--password-env=hunter2"]):
        shown, understood = run(*words).stdout.splitlines()
        assert "hunter2" not in shown
        assert "hunter2" in understood
    assert "HELD" in run("--password-env", "HELD").stdout.splitlines()[0]


def test_messages_do_not_repeat_it() -> None:
    said = "Got unexpected extra argument (mysql://bench:h:u@n/ter2@127.0.0.1/sbtest)"
    assert without_passwords(said) == "Got unexpected extra argument (mysql://bench:…@127.0.0.1/sbtest)"
    assert without_passwords("No such option: --x a:b@c") == "No such option: --x a:b@c"


def test_a_password_of_sysbench_is_wiped_in_silence() -> None:
    ran = run("--mysql-password=hunter2")
    shown, understood = ran.stdout.splitlines()
    assert "--mysql-password=xxxxxxx" in shown
    assert "hunter2" in understood
    assert ran.stderr == ""
