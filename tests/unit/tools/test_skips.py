"""What was skipped is told at the end, of Python tests and of Rust tests."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

from support.repository import ROOT

TESTS = """
import pytest
@pytest.mark.parametrize("n", [1, 2])
def test_server(n):
    pytest.skip("SKIPPED, no MariaDB here")
def test_browser():
    pytest.skip("SKIPPED LOUDLY: chromium is not installed")
def test_good():
    pass
"""


def test_pytest_ends_with_what_was_not_tested(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (tmp_path / "test_it.py").write_text(TESTS)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path]
    for more in ([], ["--numprocesses", "2"]):
        ran = subprocess.run([*words, *more], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        *_, title, first, second, _end = [line for line in ran.stdout.splitlines() if line]
        assert "NOT TESTED HERE: 3 skipped" in title
        assert (first, second) == ("2 x no MariaDB here", "1 x chromium is not installed")


def test_nothing_is_told_where_nothing_was_skipped(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (tmp_path / "test_it.py").write_text("def test_good(): pass")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path]
    assert "NOT TESTED" not in subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path).stdout


@pytest.fixture
def runner() -> ModuleType:
    """tools/run-rust-tests."""
    loader = SourceFileLoader("run_rust_tests", str(ROOT / "tools" / "run-rust-tests"))
    module = module_from_spec(spec_from_loader(loader.name, loader))  # type: ignore[arg-type]
    loader.exec_module(module)
    return module


OUTPUT = """
running 3 tests
...
successes:

---- a stdout ----
SKIPPED: mariadbd is not installed
---- b stdout ----
SKIPPED: mariadbd is not installed
hello


successes:
    a
    b
    c
{failures}
test result: ok. 3 passed
"""


def test_what_rust_tests_skipped_is_collected_and_what_passing_ones_print_is_not_shown(runner: ModuleType) -> None:
    assert runner.skips(OUTPUT) == ["mariadbd is not installed"] * 2
    assert runner.shown(OUTPUT.format(failures="")) == "running 3 tests\n...\ntest result: ok. 3 passed"
    failed = runner.shown(OUTPUT.format(failures="\nfailures:\n\n---- c stdout ----\nwhy\n"))
    assert "---- c stdout ----\nwhy" in failed
    assert "hello" not in failed


def test_the_long_rust_tests_begin_first_and_no_program_is_lost(runner: ModuleType) -> None:
    package, program = runner.LONGEST
    assert (ROOT / "crates" / package / "tests" / program).is_dir()
    programs = [("account-1", "engine"), ("data-2", package), ("tls-3", "wire"), (f"{program}-4", package)]
    built = [(Path(name), Path("crates", folder)) for name, folder in programs]
    assert runner.longest_first(built) == [built[3], built[1], built[0], built[2]]
