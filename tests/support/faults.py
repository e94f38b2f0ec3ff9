"""What is refused of what users write, line by line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.errors import SpecError


def faults_of(read: Callable[..., object], *given: Any, **named: Any) -> list[str]:
    """The lines with which `read` refuses what it is given."""
    with pytest.raises(SpecError) as caught:
        read(*given, **named)
    return list(caught.value.lines)


def assert_refused(fault: str, read: Callable[..., object], *given: Any, **named: Any) -> None:
    """One of the lines with which `read` refuses what it is given begins so."""
    lines = faults_of(read, *given, **named)
    assert any(line.startswith(fault) for line in lines), lines
