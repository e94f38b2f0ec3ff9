"""The library that describes charts, imported when the first one is made: answers on the terminal draw none.

It takes longer to import than most answers take to find.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["alt"]

if TYPE_CHECKING:
    import altair as alt
else:

    class _WhenUsed:
        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("altair"), name)

    alt = _WhenUsed()
