"""What the tests of instances share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """In place of pytest's own, whose path, with user, run and test, may be too long for the address of a socket."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-test-", dir="/var/tmp", ignore_cleanup_errors=True) as name:
        yield Path(name)
