"""Cases of parametrised tests that only `make endure` runs; CONTRIBUTING.md says which, and why."""

from __future__ import annotations

from typing import Any

import pytest


def in_endure(*values: object) -> Any:
    """A case of `pytest.mark.parametrize` for `make endure`."""
    return pytest.param(*values, marks=pytest.mark.endure)
