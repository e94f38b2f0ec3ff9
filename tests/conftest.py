"""What holds for all tests: how they are run, and what of them was not run, with the reasons, at the end of a run."""

from __future__ import annotations

import os
import re
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from plimsoll.interruption import SIGNALS

os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/var/tmp")  # /tmp may be in memory, where no server's data may lie

hypothesis.settings.register_profile("plimsoll", deadline=None)  # other tests use the processors meanwhile
hypothesis.settings.load_profile("plimsoll")

_MARK = re.compile(r"^(Skipped: )?(SKIPPED( LOUDLY)?[:,]? *)?")


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """In place of pytest's own: with the names of user, run and test that is too long for the address of a socket."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-test-", dir="/var/tmp", ignore_cleanup_errors=True) as name:
        yield Path(name)


@pytest.fixture(autouse=True)
def signals_as_a_program_begins() -> None:
    """Command lines that tests run change the handlers for good, and a process may have inherited ignored ones."""
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Ends the summary with what was skipped; nothing where nothing was."""
    reasons = Counter(_reason(report) for report in terminalreporter.getreports("skipped"))
    if reasons:
        terminalreporter.section(f"NOT TESTED HERE: {sum(reasons.values())} skipped", yellow=True, bold=True)
        for reason, count in reasons.most_common():
            terminalreporter.write_line(f"{count} x {reason}")


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return _MARK.sub("", why, count=1)
